"""Minimum of a loss: over scores in an interval, or over unit vectors."""

import functools
import math
from collections.abc import Callable

import torch
from torch import Tensor

from lossprism.losses.kernels import log1p_sum_exp, softplus

# Above this many distinct labels the exact floor costs more than a moving slider can pay.
MAX_LEVELS = 64
# Newton's steps, and the halvings of one: a few are taken, and as many are never needed.
MAX_STEPS = 100
# Along each side of a grid. A finer one covers four steps of the one before: 2^n + 1 points.
FIRST_GRID_POINTS, GRID_POINTS = 65, 17
CACHED_MINIMA = 4096  # least values that were worked out


class Bound(float):
    """A lower bound of a loss that perhaps no embedding reaches."""


def least_over_levels(
    labels: Tensor,
    scale: float,
    *,
    lowest: float = -1.0,
    highest: float = 1.0,
    weighted: bool = False,
) -> float | None:
    """Return min of log(1 + Σ_{y_i > y_j} w exp(λ(s_j − s_i))) over scores in [lowest, highest].

    The loss is convex and symmetric in pairs of equal label, so these have equal scores at the
    minimum: one unknown per level. The outer two are at the ends; the others solve a convex problem
    in a box by projected Newton (`least_in_box`). None above `MAX_LEVELS` levels. It is 0 for
    unbounded scores.
    """
    levels, counts = labels.cpu().unique(return_counts=True)
    if len(levels) < 2 or math.isinf(highest - lowest):
        return 0.0
    if len(levels) > MAX_LEVELS:
        return None
    gaps = tuple(levels.double().tolist()) if weighted else None
    return _least_of(tuple(counts.tolist()), gaps, float(scale), lowest, highest)


@functools.lru_cache(maxsize=CACHED_MINIMA)
def _least_of(
    counts: tuple[int, ...],
    levels: tuple[float, ...] | None,
    scale: float,
    lowest: float,
    highest: float,
) -> float:
    """Cache the minimum for so many labels on each level, for a slider that returns; with `levels`
    their gaps are weights."""
    sizes = torch.tensor(counts, dtype=torch.float64)
    weights = sizes[:, None] * sizes[None, :]
    if levels is not None:
        places = torch.tensor(levels, dtype=torch.float64)
        weights = weights * (places[None, :] - places[:, None])
    log_weights = weights.triu(1).log()  # row j, column i; −inf unless y_j < y_i

    def terms_at(points: Tensor) -> Tensor:
        return torch.add(log_weights, points[:, None] - points, alpha=scale)

    def derivatives_at(points: Tensor) -> tuple[Tensor, Tensor]:
        terms = terms_at(points)
        shares = (terms - terms.logsumexp((0, 1))).exp_()
        below, above = shares.sum(1), shares.sum(0)
        curvature = torch.diag(below + above).sub_(shares).sub_(shares.T)
        return scale * (below - above), scale * scale * curvature

    def value_at(points: Tensor) -> float:
        return float(terms_at(points).logsumexp((0, 1)))

    return softplus_at(least_in_box(value_at, derivatives_at, len(counts), lowest, highest))


def least_in_box(
    value_at: Callable[[Tensor], float],
    derivatives_at: Callable[[Tensor], tuple[Tensor, Tensor]],
    count: int,
    lowest: float,
    highest: float,
) -> float:
    """Return min of a convex function of `count` numbers in [lowest, highest].

    The first is fixed at `lowest` and the last at `highest`. Projected Newton (Bertsekas 1982): a
    coordinate at an end that its slope presses against is fixed, the others take the Newton step of
    the slope [K] and the curvature [K, K], clipped to the box and halved until the value falls
    enough. It stops when the slopes of all free coordinates are 0 up to rounding, the condition for
    the minimum of a convex function.

    A few numbers are compared in Python: an operation on so short a tensor takes longer.
    """
    points = torch.linspace(lowest, highest, count, dtype=torch.float64)
    value, inner = value_at(points), range(1, count - 1)
    for _ in range(MAX_STEPS):
        slope, curvature = derivatives_at(points)
        slopes, places = slope.tolist(), points.tolist()
        free = [
            k
            for k in inner
            if not (places[k] <= lowest and slopes[k] > 0)
            and not (places[k] >= highest and slopes[k] < 0)
        ]
        step = torch.zeros_like(points)
        # Where nothing curves, nothing slopes either.
        flat = torch.finfo(points.dtype).tiny * torch.eye(len(free), dtype=points.dtype)
        step[free] = torch.linalg.solve(curvature[free][:, free] + flat, slope[free])
        rounding = 1e-15 * max(abs(value), 1)
        if float(slope.dot(step)) <= rounding:
            return value
        tried = points, value
        for halvings in range(MAX_STEPS):
            trial = (points - step / 2**halvings).clamp_(lowest, highest)
            tried = trial, value_at(trial)
            expected = float(slope.dot(points - trial))
            if expected >= 0 and tried[1] - value <= rounding - 1e-4 * expected:
                break
        points, value = tried
    return value


