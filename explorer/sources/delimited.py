"""CSV and TSV: separator, quoting and header found out, as people write such files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

from explorer.runtime.problem import Problem
from explorer.sources.cells import is_score, shortened
from explorer.sources.columns import recognised

# Rows that are looked at to find out what kind of table it is.
SAMPLE = 200
# Of fewer rows the shortest may well be the first.
LEAST_BELOW = 5
# Rows between two moments at which the parsing says how far it is.
_STEP = 2**13

Record = tuple[int, Sequence[object] | Problem]
Tell = Callable[[int, int], None]


def to_nobody(done: int, total: int) -> None:
    pass


def lines_of(text: str, tell: Tell) -> Iterator[str]:
    lines = text.split("\n")
    for place, line in enumerate(lines):
        if place % _STEP == 0:
            tell(place, len(lines))
        yield line


def delimited(
    text: str, kind: str, header: bool | None, tell: Tell
) -> tuple[tuple[str, ...], list[Record], bool]:
    """Columns, records and whether there is a header; `header` None means: find out."""
    # Not splitlines: it also cuts at characters that may stand inside a sentence.
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    delimiter = "\t" if kind == "TSV" else _delimiter(text)
    if '"' not in text or (delimiter == "\t" and not _properly_quoted(text)):
        split: list[list[str] | Problem] = [line.split(delimiter) for line in lines_of(text, tell)]
    else:
        split = list(_quoted_records(text, delimiter, tell))
    records = [(row, cells) for row, cells in enumerate(split) if _has_content(cells)]
    first_row, first = records[0]
    if header is None:
        header = _is_header(first, [cells for _, cells in records[1:]])
    if header and not isinstance(first, Problem):  # an unreadable row names no columns
        columns = distinct(first)
    else:
        header = False
        columns = tuple(str(i + 1) for i in range(_usual_width(cells for _, cells in records)))
    width = len(columns)
    below = records[1:] if header else records
    offset = first_row if header else -1
    rows: list[Record] = [(row - offset, _fitted(cells, width)) for row, cells in below]
    return columns, rows, header


def _has_content(cells: Sequence[str] | Problem) -> bool:
    return isinstance(cells, Problem) or any(cell.strip() for cell in cells)


def _quoted_records(
    text: str, delimiter: str, tell: Tell = to_nobody
) -> Iterator[list[str] | Problem]:
    """The records of quoted text (RFC 4180), forgiving a mark that is part of a sentence.

    A cell is quoted only if its closing mark ends the cell; otherwise its marks are its own. So
    a mark that never closes costs its row at most, not the rest of the file.
    """
    width = None
    position = count = 0
    while position < len(text):
        if count % _STEP == 0:
            tell(position, len(text))
        count += 1
        cells, end = _record(text, position, delimiter)
        if width is None and _has_content(cells):
            width = len(cells)
        if text.find("\n", position, end - 1) >= 0 and len(cells) != width:
            # Too much was taken for one quoted cell: read the first line by itself.
            end = text.index("\n", position) + 1
            cells, _ = _record(text[position : end - 1], 0, delimiter)
        unclosed = len(cells) != width and any(cell.startswith('"') for cell in cells)
        yield (
            Problem("row_unclosed_quote", text=shortened(text[position : end - 1]))
            if unclosed
            else cells
        )
        position = end


def _record(text: str, position: int, delimiter: str) -> tuple[list[str], int]:
    """The cells of the record that begins at `position`, and where the next one begins."""
    quoted, bare = _cell_patterns(delimiter)
    cells = []
    while True:
        if found := quoted.match(text, position):
            cells.append(found[1].replace('""', '"'))
        else:
            found = bare.match(text, position)
            cells.append(found[0])
        position = found.end() + 1
        if text[found.end() : position] != delimiter:
            return cells, position


@cache
def _cell_patterns(delimiter: str) -> tuple[re.Pattern, re.Pattern]:
    """A quoted and a bare cell. Possessive repeats (++, *+) keep hostile input linear."""
    quoted = re.compile(rf'"((?:[^"]++|"")*+)"(?={delimiter}|\n|\Z)')
    return quoted, re.compile(rf"[^{delimiter}\n]*+")


def _properly_quoted(text: str) -> bool:
    """Whether the quotation marks of a tab-separated file are quoting, and not part of sentences.

    A program that quotes doubles the marks inside. So the file is quoted if every cell with a
    mark is well-formed and the quoting was needed (a mark, tab or line break inside), or if
    every cell that is not a number is quoted.
    """
    rows = [line.split("\t") for line in text.split("\n") if line.strip()]
    marked = [cell for row in rows for cell in row if '"' in cell]
    if not marked:
        return False
    if len({len(row) for row in rows}) > 1:
        return _consistent(list(_quoted_records(text, "\t")))
    if not all(re.fullmatch(r'"(?:[^"]|"")*"', cell) for cell in marked):
        return False
    if all('""' in cell[1:-1] for cell in marked):
        return True
    return all('"' in cell or is_score(cell) for row in rows for cell in row if cell.strip())


def _consistent(records: Sequence[list[str] | Problem]) -> bool:
    """Whether all non-empty records are readable and equally wide."""
    full = [cells for cells in records if _has_content(cells)]
    widths = {0 if isinstance(cells, Problem) else len(cells) for cells in full}
    return len(widths) == 1 and 0 not in widths


def _delimiter(text: str) -> str:
    """The separator under which the first rows look most like a table."""
    beginning = "\n".join(text.split("\n", SAMPLE)[:SAMPLE])

    def evidence(delimiter: str) -> tuple[float, ...]:
        records = [c for c in _quoted_records(beginning, delimiter) if _has_content(c)]
        rows = [cells for cells in records if not isinstance(cells, Problem)]
        if not rows:
            return (0.0,)
        width = _usual_width(rows)
        fitting = [cells for cells in rows if len(cells) == width]
        scores = max(sum(map(is_score, column)) for column in zip(*fitting, strict=True))
        share = len(fitting) / len(records)
        # As many tabs in every row are no part of sentences.
        tabbed = delimiter == "\t" and width >= 2 and share == 1
        return (recognised(rows[0]), tabbed, width >= 2, width >= 3, share * scores, share)

    # On a tie the semicolon wins: sentences contain commas far more often.
    return max("\t;,", key=evidence)


def _usual_width(records: Iterable[list[str] | Problem]) -> int:
    widths = Counter(len(cells) for cells in records if not isinstance(cells, Problem))
    return widths.most_common(1)[0][0] if widths else 0


def _is_header(first: Sequence[str] | Problem, below: Sequence[Sequence[str] | Problem]) -> bool:
    """Names that a header would hold, words above a column of scores, or, where all is text, words
    shorter than any below them."""
    if isinstance(first, Problem):
        return False
    if recognised(first) >= 2 and not any(map(is_score, first)):
        return True
    fitting = [c for c in below[:SAMPLE] if not isinstance(c, Problem) and len(c) == len(first)]
    if not fitting:
        return not any(map(is_score, first))
    for position, name in enumerate(first):
        scores = sum(is_score(cells[position]) for cells in fitting)
        if name.strip() and not is_score(name) and scores >= 0.8 * len(fitting):
            return True
    return len(fitting) >= LEAST_BELOW and all(
        0 < len(name.strip()) < min(len(cells[position].strip()) for cells in fitting)
        and name.strip()[-1].isalnum()
        for position, name in enumerate(first)
    )


def _fitted(cells: list[str] | Problem, width: int) -> list[str] | Problem:
    """The cells, without empty ones beyond the width (spreadsheets append those)."""
    if isinstance(cells, Problem):
        return cells
    while len(cells) > width and not cells[-1].strip():
        cells = cells[:-1]
    if len(cells) != width:
        return Problem("row_fields", found=len(cells), expected=width)
    return cells


def distinct(names: Sequence[str]) -> tuple[str, ...]:
    """Column names, none empty and none twice: an empty one is called by its number."""
    distinct: list[str] = []
    for position, name in enumerate(names, start=1):
        plain = name.strip() or str(position)
        count = 2
        unique = plain
        while unique in distinct:
            unique, count = f"{plain} ({count})", count + 1
        distinct.append(unique)
    return tuple(distinct)
