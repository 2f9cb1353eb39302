"""Answers as JSON, which has no lone surrogates and no integers of arbitrary size.

An answer is a dataclass, or made of plain values. orjson writes the attributes of a dataclass in
the order of its fields; other objects write themselves (`to_json`).
"""

import dataclasses
import json
import math
import re
from typing import Any

import orjson

# The largest whole number that is one for all that reads JSON.
MAX_INTEGER = 2**63 - 1
_HALF = re.compile("[\ud800-\udfff]")


def whole_letters(text: str) -> str:
    """Replace each lone surrogate by U+FFFD: a page can send one as JSON and no answer can carry
    it."""
    return text if text.isascii() else _HALF.sub("\ufffd", text)


def encoded(value: Any) -> bytes:
    """Return the value as JSON; NaN and ∞ become null."""
    try:
        return orjson.dumps(value, default=_written)
    except TypeError:  # halves of characters, whole numbers of more than 64 bits
        return json.dumps(_mended(value), ensure_ascii=False, separators=(",", ":")).encode()


def plain(value: Any) -> Any:
    """Return the value as a reader of its JSON gets it: objects are dictionaries, tuples are
    lists."""
    return json.loads(encoded(value))


def _written(value: Any) -> Any:
    if hasattr(value, "to_json"):
        return value.to_json()
    raise TypeError(f"{type(value).__name__} is no part of an answer")


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return whole_letters(value)
    if isinstance(value, dict):
        return {_mended(name): _mended(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_mended(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if dataclasses.is_dataclass(value):
        return _mended(vars(value))
    return value if isinstance(value, int | float | None) else _mended(_written(value))
