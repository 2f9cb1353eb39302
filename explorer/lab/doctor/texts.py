"""Texts as numbers: equal numbers for texts that are the same but for case, width and blanks."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

import numpy as np

LATIN_ENDS, LATIN_EXTENDED = 0x370, (0x1E00, 0x1F00)


def folded(text: str) -> str:
    """The text by which twins are told: Unicode's NFKC, without case, each run of blanks as one.

    >>> folded("  Ｔｗｏ   dogs "), folded("STRASSE") == folded("straße")
    ('two dogs', True)
    """
    if text.isascii():
        return " ".join(text.lower().split())
    whole = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(whole.split())


def numbered(*sides: Sequence[str]) -> list[np.ndarray]:
    """For each side the numbers of its texts, int64; equal for texts that fold to the same.

    They are told apart by their 64-bit hashes: among a million texts, two that differ come out as
    one once in some ten million data sets.
    """
    hashes = [
        np.fromiter((hash(folded(text)) for text in side), dtype=np.int64, count=len(side))
        for side in sides
    ]
    _, numbers = np.unique(np.concatenate(hashes), return_inverse=True)
    return np.split(numbers, np.cumsum([len(side) for side in sides])[:-1])


def together(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """A number for each pair of numbers [N], equal for equal pairs."""
    _, numbers = np.unique(first * (int(second.max(initial=0)) + 1) + second, return_inverse=True)
    return numbers


def foreign(texts: Iterable[str]) -> np.ndarray:
    """Whether most letters of each text are neither Latin nor accented Latin."""
    return np.fromiter((not text.isascii() and _foreign(text) for text in texts), dtype=bool)


def _foreign(text: str) -> bool:
    letters = [letter for letter in text if letter.isalpha()]
    low, high = LATIN_EXTENDED
    latin = sum(ord(one) < LATIN_ENDS or low <= ord(one) < high for one in letters)
    return 2 * latin < len(letters)
