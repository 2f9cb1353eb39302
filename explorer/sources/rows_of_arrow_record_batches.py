"""Rows of Arrow's record batches, which Parquet and Arrow files hold, a few at a time.

A few bytes may stand for gigabytes: a word that comes a billion times, or a billion nulls. So words
stay in their dictionary until a row asks for them, and what all rows ask for is counted first.
"""

import contextlib
import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from lossprism.explorer.runtime.limits import COLUMNS, MIB, UNPACKED_BYTES, UNPACKED_ROWS
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.cells import UnsupportedValue, is_blank
from lossprism.explorer.sources.delimited import Record, ReportProgress, distinct
from lossprism.explorer.sources.json_rows import Object, object_records
from lossprism.explorer.sources.nested_rows import flattened

ROW_BYTES = 16  # of a row, whatever it holds: it is gone through
PLACE_BYTES = 128  # of a place in a list, beside the word that stands there
_BATCH_CELLS, _BATCH_ROWS = 2**16, 2**13
_NUMBERS_OF_VIEW = 4  # of 32 bits in the view of a string; the first is its length


@dataclass(frozen=True)
class Batches:
    """The `schema` of a file, the number of its `rows`, and what goes through its batches: `all` of
    them, and those of the columns that may ask for more than the file says (`words`)."""

    schema: Any
    rows: int
    all: Callable[[], Iterator[Any]]
    words: Callable[[], Iterable[Any]]


