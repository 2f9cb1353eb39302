"""Measures of a loss on a batch for lessons, beyond those of every exploration."""

from collections.abc import Sequence

import torch
from torch import Tensor

from lossprism.explorer.core.batch import Batch
from lossprism.explorer.core.explore import Exploration
from lossprism.explorer.runtime.problem import Problem
from lossprism.losses.kernels.stable_functions import effective_count


def effective_negatives(e: Exploration) -> float:
    """Return how many negatives count for a query, the mean over queries: exp(entropy) of the
    weights in the row of each query. The effective terms of a batch are counted over all rows.

    Raises:
        Problem: if the terms of the loss are no matrix of queries and candidates.
    """
    shares = _weights_of_negatives(e)
    return sum(effective_count(row[row > 0] / row.sum()) for row in shares) / len(shares)


def _weights_of_negatives(e: Exploration) -> Tensor:
    """The weight of each negative [queries, candidates], 0 for a query's own key."""
    if e.weights is None or e.weights.shares.ndim != 2:
        raise Problem("no_such_step", name="terms", known=e.spec.name)
    return e.weights.shares.clone().fill_diagonal_(0)


def share_between(e: Exploration, one: int, other: int) -> float:
    """Return the share of the weight of all negatives that lies on the two cells in which one
    query meets the other's key."""
    shares = _weights_of_negatives(e)
    return float((shares[one, other] + shares[other, one]) / shares.sum())


def masked_cells(e: Exploration) -> list[tuple[int, int]]:
    """Return the query and candidate of each cell of the terms that a mask leaves out, but those of
    a query and its own key."""
    present = e.trace.mask_of(e.trace.named(e.spec.terms))
    assert present is not None
    absent = (~present).nonzero().tolist()
    return [(query, candidate) for query, candidate in absent if query != candidate]


def false_negatives_among(batch: Batch, cells: Sequence[tuple[int, int]]) -> int:
    """Return how many of these cells hold a candidate that the labels call right for the query."""
    keys = torch.cat([batch.positives, batch.others])
    queries = batch.positives.tolist()
    positives = {(batch.pairs.first[pair], batch.pairs.second[pair]) for pair in queries}
    return sum(
        (batch.pairs.first[queries[query]], batch.pairs.second[int(keys[candidate])]) in positives
        for query, candidate in cells
    )


def covered(e: Exploration) -> Tensor:
    """Return which two sentences the loss compares directly: bool [S, S], symmetric.

    Of a loss on pair scores they are the two of each pair; of one in a batch those whose similarity
    is computed.
    """
    count = len(e.batch.classes)
    cells = torch.zeros(count, count, dtype=torch.bool)
    if e.spec.reads_scores:
        cells[e.batch.first, e.batch.second] = True
    else:
        step, symbol = e.trace.named("similarities"), e.spec.symbols["similarities"]
        sides = [e.batch.axis(*one) for one in zip(symbol.axes, step.value.shape, strict=True)]
        (_, rows), (_, columns) = [side for side in sides if side is not None]
        cells[rows[:, None], columns] = True
    cells = cells | cells.T
    return cells.fill_diagonal_(False)
