"""Nearest neighbours of sentences, and how many of them a training replaced."""

import numpy as np

BLOCK_ROWS = 1024


def nearest(units: np.ndarray, count: int) -> np.ndarray:
    """Return the `count` nearest other rows of each row [S, count], by the cosine of rows of length
    1 [S, D]; of equal cosines the earlier row."""
    places = np.empty((len(units), count), dtype=np.int64)
    for start in range(0, len(units), BLOCK_ROWS):
        block = units[start : start + BLOCK_ROWS] @ units.T
        block[np.arange(len(block)), start + np.arange(len(block))] = -np.inf
        places[start : start + len(block)] = np.argsort(-block, axis=1, kind="stable")[:, :count]
    return places


def neighbours_changed(before: np.ndarray, after: np.ndarray, count: int) -> np.ndarray:
    """Return for each row how many of its `count` nearest rows `before` are not among those
    `after` [S]; both are rows of length 1 [S, D]."""
    near, nearer = nearest(before, count), nearest(after, count)
    common = (near[:, :, None] == nearer[:, None, :]).any(axis=2).sum(axis=1)
    return count - common