def batch_rows(columns: int) -> int:
    """Return how many rows of so many columns are unpacked at once."""
    return max(1, min(_BATCH_CELLS // max(1, columns), _BATCH_ROWS))


def reading_errors() -> tuple[type[Exception], ...]:
    """Return what pyarrow raises for a damaged file."""
    import pyarrow

    return pyarrow.ArrowException, OSError, ValueError, OverflowError, KeyError


@contextlib.contextmanager
def refuse_damaged(name: str, kind: str) -> Iterator[None]:
    """Raise Problem where pyarrow cannot read a file of this kind."""
    try:
        yield
    except Problem:
        raise
    except reading_errors():
        raise Problem("file_broken", name=name, kind=kind) from None


def check_counts(name: str, columns: int, rows: int, most: int = UNPACKED_ROWS) -> None:
    """Raise Problem for a file with more columns or rows than are read, by its own account."""
    if columns > COLUMNS:
        raise Problem("file_many_columns", name=name, most=COLUMNS)
    if rows > most:
        raise Problem("file_many_rows", name=name, rows=rows, most=most)


def check_bytes(name: str, size: int) -> None:
    """Raise Problem for a file that unpacks to more bytes than are read."""
    if size > UNPACKED_BYTES:
        raise Problem("file_too_large", name=name, most=UNPACKED_BYTES // MIB)


def batch_records(
    batches: Batches, name: str, kind: str, report: ReportProgress
) -> tuple[tuple[str, ...], Callable[[ReportProgress], Iterator[Record]]]:
    """Columns, and what goes through the records. Words, numbers, truths, lists and objects of
    these are read, objects as those of JSON; what is of another kind is `UnsupportedValue`.

    What its rows ask for is counted before any of them is made; `report` hears how far that is.

    Raises Problem if it unpacks to too much; going through the records does where a damage shows.
    """
    with refuse_damaged(name, kind):
        columns = distinct(batches.schema.names)
        done = unpacked = 0
        for batch in batches.words():
            report(done, batches.rows)
            done += len(batch)
            unpacked += sum(map(_letters, batch.columns))
            check_bytes(name, unpacked)

    def records(report: ReportProgress) -> Iterator[tuple[int, tuple[object, ...]]]:
        row = 0
        with refuse_damaged(name, kind):
            for batch in batches.all():
                report(row, batches.rows)
                if all(column.null_count == len(column) for column in batch.columns):
                    row += len(batch)
                    continue
                for values in zip(*map(_cells, batch.columns), strict=True):
                    row += 1
                    if not all(map(is_blank, values)):
                        yield row, values

    def entries(report: ReportProgress) -> Iterator[tuple[int, Object | Problem]]:
        for row, values in records(report):
            yield row, flattened(dict(zip(columns, values, strict=True)))

    # A column alone may hold what belongs together, as a list or an object.
    if len(columns) == 1 or any(holds_objects(field.type) for field in batches.schema):
        return object_records(entries, name, report)
    return columns, records


def _letters(column: Any) -> int:
    """The bytes of the words that the rows of a column ask for."""
    import pyarrow
    import pyarrow.compute

    kind, types = column.type, pyarrow.types
    if types.is_struct(kind):
        return sum(map(_letters, column.flatten()))
    if _is_list(kind):
        inside = column.flatten()
        return PLACE_BYTES * len(inside) + _letters(inside)
    if _is_text(kind):
        return pyarrow.compute.sum(_lengths(column)).as_py() or 0
    if not types.is_dictionary(kind) or not len(column.dictionary):
        return 0
    lengths = _lengths(column.dictionary)
    return pyarrow.compute.sum(lengths.take(column.indices)).as_py() or 0


def _lengths(words: Any) -> Any:
    """The bytes of each word, int64 [words]."""
    import pyarrow
    import pyarrow.compute

    if words.type != pyarrow.string_view():
        return pyarrow.compute.binary_length(words).cast(pyarrow.int64())
    views = np.frombuffer(words.buffers()[1], np.int32)[::_NUMBERS_OF_VIEW]
    return pyarrow.array(views[words.offset : words.offset + len(words)], pyarrow.int64())


def _cells(column: Any) -> Iterable[object]:
    import pyarrow

    kind, types = column.type, pyarrow.types
    if _is_text(kind):
        return _words(column.dictionary_encode())
    if types.is_dictionary(kind) and _is_text(kind.value_type):
        return _words(column)
    if _is_number(kind) or types.is_boolean(kind) or types.is_null(kind):
        return column.to_pylist()
    if _lists_numbers(kind):
        # A row at a time: as Python's own, numbers take many times their room.
        return (one.as_py() for one in column)
    if types.is_struct(kind):
        return _objects(column)
    if _is_list(kind):
        return _lists(column)
    foreign = UnsupportedValue(str(kind).partition("[")[0].partition("<")[0])
    return [foreign if there else None for there in column.is_valid().to_pylist()]


def _lists(column: Any) -> Iterator[list[object] | None]:
    values = iter(_cells(column.flatten()))
    for length in column.value_lengths().to_pylist():
        yield None if length is None else list(itertools.islice(values, length))


def _objects(column: Any) -> Iterator[Object | None]:
    names = [field.name for field in column.type]
    rows = zip(*map(_cells, column.flatten()), strict=True) if names else itertools.repeat(())
    for values, there in zip(rows, column.is_valid().to_pylist(), strict=False):
        yield dict(zip(names, values, strict=True)) if there else None


def _is_text(kind: Any) -> bool:
    from pyarrow import types

    return types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)


def _is_number(kind: Any) -> bool:
    from pyarrow import types

    return types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)


def _is_list(kind: Any) -> bool:
    from pyarrow import types

    return types.is_list(kind) or types.is_large_list(kind)


def _lists_numbers(kind: Any) -> bool:
    """Vectors, and lists of such."""
    from pyarrow import types

    if not (_is_list(kind) or types.is_fixed_size_list(kind)):
        return False
    return _is_number(kind.value_type) or _lists_numbers(kind.value_type)


def holds_objects(kind: Any) -> bool:
    """True if a column of this type has objects, or lists of such."""
    from pyarrow import types

    return types.is_struct(kind) or (_is_list(kind) and holds_objects(kind.value_type))


def _words(column: Any) -> list[object]:
    """Return the word of each row; each distinct word is made once."""
    used = column.indices.drop_null().unique()
    words = dict(zip(used.to_pylist(), _taken(column.dictionary, used), strict=True))
    return [words.get(index) for index in column.indices.to_pylist()]


def _taken(words: Any, places: Any) -> list[object]:
    import pyarrow

    if words.type == pyarrow.string_view():  # of which pyarrow takes none
        return [words[place].as_py() for place in places.to_pylist()]
    return words.take(places).to_pylist()
