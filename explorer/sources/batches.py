"""Batches drawn from a whole set of pairs, as a training meets them."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from explorer.runtime.limits import EXPLORED_PAIRS
from explorer.runtime.problem import Problem
from explorer.sources import samplers
from explorer.sources.pairs import Pairs

SAMPLERS = ("in_order", "shuffled", "no_duplicates", "group_by_label")
# Least and most of each number of a `Draw`.
RANGES = {"size": (2, EXPLORED_PAIRS), "seed": (0, 2**32 - 1), "number": (0, 9_999)}


@dataclass(frozen=True)
class Draw:
    """One batch of `size` pairs: the one with this `number`, counted from 0 on through the epochs.

    "in_order" takes the pairs as they stand; "shuffled" in another order each epoch, from
    `seed` + epoch; "no_duplicates" and "group_by_label" are sentence-transformers' samplers of
    these names: no sentence twice in a batch, and every label at least twice. What does not fill a
    batch at the end of an epoch is left out. Of `size` 0 nothing is known.
    """

    sampler: str = "in_order"
    size: int = 0
    seed: int = 0
    number: int = 0


def drawn(pairs: Pairs, draw: Draw) -> tuple[int, ...]:
    """The places of the pairs of this batch.

    Raises Problem where the sampler finds no batch of this size.
    """
    return next(successive(pairs, draw))


def successive(pairs: Pairs, draw: Draw) -> Iterator[tuple[int, ...]]:
    """The places of the pairs of this batch, of the next one, and so on without an end.

    Raises Problem where the sampler finds no batch of this size.
    """
    passed = 0
    for epoch in itertools.count():
        batches = _epoch(pairs, draw.sampler, draw.size, draw.seed, epoch)
        if not batches:
            raise Problem("no_batch", size=min(draw.size, len(pairs)))
        yield from batches[max(draw.number - passed, 0) :]
        passed += len(batches)


def epoch_of(pairs: Pairs, draw: Draw) -> int:
    """How many batches the first epoch has."""
    return len(_epoch(pairs, draw.sampler, draw.size, draw.seed, 0))


@functools.lru_cache(maxsize=8)
def _epoch(
    pairs: Pairs, sampler: str, size: int, seed: int, epoch: int
) -> tuple[tuple[int, ...], ...]:
    count = len(pairs)
    size = min(size, count)
    generator = torch.Generator().manual_seed(seed + epoch)
    if sampler == "in_order":
        return _chunks(range(count), size)
    if sampler == "shuffled":
        return _chunks(torch.randperm(count, generator=generator).tolist(), size)
    if sampler == "no_duplicates":
        return samplers.no_duplicates(*pairs.positions, size, generator)
    return samplers.group_by_label(pairs.labels, size, generator)


def _chunks(places: Sequence[int], size: int) -> tuple[tuple[int, ...], ...]:
    whole = len(places) // size
    return tuple(tuple(places[at * size : (at + 1) * size]) for at in range(whole))
