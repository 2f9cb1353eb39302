"""Options of InfoNCE: directions, own negatives, and the symbols of their steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

import torch
from torch import Tensor

from lossprism.losses.composed_definitions import foldable
from lossprism.losses.contrastive.in_batch_symbols_and_counts import ALL_TERMS, LOG1P_OF_ALL
from lossprism.losses.gather import gather_rows, processes
from lossprism.losses.spec import Symbol
from lossprism.losses.symbols import each_query, query_by_key

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


EXTENDED_SYMBOLS = {
    "negative_owners": Symbol(r"o_n", ("key",)),
    "same_text": each_query(r"\text{text}_i"),
    "own": each_query("c_{ii}", "«similarities[r,r]»"),
    "hardened": query_by_key(r"\tilde s_{ij}"),
    "others": query_by_key(r"j \in \mathcal N_i"),
    "other_queries": Symbol(r"j \in \mathcal N'_i", ("key", "query")),
    "all_terms": ALL_TERMS,
    "per_row": each_query(
        r"\ell_i", LOG1P_OF_ALL, equals=r"\log\Bigl(1 + \sum_j e^{t_{ij}}\Bigr)", signed=False
    ),
    "back": Symbol(r"c'_{ij}", ("key", "query"), "«similarities[c,r]»"),
    "among_queries": Symbol(r"s(q_i, q_j)", ("query", "query")),
    "query_terms": Symbol(
        r"s(q_i, q_j)/\tau - s_{ii}\ \text{where}\ j \ne i",
        ("query", "query"),
        "«among_queries[r,c]» / «temperature» - «positive[r]»",
    ),
    "among_keys": query_by_key(r"s(k_i, k_j)"),
    "key_terms": query_by_key(
        r"s(k_i, k_j)/\tau - s_{ii}\ \text{where}\ j \ne i",
        "«among_keys[r,c]» / «temperature» - «positive[r]»",
    ),
}
