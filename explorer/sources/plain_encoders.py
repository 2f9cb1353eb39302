"""Encoders that know nothing: one that gives all sentences the same vector, and one that gives
every two of them vectors at right angles. With them any batch shows a loss at collapse, and at a
start where nothing is alike."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from explorer.runtime.problem import Problem

ALIKE, APART = "all alike", "all apart"
# A vector for each of more sentences than these would be a matrix beyond any batch that is shown.
MOST_APART = 2048
DIMENSIONS = (2, 4096)
_NAMED = re.compile(rf"({ALIKE}|{APART})(?: (\d{{1,4}}))?")


def is_plain(encoder: str) -> bool:
    """Whether this names one of both, perhaps with its number of dimensions behind it."""
    return _NAMED.fullmatch(encoder.strip()) is not None


def plain_vectors(sentences: Sequence[str], encoder: str) -> np.ndarray:
    """Unit vectors of the S distinct sentences, float32 (S, D).

    "all alike" has 2 dimensions, or as many as are named behind it, from 2 to 4096; "all apart" one
    for each sentence.

    >>> plain_vectors(["a", "b"], "all apart").tolist()
    [[1.0, 0.0], [0.0, 1.0]]

    Raises Problem for other dimensions, and for more sentences at right angles than 2048.
    """
    found = _NAMED.fullmatch(encoder.strip())
    assert found is not None  # by `is_plain`
    count, (name, named) = len(sentences), found.groups()
    low, high = DIMENSIONS
    dimensions = max(count, low) if name == APART else int(named or low)
    if (name == APART and named) or not low <= dimensions <= max(high, MOST_APART):
        raise Problem("encoder_dimensions", about="encoder", encoder=encoder, low=low, high=high)
    if name == APART and count > MOST_APART:
        raise Problem("encoder_apart", about="encoder", encoder=APART, count=count, most=MOST_APART)
    vectors = np.zeros((count, dimensions), dtype=np.float32)
    vectors[range(count), range(count) if name == APART else 0] = 1
    return vectors
