"""Effect of a parameter on losses: the loss, its gradient and its terms along a range of values."""

import dataclasses
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from lossprism.explorer.core.batch import Batch
from lossprism.explorer.core.explore import Exploration, explore
from lossprism.explorer.core.parameter_values import (
    as_typed,
    chosen_numeric,
    spread,
)
from lossprism.explorer.core.remarks import GRADIENT_BAND, band_applies, suggested_scale
from lossprism.explorer.core.resolved_scenario import Resolved, resolve
from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.lab.single_pass_sweep import Point, passed_points, single_points
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.validation import is_number
from lossprism.losses import LOSSES, Parameter
from lossprism.losses.loss_term_structures import Separable

POINTS, MAX_POINTS = 41, 200


@dataclass(frozen=True)
class Sweep:
    """A parameter at `values`, everything else as in the scenario.

    `active` is the share of the terms that together carry 90% of the weight, None where the
    loss has no terms. `advised` is the range of λ = α/σ_s (S1 eq. 50), None for a loss to which
    the rule does not speak; `within` are the ranges in which the gradient norm keeps to S1's
    band (eq. 45), None where that speaks of another norm.
    """

    parameter: str
    logarithmic: bool
    values: tuple[float, ...]
    loss: tuple[float, ...]
    gradient: tuple[float, ...]
    active: tuple[float, ...] | None
    advised: tuple[float, float] | None
    within: tuple[tuple[float, float], ...] | None


@dataclass(frozen=True)
class Curves(Sweep):
    """The same, and what losses are compared by.

    `effective` is the effective number of terms. `hardest` is the share of the gradient on the
    tenth of the pairs that feels most, `suspects` that on the pairs where label and encoder
    disagree; None where no pair feels anything.

    `over_scale` is the loss by its scale (of a temperature: times it), None of another parameter.
    For a loss log(1 + Σ w e^{λ(s_j − s_i)}) it tends to the largest violation, `limit`, for λ → ∞
    (S1 eq. 39), and lies in `band` at every value, within ln(1 + Σ w)/λ of it. `in_one_pass`:
    whether the definition was run once for all values.
    """

    effective: tuple[float, ...] | None
    hardest: tuple[float | None, ...]
    suspects: tuple[float | None, ...]
    over_scale: tuple[float, ...] | None
    limit: float | None
    band: tuple[tuple[float, float], ...] | None
    in_one_pass: bool


def sweep(
    scenario: Scenario, parameter: str = "", *, batch: Batch | None = None, points: int = POINTS
) -> Sweep:
    """The scenario at `points` values of a parameter, the first numeric one if unnamed.

    Raises:
        Problem: if the loss has no such parameter, or the scenario cannot be explored.
    """
    swept = curves(scenario, parameter, batch=batch, points=points)
    return Sweep(**{one.name: getattr(swept, one.name) for one in dataclasses.fields(Sweep)})


def curves(
    scenario: Scenario | Resolved,
    parameter: str = "",
    *,
    batch: Batch | None = None,
    points: int = POINTS,
    logarithmic: bool | None = None,
    ends: tuple[float, float] | None = None,
    singly: int = MAX_POINTS,
    also: Sequence[object] = (),
) -> Curves:
    """Run the scenario at `points` values of a parameter, the first numeric one if unnamed.

    The values are spread between the `ends`, those of its range if left out, by equal steps or by
    equal ratios (`logarithmic`), as its slider is if left out. Where the definition allows it, all
    are computed in one pass (`explorer.lab.single_pass_sweep`); of a loss that has to be run value
    by value there are at most `singly`. Numbers of `also` that lie in between are among them.

    Raises:
        Problem: if the loss has no such parameter, the values cannot be so, or the scenario cannot
            be explored.
    """
    resolved = resolve(scenario) if isinstance(scenario, Scenario) else scenario
    chosen = _along(chosen_numeric(resolved.spec, parameter), logarithmic, ends, points)
    batch = resolved.batch if batch is None else batch
    values = _typed(chosen, points, also)
    passed = passed_points(resolved, batch, chosen.name, values)
    together = passed is not None
    if passed is None:
        values = _typed(chosen, min(points, singly), also)
        passed = single_points(resolved, batch, chosen.name, values)
    here = explore(resolved.at(**{chosen.name: values[0]}), batch)
    gradient = tuple(one.gradient for one in passed)
    limit, band = _limit(here, chosen, values)
    return Curves(
        parameter=chosen.name,
        logarithmic=chosen.logarithmic,
        values=values,
        loss=tuple(one.loss for one in passed),
        gradient=gradient,
        active=_active(passed),
        advised=_advised(chosen, batch),
        within=ranges_within(values, gradient, GRADIENT_BAND)
        if chosen.role == "scale" and band_applies(here)
        else None,
        effective=_effective(passed),
        hardest=tuple(one.hardest for one in passed),
        suspects=tuple(one.suspects for one in passed),
        over_scale=_over_scale(chosen, values, passed),
        limit=limit,
        band=band,
        in_one_pass=together,
    )


