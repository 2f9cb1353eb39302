"""Tables that are drawn with bars or blanks, as in Markdown, a terminal or a notebook."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from explorer.sources.cells import NOTHING, is_score

CHECKED_LINES = 200  # by which a table is recognised
MIN_SHARE = 0.8  # of the cells of a column of numbers

_BARS = str.maketrans(dict.fromkeys("│┃║", "|"))
_RULE = re.compile(r"[\s|+:=\-─-╿]*[-=─━═][\s|+:=\-─-╿]*")
_BAR = re.compile(r"(?<!\\)\|")
_WIDE_BLANK, _BLANK = re.compile(r"\s{2,}"), re.compile(r"\s+")

Rows = list[list[str]]


def tabbed(text: str) -> str:
    """Return a drawn table with tabs between its cells, and "" for any other text.

    >>> tabbed("| step | loss |\\n|---|---|\\n| 10 | 0.69 |")
    'step\\tloss\\n10\\t0.69'
    >>> tabbed("step  loss\\n  10  0.69")
    'step\\tloss\\n10\\t0.69'
    >>> tabbed("a,b\\n1,2")
    ''
    """
    lines = [line for line in text.translate(_BARS).split("\n") if line.strip()]
    for read in (_barred, _aligned):
        if read(lines[:CHECKED_LINES]):
            return "\n".join("\t".join(row) for row in read(lines))
    return ""


def bar_cells(line: str) -> list[str]:
    """Return the cells of a line with bars between them, without marks of bold type or code."""
    inside = line.strip().removeprefix("|")
    inside = inside[:-1] if inside.endswith("|") and not inside.endswith("\\|") else inside
    return [cell.replace("\\|", "|").strip(" *`\t") for cell in _BAR.split(inside)]


def is_delimited(lines: Sequence[str]) -> bool:
    """Return whether a comma or a semicolon is in every line, as often as in any other."""
    counts = ({line.count(mark) for line in lines} for mark in ",;")
    return any(len(found) == 1 and found != {0} for found in counts)


def _barred(lines: Sequence[str]) -> Rows:
    """Return the rows of a table with a bar in each line, below a rule or between outer bars."""
    rows = [line for line in lines if not _RULE.fullmatch(line)]
    ruled = len(rows) < len(lines) and any(map(_RULE.fullmatch, lines[:2]))
    framed = all(line.strip().startswith("|") and line.strip().endswith("|") for line in rows)
    if not rows or not (ruled or framed) or not all(map(_BAR.search, rows)):
        return []
    return [[cell.replace("\t", " ") for cell in bar_cells(line)] for line in rows]


def _aligned(lines: Sequence[str]) -> Rows:
    """Return the rows of a table with blanks between its columns, one of which has numbers."""
    rows = [line for line in lines if not _RULE.fullmatch(line)]
    if len(rows) < 2 or any("\t" in line for line in rows) or is_delimited(rows):
        return []
    for cut in (_WIDE_BLANK, _BLANK):
        body = [cut.split(line.strip()) for line in rows[1:]]
        width = len(body[0])
        if width < 2 or any(len(row) != width for row in body):
            continue
        columns = [[_is_value(cell) for cell in column] for column in zip(*body, strict=True)]
        numbers = [sum(column) >= MIN_SHARE * len(column) for column in columns]
        head = _head(rows[0], width)
        # A single blank may stand within a text.
        if head and (any(numbers) if cut is _WIDE_BLANK else all(numbers)):
            return [head, *body]
    return []


def _head(line: str, width: int) -> list[str]:
    """Return the names of the columns; pandas writes none above the index. Empty for no names."""
    readings = [cut.split(line.strip()) for cut in (_WIDE_BLANK, _BLANK)]
    if any(map(is_score, readings[-1])):
        return []
    for missing in (0, 1):
        for names in readings:
            if len(names) == width - missing:
                return [*itertools.repeat("", missing), *names]
    return []


def _is_value(cell: str) -> bool:
    return is_score(cell) or cell.lower() in (*NOTHING, "nan", "inf", "-inf")
