"""Losses on lists of candidates, value and gradient: by rows, or by pairs within a row.

What compares all pairs of a list does so some lists at a time, and keeps none of the pairs. A place
without a candidate gets a score so far below the others that no comparison with it counts, and no
gain; it needs no mask among the pairs.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from losses.inputs import may_ask

TILE = 2**17  # pairs at a time, about
FAR = 1e4  # e^−FAR is 0 in every type
STEEP = {torch.float32: 80.0, torch.float64: 600.0}  # e to it, either way, is a number

Summed = tuple[Tensor, tuple[Tensor | None, ...]]


def cross_entropy(
    wanted: list[bool],
    scores: Tensor,
    labels: Tensor,
    mask: Tensor | None,
    *,
    target: str,
    temperature: float,
) -> Summed:
    """mean over lists of −Σ P log softmax(s/τ), P made of the labels as `target` says."""
    logits = scores / temperature if temperature != 1 else scores
    heights = labels.to(scores.dtype)
    absent = empty = None
    if mask is None:
        count: Tensor | int = len(scores)
    else:
        absent, some = ~mask, mask.any(dim=1, keepdim=True)
        count, empty = _number(some, scores), ~some
        logits = logits.masked_fill(absent, -torch.inf).masked_fill_(empty, 0)
        low = -torch.inf if target == "softmax" else 0
        heights = heights.masked_fill(absent, low)
    if target == "softmax":
        targets, total = _shares(heights, absent, empty), None
    elif target == "raw":
        targets, total = heights, heights.sum(dim=1, keepdim=True)
    else:
        total = heights.sum(dim=1, keepdim=True)
        targets = heights / total.clamp_min(torch.finfo(heights.dtype).tiny)
        total = (total > 0).to(heights.dtype)
    return _entropy(wanted, logits, targets, total, absent, empty, count, temperature)


def _number(chosen: Tensor, like: Tensor) -> Tensor:
    """How many are chosen, at least 1, to divide by: in the type of `like`."""
    return chosen.sum().clamp_min(1).to(like.dtype)


def _shares(heights: Tensor, absent: Tensor | None, empty: Tensor | None) -> Tensor:
    if absent is None or empty is None:
        return heights.softmax(dim=1)
    return heights.masked_fill_(empty, 0).softmax(dim=1).masked_fill_(absent, 0)


def _entropy(
    wanted: list[bool],
    logits: Tensor,
    targets: Tensor,
    total: Tensor | None,
    absent: Tensor | None,
    empty: Tensor | None,
    count: Tensor | int,
    temperature: float,
) -> Summed:
    """−Σ P log softmax(z) / count, and by the scores (p ΣP − P) / (τ · count)."""
    log_shares = logits.log_softmax(dim=1)
    shares = log_shares.exp() if wanted[0] else None
    if absent is not None:
        log_shares.masked_fill_(absent, 0)
    value = -(targets * log_shares).sum() / count
    if shares is None:
        return value, (None, None, None)
    if total is not None:
        shares.mul_(total)
    shares.sub_(targets).div_(count * temperature)
    if empty is not None:
        shares.masked_fill_(empty, 0)
    return value, (shares, None, None)


def list_mle(
    wanted: list[bool],
    scores: Tensor,
    labels: Tensor,
    mask: Tensor | None,
    *,
    weighted: bool,
    as_given: bool,
    temperature: float,
) -> Summed:
    """mean over lists of Σ_i w_i log(1 + Σ_{j after i} e^((s_j − s_i)/τ)), in the labels' order."""
    order = _order(labels, mask, as_given)
    scaled = scores / temperature if temperature != 1 else scores
    scaled = scaled if order is None else scaled.gather(1, order)
    present, count, sizes = None, len(scores), scores.shape[1]
    if mask is not None:
        present = mask if order is None else mask.gather(1, order)
        count, sizes = _number(mask.any(dim=1), scores), mask.sum(dim=1, keepdim=True)
    weights = _of_places(scaled, present, sizes) if weighted else None
    if _is_flat(scaled, present):
        terms, slopes = _by_sums(wanted, scaled, present, weights)
    else:
        terms, slopes = _by_logarithms(wanted, scaled, present, weights)
    value = (terms if weights is None else terms * weights).sum() / count
    if slopes is None:
        return value, (None, None, None)
    slopes = slopes / (count * temperature)
    if order is not None:
        slopes = torch.empty_like(slopes).scatter_(1, order, slopes)
    return value, (slopes, None, None)


