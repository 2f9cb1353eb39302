"""Source of functions, read in one place for tracing, listing, shortening and comparing.

Syntax trees are shared: do not change one.
"""

import ast
import functools
import inspect
import itertools
import textwrap
from dataclasses import dataclass
from types import CodeType

from lossprism.explorer.runtime.python_parsing_lock import parsed

# More than there are losses, conventions and sums of them in use.
CACHED_FUNCTIONS = 1024


@dataclass(frozen=True, eq=False)
class FunctionSource:
    """Text of a function at the left margin, and the number of its first line in its file.

    The text is empty if no file has it: typed at a prompt, or built by exec.
    """

    text: str
    first_line: int

    @property
    def definition(self) -> ast.FunctionDef | None:
        """The function's tree; None for a lambda, or without text."""
        body = tree_of(self.text).body
        return body[0] if body and isinstance(body[0], ast.FunctionDef) else None

    def statement(self, line: int) -> tuple[int, str]:
        """Return the first line and the text of the simple statement that contains a line."""
        for start, end, text in reversed(self._statements):
            if start <= line <= end:
                return start, textwrap.dedent(text)
        return line, ""

    @functools.cached_property
    def _statements(self) -> list[tuple[int, int, str]]:
        """(first line, last line, text) of every simple statement, innermost last."""
        # In bytes, as places in a line are counted; `ast.get_source_segment` would go through the
        # whole text for each statement.
        written = self.text.encode()
        begins = [0, *itertools.accumulate(map(len, written.splitlines(keepends=True)))]
        spans = []
        for node in ast.walk(tree_of(self.text)):
            if isinstance(node, ast.stmt) and not hasattr(node, "body"):
                last, end = node.end_lineno or node.lineno, node.end_col_offset or 0
                text = written[begins[node.lineno - 1] + node.col_offset : begins[last - 1] + end]
                spans.append((node.lineno, last, text.decode()))
        first = self.first_line - 1
        statements = [(start + first, last + first, text) for start, last, text in spans]
        return sorted(statements, key=lambda span: span[1] - span[0], reverse=True)


@functools.lru_cache(maxsize=CACHED_FUNCTIONS)
def source_of(code: CodeType) -> FunctionSource:
    """Return the source of the function that has this code."""
    try:
        lines, first = inspect.getsourcelines(code)
    except (OSError, TypeError):
        return FunctionSource("", code.co_firstlineno)
    return FunctionSource(textwrap.dedent("".join(lines)), first)


@functools.lru_cache(maxsize=8 * CACHED_FUNCTIONS)
def tree_of(text: str) -> ast.Module:
    """Return the tree of a listing or statement; an empty one if it does not parse by itself, such
    as a lambda inside a larger expression."""
    try:
        return parsed(text)
    except SyntaxError:
        return ast.Module([], [])
