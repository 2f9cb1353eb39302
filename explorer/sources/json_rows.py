"""JSON lines, or one JSON array, as rows: an object each, whose keys are the columns, or an array
each, whose cells are those of a table."""

import itertools
import re
from collections.abc import Callable, Iterator, Sequence

from lossprism.explorer.runtime.json_reading import JsonReader
from lossprism.explorer.runtime.limits import COLUMNS, ROW_LETTERS
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.cells import Cells, is_blank, shortened
from lossprism.explorer.sources.column_roles import are_heads, recognised
from lossprism.explorer.sources.delimited import Record, ReportProgress, distinct, lines_of
from lossprism.explorer.sources.nested_rows import flattened
from lossprism.explorer.sources.table_in_one_json_object import rows_of_object

_OF_LISTS = re.compile(r"\s*\[\s*(?=\[)")
_BLANK = re.compile(r"[ \t\n\r]*")
# A string, also one that nothing closes, or a bracket. Possessive repeats keep it linear.
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)
# Python refuses to parse an integer of more digits; as a float it is infinite.
_DIGITS = 400
# Entries between two reports of the parsing's progress.
_STEP = 2**10

Object = dict[str, object]


def is_json(text: str, of_ids: bool = False) -> bool:
    """A JSON object, or an array with a text, on the first line; or an array that holds one; with
    `of_ids` also an array of numbers on each line."""
    start = text[:4096].lstrip() or text.lstrip()[:4096]
    return re.match(r'\{\s*("|\})|\[\s*[\{\]]', start) is not None or bool(
        _first_list(text, of_ids)
    )


def _first_list(text: str, of_ids: bool) -> list[object]:
    """The first row, where rows are arrays and this one holds a text, or, with `of_ids`, where
    each line is an array; else an empty list."""
    outer = _OF_LISTS.match(text)
    begin = outer.end() if outer else _after_blanks(text, 0)
    if text[begin : begin + 1] != "[" or _is_long(text, begin):
        return []
    try:
        row, end = _DECODER.raw_decode(text, begin)
    except ValueError:
        return []
    rest = text[end : _after_blanks(text, end) + 1]
    is_whole = rest.strip() in (",", "]") if outer else not rest.strip() or "\n" in rest
    in_lines = of_ids and not outer and "\n" in rest and rest.strip() == "["
    return row if is_whole and (in_lines or any(isinstance(cell, str) for cell in row)) else []


def json_records(
    text: str, name: str, report: ReportProgress
) -> tuple[tuple[str, ...], Callable[[ReportProgress], Iterator[Record]], bool]:
    """Columns, what goes through the records, and whether the columns have names: those of arrays
    are numbered, unless the first array has names as a header would.

    Raises Problem if no row has a cell, there are too many columns, or an array is damaged.
    """
    first = _first_list(text, of_ids=True)
    in_array = text[_after_blanks(text, 0)] == "[" and (not first or bool(_OF_LISTS.match(text)))
    head = [cell for cell in first if isinstance(cell, str)]
    are_names = recognised(head) > 1 or (len(head) > 1 and are_heads(head))
    names = head if len(head) == len(first) and are_names else []

    whole = None if in_array else rows_of_object(text)

    def rows(report: ReportProgress) -> Iterator[tuple[int, object]]:
        return _array(text, name, report) if in_array else _lines(text, report)

    def entries(report: ReportProgress) -> Iterator[tuple[int, Object | Problem]]:
        if whole is not None:
            for number, row in enumerate(whole, start=1):
                yield number, _checked(row)
            return
        for number, row in itertools.islice(rows(report), bool(names), None):
            if first and isinstance(row, list):
                row = _named(row, names)
            yield number - bool(names), _checked(row)

    columns, records = object_records(entries, name, report)
    if not columns:
        raise Problem("file_not_json", name=name)
    return columns, records, bool(names) or not first


def _named(row: list[object], names: Sequence[str]) -> Object:
    """The cells of an array by the names of their columns, or by their numbers."""
    numbers = map(str, range(len(names) + 1, len(row) + 1))
    return dict(zip(itertools.chain(names, numbers), row, strict=False))


