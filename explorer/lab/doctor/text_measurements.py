"""Measurements of texts: a hash without case, width and blanks, tokens, and script."""

import functools
import itertools
import re
import sys
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

LATIN_ENDS, LATIN_EXTENDED = 0x370, (0x1E00, 0x1F00)
# About how many tokens a tokenizer makes of a word; of a Chinese character or a kana it makes one.
TOKENS_OF_WORD = 1.3
_CHARACTERS = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")
TEXTS_A_REPORT = 2**13  # texts between two reports of progress


def folded(text: str) -> str:
    """Fold a text to compare duplicates: Unicode's NFKC, without case, each run of blanks as one.

    >>> folded("  Ｔｗｏ   dogs "), folded("STRASSE") == folded("straße")
    ('two dogs', True)
    """
    if text.isascii():
        return " ".join(text.lower().split())
    whole = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(whole.split())


@dataclass(frozen=True)
class TextFigures:
    """Figures of each text of a column: the hash of its folded form, its approximate number of
    tokens, and the mask of texts whose letters are mostly neither Latin nor accented Latin."""

    hashes: np.ndarray
    tokens: np.ndarray
    foreign: np.ndarray


def figures_of(
    texts: Sequence[str], tell: Callable[[int], None] = lambda done: None
) -> TextFigures:
    """Go through the texts of a column once; `tell` hears the number done, and may raise to
    stop."""
    count = len(texts)
    hashes, tokens = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.float32)
    other = np.zeros(count, dtype=bool)
    all_texts = iter(texts)
    for start in range(0, count, TEXTS_A_REPORT):
        tell(start)
        some = list(itertools.islice(all_texts, TEXTS_A_REPORT))
        part = slice(start, start + len(some))
        whole = list(map(folded, some))
        hashes[part] = list(map(hash, whole))
        tokens[part] = [TOKENS_OF_WORD * (text.count(" ") + (text != "")) for text in whole]
        if not all(map(str.isascii, some)):
            tokens[part] += [sum(map(len, _CHARACTERS.findall(text))) for text in some]
            other[part] = foreign(whole)  # folded: full-width letters are Latin
    tell(count)
    return TextFigures(hashes, tokens, other)


def foreign(texts: Sequence[str]) -> np.ndarray:
    """Return the mask of texts whose letters are mostly neither Latin nor accented Latin [N]."""
    letters = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
    excess = np.concatenate([[0], np.cumsum(_scripts()[letters], dtype=np.int64)])
    ends = np.cumsum([0, *map(len, texts)])
    return np.diff(excess[ends]) > 0


@functools.cache
def _scripts() -> np.ndarray:
    """Return 1 for each letter that is not Latin, −1 for each that is, 0 for what is no letter, by
    code point, int8 [C]."""
    points = range(sys.maxunicode + 1)
    is_letter = np.fromiter(map(str.isalpha, map(chr, points)), bool)
    is_latin = np.zeros(len(points), dtype=bool)
    is_latin[:LATIN_ENDS] = is_latin[slice(*LATIN_EXTENDED)] = True
    return np.where(is_latin, -1, 1).astype(np.int8) * is_letter
