"""JSON lines, or one JSON array, as rows: an object each, its keys the columns."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

from explorer.runtime.limits import COLUMNS, ROW_LETTERS
from explorer.runtime.problem import Problem
from explorer.sources.cells import Cells, is_blank, shortened
from explorer.sources.delimited import Record, Tell, distinct, lines_of
from explorer.sources.nested_rows import flattened, joined

_BLANK = re.compile(r"[ \t\n\r]*")
# A string, also one that nothing closes, or a bracket. Possessive repeats keep it linear.
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)
# Of an integer of more digits Python refuses to say anything; as a float it is infinite.
_DIGITS = 400
# Entries between two moments at which the parsing says how far it is.
_STEP = 2**10

Object = dict[str, object]


def is_json(text: str) -> bool:
    """A JSON object on the first line, or an array that holds one."""
    start = text[:4096].lstrip() or text.lstrip()[:4096]
    return re.match(r'\{\s*("|\})|\[\s*[\{\]]', start) is not None


def json_records(
    text: str, name: str, tell: Tell
) -> tuple[tuple[str, ...], Callable[[Tell], Iterator[Record]]]:
    """Columns, and what goes through the records.

    Raises Problem if no object has a key, there are too many keys, or an array is damaged.
    """
    is_array = text[_after_blanks(text, 0)] == "["

    def entries(tell: Tell) -> Iterator[tuple[int, Object | Problem]]:
        if (rows := None if is_array else joined(text)) is not None:
            return enumerate(rows, start=1)
        return _array(text, name, tell) if is_array else _lines(text, tell)

    columns, records = object_records(entries, name, tell)
    if not columns:
        raise Problem("file_not_json", name=name)
    return columns, records


def object_records(
    entries: Callable[[Tell], Iterator[tuple[int, Object | Problem]]], name: str, tell: Tell
) -> tuple[tuple[str, ...], Callable[[Tell], Iterator[Record]]]:
    """All keys of the entries as columns, and what goes through the entries as records.

    Raises Problem if there are too many keys.
    """
    places: dict[str, int] = {}
    for _, entry in entries(tell):
        if isinstance(entry, dict):
            for key in entry:
                places.setdefault(key, len(places))
            if len(places) > COLUMNS:
                raise Problem("file_many_columns", name=name, most=COLUMNS)
    keys = tuple(places)

    def records(tell: Tell) -> Iterator[Record]:
        for row, entry in entries(tell):
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


_DECODER = json.JSONDecoder(parse_int=_whole)


def _lines(text: str, tell: Tell) -> Iterator[tuple[int, Object | Problem]]:
    for number, line in lines_of(text, tell):
        yield number + 1, _object_in(line)


def _object_in(line: str) -> Object | Problem:
    if len(line) > ROW_LETTERS:
        return Problem("row_too_long", most=ROW_LETTERS)
    try:
        return _checked(_DECODER.decode(line))
    except (ValueError, RecursionError):
        return Problem("row_not_json", text=shortened(line[:200].strip()))


def _checked(value: object) -> Object | Problem:
    if isinstance(value, dict):
        return flattened(value)
    return Problem("row_not_object", text=shortened(value))


def _array(text: str, name: str, tell: Tell) -> Iterator[tuple[int, Object | Problem]]:
    """The entries one at a time: all at once would take many times the room of the text."""
    broken = Problem("file_broken", name=name, kind="JSON")
    position, mark = _after_blanks(text, text.index("[") + 1), ","
    if text[position : position + 1] == "]":
        position, mark = _after_blanks(text, position + 1), "]"
    row = 0
    while mark == ",":
        if row % _STEP == 0:
            tell(position, len(text))
        if len(text) - position > ROW_LETTERS and _is_long(text, position):
            raise Problem("row_too_long", most=ROW_LETTERS)
        try:
            value, position = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            raise broken from None
        row += 1
        yield row, _checked(value)
        position = _after_blanks(text, position)
        mark = text[position : position + 1]
        position = _after_blanks(text, position + 1)
    if mark != "]" or position < len(text):
        raise broken


def _after_blanks(text: str, position: int) -> int:
    found = _BLANK.match(text, position)
    return found.end() if found else position


def _is_long(text: str, position: int) -> bool:
    """Whether the entry that begins here is longer than a row may be."""
    depth = 0
    for found in _TOKEN.finditer(text, position, position + ROW_LETTERS + 1):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(found[0], 0)
        if depth <= 0:
            return False
    return True
