"""Batches drawn from a whole set of pairs, as a training meets them."""

import functools
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from lossprism.explorer.runtime.limits import EXPLORED_PAIRS
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources import samplers
from lossprism.explorer.sources.pairs import Pairs

SAMPLERS = ("in_order", "shuffled", "no_duplicates", "group_by_label")
# Least and most of each number of a `Draw`.
RANGES = {"size": (2, EXPLORED_PAIRS), "seed": (0, 2**32 - 1), "number": (0, 9_999)}


@dataclass(frozen=True)
class Draw:
    """A batch of `size` rows: the one with this `number`, counted from 0 on through the epochs.

    A row is a pair, or all pairs of one row of the file where some hold several (`Pairs.in_rows`):
    then a batch has no more rows than make EXPLORED_PAIRS pairs, however many each of them holds.
    "in_order" takes the rows as they stand; "shuffled" in another order each epoch, from `seed` +
    epoch; "no_duplicates" and "group_by_label" are sentence-transformers' samplers of these names:
    no sentence in two rows of a batch, and every label at least twice. The incomplete batch at the
    end of an epoch is left out. A `size` of 0 is unknown.
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
            size = batch_rows(pairs, draw.size)
            raise Problem("no_batch" if pairs.in_rows is None else "no_batch_of_rows", size=size)
        yield from batches[max(draw.number - passed, 0) :]
        passed += len(batches)


def batch_rows(pairs: Pairs, size: int) -> int:
    """Number of rows of a batch for which `size` were requested."""
    rows = _rows(pairs)
    if len(pairs) <= EXPLORED_PAIRS:
        return min(size, len(rows))
    return min(size, len(rows), max(EXPLORED_PAIRS // max(map(len, rows)), 1))


def epoch_of(pairs: Pairs, draw: Draw) -> int:
    """Number of batches of the first epoch."""
    return len(_epoch(pairs, draw.sampler, draw.size, draw.seed, 0))


@functools.lru_cache(maxsize=8)
def _epoch(
    pairs: Pairs, sampler: str, size: int, seed: int, epoch: int
) -> tuple[tuple[int, ...], ...]:
    rows = _rows(pairs)
    size = batch_rows(pairs, size)
    generator = torch.Generator().manual_seed(seed + epoch)
    if sampler == "in_order":
        batches = samplers.chunks(range(len(rows)), size)
    elif sampler == "shuffled":
        batches = samplers.shuffled(len(rows), size, generator)
    elif sampler == "no_duplicates":
        batches = samplers.no_duplicates(_texts_of(pairs, rows), size, generator)
    elif pairs.in_rows is None:
        batches = samplers.group_by_label(pairs.labels, size, generator)
    else:
        raise Problem("sampler_rows")
    return tuple(tuple(itertools.chain.from_iterable(rows[one] for one in b)) for b in batches)


@functools.lru_cache(maxsize=8)
def _rows(pairs: Pairs) -> tuple[tuple[int, ...], ...]:
    """The places of the pairs of each row."""
    if pairs.in_rows is None:
        return tuple((place,) for place in range(len(pairs)))
    places = itertools.groupby(range(len(pairs)), key=pairs.in_rows.__getitem__)
    return tuple(tuple(row) for _, row in places)


def _texts_of(pairs: Pairs, rows: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """The texts of each row, by number, each once."""
    first, second = (side.tolist() for side in pairs.positions)
    every = ((side[place] for place in row for side in (first, second)) for row in rows)
    return [tuple(dict.fromkeys(texts)) for texts in every]
