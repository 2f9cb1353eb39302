"""Compared losses along one of their parameters."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import torch

from explorer.core.batch import make_batch
from explorer.core.scenario import Scenario
from explorer.lab import sweep as sweeps
from explorer.runtime import validation
from explorer.runtime.numbers import Real
from explorer.runtime.problem import Problem
from explorer.runtime.resource_checks import check_cells
from explorer.runtime.validation import misfit
from explorer.runtime.wire import Floats, Json, as_answer, packed
from explorer.web.pages.compare.experiments import found_of
from explorer.web.pages.compare.requests import scenes_in
from explorer.web.scenes import SendRows
from explorer.web.serving import served
from losses import LOSSES

# Of a loss that cannot be run at all values at once so many are enough for a curve.
SINGLY = 41


@dataclass(frozen=True)
class SweptCurves:
    """A side along one of its parameters: a height for each of `values`, NaN where there is none,
    null where there is none anywhere. `over_scale` tends to `limit` and lies in `band`, its lower
    and upper edge; `advised` and `within` are ranges of the parameter."""

    parameter: str
    logarithmic: bool
    values: Floats
    loss: Floats | None
    gradient: Floats | None
    effective: Floats | None
    hardest: Floats | None
    suspects: Floats | None
    over_scale: Floats | None
    limit: Real | None
    band: list[Floats] | None
    advised: tuple[float, float] | None
    within: tuple[tuple[float, float], ...] | None


@dataclass(frozen=True)
class SweptSide:
    """Null, and no problem, where the side stays as it is."""

    found: SweptCurves | None
    problem: Problem | None


@dataclass(frozen=True)
class SweptSides:
    """Sides along a parameter."""

    sides: list[SweptSide]


def _sweep(request: Json) -> SweptSides | SendRows:
    """{scenario, sides, along: the parameter of each side, "" for one that stays as it is,
    logarithmic, points, rows?} → the curves of each side."""
    found = scenes_in(request)
    if found is None:
        return SendRows()
    scenario, scenes = found
    along = validation.texts(request.get("along"), "along")
    if len(along) != len(scenes):
        raise misfit("along", request.get("along"))
    ratios = validation.of_type(bool)(request.get("logarithmic"), "logarithmic")
    points = validation.integer(request.get("points", sweeps.MOST_POINTS), "points")
    batch = make_batch(scenario.data, scenario.rules)
    # Sides that differ in nothing else are swept once, at the present value of each of them too.
    keys = [_besides(scene, name) for scene, name in zip(scenes, along, strict=True)]
    present = [_present(scene, name) for scene, name in zip(scenes, along, strict=True)]
    swept = {key for key, name in zip(keys, along, strict=True) if name}
    check_cells(len(batch), len(swept) * points)
    done: dict[Hashable, SweptCurves] = {}
    places = iter(range(len(scenes)))

    def of(scene: Scenario) -> SweptCurves | None:
        place = next(places)
        name, key = along[place], keys[place]
        if name and key not in done:
            also = [value for value, other in zip(present, keys, strict=True) if other == key]
            how = {"points": points, "logarithmic": ratios, "singly": SINGLY, "also": also}
            done[key] = _curves(sweeps.curves(scene, name, batch=batch, **how))
        return done[key] if name else None

    return SweptSides(found_of(scenes, batch, of, SweptSide))


def _besides(scene: Scenario, name: str) -> Hashable:
    """All of a side but its value of this parameter."""
    others = frozenset(item for item in scene.parameters if item[0] != name)
    return scene.loss, scene.convention, others, name


def _present(scene: Scenario, name: str) -> object:
    """The value of this parameter as it is, None where there is none."""
    spec = LOSSES.get(scene.loss)
    usual = {one.name: one.default for one in (() if spec is None else spec.parameters)}
    return dict(scene.parameters).get(name, usual.get(name))


def _curves(found: sweeps.Curves) -> SweptCurves:
    lines = ("loss", "gradient", "effective", "hardest", "suspects", "over_scale")
    return as_answer(
        SweptCurves,
        found,
        values=packed(torch.tensor(found.values)),
        band=found.band and [packed(torch.tensor(edge)) for edge in zip(*found.band, strict=True)],
        **{name: _line(getattr(found, name)) for name in lines},
    )


def _line(values: Sequence[float | None] | None) -> str | None:
    """A curve, NaN where it has no value; None where it has none at all."""
    known = [math.nan if value is None else value for value in values or ()]
    return None if all(map(math.isnan, known)) else packed(torch.tensor(known))


SWEEP = served("sweep", _sweep)
