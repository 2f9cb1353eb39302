"""The modality gap: the two sides of pairs, such as images and texts, in two regions of the space.

Liang et al. 2022, "Mind the Gap": the distance of the centres of both sides' unit vectors. Vectors
of one kind have a distance by chance, too: it is compared with those of the same pairs whose sides
are swapped at random.
"""

from __future__ import annotations

import functools

import numpy as np
from torch import Tensor

from lossprism.explorer.core.batch import Batch
from lossprism.explorer.runtime.limits import KEPT_BATCHES
from lossprism.losses.geometry import unit

SWAPS = 999
LEVEL = 0.01  # share of batches of one kind whose gap is called one
MIN_DISTANCE = 0.1  # a smaller one, however certain, moves no cosine by more than 0.005
FEWEST = 8  # pairs, of which 2^8 swaps can tell one in a hundred


@functools.lru_cache(maxsize=KEPT_BATCHES)
def modality_gap(batch: Batch) -> float | None:
    """Return the distance of the centres of the two sides' unit vectors, from 0 to 2; None if it is
    small, or swapped sides reach it too often.

    A vector that stands in several pairs counts once; a text on both sides makes both of one kind.
    """
    if batch.vectors is None or bool(set(batch.pairs.first) & set(batch.pairs.second)):
        return None
    pairs = _distinct_pairs(batch)
    if len(pairs) < FEWEST:
        return None
    vectors = unit(batch.vectors.detach().double())
    sides = vectors[batch.first[pairs]] - vectors[batch.second[pairs]]
    products = (sides @ sides.T).cpu().numpy()
    count = len(pairs)
    found = float(products.sum()) / count**2
    signs = np.random.RandomState(0).choice([-1.0, 1.0], size=(SWAPS, count))
    swapped = ((signs @ products) * signs).sum(axis=1) / count**2
    share = (1 + int((swapped >= found).sum())) / (1 + SWAPS)
    distance = float(np.sqrt(max(found, 0.0)))
    return distance if share <= LEVEL and distance >= MIN_DISTANCE else None


def _distinct_pairs(batch: Batch) -> Tensor:
    """Return the places of pairs, in their order, neither of whose texts stood before."""
    seen: set[str] = set()
    places = []
    for place, pair in enumerate(zip(batch.pairs.first, batch.pairs.second, strict=True)):
        if seen.isdisjoint(pair):
            places.append(place)
            seen.update(pair)
    return batch.first.new_tensor(places)
