"""Parquet, unpacked a few rows at a time and never beyond a limit.

Nothing is unpacked that the file does not say the size of. A file of this computer stays on the
disk: its groups of rows are limited, and not all of them together.
"""

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from lossprism.explorer.runtime.limits import DISK_ROWS, UNPACKED_ROWS
from lossprism.explorer.sources.parquet_footer import values_by_path
from lossprism.explorer.sources.rows_of_arrow_record_batches import (
    PLACE_BYTES,
    ROW_BYTES,
    Batches,
    batch_rows,
    check_bytes,
    check_counts,
    holds_objects,
    reading_errors,
    refuse_damaged,
)

# Bytes of a value as it is coded; those of words are counted when they are looked up.
_WIDTHS = {"BOOLEAN": 1, "INT32": 4, "FLOAT": 4, "BYTE_ARRAY": 4, "INT64": 8, "DOUBLE": 8}
_INT96 = 12
SIGNATURE = b"PAR1"
_BUFFER_BYTES = 2**20  # of each column, that are read from the disk together


def is_parquet(path: Path) -> bool:
    """Return whether a path is that of a Parquet file. Raises OSError if it cannot be read."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(SIGNATURE)) == SIGNATURE


def batches(data: bytes | Path, name: str) -> Batches:
    """Return an iterator over the rows of a file. Raises Problem if it is damaged or too large."""
    import pyarrow
    import pyarrow.parquet

    with refuse_damaged(name, "Parquet"):
        on_disk = isinstance(data, Path)
        source = pyarrow.OSFile(str(data)) if on_disk else pyarrow.BufferReader(data)
        metadata = pyarrow.parquet.read_metadata(source)
        most = DISK_ROWS if on_disk else UNPACKED_ROWS
        check_counts(name, metadata.num_columns, metadata.num_rows, most)
        check_bytes(name, max(_group_bytes(metadata)) if on_disk else _size(metadata, data))
        leaves = [metadata.schema.column(at) for at in range(metadata.num_columns)]
        worded = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]
        file = pyarrow.parquet.ParquetFile(
            source, read_dictionary=worded, buffer_size=_BUFFER_BYTES if on_disk else 0
        )
        schema = file.schema_arrow
    rows = batch_rows(len(schema.names))

    def read(some: Sequence[str] | None = None) -> Iterator[Any]:
        # Arrow cannot join the dictionaries of several groups in a list.
        groups = range(file.num_row_groups)
        each = (file.iter_batches(rows, row_groups=[at], columns=some) for at in groups)
        return itertools.chain.from_iterable(each)

    return Batches(schema, metadata.num_rows, read, lambda: () if on_disk else read(worded))


def unpacked_bytes(data: bytes) -> int:
    """Size of the file once it is unpacked, by its footer; its own length where it is damaged,
    which its reader reports."""
    import pyarrow
    import pyarrow.parquet

    try:
        metadata = pyarrow.parquet.read_metadata(pyarrow.BufferReader(data))
        return max(_size(metadata, data), metadata.num_rows * ROW_BYTES)
    except reading_errors():
        return len(data)


def _group_bytes(metadata: Any) -> list[int]:
    """Return the bytes of each group of rows as they are coded; 0 in a list where there is none."""
    groups = [metadata.row_group(at) for at in range(metadata.num_row_groups)]
    return [group.total_byte_size for group in groups] or [0]


def _size(metadata: Any, data: bytes) -> int:
    """The bytes of all that is coded, and of each value of every row; not those of the words that
    rows ask for."""
    leaves = [metadata.schema.column(at) for at in range(metadata.num_columns)]
    size = sum(_group_bytes(metadata))
    # Values in lists are more than there are rows; how many, the footer says.
    nested = any(leaf.max_repetition_level for leaf in leaves)
    values = values_by_path(data) if nested else {}
    objects = {
        field.name for field in metadata.schema.to_arrow_schema() if holds_objects(field.type)
    }
    for leaf in leaves:
        width = _WIDTHS.get(leaf.physical_type, leaf.length or _INT96)
        of_words = leaf.physical_type == "BYTE_ARRAY" and leaf.max_repetition_level
        if of_words or leaf.path.partition(".")[0] in objects:
            width = PLACE_BYTES
        size += width * max(values.get(leaf.path, 0), metadata.num_rows)
    return size
