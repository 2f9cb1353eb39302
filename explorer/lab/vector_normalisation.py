"""Sentence vectors at length 1."""

import numpy as np

from lossprism.losses.geometry import MIN_LENGTH


def directions(vectors: np.ndarray) -> np.ndarray:
    """Each row [N, D] divided by its length, as float32; a zero row stays zero.

    Squares are summed in float64: those of vectors that float32 holds may be beyond it.
    """
    squares = np.einsum("nd,nd->n", vectors, vectors, dtype=np.float64)
    exact = np.promote_types(vectors.dtype, np.float32)
    lengths = np.maximum(np.sqrt(squares), MIN_LENGTH).astype(exact)
    return (vectors / lengths[:, None]).astype(np.float32, copy=False)
