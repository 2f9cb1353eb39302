"""Python's source as a syntax tree, one parse at a time."""

from __future__ import annotations

import ast
import threading

# Entered again by a parse that the collection of garbage begins within one.
_parsing = threading.RLock()


def parsed(source: str) -> ast.Module:
    """`ast.parse`, which several threads may not be in at once: CPython 3.11 counts the depth of
    all their trees together, and refuses a sound one where another thread has moved the count.

    Raises SyntaxError as it does.
    """
    with _parsing:
        return ast.parse(source)
