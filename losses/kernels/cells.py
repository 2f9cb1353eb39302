"""What the cells of a loss's matrix add to it and weigh in it, a block of them at a time.

The kernels sum this over the tiles of a matrix, and whoever wants to know of a part of it sums the
same over the blocks of that part: neither has a formula of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import softplus

# From here on torch's softplus answers x itself, which is exact in float64 too.
STRAIGHT = 40.0


def logistic_terms(x: Tensor) -> Tensor:
    """log(1 + eˣ) of each cell; of x = log Σⱼ eᵗʲ the loss of a row with the terms tⱼ."""
    return softplus(x, threshold=STRAIGHT)


def logistic_weights_(x: Tensor) -> Tensor:
    """σ(x), the derivatives of these, in the place of x."""
    return x.sigmoid_()


def log_logistic_weights(x: Tensor, terms: Tensor | None = None) -> Tensor:
    """log σ(x), to its last digit; from log(1 + eˣ), where these `terms` are known, at once and to
    the last digit of x."""
    return logistic_terms(-x).neg_() if terms is None else x - terms


def share_of_others(per_row: Tensor) -> Tensor:
    """What of each row's softmax is not its own cell's: 1 − e^−loss, with loss = log(1 + Σⱼ eᵗʲ).

    So much the row pulls at its own logit, and pushes at all others together.
    """
    return per_row.neg().expm1_().neg_()


def only_others_(
    logits: Tensor, offsets: Sequence[int], left_out: Tensor | None, own: Tensor | None = None
) -> Tensor:
    """The terms of rows with others, in the place of their logits [n, K].

    Args:
        offsets: −∞ stands on these diagonals, counted as `torch.diagonal` does.
        left_out: bool [n, K], further cells that do not count.
        own: [n], what each row's logits are compared with, if they are.
    """
    if own is not None:
        logits.sub_(own[:, None])
    for offset in offsets:
        logits.diagonal(offset).fill_(-torch.inf)
    return logits if left_out is None else logits.masked_fill_(left_out, -torch.inf)


def mistaken_(logits: Tensor, offset: int, left_out: Tensor | None) -> Tensor:
    """How far each yes or no is mistaken, in the place of its logit z [n, K]: by −z where a row
    meets its own column, on the diagonal `offset`, and by z elsewhere, but where it is `left_out`.
    """
    own = logits.diagonal(offset).neg()
    if left_out is not None:
        logits.masked_fill_(left_out, -torch.inf)
    logits.diagonal(offset).copy_(own)
    return logits
