"""A window of the matrix as at most 256 × 256 blocks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MOST_BLOCKS = 256


@dataclass(frozen=True)
class Window:
    """Rows `top` … `bottom` − 1 and columns `left` … `right` − 1, as they stand in the matrix."""

    top: int
    bottom: int
    left: int
    right: int

    @property
    def rows(self) -> np.ndarray:
        return edges(self.top, self.bottom)

    @property
    def columns(self) -> np.ndarray:
        return edges(self.left, self.right)


@dataclass(frozen=True, eq=False)
class Blocks:
    """What is known of each block, [R, C] each; block (r, c) holds the rows from `rows[r]` up to
    `rows[r + 1]` and the columns from `columns[c]` up to `columns[c + 1]`.

    `total` is the logsumexp of the block's terms, −inf where the mask leaves none. `share` is
    the block's part of the weight of the whole matrix. `largest` is its largest term, or where
    `bounded` a number that none exceeds. `present` counts the cells that take part.
    """

    rows: np.ndarray
    columns: np.ndarray
    total: np.ndarray
    share: np.ndarray
    largest: np.ndarray
    present: np.ndarray
    bounded: bool = False


def edges(start: int, stop: int, most: int = MOST_BLOCKS) -> np.ndarray:
    """Where the bands of `start` … `stop` − 1 begin, and the end: equal widths, the last less.

    >>> edges(0, 7, 3)
    array([0, 3, 6, 7])
    """
    width = max(1, -(-(stop - start) // most))
    return np.append(np.arange(start, stop, width), stop)


def listed(starts: np.ndarray, stops: np.ndarray) -> np.ndarray:
    """All numbers from each of `starts` up to each of `stops`, one after the other.

    >>> listed(np.array([2, 9, 5]), np.array([4, 9, 8]))
    array([2, 3, 5, 6, 7])
    """
    lengths = stops - starts
    ends = np.cumsum(lengths)
    return np.arange(lengths.sum()) + np.repeat(stops - ends, lengths)


def log_sums(values: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The logsumexp and the maximum of each run of `values`; a run ends where the next starts."""
    largest = np.maximum.reduceat(values, starts)
    shift = np.where(np.isneginf(largest), 0, largest)
    lengths = np.diff(np.append(starts, len(values)))
    with np.errstate(divide="ignore"):
        total = np.log(np.add.reduceat(np.exp(values - np.repeat(shift, lengths)), starts)) + shift
    return total, largest
