"""JSON as people bring it, read so that whatever is wrong with it is a ValueError."""

import json
from typing import Any


class JsonReader(json.JSONDecoder):
    """A decoder for which arrays and objects that are nested too deeply are bad JSON.

    Python's own raises RecursionError, which nobody expects of a text.
    """

    def raw_decode(self, s: str, idx: int = 0) -> tuple[Any, int]:
        try:
            return super().raw_decode(s, idx)
        except RecursionError:
            raise ValueError("nested too deeply") from None


_READER = JsonReader()


def read_json(text: str | bytes) -> Any:
    """Return the value of a JSON text. Raises ValueError if it is none."""
    if isinstance(text, bytes):
        text = text.decode(json.detect_encoding(text), "surrogatepass")
    return _READER.decode(text)