def least_on_grid(value_at: Callable[..., Tensor], *bounds: tuple[float, float]) -> float:
    """Return the minimum of a smooth function of one or two numbers, each within its bounds.

    Refines a grid around its lowest point, with fewer points, until its steps are below 1e-9 of the
    first.
    """
    spans, points = [(float(low), float(high)) for low, high in bounds], FIRST_GRID_POINTS
    while True:
        axes = [torch.linspace(low, high, points, dtype=torch.float64) for low, high in spans]
        values = value_at(*torch.meshgrid(*axes, indexing="ij"))
        place = (values == values.min()).nonzero()[0]
        steps = [(high - low) / (points - 1) for low, high in spans]
        if steps[0] < 1e-9 * (bounds[0][1] - bounds[0][0]):
            return float(values.min())
        spans = [
            (max(low, float(axis[i]) - 2 * step), min(high, float(axis[i]) + 2 * step))
            for axis, i, step, (low, high) in zip(axes, place, steps, bounds, strict=True)
        ]
        points = GRID_POINTS


def softplus_at(x: float) -> float:
    """Return log(1 + exp(x)) of one number."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def log1p_of(count: int, exponent: float) -> float:
    """Return log(1 + count·exp(exponent))."""
    return softplus_at(math.log(count) + exponent) if count else 0.0


def simplex_gap(count: int) -> float:
    """Return cos = 1 less the mean cosine of `count` evenly spread unit vectors: the largest
    gap."""
    return count / (count - 1)


def least_in_batch(count: int, extra: int, temperature: float, symmetric: bool = False) -> float:
    """Return the least InfoNCE of `count` pairs with `extra` further negatives, in any dimension.

    By convexity the best queries are alike: a part of each, sin a, along one common direction, the
    rest a simplex; so too the keys, with sin b. The extra negatives lie opposite to the common
    direction, which only helps if there are any.
    """
    if count == 1:
        forward = float(_log1p_total((extra, torch.tensor(-2 / temperature, dtype=torch.float64))))
        return forward / 2 if symmetric else forward

    def value_at(a: Tensor, b: Tensor) -> Tensor:
        in_batch = -simplex_gap(count) * a.cos() * b.cos() / temperature
        outside = (-a.sin() - (a - b).cos()) / temperature
        backward = _log1p_total((count - 1, in_batch))
        forward = _log1p_total((count - 1, in_batch), (extra, outside))
        return (forward + backward) / 2 if symmetric else forward

    if extra == 0:
        zero = torch.zeros((), dtype=torch.float64)
        return float(value_at(zero, zero))
    return least_on_grid(value_at, (0, math.pi / 2), (0, math.pi / 2))


def least_binary(count: int, scale: float, offset: float) -> float:
    """Return min of softplus(offset − scale·p) + (count − 1)·softplus(scale·n − offset).

    p is the cosine of the pairs of a batch and n the mean cosine of the others. Moving from a
    simplex (t = 1) to all queries opposite to all keys (t = 0) trades the one for the other.
    """
    if count == 1:
        return softplus_at(offset - scale)

    def value_at(t: Tensor) -> Tensor:
        pair, other = 2 * t - 1, t - 1 - t / (count - 1)
        return softplus(offset - scale * pair) + (count - 1) * softplus(scale * other - offset)

    return least_on_grid(value_at, (0, 1))


def _log1p_total(*parts: tuple[int, Tensor]) -> Tensor:
    """Return log(1 + Σ count·exp(exponent)) over (count, exponent), in the shape of the
    exponents."""
    exponents = [exponent + math.log(count) for count, exponent in parts if count]
    if not exponents:
        return torch.zeros_like(parts[0][1])
    return log1p_sum_exp(torch.stack(exponents), dim=0)
