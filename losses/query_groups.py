"""Pairs that share a query: lists of candidates, and positives beside their negatives.

A list holds places of pairs, −1 after its last candidate.
"""

from collections.abc import Sequence

import torch
from torch import Tensor


def lists_of(queries: Tensor, least: int = 2) -> Tensor:
    """Return the pairs of each query with at least `least`, int64 [L, K], given query numbers [N].

    Queries in the order of their first pair, pairs in theirs; without any, an empty [0, 0].

    >>> lists_of(torch.tensor([7, 3, 7, 9, 3, 7]))
    tensor([[ 0,  2,  5],
            [ 1,  4, -1]])
    """
    lists: dict[int, list[int]] = {}
    for place, query in enumerate(queries.tolist()):
        lists.setdefault(query, []).append(place)
    return _padded([one for one in lists.values() if len(one) >= least], queries.device)


def margins_of(lists: Tensor, positive: Tensor) -> tuple[Tensor, Tensor]:
    """Return each positive pair [R] whose list has negatives, and these [R, K].

    Args:
        lists: [L, K], as `lists_of` returns them.
        positive: [N], which pairs are positives.

    >>> margins_of(torch.tensor([[0, 2, 5]]), torch.tensor([1, 0, 0, 0, 0, 1]).bool())
    (tensor([0, 5]), tensor([[2],
            [2]]))
    """
    chosen = positive.tolist()
    rows, others = [], []
    for places in lists.tolist():
        there = [place for place in places if place >= 0]
        negatives = [place for place in there if not chosen[place]]
        if negatives:
            rows += [place for place in there if chosen[place]]
            others += [negatives for place in there if chosen[place]]
    return torch.tensor(rows, dtype=torch.int64, device=lists.device), _padded(others, lists.device)


def triplets_of(positives: Tensor, negatives: Tensor) -> tuple[Tensor, Tensor]:
    """Return each positive pair with each negative pair of its list: their places, [T] each.

    Args:
        positives, negatives: [R] and [R, K], as `margins_of` returns them.

    >>> triplets_of(torch.tensor([0, 5]), torch.tensor([[2, 4], [3, -1]]))
    (tensor([0, 0, 5]), tensor([2, 4, 3]))
    """
    there = negatives >= 0
    return positives[:, None].expand_as(negatives)[there], negatives[there]


def _padded(rows: Sequence[Sequence[int]], device: torch.device) -> Tensor:
    width = max(map(len, rows), default=0)
    filled = [[*row, *[-1] * (width - len(row))] for row in rows]
    return torch.tensor(filled, dtype=torch.int64, device=device).reshape(len(rows), width)


def at(values: Tensor, places: Tensor) -> Tensor:
    """Return the values [N] at these places [L, K], 0 for absent ones, with gradient."""
    return values[places.clamp_min(0)].masked_fill(places < 0, 0)
