"""Arrow files (Feather 2) and streams, as pandas, polars and Hugging Face datasets save them.

pyarrow says nothing of what a compressed buffer unpacks to before it unpacks it. So the messages,
flatbuffers, are looked at here first.
https://arrow.apache.org/docs/format/Columnar.html#serialization-and-interprocess-communication-ipc
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from lossprism.explorer.sources.rows_of_arrow_record_batches import (
    ROW_BYTES,
    Batches,
    batch_rows,
    check_bytes,
    check_counts,
    reading_errors,
    refuse_damaged,
)

FILE, STREAM = b"ARROW1", b"\xff\xff\xff\xff"
_FILE_START = 8  # bytes before the stream that a file holds
_CELL_BYTES = 4  # of a cell, if it holds nothing
_HEADER, _INNER_BATCH = 2, 1  # places of fields in Message and DictionaryBatch
_ROWS, _BUFFERS, _COMPRESSION = 0, 2, 3  # and in RecordBatch
_NOT_COMPRESSED = -1  # in place of the length of a buffer


def batches(data: bytes, name: str) -> Batches:
    """Return an iterator over the rows of a file. Raises Problem if it is damaged or too large."""
    with refuse_damaged(name, "Arrow"):
        schema = _stream(data).schema
        rows, size = _rows_and_bytes(data)
        check_counts(name, len(schema.names), rows)
        check_bytes(name, size + _CELL_BYTES * rows * len(schema.names))
    length = batch_rows(len(schema.names))

    def read() -> Iterator[Any]:
        for batch in _stream(data):
            batch.validate(full=True)
            for at in range(0, len(batch), length):
                yield batch.slice(at, length)

    return Batches(schema, rows, read, read)


def unpacked_bytes(data: bytes) -> int:
    """Size of the file once it is unpacked; its own length where it is damaged, which its reader
    reports."""
    try:
        rows, size = _rows_and_bytes(data)
        return max(size, rows * ROW_BYTES)
    except reading_errors():
        return len(data)


def _stream(data: bytes) -> Any:
    """The batches of a stream, or of the one that a file holds."""
    import pyarrow.ipc

    return pyarrow.ipc.open_stream(_inside(data))


def _inside(data: bytes) -> Any:
    """The stream that a file holds; of a stream itself all. Raises ValueError for a file that is
    cut off."""
    import pyarrow

    of_file = data.startswith(FILE)
    if of_file and not data.endswith(FILE):
        raise ValueError("the file has no end")
    return pyarrow.BufferReader(pyarrow.py_buffer(data)[_FILE_START if of_file else 0 :])


def _rows_and_bytes(data: bytes) -> tuple[int, int]:
    """The rows of all batches, and the bytes of all their buffers and dictionaries, unpacked.

    Raises ValueError or what pyarrow raises if a message is damaged.
    """
    import pyarrow.ipc

    rows = size = 0
    try:
        for message in pyarrow.ipc.MessageReader.open_stream(_inside(data)):
            if message.type not in ("record batch", "dictionary"):
                continue
            batch = _Table.root(message.metadata.to_pybytes()).table(_HEADER)
            if message.type == "dictionary":
                batch = batch.table(_INNER_BATCH)
            else:
                rows += batch.integer(_ROWS)
            size += sum(_buffer_bytes(batch, message.body))
    except struct.error as error:
        raise ValueError("a message is damaged") from error
    return rows, size


def _buffer_bytes(batch: _Table, body: Any) -> Iterator[int]:
    """The bytes of each buffer of a batch, unpacked."""
    packed = batch.has(_COMPRESSION)
    for start, length in batch.pairs(_BUFFERS):
        unpacked = length
        if packed and length:
            (unpacked,) = struct.unpack_from("<q", body, start)
        yield length if unpacked == _NOT_COMPRESSED else unpacked


class _Table:
    """A table of a flatbuffer: its fields by their places in the schema of Arrow's messages."""

    def __init__(self, data: bytes, start: int) -> None:
        self._data, self._start = data, start

    @classmethod
    def root(cls, data: bytes) -> _Table:
        return cls(data, struct.unpack_from("<I", data)[0])

    def has(self, field: int) -> bool:
        return bool(self._offset(field))

    def table(self, field: int) -> _Table:
        return _Table(self._data, self._target(field))

    def integer(self, field: int) -> int:
        """An integer of 64 bits; 0 where the field is left out."""
        offset = self._offset(field)
        return self._number("<q", self._start + offset) if offset else 0

    def pairs(self, field: int) -> Iterator[tuple[int, int]]:
        """The structs of two integers of 64 bits in a vector."""
        if not self.has(field):
            return
        start = self._target(field)
        for at in range(self._number("<I", start)):
            yield struct.unpack_from("<qq", self._data, start + 4 + 16 * at)

    def _target(self, field: int) -> int:
        """Start of the table or vector of a field."""
        place = self._start + self._offset(field)
        return place + self._number("<I", place)

    def _offset(self, field: int) -> int:
        """Offset of a field from the start of the table; 0 where it is left out."""
        fields = self._start - self._number("<i", self._start)
        place = 4 + 2 * field
        return self._number("<H", fields + place) if place < self._number("<H", fields) else 0

    def _number(self, form: str, place: int) -> int:
        return struct.unpack_from(form, self._data, place)[0]
