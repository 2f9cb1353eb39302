"""Shared parts of the losses on lists: inputs, symbols, and common steps.

A row is a list, the candidates of one query; `mask` says which of its K places hold one. Values in
the other places are never read, not even NaN. A list without any candidate never counts.
"""

import math

import torch
from torch import Tensor

from lossprism.losses import input_checks
from lossprism.losses.kernels import log_sum_exp
from lossprism.losses.spec import Parameter, Symbol
from lossprism.losses.symbols import list_by_candidate, loss_symbol

TEMPERATURE = Parameter(
    "temperature",
    1.0,
    r"\tau",
    0.01,
    10.0,
    0.01,
    logarithmic=True,
    role="sharpness",
    label="temperature",
)
READS = {"scores": "list_scores", "labels": "list_labels", "mask": "list_mask"}
READS_JUDGED = {**READS, "mask": "judged_mask"}  # a label of −1 is no candidate
READS_GRADED = {**READS, "mask": "graded_mask"}  # no label below 0 is


def scored_lists(
    scores: Tensor, labels: Tensor, mask: Tensor | None, least: float = -math.inf
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Return scores and labels [L, K], finite where the mask has a candidate, labels at least
    `least`."""
    scores = input_checks.of_lists("scores", scores)
    labels = input_checks.of_lists("labels", labels, like=scores)
    mask = input_checks.candidate_mask(mask, scores)
    input_checks.must_be_finite_where(mask, scores=scores, labels=labels)
    if least > -math.inf:
        input_checks.must_reach(least, mask, labels=labels)
    return scores, labels, mask


def lists_at(
    scores: Tensor,
    labels: Tensor,
    mask: Tensor | None,
    temperature: float | Tensor,
    least: float = -math.inf,
) -> tuple[Tensor, Tensor, Tensor | None, float]:
    """Return `scored_lists`, and the temperature. A learned one divides the scores, so that it gets
    a gradient, and is then 1."""
    input_checks.above_zero(temperature=temperature)
    scores, labels, mask = scored_lists(scores, labels, mask, least)
    if isinstance(temperature, Tensor):
        scores, temperature = scores / temperature, 1.0
    return scores, labels, mask, temperature


def present_in(scores: Tensor, mask: Tensor | None) -> Tensor:
    """Return the places [L, K] that hold a candidate: all, without a mask."""
    return torch.ones_like(scores, dtype=torch.bool) if mask is None else mask


def log_shares_of(logits: Tensor) -> Tensor:
    """Return log softmax of each list [L, K]; −inf, without gradient, where a logit is."""
    least = torch.finfo(logits.dtype).min
    from_best = logits - logits.detach().amax(dim=1, keepdim=True).clamp_min(least)
    return from_best - log_sum_exp(from_best, dim=1)[:, None].clamp_min(least)


def gains_of(labels: Tensor, present: Tensor, k: int | None = None) -> Tensor:
    """Return (2^y − 1) over the best DCG of the list, of its first `k` places if `k` is given: [L,
    K].

    A label below 0 gains as much as 0; in a list without any gain all are 0. Both sides are divided
    by 2 to the largest label, so that no label is too large.
    """
    heights = labels.masked_fill(~present, 0).clamp_min(0)
    largest = heights.amax(dim=1, keepdim=True)
    gains = torch.exp2(heights - largest) * -torch.expm1(-math.log(2) * heights)
    places = torch.arange(gains.shape[1], device=gains.device)
    inverse = 1 / torch.log2(places.to(gains.dtype) + 2)
    if k is not None:
        inverse = inverse.masked_fill(places >= k, 0)
    ideal = (gains.sort(dim=1, descending=True).values * inverse).sum(dim=1, keepdim=True)
    return gains / ideal.clamp_min(torch.finfo(gains.dtype).tiny)


def both_present(present: Tensor) -> Tensor:
    """Return the pairs [L, K, K] of two present candidates."""
    return present[:, :, None] & present[:, None, :]


def differences_of(scores: Tensor, pairs: Tensor) -> Tensor:
    """Return s_j − s_i, row i, column j, 0 without a pair: [L, K, K]."""
    return (scores[:, None, :] - scores[:, :, None]).masked_fill(~pairs, 0)


LIST_SYMBOLS = {
    "scores": list_by_candidate(r"s_{l,j}"),
    "labels": list_by_candidate(r"y_{l,j}"),
    "mask": list_by_candidate(r"m_{l,j}"),
    "present": list_by_candidate(r"m_{l,j}"),
    "filled": Symbol("m_l", ("list",), equals=r"\max_j m_{l,j}"),
    "gains": list_by_candidate(
        "G_{l,j}", equals=r"\frac{2^{y_{l,j}} - 1}{\mathrm{IDCG}_l}", signed=False
    ),
}
MEAN_OF_LISTS = loss_symbol(
    r"\frac1L \sum_l \ell_l", r"\frac{«Σ per_list»}{«filled.sum().clamp_min(1)»}"
)
