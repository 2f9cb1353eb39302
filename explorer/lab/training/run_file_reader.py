"""Reader of a run folder's files, by the types of `run_json_types`.

A folder may come from a stranger, from an earlier version, or from a disk that failed: each entry
must be of its type, one that is missing has its default, and unknown ones are left out.
"""

import dataclasses
import functools
import math
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

from lossprism.explorer.lab.training.run_json_types import (
    AlarmRecord,
    EvaluationRecord,
    EventRecord,
    HeldOutRecord,
    RunRecord,
    StepRecord,
)
from lossprism.explorer.runtime.json_reading import read_json
from lossprism.explorer.runtime.problem import Problem

LIVE = ("queued", "loading", "training", "paused", "saving")
ENDED = ("finished", "stopped", "failed", "interrupted")
MAX_WHOLE = 2**63 - 1
# A line of the log is a few kilobytes; a nested or endless one is none of ours.
MAX_NESTING = 40
RECORDS: dict[str, type] = {
    "step": StepRecord,
    "evaluation": EvaluationRecord,
    "held_out": HeldOutRecord,
    "alarm": AlarmRecord,
}

Reader = Callable[[Any], Any]
Kind = TypeVar("Kind")


class InvalidEntry(ValueError):
    """A value that is not of its type."""


def read_as(kind: type[Kind], value: object) -> Kind:
    """Read a value of JSON as this type. Raises InvalidEntry where it is of another."""
    return _reader(kind)(value)


@functools.cache
def _reader(kind: Any) -> Reader:
    """Return the reader of a type: a dataclass, a union, a container, or a plain value."""
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin is Literal:
        return lambda value: value if isinstance(value, str) and value in parts else _misfit()
    if origin in (typing.Union, types.UnionType):
        return _one_of([_reader(one) for one in parts])
    if origin is list:
        each = _reader(parts[0])
        return lambda value: [each(one) for one in _of_type(list, value)]
    if origin is tuple:
        return _tuple([_reader(one) for one in parts])
    if origin is dict:
        of_value = _reader(parts[1])
        return lambda value: {n: of_value(one) for n, one in _of_type(dict, value).items()}
    return _PLAIN[kind] if kind in _PLAIN else _dataclass(kind)


def _dataclass(kind: type) -> Reader:
    hints, fields = typing.get_type_hints(kind), dataclasses.fields(kind)
    readers = {one.name: _field_reader(hints[one.name], one.metadata) for one in fields}

    def read(value: object) -> object:
        entries = _of_type(dict, value)
        known = {n: own(entries[n]) for n, own in readers.items() if n in entries}
        try:
            return kind(**known)
        except TypeError:  # an entry is missing
            raise InvalidEntry from None

    return read


def _field_reader(kind: Any, metadata: Mapping[str, Any]) -> Reader:
    if "least" in metadata:
        return functools.partial(_whole, **metadata)
    if metadata.get("finite", True):
        return _reader(kind)
    is_optional = types.NoneType in typing.get_args(kind)
    return lambda value: (None if is_optional else math.nan) if value is None else _score(value)


def _one_of(readers: Sequence[Reader]) -> Reader:
    def read(value: object) -> object:
        for one in readers:
            try:
                return one(value)
            except InvalidEntry:
                continue
        raise InvalidEntry

    return read


def _tuple(readers: Sequence[Reader]) -> Reader:
    def read(value: object) -> tuple:
        entries = _of_type(list, value)
        if len(entries) != len(readers):
            raise InvalidEntry
        return tuple(own(one) for own, one in zip(readers, entries, strict=True))

    return read


def _misfit() -> Any:
    raise InvalidEntry


def _of_type(kind: type, value: Any) -> Any:
    """Return the value, which must be of exactly this type: True is no number."""
    return value if type(value) is kind else _misfit()


def _whole(value: Any, least: int = 0, most: int = MAX_WHOLE) -> int:
    return value if type(value) is int and least <= value <= most else _misfit()


def _number(value: Any) -> float:
    """Return a finite number."""
    return value if is_number(value) else _misfit()


def _score(value: Any) -> float:
    """Return a number, also NaN or infinity."""
    return value if isinstance(value, float) or is_number(value) else _misfit()


def _problem(value: Any) -> Problem:
    entries = _of_type(dict, value)
    if type(entries.get("key")) is not str or type(entries.get("values")) is not dict:
        raise InvalidEntry
    return Problem.from_json(entries)


_PLAIN: dict[Any, Reader] = {
    object: lambda value: value,
    types.NoneType: functools.partial(_of_type, types.NoneType),
    str: functools.partial(_of_type, str),
    bool: functools.partial(_of_type, bool),
    int: _whole,
    float: _number,
    Problem: _problem,
}


def is_number(value: object) -> bool:
    """True for a finite number; True and False are none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= MAX_WHOLE if isinstance(value, int) else math.isfinite(value)


def is_row(row: Sequence[object]) -> bool:
    """True if a row is a pair with its label and, perhaps, a teacher's score."""
    return (
        3 <= len(row) <= 4
        and isinstance(row[0], str)
        and isinstance(row[1], str)
        and all(isinstance(one, float) or one is None or is_number(one) for one in row[2:])
        and row[2] is not None
    )


def is_shallow(value: object, levels: int = MAX_NESTING) -> bool:
    """True if no list or object in this value is nested deeper than `levels`."""
    if not levels:
        return False
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return all(is_shallow(part, levels - 1) for part in parts if isinstance(part, dict | list))


def read_object(path: Path) -> dict | None:
    """Read the JSON object in a file of a run; None where it is damaged.

    Raises FileNotFoundError where there is no such file.
    """
    try:
        content = read_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise
    except (OSError, ValueError):  # a folder in its place, half of it, none of it
        return None
    return content if isinstance(content, dict) and is_shallow(content) else None


def records_in(lines: Iterable[bytes]) -> list[RunRecord]:
    """Read the records of whole lines of a log; a line that is none, as a disk has spoilt it, is
    left out."""
    return [record for line in lines if (record := _record_in(line)) is not None]


def _record_in(line: bytes) -> RunRecord | None:
    try:
        record = read_json(line)
        if not isinstance(record, dict) or not is_shallow(record):
            return None
        return _reader(RECORDS.get(str(record.get("kind")), EventRecord))(record)
    except ValueError:
        return None
