"""Answers sanitised for JSON, which knows no halves of characters, and no number of any length."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import orjson

# The largest whole number that is one for all that reads JSON.
MOST_WHOLE = 2**63 - 1
_HALF = re.compile("[\ud800-\udfff]")


def whole_letters(text: str) -> str:
    """The text with U+FFFD in place of each half of a character (a lone surrogate), which a page
    can send as JSON and no answer can carry."""
    return text if text.isascii() else _HALF.sub("\ufffd", text)


def sendable(value: Any) -> Any:
    """The value with `whole_letters` in all its texts, names of entries included."""
    try:
        orjson.dumps(value)  # a twentieth of the time that it takes to look at every text
    except TypeError:
        return _mended(value)
    return value


def encoded(value: Any) -> bytes:
    """The value as JSON; what JSON has no number for (NaN, ∞) is null."""
    try:
        return orjson.dumps(value)
    except TypeError:  # whole numbers of more than 64 bits, names that are no text
        return json.dumps(_mended(value), ensure_ascii=False, separators=(",", ":")).encode()


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return whole_letters(value)
    if isinstance(value, dict):
        return {_mended(name): _mended(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        made = [_mended(inner) for inner in value]
        return made if isinstance(value, list) else tuple(made)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
