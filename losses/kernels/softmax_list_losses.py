"""Losses on lists of candidates, value and gradient, by rows."""

import torch
from torch import Tensor

from lossprism.losses.input_checks import may_ask

STEEP = {torch.float32: 80.0, torch.float64: 600.0}  # e to it, either way, is a number

Summed = tuple[Tensor, tuple[Tensor | None, ...]]


def cross_entropy(
    needs_grad: list[bool],
    scores: Tensor,
    labels: Tensor,
    mask: Tensor | None,
    *,
    target: str,
    temperature: float,
) -> Summed:
    """Compute the mean over lists of −Σ P log softmax(s/τ), P made of the labels as `target`
    says."""
    logits = scaled_down(scores, mask, temperature)
    heights = labels.to(scores.dtype)
    absent = empty = None
    if mask is None:
        count: Tensor | int = len(scores)
    else:
        absent, some = ~mask, mask.any(dim=1, keepdim=True)
        count, empty = number_of(some, scores), ~some
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
    return _entropy(needs_grad, logits, targets, total, absent, empty, count, temperature)


def scaled_down(scores: Tensor, mask: Tensor | None, temperature: float) -> Tensor:
    """Return scores [L, K] over the temperature, up to a constant of each list.

    The best score of a list is subtracted first: a quotient of large scores would lose the digits
    of their differences.
    """
    if temperature == 1:
        return scores
    return from_best(scores, mask) / temperature


def from_best(scores: Tensor, mask: Tensor | None) -> Tensor:
    """Return scores [L, K] less the best of each list; 0 without a candidate."""
    least = torch.finfo(scores.dtype).min  # of nothing but −inf the best is no number
    if mask is None:
        return scores - scores.amax(dim=1, keepdim=True).clamp_min(least)
    best = scores.masked_fill(~mask, -torch.inf).amax(dim=1, keepdim=True).clamp_min(least)
    return (scores - best).masked_fill_(~mask, 0)


def number_of(chosen: Tensor, like: Tensor) -> Tensor:
    """Return the number chosen, at least 1, as a divisor in the type of `like`."""
    return chosen.sum().clamp_min(1).to(like.dtype)


def _shares(heights: Tensor, absent: Tensor | None, empty: Tensor | None) -> Tensor:
    if absent is None or empty is None:
        return heights.softmax(dim=1)
    return heights.masked_fill_(empty, 0).softmax(dim=1).masked_fill_(absent, 0)


def _entropy(
    needs_grad: list[bool],
    logits: Tensor,
    targets: Tensor,
    total: Tensor | None,
    absent: Tensor | None,
    empty: Tensor | None,
    count: Tensor | int,
    temperature: float,
) -> Summed:
    """Return −Σ P log softmax(z) / count, and its gradient by scores (p ΣP − P) / (τ · count)."""
    log_shares = logits.log_softmax(dim=1)
    shares = log_shares.exp() if needs_grad[0] else None
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
    needs_grad: list[bool],
    scores: Tensor,
    labels: Tensor,
    mask: Tensor | None,
    *,
    weighted: bool,
    as_given: bool,
    temperature: float,
) -> Summed:
    """Compute the mean over lists of Σ_i w_i log(1 + Σ_{j after i} e^((s_j − s_i)/τ)), in label
    order."""
    order = _order(labels, mask, as_given)
    scaled = from_best(scores, mask)
    scaled = scaled / temperature if temperature != 1 else scaled
    scaled = scaled if order is None else scaled.gather(1, order)
    present, count, sizes = None, len(scores), scores.shape[1]
    if mask is not None:
        present = mask if order is None else mask.gather(1, order)
        count, sizes = number_of(mask.any(dim=1), scores), mask.sum(dim=1, keepdim=True)
    weights = _of_places(scaled, present, sizes) if weighted else None
    if _is_flat(scaled, present):
        terms, slopes = _by_sums(needs_grad, scaled, present, weights)
    else:
        terms, slopes = _by_logarithms(needs_grad, scaled, present, weights)
    value = (terms if weights is None else terms * weights).sum() / count
    if slopes is None:
        return value, (None, None, None)
    slopes = slopes / (count * temperature)
    if order is not None:
        slopes = torch.empty_like(slopes).scatter_(1, order, slopes)
    return value, (slopes, None, None)


