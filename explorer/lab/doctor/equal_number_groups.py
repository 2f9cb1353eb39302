"""Groups of equal numbers in an array: which have several labels, which stood before, which are
equal as sets."""

from __future__ import annotations

import numpy as np


def of_several_labels(numbers: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Mask of the pairs whose number stands with several labels, bool [N]."""
    return label_spreads(numbers, labels) > 0


def label_spreads(numbers: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The largest less the smallest label of the number of each pair [N]."""
    count = int(numbers.max(initial=-1)) + 1
    low, high = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(low, numbers, labels)
    np.maximum.at(high, numbers, labels)
    return high[numbers] - low[numbers]


def later(numbers: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
    """Mask of the numbers that stood before, bool [N]; with their rows, which are in order, in an
    earlier one of these."""
    _, first, of = np.unique(numbers, return_index=True, return_inverse=True)
    places = np.arange(len(numbers)) if rows is None else rows
    return places > places[first][of]


def sets(numbers: np.ndarray, of: np.ndarray) -> np.ndarray:
    """A number for each set [S] to which these [N] are counted `of`, equal for sets of the same: a
    64-bit sum, by which two that differ come out as one as seldom as texts do by theirs."""
    width = int(numbers.max(initial=0)) + 1
    members = np.unique(of * width + numbers)
    mixed = (members % width).astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):  # SplitMix64
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    mixed ^= mixed >> np.uint64(31)
    begins = np.unique(members // width, return_index=True)[1]
    return np.unique(np.add.reduceat(mixed, begins), return_inverse=True)[1]
