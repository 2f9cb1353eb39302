"""Losses on lists of candidates, value and gradient, by pairs within a row.

All pairs of some lists are compared at a time, and none stored. A place without a candidate gets a
score so far below the others that no comparison with it counts, and no gain, so pairs need no mask.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from lossprism.losses.kernels.softmax_list_losses import Summed, number_of
from lossprism.losses.kernels.tile_sizes import rows_at_once

TILE_PAIRS = 2**17  # pairs at a time, about
VANISHING = 1e4  # e^−VANISHING is 0 in every type


def lambda_loss(
    needs_grad: list[bool],
    scores: Tensor,
    labels: Tensor,
    mask: Tensor | None,
    *,
    scheme: str,
    k: int | None,
    sigma: float,
    mu: float,
    mean: bool,
) -> Summed:
    """Compute Σ w_ij log₂(1 + e^(σ(s_j − s_i))) over y_i > y_j of the same list, or its mean.

    In score order a rank is a place, so everything that depends on ranks is one matrix [K, K].
    """
    width = scores.shape[1]
    scaled, order = _lowered(scores * sigma, mask).sort(dim=1, descending=True, stable=True)
    heights = labels.gather(1, order)
    present = None if mask is None else mask.gather(1, order)
    gains = _gains(heights.to(scores.dtype), present, k)
    among = _among_places(scaled, scheme, k, mu)
    by_pairs = scheme != "ndcg1"
    total = scaled.new_zeros((), dtype=torch.float64)
    pull = torch.empty_like(scaled) if needs_grad[0] else None
    step = rows_at_once(TILE_PAIRS, width**2, scaled)
    for start in range(0, len(scaled), step):
        part = slice(start, start + step)
        if scheme == "none":
            one = heights[part]
            weights = (one[:, :, None] > one[:, None, :]).to(scaled.dtype)
            if present is not None:
                there = present[part]
                weights.masked_fill_(~(there[:, :, None] & there[:, None, :]), 0)
        elif by_pairs:
            weights = (gains[part, :, None] - gains[part, None, :]).clamp_min_(0)
        else:
            weights = gains[part, :, None].expand(-1, width, width).clone()
        weights.mul_(among)
        differences = scaled[part, :, None] - scaled[part, None, :]
        total -= logsigmoid(differences).mul_(weights).sum()
        if pull is not None:
            weights.mul_(differences.neg_().sigmoid_())
            torch.sub(weights.sum(dim=1), weights.sum(dim=2), out=pull[part])
    over = 1
    if mean:  # a product of a whole number with a float would be taken in float32
        over = _pairs_counted(heights, present, scheme, k).clamp_min(1).to(scores.dtype)
    value = (total / (math.log(2) * over)).to(scores.dtype)
    if pull is None:
        return value, (None, None, None)
    pull = pull.mul_(sigma / math.log(2)).div_(over)
    return value, (torch.empty_like(pull).scatter_(1, order, pull), None, None)


def _lowered(scaled: Tensor, mask: Tensor | None, temperature: float = 1.0) -> Tensor:
    """Replace scores without a candidate by one far below all others, even over the
    temperature."""
    if mask is None:
        return scaled
    low = scaled.masked_fill(~mask, torch.inf).amin(dim=1, keepdim=True)
    low = low.masked_fill(low.isinf(), 0)
    return torch.where(mask, scaled, low - VANISHING * max(1.0, temperature) * (1 + low.abs()))


def _gains(heights: Tensor, present: Tensor | None, k: int | None) -> Tensor:
    """Return the gains, as `losses.lists.list_common.gains_of`."""
    if present is not None:
        heights = heights.masked_fill(~present, 0)
    heights = heights.clamp_min(0)
    largest = heights.amax(dim=1, keepdim=True)
    gains = torch.exp2(heights - largest) * torch.expm1(-math.log(2) * heights).neg_()
    inverse = _inverse_discounts(gains)
    if k is not None:
        inverse[k:] = 0
    ideal = gains.sort(dim=1, descending=True).values.mv(inverse)[:, None]
    return gains / ideal.clamp_min(torch.finfo(gains.dtype).tiny)


def _inverse_discounts(like: Tensor) -> Tensor:
    """Return 1 / log₂(1 + i) of places i = 1 … K."""
    places = torch.arange(2, like.shape[1] + 2, dtype=like.dtype, device=like.device)
    return 1 / places.log2()


def _among_places(like: Tensor, scheme: str, k: int | None, mu: float) -> Tensor:
    """Return the weight of a pair by its two places, [K, K], to be multiplied by its gains."""
    inverse, width = _inverse_discounts(like), like.shape[1]
    if scheme == "ndcg1":
        among = inverse[:, None].expand(width, width).clone()
    elif scheme == "none":
        among = like.new_ones(width, width)
    else:
        among = like.new_zeros(width, width)
        if scheme in ("lambdarank", "ndcg2pp"):
            among += (inverse[:, None] - inverse[None, :]).abs_()
        if scheme in ("ndcg2", "ndcg2pp"):
            among += (mu if scheme == "ndcg2pp" else 1) * _by_distance(inverse)
    if k is not None:
        among[k:, k:] = 0
    return among


def _by_distance(inverse: Tensor) -> Tensor:
    """Return 1/D_d − 1/D_{d+1} of two places d apart, 0 for a place and itself: [K, K]."""
    width = len(inverse)
    places = torch.arange(width, device=inverse.device)
    steps = torch.zeros_like(inverse)
    steps[1:] = inverse[:-1] - inverse[1:]
    return steps[(places[:, None] - places[None, :]).abs()]


def _pairs_counted(heights: Tensor, present: Tensor | None, scheme: str, k: int | None) -> Tensor:
    """Return the number of pairs in the mean: those in the labels' order, or for "ndcg1" all."""
    count = _pairs_of(heights, present, scheme)
    if k is not None and k < heights.shape[1]:
        behind = None if present is None else present[:, k:]
        count = count - _pairs_of(heights[:, k:], behind, scheme)
    return count