def _order(labels: Tensor, mask: Tensor | None, as_given: bool) -> Tensor | None:
    """The candidates of each list, the best first, of equal ones the first; then what is absent."""
    if as_given:
        return None if mask is None else mask.sort(dim=1, descending=True, stable=True).indices
    if mask is not None:
        whole = not labels.is_floating_point()
        low = torch.iinfo(labels.dtype).min if whole else -torch.inf
        labels = labels.masked_fill(~mask, low)
    return labels.sort(dim=1, descending=True, stable=True).indices


def _of_places(like: Tensor, present: Tensor | None, sizes: Tensor | int) -> Tensor:
    """(2^(n − i) − 1) / Σ of places i = 1 … n; of a single one 0."""
    places = torch.arange(like.shape[1], dtype=like.dtype, device=like.device)
    last = sizes - 1
    weights = torch.exp2(-places) - (
        torch.exp2(-last.to(like.dtype)) if isinstance(last, Tensor) else 2.0**-last
    )
    if present is not None:
        weights = weights.masked_fill(~present, 0)
    total = weights.sum(dim=-1, keepdim=True)
    return (weights / total.clamp_min(torch.finfo(like.dtype).tiny)).expand(like.shape)


def _is_flat(scaled: Tensor, present: Tensor | None) -> bool:
    """Whether exponentials of all differences are numbers, as far as one may ask."""
    if not may_ask(scaled):
        return False
    kept = scaled if present is None else scaled.masked_fill(~present, 0)
    low, high = kept.aminmax()
    return high.item() - low.item() < STEEP[scaled.dtype]


def _by_sums(
    wanted: list[bool], scaled: Tensor, present: Tensor | None, weights: Tensor | None
) -> tuple[Tensor, Tensor | None]:
    """log(1 + rest/own) of each place, rest = Σ after it; all sums are of positive numbers."""
    if present is not None:
        scaled = scaled.masked_fill(~present, -torch.inf)
        own = (scaled - scaled.amax(dim=1, keepdim=True)).exp_().masked_fill_(~present, 0)
    else:
        own = (scaled - scaled.amax(dim=1, keepdim=True)).exp_()
    tail = own.flip(1).cumsum_(1).flip(1)
    rest = torch.zeros_like(tail)
    rest[:, :-1] = tail[:, 1:]
    if present is not None:
        own.masked_fill_(~present, 1)
        tail.masked_fill_(~present, 1)
    terms = (rest / own).log1p_()
    if not wanted[0]:
        return terms, None
    before = 1 / tail if weights is None else weights / tail
    slopes = before.cumsum(1).sub_(before).mul_(own)
    slopes.sub_(rest.mul_(before))
    return terms, slopes if present is None else slopes.masked_fill_(~present, 0)


def _by_logarithms(
    wanted: list[bool], scaled: Tensor, present: Tensor | None, weights: Tensor | None
) -> tuple[Tensor, Tensor | None]:
    """The same where exponentials would overflow, or where nobody may ask whether they do."""
    if present is not None:
        scaled = scaled.masked_fill(~present, -torch.inf)
    tail = scaled.flip(1).logcumsumexp(1).flip(1)
    terms = tail - scaled
    if present is not None:
        terms = terms.masked_fill(~present, 0)
        tail = tail.masked_fill(~present, torch.inf)
    if not wanted[0]:
        return terms, None
    before = -tail if weights is None else weights.log() - tail
    slopes = (scaled + before.logcumsumexp(1)).exp_()
    slopes = slopes - (1 if weights is None else weights)
    return terms, slopes if present is None else slopes.masked_fill(~present, 0)


