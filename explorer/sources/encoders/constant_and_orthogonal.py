"""Encoders that know nothing: one that gives all sentences the same vector, and one that gives
every two of them vectors at right angles. With them any batch shows a loss at collapse, and at a
start where nothing is alike."""

import re
from collections.abc import Sequence

import numpy as np

from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.encoders.encoder_interface import Backend, Encoder

ALIKE, APART = "all alike", "all apart"
# A vector for each of more sentences than these would be a matrix beyond any batch that is shown.
MAX_ORTHOGONAL = 2048
DIMENSIONS = (2, 4096)
_NAMED = re.compile(rf"({ALIKE}|{APART})(?: (\d{{1,4}}))?")


class ConstantOrOrthogonalEncoder(Encoder):
    """Unit vectors of distinct sentences, float32 (S, D).

    "all alike" has 2 dimensions, or as many as are named behind it, from 2 to 4096; "all apart" one
    for each sentence.

    >>> _find("all apart").encode(["a", "b"]).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    @property
    def reads_whole_batch(self) -> bool:
        return self.name.startswith(APART)

    def encode(self, sentences: Sequence[str], device: str | None = None) -> np.ndarray:
        """Return the vectors. Raises Problem for other dimensions, and for more sentences at right
        angles than 2048."""
        match = _NAMED.fullmatch(self.name)
        assert match is not None  # by `is_constant_or_orthogonal`
        count, (name, named) = len(sentences), match.groups()
        low, high = DIMENSIONS
        dimensions = max(count, low) if name == APART else int(named or low)
        if (name == APART and named) or not low <= dimensions <= max(high, MAX_ORTHOGONAL):
            values = {"encoder": self.name, "low": low, "high": high}
            raise Problem("encoder_dimensions", about="encoder", **values)
        if name == APART and count > MAX_ORTHOGONAL:
            values = {"encoder": APART, "count": count, "most": MAX_ORTHOGONAL}
            raise Problem("encoder_apart", about="encoder", **values)
        vectors = np.zeros((count, dimensions), dtype=np.float32)
        vectors[range(count), range(count) if name == APART else 0] = 1
        return vectors


def is_constant_or_orthogonal(name: str) -> bool:
    """Return whether this names one of both, perhaps with its number of dimensions behind it."""
    return _NAMED.fullmatch(name.strip()) is not None


def _find(name: str) -> ConstantOrOrthogonalEncoder:
    return ConstantOrOrthogonalEncoder(name, identity=name)


BACKEND = Backend(takes=is_constant_or_orthogonal, find=_find)
