"""Squares of all products of the columns of a batch, by the smaller of two Gram matrices.

Σ over all columns i, j of (x_i·x_j)² equals the same sum over all rows, and so does its gradient:
with N rows and D columns nothing larger than min(N, D)² is formed.
"""

from functools import reduce

import torch
from torch import Tensor

SUMMED_ROWS = 256  # that are summed at a time: a sum of sums keeps more digits


def between_columns(vectors: Tensor) -> tuple[Tensor, Tensor]:
    """Return Σ_{i≠j} (x_i·x_j)² over the columns of [N, D], and a quarter of its gradient."""
    rows, columns = vectors.shape
    if columns <= rows:
        products = _products(vectors, vectors).fill_diagonal_(0)
        return products.square().sum(), vectors @ products
    products = _products(vectors.T, vectors.T)
    squares = vectors.square().sum(dim=0)
    total = products.square().sum() - squares.square().sum()
    return total, (products @ vectors).addcmul_(vectors, squares, value=-1)


def across(first: Tensor, second: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return, for columns a of one [N, D] and b of another: a_i·b_i [D], Σ_{i≠j} (a_i·b_j)², and
    half of the gradient of that sum by each of the two."""
    own = (first * second).sum(dim=0)
    rows, columns = first.shape
    if columns <= rows:
        products = _products(first, second).fill_diagonal_(0)
        return own, products.square().sum(), second @ products.T, first @ products
    ours, theirs = (_products(side.T, side.T) for side in (first, second))
    total = (ours * theirs).sum() - own.square().sum()
    by_first = (theirs @ first).addcmul_(second, own, value=-1)
    return own, total, by_first, (ours @ second).addcmul_(first, own, value=-1)


def _products(first: Tensor, second: Tensor) -> Tensor:
    """Return every column of the one times every column of the other, [D, D]."""
    parts = zip(first.split(SUMMED_ROWS), second.split(SUMMED_ROWS), strict=True)
    return reduce(torch.add, [one.T @ other for one, other in parts])
