"""Texts as numbers: equal numbers for texts that are the same but for case, width and blanks."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

LATIN_ENDS, LATIN_EXTENDED = 0x370, (0x1E00, 0x1F00)
# About how many tokens a tokenizer makes of a word; of a Chinese character or a kana it makes one.
TOKENS_OF_WORD = 1.3
_CHARACTERS = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
TEXTS_A_REPORT = 2**13  # texts between two reports of progress


def folded(text: str) -> str:
    """Fold a text to compare duplicates: Unicode's NFKC, without case, each run of blanks as one.

    >>> folded("  Ｔｗｏ   dogs "), folded("STRASSE") == folded("straße")
    ('two dogs', True)
    """
    return " ".join(_folded_words(text))


def _folded_words(text: str) -> list[str]:
    if text.isascii():
        return text.lower().split()
    whole = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return whole.split()


@dataclass(frozen=True)
class Looked:
    """Figures of each text of a column: the hash of its folded form, its approximate number of
    tokens, and the mask of texts whose letters are mostly neither Latin nor accented Latin."""

    hashes: np.ndarray
    tokens: np.ndarray
    foreign: np.ndarray


def looked_at(texts: Sequence[str], tell: Callable[[int], None] = lambda done: None) -> Looked:
    """Go through the texts of a column once; `tell` hears the number done, and may raise to
    stop."""
    count = len(texts)
    hashes, tokens = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.float32)
    other = np.zeros(count, dtype=bool)
    for place, text in enumerate(texts):
        if place % TEXTS_A_REPORT == 0:
            tell(place)
        found = _folded_words(text)
        hashes[place] = hash(" ".join(found))
        tokens[place] = TOKENS_OF_WORD * len(found)
        if not text.isascii():
            other[place] = foreign(" ".join(found))  # full-width letters are Latin
            tokens[place] += len(_CHARACTERS.findall(text))
    tell(count)
    return Looked(hashes, tokens, other)


def numbered(*hashes: np.ndarray) -> list[np.ndarray]:
    """Number the texts of each column, int64; equal for texts that fold to the same.

    They are distinguished by their 64-bit hashes: among a million texts, two that differ come out
    as one once in some ten million datasets.
    """
    _, numbers = np.unique(np.concatenate(hashes), return_inverse=True)
    return np.split(numbers, np.cumsum([len(side) for side in hashes])[:-1])


def together(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """A number for each pair of numbers [N], equal for equal pairs."""
    _, numbers = np.unique(first * (int(second.max(initial=0)) + 1) + second, return_inverse=True)
    return numbers


def foreign(text: str) -> bool:
    """True if most letters of a text are neither Latin nor accented Latin."""
    letters = [letter for letter in text if letter.isalpha()]
    low, high = LATIN_EXTENDED
    latin = sum(ord(one) < LATIN_ENDS or low <= ord(one) < high for one in letters)
    return 2 * latin < len(letters)