def _along(
    parameter: Parameter, logarithmic: bool | None, ends: tuple[float, float] | None, points: int
) -> Parameter:
    """Return the parameter with the requested values as its range. Raises Problem."""
    if not 2 <= points <= MAX_POINTS:
        raise Problem("sweep_points", about="loss", points=points, most=MAX_POINTS)
    low, high = ends or (parameter.minimum, parameter.maximum)
    details = {"name": parameter.name, "low": parameter.minimum, "high": parameter.maximum}
    if not parameter.minimum <= low < high <= parameter.maximum:
        raise Problem("sweep_ends", about="loss", value=f"{low:g}…{high:g}", **details)
    ratios = parameter.logarithmic if logarithmic is None else logarithmic
    if ratios and low <= 0:
        raise Problem("sweep_logarithmic", about="loss", name=parameter.name, value=f"{low:g}")
    return dataclasses.replace(parameter, minimum=low, maximum=high, logarithmic=ratios)


def _typed(parameter: Parameter, points: int, also: Sequence[object]) -> tuple[float, ...]:
    """Return `points` values of three digits, so that a curve is read at values that can be typed,
    or so many whole ones as there are; and those of `also` between the ends."""
    low, high = parameter.minimum, parameter.maximum
    typed = (as_typed(one, parameter) for one in spread(parameter, points))
    known = {min(max(v, low), high) for v in typed}
    more = {float(v) for v in also if is_number(v) and low <= v <= high}
    return tuple(sorted(known | more))


def _active(points: Sequence[Point]) -> tuple[float, ...] | None:
    shares = [one.active / max(one.terms or 0, 1) for one in points if one.active is not None]
    return tuple(shares) if len(shares) == len(points) else None


def _effective(points: Sequence[Point]) -> tuple[float, ...] | None:
    numbers = [one.effective for one in points if one.effective is not None]
    return tuple(numbers) if len(numbers) == len(points) else None


def _over_scale(
    parameter: Parameter, values: Sequence[float], points: Sequence[Point]
) -> tuple[float, ...] | None:
    losses = [one.loss for one in points]
    if parameter.role == "scale":
        return tuple(loss / value for loss, value in zip(losses, values, strict=True))
    if parameter.role == "temperature":
        return tuple(loss * value for loss, value in zip(losses, values, strict=True))
    return None


def _limit(
    e: Exploration, parameter: Parameter, values: Sequence[float]
) -> tuple[float | None, tuple[tuple[float, float], ...] | None]:
    """Limit of L/λ, and its bounds at each λ.

    λM + ln w ≤ L ≤ λM + ln(1 + Σ w) for the largest violation M ≥ 0, w the least weight if that is
    below 1; the upper gap is the loss at collapse.
    """
    form, collapse, scores = e.spec.form, e.collapse, e.trace.last("scores")
    if parameter.role != "scale" or not isinstance(form, Separable):
        return None, None
    if collapse is None or scores is None:
        return None, None
    labels = e.batch.labels
    with torch.no_grad():
        limit = float(LOSSES["max_violation"].definition(scores.value, labels))
    gaps = (labels[None, :] - labels[:, None])[labels[None, :] > labels[:, None]]
    lightest = float(gaps.min().clamp_max(1)) if form.by_gap and len(gaps) else 1.0
    below = -math.log(lightest)
    return limit, tuple((max(limit - below / v, 0.0), limit + collapse / v) for v in values)


def _advised(parameter: Parameter, batch: Batch) -> tuple[float, float] | None:
    """The rule speaks of CoSENT's λ before the similarities of pairs, and of no other scale."""
    return suggested_scale(batch) if parameter.role == "scale" else None


def ranges_within(
    values: Sequence[float], heights: Sequence[float], band: tuple[float, float]
) -> tuple[tuple[float, float], ...]:
    """The ranges of `values` over which the line through the points stays inside the band.

    Between two points the line is straight in the logarithm of its height.
    """
    joined: list[tuple[float, float]] = []
    for low, high in _pieces(values, heights, band):
        if joined and low <= joined[-1][1]:
            joined[-1] = (joined[-1][0], high)
        else:
            joined.append((low, high))
    return tuple(joined)


def _pieces(
    values: Sequence[float], heights: Sequence[float], band: tuple[float, float]
) -> Iterator[tuple[float, float]]:
    floor, roof = (math.log(edge) for edge in band)
    steps = zip(values, values[1:], heights, heights[1:], strict=False)
    for left, right, start, end in steps:
        if not (0 < start < math.inf and 0 < end < math.inf):
            continue
        first, rise = math.log(start), math.log(end) - math.log(start)
        if rise == 0:
            inside = (0.0, 1.0) if floor <= first <= roof else (1.0, 0.0)
        else:
            crossings = sorted(((floor - first) / rise, (roof - first) / rise))
            inside = max(crossings[0], 0.0), min(crossings[1], 1.0)
        if inside[0] <= inside[1]:
            start, end = (left + (right - left) * share for share in inside)
            yield start, end
