"""Compared losses along one of their parameters."""

import math
from collections.abc import Hashable, Sequence

import torch

from lossprism.explorer.core.batch import Batch
from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.lab import parameter_sweep as sweeps
from lossprism.explorer.runtime import validation
from lossprism.explorer.runtime.array_serialization import packed
from lossprism.explorer.runtime.resource_checks import check_cells
from lossprism.explorer.runtime.response_types import Json, as_answer
from lossprism.explorer.runtime.validation import invalid_value
from lossprism.explorer.web.pages.compare.experiment_requests import experiment, sides_of
from lossprism.explorer.web.pages.compare.experiment_response_types import (
    ExperimentSides,
    SweptCurves,
)
from lossprism.losses import LOSSES

# Points of the curve of a loss that cannot be run at all values at once.
SINGLY = 41


def _sweep(request: Json, batch: Batch, scenarios: list[Scenario]) -> ExperimentSides:
    """{along: the parameter of each loss, "" for one that stays as it is, logarithmic, points} →
    `SweptCurves` of each loss."""
    along = validation.texts(request.get("along"), "along")
    if len(along) != len(scenarios):
        raise invalid_value("along", request.get("along"))
    ratios = validation.of_type(bool)(request.get("logarithmic"), "logarithmic")
    points = validation.integer(request.get("points", sweeps.MAX_POINTS), "points")
    # Losses that differ in nothing else are swept once, at the present value of each of them too.
    keys = [_besides(scenario, name) for scenario, name in zip(scenarios, along, strict=True)]
    present = [_present(scenario, name) for scenario, name in zip(scenarios, along, strict=True)]
    swept = {key for key, name in zip(keys, along, strict=True) if name}
    check_cells(len(batch), len(swept) * points)
    done: dict[Hashable, SweptCurves] = {}
    places = iter(range(len(scenarios)))

    def find(scenario: Scenario) -> SweptCurves | None:
        place = next(places)
        name, key = along[place], keys[place]
        if name and key not in done:
            also = [value for value, other in zip(present, keys, strict=True) if other == key]
            how = {"points": points, "logarithmic": ratios, "singly": SINGLY, "also": also}
            done[key] = _curves(sweeps.curves(scenario, name, batch=batch, **how))
        return done[key] if name else None

    return ExperimentSides(sides_of(scenarios, batch, find))


def _besides(scenario: Scenario, name: str) -> Hashable:
    """Everything of a loss but its value of this parameter."""
    others = frozenset(item for item in scenario.parameters if item[0] != name)
    return scenario.loss, scenario.convention, others, name


def _present(scenario: Scenario, name: str) -> object:
    """The present value of this parameter, None where the loss has none."""
    spec = LOSSES.get(scenario.loss)
    usual = {one.name: one.default for one in (() if spec is None else spec.parameters)}
    return dict(scenario.parameters).get(name, usual.get(name))


def _curves(curves: sweeps.Curves) -> SweptCurves:
    lines = ("loss", "gradient", "effective", "hardest", "suspects", "over_scale")
    return as_answer(
        SweptCurves,
        curves,
        values=packed(torch.tensor(curves.values)),
        band=curves.band
        and [packed(torch.tensor(edge)) for edge in zip(*curves.band, strict=True)],
        **{name: _line(getattr(curves, name)) for name in lines},
    )


def _line(values: Sequence[float | None] | None) -> str | None:
    """A curve, NaN where it has no value; None where it has none at all."""
    known = [math.nan if value is None else value for value in values or ()]
    return None if all(map(math.isnan, known)) else packed(torch.tensor(known))


SWEEP = experiment("sweep", _sweep)
