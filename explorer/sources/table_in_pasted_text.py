"""Tables within pasted text: drawn with bars or blanks, in HTML or code, or between fences.

What stands before and after the table is left out, by the numbers of its lines.
"""

import functools
import itertools
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from string import digits

from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.cells import NOTHING, is_score, shortened
from lossprism.explorer.sources.column_roles import heads_classes, recognised
from lossprism.explorer.sources.html_tables import rows_of_html
from lossprism.explorer.sources.tables_in_python_or_sql import json_of_code

CHECKED_LINES = 200  # in which a table begins, and by whose rows it is recognised
MIN_SHARE = 0.8  # of the cells of a column of numbers
MAX_LINES_AROUND = 20  # or as many as the table has

_BARS = str.maketrans(dict.fromkeys("│┃║", "|"))
_RULE = re.compile(r"[\s|+:=\-─-╿]*[-=─━═][\s|+:=\-─-╿]*")
_BAR = re.compile(r"(?<!\\)\|")
_FENCE = re.compile(r"\s*(```|~~~)")
_WORD = re.compile(r"\w")
_ASCII_WORD = re.compile(r"[!-~]+")
_WIDE = re.compile("[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60]")
_TAB, _WIDE_BLANK, _BLANK = re.compile(r"\t"), re.compile(r"\s{2,}"), re.compile(r"\s+")
# From the first blank on: a run of a million that leads to no mark is gone through once.
_MARKS = tuple(re.compile(rf"(?<!\s)\s*+{mark}\s*") for mark in (";", ",", "(?:[-=]>|[:：=→])"))
_STEP_WORD = re.compile(r"^\W*(?:global[ _])?(?:step|iter(?:ation)?)\s*(?=\d)", re.IGNORECASE)
_BETWEEN_NUMBERS = (*_MARKS, _BLANK)  # which may also stand within a text
_SENTENCE_ENDS = tuple(":.,;?!：。，；？！")
# Above the columns of a simple table of reStructuredText, Pandoc or tabulate.
_COLUMN_RULE = re.compile(r"\s*(?:={2,}|-{2,})(?:\s+(?:={2,}|-{2,}))+\s*")
_LABELLED = re.compile(r"((?:__label__\S+\s+)+)(\S.*)")  # a line of fastText
# A cell with its name before it, and what begins a list or a text of several lines in YAML.
_FIELD = re.compile(r"(?:- )?[\"'*# ]*([^\W\d][\w.-]*)[\"'*]*\s*[:：]\**\s*([^\s|>].*)")
_NESTED = re.compile(r"(?:- )?[\w\"'.-]+:(?:\s+[|>][-+]?)?|-\s(?!\s*[\"']?[^\W\d][\w.-]*[\"']?:).*")
# Forms that hold tables and are not read, by a line of theirs.
_UNREAD = {
    "reStructuredText (list-table, csv-table)": re.compile(r"\s*\.\. (?:list|csv)-table::.*"),
    "LibSVM (features by number)": re.compile(
        r"\d+(?:\.\d+)?(?: qid:\d+)?(?: \d+:-?[\d.e-]+){2,}\s*(?:#.*)?"
    ),
    "trec_eval (metrics)": re.compile(
        r"(?:map|ndcg|P_|recall_|recip_rank|num_|success_)\w*\s*\tall\t[\d.]+\s*"
    ),
    "YAML (lists of lists)": re.compile(r"\s*- - [^\t]*"),
    "LaTeX": re.compile(r"\s*\\begin\{(?:tabular|longtable)[^\t]*"),
    "XML": re.compile(r"\s*<\?xml[^\t]*"),
    "SQL": re.compile(r"\s*(?:COPY \S[^\t]* FROM stdin;|(?:CREATE TABLE|INSERT INTO) [^\t]*)"),
}

Row = list[str]
Lines = Sequence[tuple[int, str]]  # with their numbers, counted from 1


@dataclass(frozen=True)
class PastedTable:
    """The `text` of a table, with tabs between its cells where it `is_drawn`; whether its first row
    has names (`has_header`), and the numbers of the lines around it (`left_lines`)."""

    text: str
    is_drawn: bool = False
    has_header: bool = False
    left_lines: tuple[int, ...] = ()


@dataclass(frozen=True)
class _FoundTable:
    """The rows of a table, and the numbers of its first and last line."""

    rows: list[Row]
    first: int
    last: int
    has_header: bool = True


