"""What a parameter does to a loss: the loss, its gradient and its active terms along its range."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from explorer.core.batch import Batch, make_batch
from explorer.core.explore import explore, spec_for
from explorer.core.parameters import chosen_numeric, spread
from explorer.core.remarks import GRADIENT_BAND, band_applies, suggested_scale
from explorer.core.scenario import Scenario
from losses import Parameter

POINTS = 41


@dataclass(frozen=True)
class Sweep:
    """One parameter at `values`, everything else as in the scenario.

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


def sweep(
    scenario: Scenario, parameter: str = "", *, batch: Batch | None = None, points: int = POINTS
) -> Sweep:
    """Explore the scenario at `points` values of a parameter, the first numeric one if unnamed.

    Raises:
        Problem: if the loss has no such parameter, or the scenario cannot be explored.
    """
    chosen = chosen_numeric(spec_for(scenario), parameter)
    batch = make_batch(scenario.data, scenario.rules) if batch is None else batch
    # Three digits, so that a curve is read at values that can be typed.
    values = tuple(dict.fromkeys(float(f"{value:.3g}") for value in spread(chosen, points)))
    found = [explore(_at(scenario, chosen.name, value), batch) for value in values]
    gradient = tuple(one.gradient_norm for one in found)
    weights = [one.weights for one in found if one.weights]
    return Sweep(
        parameter=chosen.name,
        logarithmic=chosen.logarithmic,
        values=values,
        loss=tuple(one.loss for one in found),
        gradient=gradient,
        active=tuple(w.active / max(w.terms, 1) for w in weights)
        if len(weights) == len(found)
        else None,
        advised=_advised(chosen, batch),
        within=ranges_within(values, gradient, GRADIENT_BAND)
        if chosen.role == "scale" and band_applies(found[0])
        else None,
    )


def _at(scenario: Scenario, name: str, value: float) -> Scenario:
    parameters = {**dict(scenario.parameters), name: value}
    return dataclasses.replace(scenario, parameters=tuple(parameters.items()))


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
