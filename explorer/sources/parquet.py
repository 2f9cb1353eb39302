"""Parquet, unpacked a few rows at a time and never beyond a limit.

A few bytes of it may stand for gigabytes: a word that comes a billion times, or a billion nulls.
So nothing is unpacked that the file does not say the size of, words stay in their dictionary until
a row asks for them, and what rows have asked for is counted.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from explorer.runtime.limits import COLUMNS, MIB, UNPACKED_BYTES, UNPACKED_ROWS
from explorer.runtime.problem import Problem
from explorer.sources.cells import Foreign, is_blank
from explorer.sources.delimited import Record, Tell, distinct
from explorer.sources.json_rows import Object, object_records
from explorer.sources.nested_rows import flattened
from explorer.sources.parquet_footer import values_by_path

# Bytes of a value as it is coded; those of words are counted when they are looked up.
_WIDTHS = {"BOOLEAN": 1, "INT32": 4, "FLOAT": 4, "BYTE_ARRAY": 4, "INT64": 8, "DOUBLE": 8}
_INT96 = 12
# Of a row, whatever stands in it: it is gone through.
_ROW = 16
# Of a place in a list, beside the word that stands there.
_PLACE = 128
_BATCH_CELLS = 2**16


def parquet_records(
    data: bytes, name: str, tell: Tell
) -> tuple[tuple[str, ...], Callable[[Tell], Iterator[Record]]]:
    """Columns, and what goes through the records. Words, numbers, truths, lists and objects of
    these are read, objects as those of JSON; what is of another kind is `Foreign`.

    What its rows ask for is counted before any of them is made; `tell` hears how far that is.

    Raises Problem if the file is damaged or unpacks to too much; going through the records does
    where a damage shows only then.
    """
    import pyarrow
    import pyarrow.parquet

    errors = (pyarrow.ArrowException, OSError, ValueError, OverflowError, KeyError)
    broken = Problem("file_broken", name=name, kind="Parquet")
    try:
        metadata = pyarrow.parquet.read_metadata(pyarrow.BufferReader(data))
        _check(metadata, data, name)
        leaves = [metadata.schema.column(at) for at in range(metadata.num_columns)]
        worded = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]
        file = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(data), read_dictionary=worded)
        columns = distinct(file.schema_arrow.names)
    except errors as error:
        raise error if isinstance(error, Problem) else broken from None
    rows = max(1, min(_BATCH_CELLS // max(1, len(columns)), 2**13))

    def batches(some: Sequence[str] | None = None) -> Iterator[Any]:
        # Arrow cannot join the dictionaries of several groups in a list.
        groups = range(file.num_row_groups)
        each = (file.iter_batches(rows, row_groups=[at], columns=some) for at in groups)
        return itertools.chain.from_iterable(each)

    try:
        done = unpacked = 0
        for batch in batches(worded) if worded else ():
            tell(done, metadata.num_rows)
            done += len(batch)
            unpacked += sum(map(_letters, batch.columns))
            if unpacked > UNPACKED_BYTES:
                raise _too_large(name)
    except errors as error:
        raise error if isinstance(error, Problem) else broken from None

    def records(tell: Tell) -> Iterator[tuple[int, tuple[object, ...]]]:
        row = 0
        left = batches()
        while True:
            tell(row, metadata.num_rows)
            try:
                batch = next(left, None)
                if batch is None:
                    return
                if all(column.null_count == len(column) for column in batch.columns):
                    row += len(batch)
                    continue
                cells = [_cells(column) for column in batch.columns]
            except errors as error:
                raise error if isinstance(error, Problem) else broken from None
            for values in zip(*cells, strict=True):
                row += 1
                if not all(map(is_blank, values)):
                    yield row, values

    def entries(tell: Tell) -> Iterator[tuple[int, Object | Problem]]:
        for row, values in records(tell):
            yield row, flattened(dict(zip(columns, values, strict=True)))

    # A column alone may hold what belongs together, as a list or an object.
    if len(columns) == 1 or any(_holds_objects(field.type) for field in file.schema_arrow):
        return object_records(entries, name, tell)
    return columns, records


def unpacked_bytes(data: bytes) -> int:
    """How much the file says that it holds once it is unpacked; its own length where it is damaged,
    which whoever reads it says."""
    import pyarrow
    import pyarrow.parquet

    try:
        metadata = pyarrow.parquet.read_metadata(pyarrow.BufferReader(data))
        return max(_size(metadata, data), metadata.num_rows * _ROW)
    except (pyarrow.ArrowException, OSError, ValueError, OverflowError, KeyError):
        return len(data)


def _check(metadata: Any, data: bytes, name: str) -> None:
    """Raise Problem if the file says that it is larger than what is read."""
    if metadata.num_columns > COLUMNS:
        raise Problem("file_many_columns", name=name, most=COLUMNS)
    if metadata.num_rows > UNPACKED_ROWS:
        raise Problem("file_many_rows", name=name, rows=metadata.num_rows, most=UNPACKED_ROWS)
    if _size(metadata, data) > UNPACKED_BYTES:
        raise _too_large(name)


def _size(metadata: Any, data: bytes) -> int:
    """The bytes of all that is coded, and of each value of every row; not those of the words that
    rows ask for."""
    leaves = [metadata.schema.column(at) for at in range(metadata.num_columns)]
    groups = [metadata.row_group(at) for at in range(metadata.num_row_groups)]
    size = sum(group.total_byte_size for group in groups)
    # Values in lists are more than there are rows; how many, the footer says.
    nested = any(leaf.max_repetition_level for leaf in leaves)
    values = values_by_path(data) if nested else {}
    objects = {
        field.name for field in metadata.schema.to_arrow_schema() if _holds_objects(field.type)
    }
    for leaf in leaves:
        width = _WIDTHS.get(leaf.physical_type, leaf.length or _INT96)
        of_words = leaf.physical_type == "BYTE_ARRAY" and leaf.max_repetition_level
        if of_words or leaf.path.partition(".")[0] in objects:
            width = _PLACE
        size += width * max(values.get(leaf.path, 0), metadata.num_rows)
    return size


def _too_large(name: str) -> Problem:
    return Problem("file_too_large", name=name, most=UNPACKED_BYTES // MIB)


def _letters(column: Any) -> int:
    """The bytes of the words that the rows of a column ask for."""
    import pyarrow
    import pyarrow.compute

    kind, types = column.type, pyarrow.types
    if types.is_struct(kind):
        return sum(map(_letters, column.flatten()))
    if _is_list(kind):
        inside = column.flatten()
        return _PLACE * len(inside) + _letters(inside)
    if not types.is_dictionary(kind) or not len(column.dictionary):
        return 0
    lengths = pyarrow.compute.binary_length(column.dictionary).cast(pyarrow.int64())
    return pyarrow.compute.sum(lengths.take(column.indices)).as_py() or 0


def _cells(column: Any) -> Iterable[object]:
    import pyarrow

    kind, types = column.type, pyarrow.types
    if types.is_dictionary(kind) and not types.is_binary(kind.value_type):
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
    foreign = Foreign(str(kind).partition("[")[0].partition("<")[0])
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


def _holds_objects(kind: Any) -> bool:
    from pyarrow import types

    return types.is_struct(kind) or (_is_list(kind) and _holds_objects(kind.value_type))


def _words(column: Any) -> list[object]:
    """Of each row the word that it asks for; a word that comes often is there once."""
    used = column.indices.drop_null().unique()
    words = dict(zip(used.to_pylist(), column.dictionary.take(used).to_pylist(), strict=True))
    return [words.get(index) for index in column.indices.to_pylist()]