def table_in(text: str) -> PastedTable:
    """Return the drawn table of a text, or what stands between its fences, or else all of it.

    >>> table_in("My log:\\n| step | loss |\\n|---|---|\\n| 10 | 0.69 |").text
    'step\\tloss\\n10\\t0.69'
    >>> table_in("step  loss\\n  10  0.69").text
    'step\\tloss\\n10\\t0.69'
    >>> table_in("```\\na,b\\n1,2\\n```").text
    'a,b\\n1,2'

    Raises Problem for a form that is not read, and for several labels in a line of fastText.
    """
    whole = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    fenced = _fenced(whole)
    left = _lines_around(whole, fenced[0][0], fenced[-1][0]) if fenced else ()
    inside = "\n".join(line for _, line in fenced) or text
    if code := json_of_code(inside):
        return PastedTable(code, left_lines=left)
    if rows := rows_of_html(inside):
        return _drawn(rows, left=left)
    lines = fenced or whole
    for find in _FINDERS:
        table = find(lines) if find(lines[:CHECKED_LINES]) else None
        if table is None:
            continue
        outside = (number for number, _ in lines if not table.first <= number <= table.last)
        if sum(1 for _ in outside) <= max(MAX_LINES_AROUND, len(table.rows)):
            return _drawn(
                table.rows, table.has_header, _lines_around(whole, table.first, table.last)
            )
    for form, begins in _UNREAD.items():
        if any(begins.fullmatch(line) for _, line in lines[:CHECKED_LINES]):
            raise Problem("text_form", form=form)
    return PastedTable(inside, left_lines=left)


def _drawn(rows: Sequence[Row], has_header: bool = True, left: tuple[int, ...] = ()) -> PastedTable:
    return PastedTable("\n".join(map("\t".join, rows)), True, has_header, left)


def bar_cells(line: str) -> Row:
    """Return the cells of a line with bars between them, without marks of bold type or code."""
    inside = line.strip().removeprefix("|")
    inside = inside[:-1] if inside.endswith("|") and not inside.endswith("\\|") else inside
    return [_unmarked(cell.replace("\\|", "|").strip()) for cell in _BAR.split(inside)]


def _unmarked(cell: str) -> str:
    """Return a cell without the marks of bold type or code that stand on both sides of it."""
    count = len(cell) - len(cell.lstrip("*`"))
    is_marked = count and cell[::-1].startswith(cell[:count])
    return cell[count:-count].strip() if is_marked else cell


def is_delimited(lines: Sequence[str]) -> bool:
    """Return whether a comma or a semicolon is in every line, as often as in any other."""
    counts = ({line.count(mark) for line in lines} for mark in ",;")
    return any(len(counted) == 1 and counted != {0} for counted in counts)


