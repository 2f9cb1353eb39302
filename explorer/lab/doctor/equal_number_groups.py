"""Groups of equal numbers in an array: those with several labels, repeated ones, equal sets."""

import numpy as np


def have_several_labels(numbers: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the mask of the entries whose number has several labels [N]."""
    return label_spreads(numbers, labels) > 0


def label_spreads(numbers: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the difference of largest and smallest label of the number of each entry [N]."""
    count = int(numbers.max(initial=-1)) + 1
    low, high = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(low, numbers, labels)
    np.maximum.at(high, numbers, labels)
    high -= low
    return high[numbers]


def seen_before(numbers: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
    """Return the mask of the entries whose number is in an earlier entry [N]; with `rows`, in an
    earlier row."""
    places = np.arange(len(numbers)) if rows is None else rows
    first = np.full(int(numbers.max(initial=-1)) + 1, len(numbers))
    np.minimum.at(first, numbers, places)
    return places > first[numbers]


def set_numbers(numbers: np.ndarray, of: np.ndarray) -> np.ndarray:
    """Return a number for each set [S], equal for sets of equal numbers; entry n belongs to set
    `of[n]`. Sets are compared by 64-bit sums, which hardly ever collide."""
    width = int(numbers.max(initial=0)) + 1
    members = np.unique(of * width + numbers)
    mixed = (members % width).astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):  # SplitMix64
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    mixed ^= mixed >> np.uint64(31)
    begins = np.unique(members // width, return_index=True)[1]
    return np.unique(np.add.reduceat(mixed, begins), return_inverse=True)[1]
