"""Ids of texts: equal whole numbers for texts that are the same but for case, width and blanks."""

import numpy as np


def ids_of(*hashes: np.ndarray) -> list[np.ndarray]:
    """Return the ids of the texts of each column, int32; equal for texts that fold to the same.

    They are distinguished by their 64-bit hashes: among a million texts, two that differ come out
    as one once in some ten million datasets.
    """
    numbers = ranks(np.concatenate(hashes))
    return np.split(numbers, np.cumsum([len(side) for side in hashes])[:-1])


def pair_ids(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return an id for each pair of ids [N], equal for equal pairs."""
    return ranks(first.astype(np.int64) * (int(second.max(initial=0)) + 1) + second)


def ranks(keys: np.ndarray) -> np.ndarray:
    """Return the place of each whole number among the distinct ones in order, int32 [N]: what
    `np.unique` calls the inverse, in a third of its memory."""
    order = np.argsort(keys)
    in_order = keys[order]
    is_new = np.zeros(len(keys), dtype=bool)
    np.not_equal(in_order[1:], in_order[:-1], out=is_new[1:])
    del in_order
    numbers = np.empty(len(keys), dtype=np.int32)
    numbers[order] = np.cumsum(is_new, dtype=np.int32)
    return numbers


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
