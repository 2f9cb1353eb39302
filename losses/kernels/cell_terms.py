"""Contributions and weights of the cells of a loss's matrix, a block of cells at a time.

The kernels sum these over the tiles of a matrix, and a query about a part of it sums the same over
the blocks of that part: neither has a formula of its own.
"""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import softplus

# From here on torch's softplus answers x itself, which is exact in float64 too.
LINEAR_FROM = 40.0


def logistic_terms(x: Tensor) -> Tensor:
    """Return log(1 + eˣ) of each cell; for x = log Σⱼ eᵗʲ it is the loss of a row with the terms
    tⱼ."""
    return softplus(x, threshold=LINEAR_FROM)


def logistic_weights_(x: Tensor) -> Tensor:
    """Replace x by σ(x), the derivatives of the logistic terms."""
    return x.sigmoid_()


def log_logistic_weights(x: Tensor, terms: Tensor | None = None) -> Tensor:
    """Return log σ(x), to its last digit; from the `terms` log(1 + eˣ), if known, in one step and
    to the last digit of x."""
    return logistic_terms(-x).neg_() if terms is None else x - terms


def share_of_others(per_row: Tensor) -> Tensor:
    """Return the share of each row's softmax outside its own cell: 1 − e^−loss, loss = log(1 + Σⱼ
    eᵗʲ).

    It is the row's gradient on its own logit, and minus its gradient on all others together.
    """
    return per_row.neg().expm1_().neg_()


def only_others_(
    logits: Tensor, offsets: Sequence[int], left_out: Tensor | None, own: Tensor | None = None
) -> Tensor:
    """Replace logits [n, K] by the terms of rows with others.

    Args:
        offsets: diagonals set to −∞, counted as `torch.diagonal` does.
        left_out: bool [n, K], further cells that do not count.
        own: [n], subtracted from each row's logits, if present.
    """
    if own is not None:
        logits.sub_(own[:, None])
    for offset in offsets:
        logits.diagonal(offset).fill_(-torch.inf)
    return logits if left_out is None else logits.masked_fill_(left_out, -torch.inf)


def mistaken_(logits: Tensor, offset: int, left_out: Tensor | None) -> Tensor:
    """Replace each logit z [n, K] of a binary decision by −z for the row's own column, on the
    diagonal `offset`, by z elsewhere, and by −∞ where `left_out`."""
    own = logits.diagonal(offset).neg()
    if left_out is not None:
        logits.masked_fill_(left_out, -torch.inf)
    logits.diagonal(offset).copy_(own)
    return logits
