"""Groups of equal ids in an array: those with several labels, repeated ones, equal sets."""

import numpy as np


def have_several_labels(ids: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the mask of the entries whose id has several labels [N]."""
    return label_spreads(ids, labels) > 0


def label_spreads(ids: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the difference of largest and smallest label of the id of each entry [N]."""
    count = int(ids.max(initial=-1)) + 1
    low, high = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(low, ids, labels)
    np.maximum.at(high, ids, labels)
    high -= low
    return high[ids]


def seen_before(ids: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
    """Return the mask of the entries whose id is in an earlier entry [N]; with `rows`, in an
    earlier row."""
    places = np.arange(len(ids)) if rows is None else rows
    first = np.full(int(ids.max(initial=-1)) + 1, len(ids))
    np.minimum.at(first, ids, places)
    return places > first[ids]


def set_ids(ids: np.ndarray, of: np.ndarray) -> np.ndarray:
    """Return an id for each set [S], equal for sets of equal ids; entry n belongs to set
    `of[n]`. Sets are compared by 64-bit sums, which hardly ever collide."""
    width = int(ids.max(initial=0)) + 1
    members = np.unique(of * width + ids)
    mixed = (members % width).astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):  # SplitMix64
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    mixed ^= mixed >> np.uint64(31)
    begins = np.unique(members // width, return_index=True)[1]
    return np.unique(np.add.reduceat(mixed, begins), return_inverse=True)[1]
