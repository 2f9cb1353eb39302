"""Tables that code holds: literals of Python, and the INSERT statements of an SQL dump."""

import ast
import json
import re

from lossprism.explorer.runtime.python_parsing_lock import literal, parsed
from lossprism.explorer.sources.lists_and_objects_written_as_text import PYTHON_LETTERS

_PROMPT = re.compile(r"^(?:>>>|\.\.\.) ?", re.MULTILINE)
_TEXTS = "texts"  # of a call such as InputExample(texts=["a", "b"], label=0.8)
_INSERT = re.compile(
    r"^[ \t]*+INSERT\s+INTO\s+[^\s(]+\s*(?:\(([^()]*)\)\s*)?VALUES\s*(?=\()", re.I | re.MULTILINE
)
# A quoted text, a mark, or a number or word.
_VALUE = re.compile(r"[NE]?'((?:[^'\\]|\\.?|'')*+)(?:'|\Z)|([(),;])|([^\s'(),;]+)", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)|''", re.DOTALL)
_ESCAPES = {None: "'", "n": "\n", "t": "\t", "r": "\r"}
_LINE_END = re.compile(r"[ \t]*(?:--.*)?(?:\r?\n|\Z)")

Rows = list | dict[str, list]


def json_of_code(text: str) -> str:
    """Return the table of Python code or of an SQL dump as JSON; "" for any other text.

    >>> json_of_code("[InputExample(texts=['a', 'b']), InputExample(texts=['c', 'd'])]")
    '[{"texts": ["a", "b"]}, {"texts": ["c", "d"]}]'
    >>> json_of_code("INSERT INTO pairs (a, b) VALUES ('one', 1), ('two', NULL);")
    '[{"a": "one", "b": "1"}, {"a": "two", "b": null}]'
    """
    rows = _inserted(text) or _python_rows(text)
    try:
        return json.dumps(rows, ensure_ascii=False) if rows else ""
    except (TypeError, ValueError):  # bytes, sets, complex numbers
        return ""


def _python_rows(text: str) -> Rows:
    """Return the longest table in Python code: lists of one length by name, a list of tuples or
    objects, an object on each line, or calls with texts."""
    if len(text) > PYTHON_LETTERS:
        return []
    try:
        tree = parsed(_PROMPT.sub("", text).strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    lines = [_literal(one.value) for one in tree.body if isinstance(one, ast.Expr)]
    tables: list = [lines if all(isinstance(one, dict) for one in lines) else []]
    calls = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict | ast.List):
            tables.append(_literal(node))
        elif isinstance(node, ast.Call):
            named = {one.arg: _literal(one.value) for one in node.keywords if one.arg}
            calls += [named] if isinstance(named.get(_TEXTS), list) else []
    return max(filter(_is_table, (*tables, calls)), key=_row_count, default=[])


def _literal(node: ast.expr) -> object:
    try:
        return literal(node)
    except (ValueError, TypeError, RecursionError, MemoryError):
        return None


def _is_table(value: object) -> bool:
    """True for lists of one length by name, and for a list of tuples, lists or objects, with texts
    in them."""
    if isinstance(value, dict):
        lists = [one for one in value.values() if isinstance(one, list)]
        are_rows = 1 < len(value) == len(lists) and len({*map(len, lists)}) == 1
    else:
        rows = value if isinstance(value, list) else []
        are_rows = bool(rows) and all(
            isinstance(row, dict | list | tuple) and (len(row) > 1 or _TEXTS in row) for row in rows
        )
    return are_rows and _has_text(value)


def _has_text(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_has_text, value.values()))
    return isinstance(value, str) or (
        isinstance(value, list | tuple) and any(map(_has_text, value))
    )


def _row_count(rows: Rows) -> int:
    return len(next(iter(rows.values()))) if isinstance(rows, dict) else len(rows)


def _inserted(text: str) -> list:
    """Return the rows of the INSERT statements of an SQL dump, by name where they name columns;
    none where anything else follows a statement on its line, as in a table of questions and SQL."""
    rows = []
    for insert in _INSERT.finditer(text) if _INSERT.search(text[:PYTHON_LETTERS]) else ():
        names = re.findall(r"[^\s,`\"\[\]]+", insert[1] or "")
        row: list[str | None] = []
        for value in _VALUE.finditer(text, insert.end()):
            quoted, mark, word = value.groups()
            if mark == ";":
                break
            if mark == ")":
                rows.append(dict(zip(names, row, strict=False)) if names else row)
                row = []
            elif quoted is not None:
                row.append(_ESCAPED.sub(lambda one: _ESCAPES.get(one[1], one[1]), quoted))
            elif word:
                row.append(None if word.upper() == "NULL" else word)
        else:
            return []
        if not _LINE_END.match(text, value.end()):
            return []
    return rows
