"""Number of values of the columns of a Parquet file, from its footer.

pyarrow reads it too, but ends the whole process where a footer is damaged in some places: it throws
where nothing catches. So the footer, a Thrift struct in the compact protocol, is read here.
https://parquet.apache.org/docs/file-format/metadata/
"""

from typing import Any

# Types of the compact protocol; a footer has no sets and no maps.
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _STRUCT = 1, 2, 3, 7, 8, 9, 12
_INTEGERS = (4, 5, 6)
# Numbers of the fields of FileMetaData, RowGroup, ColumnChunk and ColumnMetaData.
_ROW_GROUPS, _COLUMNS, _META_DATA, _PATH, _NUM_VALUES = 4, 1, 3, 3, 5


def values_by_path(data: bytes) -> dict[str, int]:
    """Return the number of values in all row groups by the path of each column, nulls and places in
    lists counted.

    Raises ValueError if the footer is damaged.
    """
    length = int.from_bytes(data[-8:-4], "little")
    counts: dict[str, int] = {}
    try:
        footer = _Struct(data[-8 - length : -8]).fields()
        for group in footer[_ROW_GROUPS]:
            for chunk in group[_COLUMNS]:
                about = chunk[_META_DATA]
                path = ".".join(part.decode() for part in about[_PATH])
                counts[path] = counts.get(path, 0) + about[_NUM_VALUES]
    except (LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError("the footer is damaged") from error
    return counts


class _Struct:
    """Bytes of the compact protocol, read one after the other."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def fields(self) -> dict[int, Any]:
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            step, kind = head >> 4, head & 15
            number = number + step if step else self._integer()
            fields[number] = kind == _TRUE if kind in (_TRUE, _FALSE) else self._value(kind)
        return fields

    def _value(self, kind: int) -> Any:
        if kind in _INTEGERS:
            return self._integer()
        if kind == _BINARY:
            return self._bytes(self._varint())
        if kind == _STRUCT:
            return self.fields()
        if kind == _LIST:
            head = self._byte()
            count = head >> 4 if head >> 4 != 15 else self._varint()
            return [self._value(head & 15) for _ in range(count)]
        if kind == _DOUBLE:
            return self._bytes(8)
        if kind in (_TRUE, _FALSE, _BYTE):
            return self._byte()
        raise LookupError(kind)

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _bytes(self, count: int) -> bytes:
        self._at += count
        if self._at > len(self._data):
            raise LookupError(count)
        return self._data[self._at - count : self._at]

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128 or shift > 63:
                return value

    def _integer(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)
