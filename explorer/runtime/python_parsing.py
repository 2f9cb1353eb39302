"""Python source as a syntax tree, one parse at a time."""

import ast
import threading

# Entered again by a parse that the collection of garbage begins within one.
_parsing = threading.RLock()


def parsed(source: str) -> ast.Module:
    """Call `ast.parse` under a lock: CPython 3.11 counts the depth of all threads' trees together,
    and refuses a valid one if another thread has moved the count.

    Raises SyntaxError as it does.
    """
    with _parsing:
        return ast.parse(source)
