"""Vectors of a guide, a second encoder, as a scenario holds them: base64 by sentence."""

import base64
import binascii
import math
from collections.abc import Iterable, Sequence

import numpy as np

from lossprism.explorer.sources.sentence_vectors_in_tables import has_direction

# A sentence and its vector: base64 of float32 numbers, least byte first.
EncodedVector = tuple[str, str]
_NUMBERS = np.dtype("<f4")


def encoded_vectors(
    sentences: Sequence[str], guide: np.ndarray | None
) -> tuple[EncodedVector, ...]:
    """The vectors [S, G] of these sentences as a scenario holds them; a sentence without any is
    left out."""
    if guide is None:
        return ()
    rows = zip(sentences, guide.astype(_NUMBERS), strict=True)
    return tuple(
        (sentence, base64.b64encode(row.tobytes()).decode("ascii"))
        for sentence, row in rows
        if not np.isnan(row).any()
    )


def decoded_vector(vector: str) -> np.ndarray:
    """A vector as a scenario holds it. Raises ValueError where it is none."""
    try:
        numbers = np.frombuffer(base64.b64decode(vector, validate=True), dtype=_NUMBERS)
    except binascii.Error as error:
        raise ValueError("no base64") from error
    if not len(numbers) or not np.isfinite(numbers).all():
        raise ValueError("no finite numbers")
    if not has_direction(numbers):
        raise ValueError("no direction")
    return numbers


def guide_vectors_of(sentences: Sequence[str], guided: Iterable[EncodedVector]) -> np.ndarray:
    """The vectors of these sentences that a scenario has, float32 [S, G], NaN for a sentence that
    has none."""
    known = {sentence: decoded_vector(vector) for sentence, vector in guided}
    width = len(next(iter(known.values())))
    nothing = np.full(width, math.nan, dtype=np.float32)
    return np.stack([known.get(sentence, nothing) for sentence in sentences]).astype(np.float32)