def _order(labels: Tensor, mask: Tensor | None, as_given: bool) -> Tensor | None:
    """Return the candidates of each list, best first, ties in their order, absent ones last."""
    if as_given:
        return None if mask is None else mask.sort(dim=1, descending=True, stable=True).indices
    if mask is not None:
        whole = not labels.is_floating_point()
        low = torch.iinfo(labels.dtype).min if whole else -torch.inf
        labels = labels.masked_fill(~mask, low)
    return labels.sort(dim=1, descending=True, stable=True).indices


def _of_places(like: Tensor, present: Tensor | None, sizes: Tensor | int) -> Tensor:
    """Return (2^(n − i) − 1) / Σ of places i = 1 … n; 0 for a single one."""
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
    """Return whether exponentials of all differences are known to be finite."""
    if not may_ask(scaled):
        return False
    kept = scaled if present is None else scaled.masked_fill(~present, 0)
    return kept.amin().item() > -STEEP[scaled.dtype]


def _by_sums(
    needs_grad: list[bool], scaled: Tensor, present: Tensor | None, weights: Tensor | None
) -> tuple[Tensor, Tensor | None]:
    """Compute log(1 + rest/own) of each place, rest = Σ after it; all sums are of positive
    numbers."""
    own = scaled.exp()
    if present is not None:
        own.masked_fill_(~present, 0)
    tail = own.flip(1).cumsum_(1).flip(1)
    rest = torch.zeros_like(tail)
    rest[:, :-1] = tail[:, 1:]
    if present is not None:
        own.masked_fill_(~present, 1)
        tail.masked_fill_(~present, 1)
    terms = (rest / own).log1p_()
    if not needs_grad[0]:
        return terms, None
    before = 1 / tail if weights is None else weights / tail
    slopes = before.cumsum(1).sub_(before).mul_(own)
    slopes.sub_(rest.mul_(before))
    return terms, slopes if present is None else slopes.masked_fill_(~present, 0)


def _by_logarithms(
    needs_grad: list[bool], scaled: Tensor, present: Tensor | None, weights: Tensor | None
) -> tuple[Tensor, Tensor | None]:
    """Compute the same if exponentials would overflow, or if that cannot be checked.

    In float64: a difference of two large logarithms has lost the digits of a small gradient.
    """
    dtype, scaled = scaled.dtype, scaled.double()
    if present is not None:
        scaled = scaled.masked_fill(~present, -torch.inf)
    tail = scaled.flip(1).logcumsumexp(1).flip(1)
    terms = tail - scaled
    if present is not None:
        terms = terms.masked_fill(~present, 0)
        tail = tail.masked_fill(~present, torch.inf)
    if not needs_grad[0]:
        return terms.to(dtype), None
    before = -tail if weights is None else weights.log() - tail
    slopes = (scaled + before.logcumsumexp(1)).exp_()
    slopes = slopes - (1 if weights is None else weights)
    slopes = slopes if present is None else slopes.masked_fill(~present, 0)
    return terms.to(dtype), slopes.to(dtype)


def distill_kl(
    needs_grad: list[bool],
    scores: Tensor,
    teacher: Tensor,
    mask: Tensor | None,
    *,
    temperature: float,
    teacher_temperature: float,
    divergence: str,
) -> Summed:
    """Compute T² · mean over rows of KL(softmax(t/T_t) ‖ softmax(s/T)), or of the
    cross-entropy."""
    logits = scaled_down(scores, mask, temperature)
    taught = teacher if teacher.is_floating_point() else teacher.to(scores.dtype)
    softened = scaled_down(taught, mask, teacher_temperature).to(scores.dtype)
    absent = None
    if mask is not None:
        absent = ~mask
        logits = logits.masked_fill(absent, -torch.inf).masked_fill_(absent.all(1, True), 0)
        softened = softened.masked_fill(absent, -torch.inf)
    empty = softened.amax(dim=1, keepdim=True).isneginf()
    targets = softened.masked_fill(empty, 0).softmax(dim=1).masked_fill_(empty, 0)
    count = number_of(~empty, scores)
    value, gradients = _entropy(
        needs_grad, logits, targets, None, absent, empty, count, 1 / temperature
    )
    if divergence == "kl":
        value = value - torch.special.entr(targets).sum() / count
    return temperature**2 * value, gradients
