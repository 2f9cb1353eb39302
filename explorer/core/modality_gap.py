"""The modality gap: the two sides of pairs, such as images and texts, in two regions of the space.

Liang et al. 2022, "Mind the Gap": the distance of the centres of both sides' unit vectors. Vectors
of one kind have a distance by chance, too: it is compared with those of the same pairs whose sides
are swapped at random.
"""

import functools
from collections.abc import Sequence

import numpy as np
from torch import Tensor

from lossprism.explorer.core.batch import Batch
from lossprism.explorer.runtime.limits import KEPT_BATCHES
from lossprism.losses.geometry import unit

SWAPS = 999
SIGNIFICANCE = 0.01  # share of batches of one kind whose gap is called one
MIN_DISTANCE = 0.1  # a smaller one, however certain, moves no cosine by more than 0.005
MIN_PAIRS = 8  # pairs, of which 2^8 swaps can tell one in a hundred
MAX_PAIRS = 512  # pairs that are looked at


@functools.lru_cache(maxsize=KEPT_BATCHES)
def modality_gap(batch: Batch) -> float | None:
    """Return the gap of a batch with vectors (`gap_between`), None without any."""
    if batch.vectors is None:
        return None
    vectors = batch.vectors.detach()
    texts = batch.pairs.first, batch.pairs.second
    return gap_between(*texts, vectors[batch.first], vectors[batch.second])


def gap_between(
    first: Sequence[str], second: Sequence[str], queries: Tensor, keys: Tensor
) -> float | None:
    """Return the distance of the centres of the two sides' unit vectors [N, D], from 0 to 2; None
    if it is small, or swapped sides reach it too often.

    A vector that stands in several pairs counts once; a text on both sides makes both of one kind.
    Of more than MAX_PAIRS pairs the first are looked at.
    """
    if not set(first).isdisjoint(second):
        return None
    pairs = _distinct_pairs(first, second)[:MAX_PAIRS]
    count = len(pairs)
    if count < MIN_PAIRS:
        return None
    sides = unit(queries[pairs].double()) - unit(keys[pairs].double())
    products = (sides @ sides.T).cpu().numpy()
    mean_product = float(products.sum()) / count**2
    signs = np.random.RandomState(0).choice([-1.0, 1.0], size=(SWAPS, count))
    swapped = ((signs @ products) * signs).sum(axis=1) / count**2
    share = (1 + int((swapped >= mean_product).sum())) / (1 + SWAPS)
    distance = float(np.sqrt(max(mean_product, 0.0)))
    return distance if share <= SIGNIFICANCE and distance >= MIN_DISTANCE else None


def _distinct_pairs(first: Sequence[str], second: Sequence[str]) -> list[int]:
    """Return the places of pairs, in their order, neither of whose texts stood before."""
    seen: set[str] = set()
    places = []
    for place, pair in enumerate(zip(first, second, strict=True)):
        if seen.isdisjoint(pair):
            places.append(place)
            seen.update(pair)
    return places
