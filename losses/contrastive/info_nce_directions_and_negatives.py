"""Options of InfoNCE: directions and own negatives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

import torch
from torch import Tensor

from lossprism.losses.definition_chosen_by_options import foldable
from lossprism.losses.gather import gather_rows, processes

SIMILARITIES = ("cosine", "dot")
DIRECTIONS = ("query_to_key", "key_to_query", "query_to_query", "key_to_key")
PARTITIONS = ("joint", "per_direction")
HARDENED = ("in_batch", "hard", "all")
SEEN = ("by_all", "by_own")
BOTH_WAYS = ("query_to_key", "key_to_query")

T = TypeVar("T")
# One name or several, which the page takes as one text.
Ways = str | Iterable[str]


def ways_of(directions: Ways) -> tuple[str, ...]:
    """Return the directions by name, in the order of `DIRECTIONS`.

    >>> ways_of("query_to_query,query_to_key")
    ('query_to_key', 'query_to_query')
    """
    names = directions.split(",") if isinstance(directions, str) else list(directions)
    named = [str(name).strip() for name in names]
    unknown = [name for name in named if name not in DIRECTIONS]
    if unknown or not named:
        refused = ", ".join(repr(name) for name in unknown) or "none"
        raise ValueError(f"directions has {refused}; it takes some of {', '.join(DIRECTIONS)}")
    return tuple(way for way in DIRECTIONS if way in named)


def copies_of(ways: tuple[str, ...]) -> int:
    """Return the number of own pairs in a joint softmax: two if both sides are in it."""
    return 2 if set(BOTH_WAYS) <= set(ways) else 1


@foldable
def in_directions(directions: Ways, blocks: Sequence[T]) -> tuple[T, ...]:
    """Return the blocks of these directions, from blocks in the order of `DIRECTIONS`."""
    ways = ways_of(directions)
    return tuple(block for way, block in zip(DIRECTIONS, blocks, strict=True) if way in ways)


def flat_negatives(
    negatives: Tensor | None, owners: Tensor | None
) -> tuple[Tensor | None, Tensor | None]:
    """Return negatives [Q, D] and their owners [Q]; those of [N, K, D] belong to their row."""
    if negatives is None or negatives.ndim != 3:
        return negatives, owners
    rows, per_row, _ = negatives.shape
    place = torch.arange(rows, device=negatives.device)
    return negatives.flatten(0, 1), place.repeat_interleave(per_row)


def gathered_owners(gather: bool, owners: Tensor | None, queries: Tensor) -> Tensor | None:
    """Return the owners by their number in the batch of all processes."""
    if owners is None or not gather or processes() == 1:
        return owners
    _, here = gather_rows(queries)
    return gather_rows(owners + here.start * (owners >= 0))[0]