def are_steps(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether rows of numbers are points of a curve: at least two of one width, whose first
    numbers are whole and rise, and of whose second numbers some are not whole.

    >>> are_steps([["10", "0.69"], ["20", "0.68"]]), are_steps([["1", "2"], ["3", "4"]])
    (True, False)
    """
    if len(rows) < 2 or len({len(row) for row in rows}) > 1 or len(rows[0]) < 2:
        return False
    if not all(row[0].isdecimal() for row in rows) or not all(map(_are_values, rows)):
        return False
    rise = all(int(one[0]) < int(other[0]) for one, other in itertools.pairwise(rows))
    return rise and any("." in row[1] or "," in row[1] for row in rows)


def numbers_alone(columns: int) -> Problem:
    """Return the problem of rows of numbers, with the form in which similarities are read."""
    example = '{"pos": [0.9], "neg": [0.1, 0.2]}'
    return Problem("table_of_numbers", columns=columns, example=example)


def _fenced(lines: Lines) -> Lines:
    """Return the lines of the first block between fences; none where there is no such block."""
    marks = [place for place, (_, line) in enumerate(lines) if _FENCE.match(line)]
    if not marks:
        return ()
    return lines[marks[0] + 1 : marks[1] if len(marks) > 1 else len(lines)]


def _lines_around(lines: Lines, first: int, last: int) -> tuple[int, ...]:
    """Return the numbers of the lines of words before `first` and after `last`."""
    around = ((number, line) for number, line in lines if not first <= number <= last)
    return tuple(at for at, line in around if _WORD.search(line) and not _FENCE.match(line))


def _labelled(lines: Lines) -> _FoundTable | None:
    """Find lines of fastText: a label and a text each. Raises Problem for several labels."""
    found = [_LABELLED.fullmatch(line.strip()) for _, line in lines]
    labels = [one[1].replace("__label__", "").split() for one in found if one]
    if not lines or len(labels) < len(lines):
        return None
    if several := next((one for one in labels if len(one) > 1), None):
        raise Problem("lines_of_several_labels", labels=shortened(", ".join(several)))
    texts = [one[2].replace("\t", " ") for one in found if one]
    rows = [[text, label] for text, (label,) in zip(texts, labels, strict=True)]
    return _FoundTable([["text", "class"], *rows], lines[0][0], lines[-1][0])


def _in_blocks(lines: Lines) -> _FoundTable | None:
    """Find rows of which each cell has a line with its name: "Q: …" and "A: …", or a list in YAML.

    A line without such a name goes on with the cell before; a list within a row is not read."""
    plain = [line.strip() for _, line in lines]
    fields = [*map(_FIELD.fullmatch, plain)]
    if not lines or not fields[0] or any(map(_NESTED.fullmatch, plain)):
        return None
    called = [field[1] if field else "" for field in fields]
    if called.count(called[0]) == 1:  # "Q1", "Q2"
        called = [name.rstrip(digits) for name in called]
    counts = Counter(filter(None, called))
    first = called[0]
    names = [name for name, count in counts.items() if count >= max(counts[first] - 1, 2)]
    is_header = recognised(names) >= 2 or heads_classes(names) or {"step", "loss"}.issubset(names)
    if first not in names or len(names) < 2 or not is_header:
        return None
    rows: list[dict[str, str]] = []
    name = first
    for field, own, line in zip(fields, called, plain, strict=True):
        is_named = field is not None and own in names
        text = (field[2] if field and is_named else line).replace("\t", " ")
        if is_named:
            name = own
            rows += [{}] if name == first else []
            text = text[1:-1] if text[0] in "\"'" and text[-1] == text[0] != text else text
        rows[-1][name] = f"{rows[-1][name]} {text}" if name in rows[-1] else text
    cells = [[row.get(name, "") for name in names] for row in rows]
    return _FoundTable([names, *cells], lines[0][0], lines[-1][0])


def _in_columns(lines: Lines) -> _FoundTable | None:
    """Find the names and rows of a table with a rule above each column."""
    rules = [at for at, (_, line) in enumerate(lines) if _COLUMN_RULE.fullmatch(line)]
    if not rules:
        return None
    width = len(lines[rules[0]][1].split())
    is_framed = len(rules) > 1 and rules[1] == rules[0] + 2
    head = rules[0] + (1 if is_framed else -1)
    below = (at for at in range(max(head, 0), len(lines)) if at not in rules)
    rows = ((lines[at][0], _WIDE_BLANK.split(lines[at][1].strip())) for at in below)
    body = [*itertools.takewhile(lambda row: len(row[1]) == width, rows)]
    if len(body) < 2:
        return None
    return _FoundTable([row for _, row in body], body[0][0], body[-1][0], has_header=head >= 0)


def _framed(lines: Lines) -> _FoundTable | None:
    """Find the most lines with a bar at both ends."""
    return _largest_barred(lines, lambda line: line.startswith("|") and line.endswith("|"))


def _ruled(lines: Lines) -> _FoundTable | None:
    """Find the most lines with a bar in each, below a rule."""
    return _largest_barred(lines, lambda line: bool(_BAR.search(line)), needs_rule=True)


def _largest_barred(
    lines: Lines, has_bars: Callable[[str], bool], needs_rule: bool = False
) -> _FoundTable | None:
    plain = [(number, line.translate(_BARS).strip()) for number, line in lines]
    tables = []
    for fits, block in itertools.groupby(
        plain, lambda one: has_bars(one[1]) or bool(_RULE.fullmatch(one[1]))
    ):
        rows = list(block) if fits else []
        cells = [_plain_cells(line) for _, line in rows if not _RULE.fullmatch(line)]
        is_ruled = any(_RULE.fullmatch(line) for _, line in rows[:2])
        if cells and (is_ruled or not needs_rule):
            tables.append(_FoundTable(cells, rows[0][0], rows[-1][0]))
    return max(tables, key=lambda table: len(table.rows), default=None)


def _plain_cells(line: str) -> Row:
    return [cell.replace("\t", " ") for cell in bar_cells(line)]


def _find_aligned(cut: re.Pattern[str], lines: Lines) -> _FoundTable | None:
    """Find the most rows of one width with `cut` between their cells."""
    rows = [(number, line) for number, line in lines if not _RULE.fullmatch(line)]
    plain = [line.strip() for _, line in rows]
    if cut in _BETWEEN_NUMBERS:
        plain = [_STEP_WORD.sub("", line) for line in plain]
    cells = [cut.split(line) for line in plain]
    some = [line for _, line in rows[:CHECKED_LINES]]
    is_table = is_delimited(some) or all("\t" in line for line in some)
    if is_table and not (cut is _BLANK and are_steps(cells[:CHECKED_LINES])):
        return None
    fits = _are_values if cut in _BETWEEN_NUMBERS else _has_value
    for start, stop in _runs([len(row) if fits(row) else 0 for row in cells]):
        body, first, last = cells[start:stop], rows[start][0], rows[stop - 1][0]
        number, above = rows[start - 1] if start else (0, "")
        head = _head(above, cut, len(body[0]))
        if head and _has_numbers(body[:CHECKED_LINES]):
            return _FoundTable([head, *body], number, last)
        if are_steps(body[:CHECKED_LINES]):
            return _FoundTable(body, first, last, has_header=False)
    return None


def _in_aligned_texts(lines: Lines) -> _FoundTable | None:
    """Find rows whose texts begin at one place in all lines, where a Chinese character is as wide
    as two letters; a value may stand at the right of its column."""
    cells = [_WIDE_BLANK.split(line.strip()) for _, line in lines]
    if len(lines) < 2 or len({*map(len, cells)}) > 1 or any("\t" in line for _, line in lines):
        return None
    wide = [_WIDE.sub(r"\g<0>\0", line.strip()) for _, line in lines]
    starts = zip(*([gap.end() for gap in _WIDE_BLANK.finditer(line)] for line in wide), strict=True)
    columns = [*zip(*cells, strict=True)]
    has_texts = [not all(map(_is_value, column)) for column in columns]
    texts = list(itertools.compress(columns, has_texts))
    aligned = all(
        len({*places}) == 1 for places, text in zip(starts, has_texts[1:], strict=True) if text
    )
    is_header = recognised(cells[0]) >= 2 or heads_classes(cells[0])
    # Such as the levels of log messages, or names of packages beside their versions.
    has_words = any(all(map(_ASCII_WORD.fullmatch, column)) for column in texts)
    if len(texts) < 2 or not aligned or (has_words and not is_header):
        return None
    return _FoundTable(cells, lines[0][0], lines[-1][0], has_header=is_header)


def _runs(widths: Sequence[int]) -> list[tuple[int, int]]:
    """Return where runs of one width of at least 2 begin and end, the longest first."""
    runs, start = [], 0
    for width, run in itertools.groupby(widths):
        stop = start + sum(1 for _ in run)
        runs += [(start, stop)] if width > 1 else []
        start = stop
    return sorted(runs, key=lambda run: run[0] - run[1])


def _head(line: str, cut: re.Pattern[str], width: int) -> Row:
    """Return the names of the columns; pandas writes none above the index, and begins with blanks.
    Empty for a sentence."""
    plain = line.strip()
    if not plain or plain.endswith(_SENTENCE_ENDS) or any(map(is_score, _BLANK.split(plain))):
        return []
    readings = (cut,) if cut in _BETWEEN_NUMBERS else (cut, _WIDE_BLANK, _BLANK)
    for by in readings:
        if len(names := by.split(plain)) == width:
            return names
    for by in () if cut in _MARKS else readings:
        names = by.split(plain)
        if len(names) == width - 1 and (line[:1].isspace() or not any(map(_BLANK.search, names))):
            return ["", *names]
    return []


def _has_numbers(rows: Sequence[Row]) -> bool:
    """Return whether some column has numbers."""
    shares = (sum(map(_is_value, column)) / len(column) for column in zip(*rows, strict=True))
    return any(share >= MIN_SHARE for share in shares)


def _has_value(row: Sequence[str]) -> bool:
    return len(row) > 1 and any(map(_is_value, row))


def _are_values(row: Sequence[str]) -> bool:
    return len(row) > 1 and all(map(_is_value, row))


def _is_value(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return is_score(cell) or cell.lower() in NOTHING
    return True


_FINDERS = (
    _labelled,
    _in_blocks,
    _framed,
    _ruled,
    _in_columns,
    *(functools.partial(_find_aligned, cut) for cut in (_TAB, _WIDE_BLANK, *_BETWEEN_NUMBERS)),
    _in_aligned_texts,
)
