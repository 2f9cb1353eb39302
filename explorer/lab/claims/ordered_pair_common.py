"""Common parts of claims about CoSENT: the pairs of pairs that are in order by their labels."""

import torch
from torch import Tensor

from lossprism.explorer.lab.claims.claim import ClaimBatch
from lossprism.losses import cosent


def ordered(batch: ClaimBatch) -> Tensor:
    """Return whether pair i stands above pair k by its label, [N, N]."""
    return batch.labels[:, None] > batch.labels[None, :]


def score_gaps(batch: ClaimBatch) -> Tensor:
    """Return s_k − s_i for pair i, the row, and pair k, the column, [N, N]."""
    return batch.scores[None, :] - batch.scores[:, None]


def exponents(batch: ClaimBatch) -> Tensor:
    """Return λ(s_k − s_i) of each ordered pair of pairs, [P]."""
    return batch.scale * score_gaps(batch)[ordered(batch)]


def log_one_plus_exp(exponent: Tensor) -> Tensor:
    """Return ln(1 + e^x) without overflow."""
    return torch.logaddexp(torch.zeros_like(exponent), exponent)


def loss_of(batch: ClaimBatch, scale: float | None = None) -> float:
    """Return CoSENT on the batch, at another λ if one is passed."""
    at = batch.scale if scale is None else scale
    return float(cosent(batch.scores, batch.labels, scale=at))


def log_weights(batch: ClaimBatch) -> Tensor:
    """Return the logarithm of each term's share e^x / (1 + Σ e^x), row the higher pair, column the
    lower, [N, N]; −∞ where there is no term."""
    gaps = batch.scale * score_gaps(batch)
    terms = gaps.masked_fill(~ordered(batch), -torch.inf).flatten()
    shares = torch.cat([terms.new_zeros(1), terms]).log_softmax(0)[1:]
    return shares.reshape(len(batch), len(batch))


def weights(batch: ClaimBatch) -> Tensor:
    """Return each term's share, [N, N], 0 where there is no term."""
    return log_weights(batch).exp()


def violations(batch: ClaimBatch) -> int:
    """Count the ordered pairs of pairs whose lower pair scores as high as the higher one or
    higher."""
    return int((ordered(batch) & (score_gaps(batch) >= 0)).sum())


def two_valued(labels: Tensor) -> bool:
    """Return whether the labels take at most two values."""
    return len(labels.unique()) <= 2
