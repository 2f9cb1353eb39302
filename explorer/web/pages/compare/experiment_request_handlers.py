"""Requests of the experiments of the Compare page.

Each answer has an entry for each loss, in their order: its result, or the problem that prevented
it. A problem of one loss leaves the others as they are.
"""

import functools
import math
from collections.abc import Callable, Hashable, Sequence

import torch

from lossprism.explorer.core.batch import Batch, make_batch
from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.lab import parameter_sweep as sweeps
from lossprism.explorer.lab.compare import batch_change_effects as changes
from lossprism.explorer.lab.compare import batch_splitting_methods as batch_mechanics
from lossprism.explorer.lab.compare import floating_point_precision as types
from lossprism.explorer.lab.compare import losses_towards_collapse
from lossprism.explorer.lab.compare.loss_comparison import CELL_BYTES
from lossprism.explorer.lab.landscape.landscapes_over_lever import Landscapes, landscapes
from lossprism.explorer.runtime import jobs, validation
from lossprism.explorer.runtime.base64_arrays import packed
from lossprism.explorer.runtime.number_format import json_number
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.resource_checks import check_cells, check_matrices
from lossprism.explorer.runtime.response_field_types import Json
from lossprism.explorer.runtime.response_parent_classes import as_answer
from lossprism.explorer.runtime.validation import invalid_value
from lossprism.explorer.web.page_requests import served
from lossprism.explorer.web.pages.compare.experiment_response_types import (
    AverageOverSplits,
    ChangedFigures,
    ChangedLoss,
    CollapseCurve,
    CollapseCurves,
    ExperimentResult,
    ExperimentResults,
    Found,
    PreciseRow,
    PreciseRows,
    SplitBatch,
    SweptCurves,
)
from lossprism.explorer.web.pages.compare.request_handlers import scenarios_in
from lossprism.explorer.web.pages.explore.scenario_and_rows_of_request import SendRows
from lossprism.losses import LOSSES

# Rows and columns of a matrix that are drawn.
MAX_CELLS = 256
# Points of the curve of a loss that cannot be run at all values at once.
SINGLY = 41

Experiment = Callable[[Json, Batch, list[Scenario]], ExperimentResults | Landscapes]


def experiment(
    name: str, run: Experiment, answers: object = ExperimentResults
) -> Callable[[object], object]:
    """Serve `run(request, batch, scenarios)` under a name: {scenario, sides, rows?, …} →
    `answers`."""

    def answer(request: Json) -> ExperimentResults | Landscapes | SendRows:
        found = scenarios_in(request)
        if found is None:
            return SendRows()
        scenario, scenarios = found
        return run(request, make_batch(scenario.data, scenario.rules), scenarios)

    return served(name, answer, answers | SendRows)  # type: ignore[operator]


def sides_of(
    scenarios: Sequence[Scenario], batch: Batch, find: Callable[[Scenario], Found | None]
) -> list[ExperimentResult]:
    """Return what `find` returns for each loss, or the problem that it raises."""
    sides: list[ExperimentResult] = []
    with jobs.heavy_work_turn():
        check_matrices(len(batch), CELL_BYTES)
        for done, scenario in enumerate(scenarios):
            jobs.step("sides", done + 1, len(scenarios))
            try:
                sides.append(ExperimentResult(find(scenario), None))
            except Problem as problem:
                sides.append(ExperimentResult(None, problem))
    return sides


# ---- A batch in pieces


def _mechanics(request: Json, batch: Batch, scenarios: list[Scenario]) -> ExperimentResults:
    """{way, size, average: whether over all ways to cut the batch} → `SplitBatch` of each loss."""
    way = validation.one_of(batch_mechanics.WAYS)(request.get("way"), "way")
    size = validation.integer(request.get("size"), "size")
    average = validation.of_type(bool)(request.get("average", False), "average")
    check_cells(len(batch), len(scenarios) * batch_mechanics.times(way, size, len(batch), average))

    def find(scenario: Scenario) -> SplitBatch:
        e = explore(scenario, batch)
        cut = batch_mechanics.mechanics(e, way, size)
        over_all = average and way == "micro"
        return _pieces(cut, batch_mechanics.expected_of_parts(e, size) if over_all else None)

    return ExperimentResults(sides_of(scenarios, batch, find))