def lambda_loss(
    wanted: list[bool],
    scores: Tensor,
    labels: Tensor,
    mask: Tensor | None,
    *,
    scheme: str,
    k: int,
    sigma: float,
    mu: float,
    mean: bool,
) -> Summed:
    """Σ w_ij log₂(1 + e^(σ(s_j − s_i))) over y_i > y_j of the same list, or its mean.

    In the order of the scores a rank is a place, so all that ranks say is one matrix [K, K].
    """
    width = scores.shape[1]
    scaled, order = _lowered(scores * sigma, mask).sort(dim=1, descending=True, stable=True)
    heights = labels.gather(1, order)
    present = None if mask is None else mask.gather(1, order)
    gains = _gains(heights.to(scores.dtype), present, k)
    among = _among_places(scaled, scheme, k, mu)
    by_pairs = scheme != "ndcg1"
    total = scaled.new_zeros((), dtype=torch.float64)
    pull = torch.empty_like(scaled) if wanted[0] else None
    step = max(1, TILE // width**2)
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


def _lowered(scaled: Tensor, mask: Tensor | None) -> Tensor:
    """With a score far below all others where there is no candidate."""
    if mask is None:
        return scaled
    low = scaled.masked_fill(~mask, torch.inf).amin(dim=1, keepdim=True)
    low = low.masked_fill(low.isinf(), 0)
    return torch.where(mask, scaled, low - FAR * (1 + low.abs()))


def _gains(heights: Tensor, present: Tensor | None, k: int) -> Tensor:
    """As `losses.lists.candidates.gains_of`."""
    if present is not None:
        heights = heights.masked_fill(~present, 0)
    heights = heights.clamp_min(0)
    largest = heights.amax(dim=1, keepdim=True)
    gains = torch.exp2(heights - largest) * torch.expm1(-math.log(2) * heights).neg_()
    inverse = _inverse_discounts(gains)
    if k:
        inverse[k:] = 0
    ideal = gains.sort(dim=1, descending=True).values.mv(inverse)[:, None]
    return gains / ideal.clamp_min(torch.finfo(gains.dtype).tiny)


def _inverse_discounts(like: Tensor) -> Tensor:
    """1 / log₂(1 + i) of places i = 1 … K."""
    places = torch.arange(2, like.shape[1] + 2, dtype=like.dtype, device=like.device)
    return 1 / places.log2()


def _among_places(like: Tensor, scheme: str, k: int, mu: float) -> Tensor:
    """What a pair weighs by its two places, [K, K]; with the gains it is the whole weight."""
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
    if k:
        among[k:, k:] = 0
    return among


def _by_distance(inverse: Tensor) -> Tensor:
    """1/D_d − 1/D_{d+1} of two places d apart, 0 of a place and itself: [K, K]."""
    width = len(inverse)
    places = torch.arange(width, device=inverse.device)
    steps = torch.zeros_like(inverse)
    steps[1:] = inverse[:-1] - inverse[1:]
    return steps[(places[:, None] - places[None, :]).abs()]


def _pairs_counted(heights: Tensor, present: Tensor | None, scheme: str, k: int) -> Tensor:
    """How many pairs the mean is over: those in the labels' order, or for "ndcg1" all."""
    count = _pairs_of(heights, present, scheme)
    if k and k < heights.shape[1]:
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
    wanted: list[bool],
    scores: Tensor,
    labels: Tensor,
    mask: Tensor | None,
    *,
    temperature: float,
) -> Summed:
    """−mean over lists of Σ G / log₂(1 + r̂), r̂ by soft comparisons."""
    count = len(scores) if mask is None else _number(mask.any(dim=1), scores)
    gains = _gains(labels.to(scores.dtype), mask, 0)

    def value_and_slopes(part: slice, ranks: Tensor) -> tuple[Tensor, Tensor]:
        over = (1 + ranks).log2()
        terms = gains[part] / over
        return -terms.sum(), terms / (over * (1 + ranks) * math.log(2))

    return _by_soft_ranks(wanted, scores, mask, temperature, count, value_and_slopes)


