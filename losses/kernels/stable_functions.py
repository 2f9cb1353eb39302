"""Reductions from terms in memory to one number, safe at their edges."""

import math

import torch
from torch import Tensor


def log1p_sum_exp(terms: Tensor, dim: int | None = None) -> Tensor:
    """Return log(1 + Σ exp(terms)) along `dim`, or over all terms.

    The 1 is the constant inside the logarithm of CoSENT and similar losses. Terms of −inf are
    absent: they add nothing and get no gradient, and no terms at all give 0. Tiny sums keep all
    their digits, because the 1 is never rounded into them.
    """
    if dim is None:
        terms, dim = terms.flatten(), 0
    if terms.shape[dim] == 0:
        return terms.sum(dim=dim)
    # exp never sees a positive number: the largest term, or the 1, is divided out.
    largest = terms.detach().amax(dim=dim, keepdim=True).clamp_min(0)
    total = (terms - largest).exp().sum(dim=dim)
    largest = largest.squeeze(dim)
    return largest + (total + torch.expm1(-largest)).log1p()


def log_sum_exp(terms: Tensor, dim: int) -> Tensor:
    """Return log Σ exp(terms) along `dim`; a row of only −inf gives −inf and no gradient."""
    empty = terms.isneginf().all(dim=dim, keepdim=True)
    total = terms.masked_fill(empty, 0).logsumexp(dim=dim)
    return total.masked_fill(empty.squeeze(dim), -torch.inf)


def log_add_exp(first: Tensor, second: Tensor) -> Tensor:
    """Return log(e^first + e^second); −inf, without gradient, if both are −inf."""
    return log_sum_exp(torch.stack(torch.broadcast_tensors(first, second)), dim=0)


def softplus(x: Tensor) -> Tensor:
    """Return log(1 + exp(x)), to the last digit for large |x| (torch's own cuts off at 20)."""
    return -torch.nn.functional.logsigmoid(-x)


def sigmoid(x: Tensor) -> Tensor:
    """Return σ(x), whose slope keeps its digits near 1 (torch's own is σ − σ²)."""
    return torch.where(x > 0, 1 - (-x).sigmoid(), x.sigmoid())


# A weight below this is 0: 10⁻³¹ in float32, 10⁻²⁹² in float64.
LEAST = {
    dtype: torch.finfo(dtype).tiny / torch.finfo(dtype).eps
    for dtype in (torch.float32, torch.float64, torch.bfloat16)
}
LOG_LEAST = {dtype: math.log(least) for dtype, least in LEAST.items()}


def exp_(logarithms: Tensor, divisor: int = 1) -> Tensor:
    """Replace each by its exponential; by 0 below `LEAST`, also after division by `divisor`.

    A processor takes some twenty times as long for matrix products with subnormal numbers, which
    every softmax with logits 90 apart would have (InfoNCE at τ = 0.01).
    """
    if not logarithms.is_cpu:
        return logarithms.exp_()
    least = LOG_LEAST[logarithms.dtype] + math.log(divisor)
    return torch.threshold_(logarithms, least, -torch.inf).exp_()


def flush_(weights: Tensor) -> Tensor:
    """Replace numbers nearer to 0 than `LEAST` by 0 (`exp_`)."""
    if not weights.is_cpu:
        return weights
    return torch.hardshrink(weights, LEAST[weights.dtype], out=weights)


def mean_of(terms: Tensor, chosen: Tensor) -> Tensor:
    """Return the mean of the `chosen` terms; 0, with gradient 0, if none is chosen."""
    return terms.masked_fill(~chosen, 0).sum() / chosen.sum().clamp_min(1)


def effective_count(weights: Tensor) -> float:
    """Return the exponential of the entropy of the shares of these weights, none below 0: the
    number of equal weights with that entropy; 0 if all are 0.

    >>> effective_count(torch.tensor([2.0, 2.0, 0.0]))
    2.0
    """
    total = weights.sum()
    if float(total) <= 0:
        return 0.0
    shares = weights / total
    return float((-torch.special.xlogy(shares, shares).sum()).exp())
