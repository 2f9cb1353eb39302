"""Python source as a syntax tree or a value, one parse at a time."""

import ast
import threading
from typing import Any

# Entered again by a parse that the collection of garbage begins within one.
_parsing = threading.RLock()


def parsed(source: str) -> ast.Module:
    """Call `ast.parse` under a lock: CPython 3.11 counts the depth of all threads' trees together,
    and refuses a valid one if another thread has moved the count.

    Raises SyntaxError as it does.
    """
    with _parsing:
        return ast.parse(source)


def literal(source: str | ast.expr) -> Any:
    """Call `ast.literal_eval` under the same lock, for it parses a text.

    Raises ValueError, TypeError, SyntaxError, RecursionError and MemoryError as it does.
    """
    with _parsing:
        return ast.literal_eval(source)
