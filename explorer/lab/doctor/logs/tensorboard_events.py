"""Reader of TensorBoard's event files that does not need TensorBoard.

A file is a sequence of records (TFRecord): length, its checksum, record, its checksum. A record is
an `Event` of protocol buffers; its step and the scalars of its summary are read:

    Event    2: step   5: summary         Summary  1: value
    Value    1: tag    2: simple_value    8: tensor      Tensor  1: type  4: content  5: floats
"""

import struct
from collections.abc import Iterator

from lossprism.explorer.lab.doctor.logs.log import Log, curves_of, epochs_of
from lossprism.explorer.runtime.problem import Problem

# The first record is an event with this file_version.
FIRST_RECORD = b"brain.Event:"
_POLYNOMIAL = 0x82F63B78  # CRC-32C, reflected
FLOAT_TYPE, DOUBLE_TYPE = 1, 2

Fields = Iterator[tuple[int, int | bytes]]


def _table() -> list[int]:
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (_POLYNOMIAL if value & 1 else 0)
        table.append(value)
    return table


_CRC_TABLE = _table()


def checksum(content: bytes) -> int:
    """Return the masked CRC-32C of TFRecord.

    >>> hex(checksum(b"123456789"))
    '0xc78ab0e5'
    """
    register = 0xFFFFFFFF
    for byte in content:
        register = _CRC_TABLE[(register ^ byte) & 0xFF] ^ register >> 8
    register ^= 0xFFFFFFFF
    return ((register >> 15 | register << 17) + 0xA282EAD8) & 0xFFFFFFFF


def is_events(content: bytes) -> bool:
    return FIRST_RECORD in content[:64]


def read(name: str, content: bytes) -> Log:
    """Read the log without an incomplete last record, since the training may still write.

    Raises Problem for a wrong checksum and without a scalar.
    """
    try:
        points = [point for record in _records(content) for point in _scalars(record)]
    except (ValueError, IndexError, struct.error) as damage:
        raise Problem("run_damaged", name=name, reason=str(damage)[:120]) from None
    curves = curves_of(points)
    if not curves:
        raise Problem("run_nothing_logged", name=name)
    return Log("events", curves, epochs=epochs_of(curves))


def _records(content: bytes) -> Iterator[bytes]:
    at = 0
    while at + 12 <= len(content):
        head = content[at : at + 8]
        (length,) = struct.unpack("<Q", head)
        (expected,) = struct.unpack("<I", content[at + 8 : at + 12])
        if expected != checksum(head):
            raise ValueError(f"the checksum of the length at byte {at} is wrong")
        stop = at + 12 + length
        if stop + 4 > len(content):
            return
        record = content[at + 12 : stop]
        (expected,) = struct.unpack("<I", content[stop : stop + 4])
        if expected != checksum(record):
            raise ValueError(f"the checksum of the record at byte {at} is wrong")
        yield record
        at = stop + 4


def _scalars(record: bytes) -> Iterator[tuple[str, float, float]]:
    step, summaries = 0, []
    for number, value in _fields(record):
        if number == 2 and isinstance(value, int):
            step = value
        elif number == 5 and isinstance(value, bytes):
            summaries.append(value)
    for summary in summaries:
        for number, value in _fields(summary):
            if number == 1 and isinstance(value, bytes):
                tag, scalar = _value(value)
                if scalar is not None:
                    yield tag, step, scalar


def _value(value: bytes) -> tuple[str, float | None]:
    tag, scalar = "", None
    for number, field in _fields(value):
        if number == 1 and isinstance(field, bytes):
            tag = field.decode("utf-8", "replace")
        elif number == 2 and isinstance(field, bytes):
            (scalar,) = struct.unpack("<f", field)
        elif number == 8 and isinstance(field, bytes):
            scalar = _scalar_of_tensor(field)
    return tag, scalar


def _scalar_of_tensor(tensor: bytes) -> float | None:
    """Return the value of a tensor of one float or double; None for any other, such as a text."""
    kind, content = 0, b""
    for number, field in _fields(tensor):
        if number == 1 and isinstance(field, int):
            kind = field
        elif number in (4, 5, 6) and isinstance(field, bytes):
            content = field
    form = {FLOAT_TYPE: "<f", DOUBLE_TYPE: "<d"}.get(kind)
    if form is None or len(content) != struct.calcsize(form):
        return None
    return struct.unpack(form, content)[0]


def _fields(message: bytes) -> Fields:
    """Yield the fields of a message: an int for a varint, bytes for every other kind."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, at = _varint(message, at)
            yield number, value
            continue
        if kind == 2:
            size, at = _varint(message, at)
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
        else:
            raise ValueError(f"a field of kind {kind}")
        if at + size > len(message):
            raise ValueError("a field is longer than its message")
        yield number, message[at : at + size]
        at += size


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
        if shift > 63:
            raise ValueError("a number is too long")