def adr_mse(
    wanted: list[bool],
    scores: Tensor,
    labels: Tensor,
    mask: Tensor | None,
    *,
    temperature: float,
) -> Summed:
    """mean over candidates of (r − r̂)² / log₂(1 + r), r̂ by soft comparisons."""
    count = scores.numel() if mask is None else _number(mask, scores)
    true_ranks = _true_ranks(labels, mask, scores.dtype)
    weights = 1 / (1 + true_ranks).log2()
    if mask is not None:
        weights = weights.masked_fill(~mask, 0)

    def value_and_slopes(part: slice, ranks: Tensor) -> tuple[Tensor, Tensor]:
        errors = ranks - true_ranks[part]
        weighted = weights[part] * errors
        return (weighted * errors).sum(), 2 * weighted

    return _by_soft_ranks(wanted, scores, mask, temperature, count, value_and_slopes)


def _true_ranks(labels: Tensor, mask: Tensor | None, dtype: torch.dtype) -> Tensor:
    """1 + how many stand above; equal labels share the mean of their places."""
    heights = labels
    if mask is not None:  # below all
        heights = labels.double().masked_fill(~mask, -torch.inf)
    ordered = heights.sort(dim=1).values
    heights = heights.contiguous()
    below = torch.searchsorted(ordered, heights)
    up_to = torch.searchsorted(ordered, heights, right=True)
    return heights.shape[1] + (1 - below.to(dtype) - up_to.to(dtype)) / 2


def _by_soft_ranks(
    wanted: list[bool],
    scores: Tensor,
    mask: Tensor | None,
    temperature: float,
    count: Tensor | int,
    value_and_slopes: Callable[[slice, Tensor], tuple[Tensor, Tensor]],
) -> Summed:
    """A loss of r̂_i = 1 + Σ_{j ≠ i} σ((s_j − s_i)/τ), by its sum and its slopes of some lists."""
    scaled = _lowered(scores / temperature, mask)
    total = scaled.new_zeros((), dtype=torch.float64)
    pull = torch.empty_like(scaled) if wanted[0] else None
    step = max(1, TILE // scores.shape[1] ** 2)
    for start in range(0, len(scaled), step):
        part = slice(start, start + step)
        one = scaled[part]
        above = (one[:, None, :] - one[:, :, None]).sigmoid_()
        value, slopes = value_and_slopes(part, above.sum(dim=2).add_(0.5))  # itself is half above
        total += value
        if pull is not None:
            if mask is not None:
                slopes = slopes.masked_fill(~mask[part], 0)
            above = above.sub_(above.square()).mul_(slopes[:, :, None])
            torch.sub(above.sum(dim=1), above.sum(dim=2), out=pull[part])
    value = (total / count).to(scores.dtype)
    if pull is None:
        return value, (None, None, None)
    return value, (pull.div_(count * temperature), None, None)


def distill_kl(
    wanted: list[bool],
    scores: Tensor,
    teacher: Tensor,
    mask: Tensor | None,
    *,
    temperature: float,
    teacher_temperature: float,
    divergence: str,
) -> Summed:
    """T² · mean over rows of KL(softmax(t/T_t) ‖ softmax(s/T)), or of the cross-entropy."""
    logits = scores / temperature if temperature != 1 else scores
    softened = (teacher / teacher_temperature if teacher_temperature != 1 else teacher).to(
        scores.dtype
    )
    absent = None
    if mask is not None:
        absent = ~mask
        logits = logits.masked_fill(absent, -torch.inf).masked_fill_(absent.all(1, True), 0)
        softened = softened.masked_fill(absent, -torch.inf)
    empty = softened.amax(dim=1, keepdim=True).isneginf()
    targets = softened.masked_fill(empty, 0).softmax(dim=1).masked_fill_(empty, 0)
    count = _number(~empty, scores)
    value, gradients = _entropy(
        wanted, logits, targets, None, absent, empty, count, 1 / temperature
    )
    if divergence == "kl":
        value = value - torch.special.entr(targets).sum() / count
    return temperature**2 * value, gradients