def _pairs_of(heights: Tensor, present: Tensor | None, scheme: str) -> Tensor:
    width = heights.shape[1]
    sizes = (
        torch.full((len(heights),), width, device=heights.device)
        if present is None
        else present.sum(dim=1)
    )
    if scheme == "ndcg1":
        return sizes.square().sum()
    if present is not None:  # what is absent stands above all, and below nothing that counts
        heights = heights.double().masked_fill(~present, torch.inf)
    below = torch.searchsorted(heights.sort(dim=1).values, heights.contiguous())
    if present is not None:
        below = below.masked_fill(~present, 0)
    return below.sum()


def approx_ndcg(
    needs_grad: list[bool],
    scores: Tensor,
    labels: Tensor,
    mask: Tensor | None,
    *,
    temperature: float,
) -> Summed:
    """Compute −mean over lists of Σ G / log₂(1 + r̂), r̂ by soft comparisons."""
    count = len(scores) if mask is None else number_of(mask.any(dim=1), scores)
    gains = _gains(labels.to(scores.dtype), mask, None)

    def value_and_slopes(part: slice, ranks: Tensor) -> tuple[Tensor, Tensor]:
        over = (1 + ranks).log2()
        terms = gains[part] / over
        return -terms.sum(), terms / (over * (1 + ranks) * math.log(2))

    return _by_soft_ranks(needs_grad, scores, mask, temperature, count, value_and_slopes)


def adr_mse(
    needs_grad: list[bool],
    scores: Tensor,
    labels: Tensor,
    mask: Tensor | None,
    *,
    temperature: float,
) -> Summed:
    """Compute the mean over candidates of (r − r̂)² / log₂(1 + r), r̂ by soft comparisons."""
    count = scores.numel() if mask is None else number_of(mask, scores)
    true_ranks = _true_ranks(labels, mask, scores.dtype)
    weights = 1 / (1 + true_ranks).log2()
    if mask is not None:
        weights = weights.masked_fill(~mask, 0)

    def value_and_slopes(part: slice, ranks: Tensor) -> tuple[Tensor, Tensor]:
        errors = ranks - true_ranks[part]
        weighted = weights[part] * errors
        return (weighted * errors).sum(), 2 * weighted

    return _by_soft_ranks(needs_grad, scores, mask, temperature, count, value_and_slopes)


def _true_ranks(labels: Tensor, mask: Tensor | None, dtype: torch.dtype) -> Tensor:
    """Return 1 + the number of candidates above; equal labels share their mean place."""
    heights = labels
    if mask is not None:  # below all
        heights = labels.double().masked_fill(~mask, -torch.inf)
    ordered = heights.sort(dim=1).values
    heights = heights.contiguous()
    below = torch.searchsorted(ordered, heights)
    up_to = torch.searchsorted(ordered, heights, right=True)
    return heights.shape[1] + (1 - below.to(dtype) - up_to.to(dtype)) / 2


def _by_soft_ranks(
    needs_grad: list[bool],
    scores: Tensor,
    mask: Tensor | None,
    temperature: float,
    count: Tensor | int,
    value_and_slopes: Callable[[slice, Tensor], tuple[Tensor, Tensor]],
) -> Summed:
    """Compute a loss of r̂_i = 1 + Σ_{j ≠ i} σ((s_j − s_i)/τ), by its sum and slopes for some
    lists."""
    scaled = _lowered(scores, mask, temperature)
    total = scaled.new_zeros((), dtype=torch.float64)
    pull = torch.empty_like(scaled) if needs_grad[0] else None
    step = rows_at_once(TILE_PAIRS, scores.shape[1] ** 2, scaled)
    for start in range(0, len(scaled), step):
        part = slice(start, start + step)
        one = scaled[part]
        differences = (one[:, None, :] - one[:, :, None]).div_(temperature)
        above = differences.sigmoid()
        value, slopes = value_and_slopes(part, above.sum(dim=2).add_(0.5))  # itself is half above
        total += value
        if pull is not None:
            if mask is not None:
                slopes = slopes.masked_fill(~mask[part], 0)
            # σ(d) σ(−d), and not σ(d) − σ(d)², which has no digits left where σ(d) is nearly 1.
            above.mul_(differences.neg_().sigmoid_()).mul_(slopes[:, :, None])
            above.diagonal(dim1=1, dim2=2).zero_()  # of a candidate with itself: only rounding
            torch.sub(above.sum(dim=1), above.sum(dim=2), out=pull[part])
    value = (total / count).to(scores.dtype)
    if pull is None:
        return value, (None, None, None)
    return value, (pull.div_(count * temperature), None, None)