def object_records(
    entries: Callable[[ReportProgress], Iterator[tuple[int, Object | Problem]]],
    name: str,
    report: ReportProgress,
) -> tuple[tuple[str, ...], Callable[[ReportProgress], Iterator[Record]]]:
    """Return all keys of the entries as columns, and an iterator over the entries as records.

    Raises Problem if there are too many keys.
    """
    places: dict[str, int] = {}
    for _, entry in entries(report):
        if isinstance(entry, dict):
            for key in entry:
                places.setdefault(key, len(places))
            if len(places) > COLUMNS:
                raise Problem("file_many_columns", name=name, most=COLUMNS)
    keys = tuple(places)

    def records(report: ReportProgress) -> Iterator[Record]:
        for row, entry in entries(report):
            yield row, entry if isinstance(entry, Problem) else Fields(entry, keys, places)

    return distinct(keys), records


class Fields:
    """The `Cells` of an object: None where it lacks a key. No list of them is made, as an object
    may have few of the keys that there are."""

    __slots__ = ("_entry", "_keys", "_places")

    def __init__(self, entry: Object, keys: tuple[str, ...], places: dict[str, int]) -> None:
        self._entry, self._keys, self._places = entry, keys, places

    def __len__(self) -> int:
        return len(self._keys)

    def __getitem__(self, position: int, /) -> object:
        return self._entry.get(self._keys[position])

    def __iter__(self) -> Iterator[object]:
        return map(self._entry.get, self._keys)

    def filled(self) -> Iterator[tuple[int, object]]:
        return ((self._places[key], cell) for key, cell in self._entry.items())


def written(cells: Cells) -> Iterator[tuple[int, object]]:
    """The cells, each with the position of its column; of an object those whose keys it has."""
    return cells.filled() if isinstance(cells, Fields) else enumerate(cells)


def filled(cells: Cells) -> Iterator[tuple[int, object]]:
    """The cells that are not blank, each with the position of its column."""
    return ((position, cell) for position, cell in written(cells) if not is_blank(cell))


def _whole(digits: str) -> float:
    return int(digits) if len(digits) <= _DIGITS else float(digits)


_DECODER = JsonReader(parse_int=_whole)


def _lines(text: str, report: ReportProgress) -> Iterator[tuple[int, object]]:
    for number, line in lines_of(text, report):
        yield number + 1, _in_line(line)


def _in_line(line: str) -> object:
    if len(line) > ROW_LETTERS:
        return Problem("row_too_long", most=ROW_LETTERS)
    try:
        return _DECODER.decode(line)
    except ValueError:
        return Problem("row_not_json", text=shortened(line[:200].strip()))


def _checked(value: object) -> Object | Problem:
    if isinstance(value, dict):
        return flattened(value)
    if isinstance(value, Problem):
        return value
    return Problem("row_not_object", text=shortened(value))


def _array(text: str, name: str, report: ReportProgress) -> Iterator[tuple[int, object]]:
    """The entries one at a time: all at once would take many times the room of the text."""
    broken = Problem("file_broken", name=name, kind="JSON")
    position, mark = _after_blanks(text, text.index("[") + 1), ","
    if text[position : position + 1] == "]":
        position, mark = _after_blanks(text, position + 1), "]"
    row = 0
    while mark == ",":
        if row % _STEP == 0:
            report(position, len(text))
        if len(text) - position > ROW_LETTERS and _is_long(text, position):
            raise Problem("row_too_long", most=ROW_LETTERS)
        try:
            value, position = _DECODER.raw_decode(text, position)
        except ValueError:
            raise broken from None
        row += 1
        yield row, value
        position = _after_blanks(text, position)
        mark = text[position : position + 1]
        position = _after_blanks(text, position + 1)
    if mark != "]" or position < len(text):
        raise broken


def _after_blanks(text: str, position: int) -> int:
    blank = _BLANK.match(text, position)
    return blank.end() if blank else position


def _is_long(text: str, position: int) -> bool:
    """True if the entry that begins here is longer than a row may be."""
    depth = 0
    for token in _TOKEN.finditer(text, position, position + ROW_LETTERS + 1):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token[0], 0)
        if depth <= 0:
            return False
    return True