def _pieces(
    mechanics: batch_mechanics.Mechanics, average: batch_mechanics.Expected | None
) -> SplitBatch:
    rows, columns = mechanics.cells.shape
    shown = mechanics.cells[:MAX_CELLS, :MAX_CELLS]
    return as_answer(
        SplitBatch,
        mechanics,
        cells=packed(shown, torch.uint8),
        shape=tuple(shown.shape),
        all=(rows, columns),
        average=average and as_answer(AverageOverSplits, average),
    )


# ---- Types of numbers


def _precision(_request: Json, batch: Batch, scenarios: list[Scenario]) -> ExperimentResults:
    """{} → `PreciseRows` of each loss."""

    def find(scenario: Scenario) -> PreciseRows:
        precision = types.precision(explore(scenario, batch))
        return PreciseRows([as_answer(PreciseRow, one) for one in precision])

    return ExperimentResults(sides_of(scenarios, batch, find))


# ---- Another batch


def _what_if(request: Json, batch: Batch, scenarios: list[Scenario]) -> ExperimentResults:
    """{change, pair, by} → `ChangedLoss` of each loss."""
    kind = validation.one_of(changes.KINDS)(request.get("change"), "change")
    pair = validation.integer(request.get("pair"), "pair")
    by = validation.finite(request.get("by"), "by")
    changed = changes.changed_batch(batch, changes.Change(kind, pair, by))
    find = functools.partial(_effect, batch=batch, changed=changed, kind=kind)
    return ExperimentResults(sides_of(scenarios, batch, find))


def _effect(scenario: Scenario, *, batch: Batch, changed: Batch, kind: changes.Kind) -> ChangedLoss:
    effect = changes.effect_of(scenario, batch, changed, kind)
    before, after = effect.before, effect.after
    return as_answer(
        ChangedLoss,
        effect,
        before=_state(before.loss, before.gradient, effect.floor_before, effect.collapse_before),
        after=after
        and _state(after.loss, after.gradient, effect.floor_after, effect.collapse_after),
    )


def _state(loss: float, gradient: float, *references: float | None) -> ChangedFigures:
    return ChangedFigures(json_number(loss), json_number(gradient), *map(json_number, references))


# ---- How far collapsed


def _collapse(request: Json, batch: Batch, scenarios: list[Scenario]) -> CollapseCurves:
    """{points} → `CollapseCurve` of each loss."""
    points = validation.integer(request.get("points", losses_towards_collapse.POINTS), "points")
    check_cells(len(batch), len(scenarios) * points)
    with jobs.heavy_work_turn():
        path = losses_towards_collapse.path_of(batch, points)
        cosines = path.at(0).scores
        return CollapseCurves(
            sides_of(scenarios, batch, functools.partial(_way, path)),
            by_cosines=batch.given is not None and not torch.allclose(batch.given, cosines),
            shares=packed(torch.tensor(path.shares)),
            spread=packed(torch.tensor(path.spread)),
        )


def _way(path: losses_towards_collapse.Path, scenario: Scenario) -> CollapseCurve:
    way = losses_towards_collapse.way_along(path, scenario)
    return as_answer(
        CollapseCurve,
        way,
        values=packed(torch.tensor(way.values)),
        start=json_number(way.values[0]),
        least=json_number(min(way.values)),
    )


# ---- Over two scores


def _landscape(_request: Json, batch: Batch, scenarios: list[Scenario]) -> Landscapes:
    """{} → the landscape of each loss, with the comparisons of the batch."""
    with jobs.heavy_work_turn():
        return landscapes(scenarios, "", batch)


# ---- Along a parameter


def _sweep(request: Json, batch: Batch, scenarios: list[Scenario]) -> ExperimentResults:
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

    return ExperimentResults(sides_of(scenarios, batch, find))


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


EXPERIMENTS = [
    experiment("sweep", _sweep),
    experiment("mechanics", _mechanics),
    experiment("precision", _precision),
    experiment("what_if", _what_if),
    experiment("collapse", _collapse, CollapseCurves),
    experiment("landscape", _landscape, Landscapes),
]
