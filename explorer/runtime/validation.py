"""Validation of input from a page, a link or a program, by one table of readers for each kind.

A reader takes a value and its place in the input, and returns the checked value or raises the
Problem that names the place. An entry without a reader must have the type of its default.
"""

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any, TypeGuard

from lossprism.explorer.runtime.json_encoding import MAX_INTEGER
from lossprism.explorer.runtime.number_format import display_number
from lossprism.explorer.runtime.problem import Problem

Reader = Callable[[Any, str], Any]
Readers = Mapping[tuple[type, str], Reader]


def invalid_value(where: str, value: object) -> Problem:
    """Return the problem of an invalid value at this place."""
    return Problem("scenario_entry", where=where, value=quoted(value))


def text_of(value: object, write: Callable[[object], str] = str) -> str:
    """Return the value as by `str` or by `repr`; the name of its type if those fail."""
    try:
        return write(value)
    except (RecursionError, ValueError):  # nested too deeply, or a number of too many digits
        return f"{type(value).__name__} …"


def quoted(value: object) -> str:
    """Return as much of a value as a sentence quotes."""
    text = text_of(value)
    return text if len(text) <= 60 else text[:57] + "…"


def read(
    kind: type, chosen: object, where: str, readers: Readers, unknown: Callable[[str], Problem]
) -> Any:
    """Read a dataclass from an object with some of its entries; missing ones have their default.

    Raises Problem, naming the first invalid entry; `unknown(place)` for an unknown one.
    """
    if not isinstance(chosen, dict):
        raise invalid_value(where, chosen)
    entries = {entry.name: entry for entry in dataclasses.fields(kind)}
    values = {}
    for name, value in chosen.items():
        if name not in entries:
            raise unknown(f"{where}.{quoted(name)}")
        place, default = f"{where}.{name}", entries[name].default_factory
        if reader := readers.get((kind, name)):
            values[name] = reader(value, place)
        elif default is not dataclasses.MISSING:
            values[name] = read(type(default()), value, place, readers, unknown)
        else:
            values[name] = like(entries[name].default)(value, place)
    return kind(**values)


def like(default: object) -> Reader:
    """Return a reader of a number, text or switch of the default's type."""
    return _BY_TYPE[type(default)]


def of_type(*kinds: type) -> Reader:
    """Return a reader of values of these types; True and False are no numbers."""

    def fits(value: Any, where: str) -> Any:
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise invalid_value(where, value)
        return value

    return fits


def _float(value: Any, where: str) -> float:
    try:
        return float(of_type(int, float)(value, where))
    except OverflowError:  # an integer of more than 308 digits
        raise invalid_value(where, value) from None


def integer(value: Any, where: str) -> int:
    """Read an integer of at most 64 bits."""
    if type(value) is not int or abs(value) > MAX_INTEGER:
        raise invalid_value(where, value)
    return value


_BY_TYPE: dict[type, Reader] = {bool: of_type(bool), int: integer, float: _float, str: of_type(str)}


def finite(value: Any, where: str) -> float:
    """Read a number that is neither infinite nor NaN."""
    number = _float(value, where)
    if not math.isfinite(number):
        raise invalid_value(where, value)
    return number


def label_range(value: Any, where: str) -> tuple[float, float]:
    """Read the ends of the scale of labels: two finite numbers, the smaller one first."""
    ends = [finite(end, where) for end in of_type(list, tuple)(value, where)]
    if len(ends) != 2:
        raise invalid_value(where, value)
    low, high = ends
    if not low < high:
        raise Problem("label_range", low=display_number(low), high=display_number(high))
    return low, high


def whole(value: Any, where: str) -> int:
    """Read a whole number, also as a float: 60.0 is 60."""
    finite(value, where)
    if value != int(value):
        raise invalid_value(where, value)
    return integer(int(value), where)


def within(low: float, high: float) -> Reader:
    """Return a reader of numbers between two, whole ones if both are."""
    read = whole if isinstance(low, int) and isinstance(high, int) else finite

    def fits(value: Any, where: str) -> float:
        number = read(value, where)
        if not low <= number <= high:
            raise invalid_value(where, value)
        return number

    return fits


def optional(reader: Reader) -> Reader:
    """Return a reader of None, or of the reader's values."""
    return lambda value, where: None if value is None else reader(value, where)


def one_of(choices: tuple[str, ...]) -> Reader:
    def fits(value: Any, where: str) -> Any:
        if not isinstance(value, str) or value not in choices:
            raise invalid_value(where, value)
        return value

    return fits


def texts(value: Any, where: str) -> tuple[str, ...]:
    """Read a list of texts."""
    return tuple(of_type(str)(text, where) for text in of_type(list, tuple)(value, where))


def rows(width: int | None = None) -> Reader:
    """Return a reader of rows of cells as text, all of this width; an empty cell is ""."""

    def fits(value: Any, where: str) -> tuple[tuple[str, ...], ...]:
        rows_read = []
        for number, row in enumerate(of_type(list, tuple)(value, where), 1):
            if not isinstance(row, list | tuple) or len(row) != (width or len(row)):
                raise invalid_value(f"{where}[{number}]", row)
            rows_read.append(tuple("" if cell is None else str(cell) for cell in row))
        return tuple(rows_read)

    return fits


def parameters(value: Any, where: str) -> tuple[tuple[str, object], ...]:
    """Read names and values unchanged, each a number, a text, a switch or a list of such; the loss
    checks them later."""
    pairs = []
    for name, entry in of_type(dict)(value, where).items():
        listed = isinstance(entry, list | tuple)
        for one in entry if listed else (entry,):
            if isinstance(one, int) and abs(one) > MAX_INTEGER:
                raise invalid_value(f"{where}.{quoted(name)}", one)
            if not isinstance(one, int | float | str | None):
                raise invalid_value(f"{where}.{quoted(name)}", entry)
        pairs.append((str(name), tuple(entry) if listed else entry))
    return tuple(pairs)


def is_number(value: object) -> TypeGuard[float]:
    """Return whether it is an int or a float, and no bool, which Python counts as an int."""
    return isinstance(value, int | float) and not isinstance(value, bool)
