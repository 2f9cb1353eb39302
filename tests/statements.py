"""The statements of a file of Python: an import is one, so that no expression is gone into."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

WITHIN = ("body", "orelse", "finalbody", "handlers", "cases")


def statements(
    node: ast.AST, passed_over: Callable[[ast.AST], bool] = lambda _: False
) -> Iterator[ast.AST]:
    """All below a module or a statement, also within functions; of what is passed over nothing."""
    for name in WITHIN:
        for inner in getattr(node, name, ()):
            if not passed_over(inner):
                yield inner
                yield from statements(inner, passed_over)
