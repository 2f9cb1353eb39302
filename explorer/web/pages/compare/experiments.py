"""What the section “One thing varied” of the Compare page asks the server for.

Each answer has an entry for each side, in their order: what was found of it, or the problem that
kept it from being found.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Hashable, Sequence

import torch

from explorer.core.batch import Batch, make_batch
from explorer.core.explore import explore
from explorer.core.scenario import Scenario
from explorer.lab import sweep as sweeps
from explorer.lab.compare import collapsed
from explorer.lab.compare import mechanics as batch_mechanics
from explorer.lab.compare import precision as types
from explorer.lab.compare import what_if as changes
from explorer.runtime import jobs, validation
from explorer.runtime.numbers import json_number
from explorer.runtime.problem import Problem
from explorer.runtime.resource_checks import check_cells, check_matrices
from explorer.runtime.validation import misfit
from explorer.runtime.wire import Json, packed
from explorer.web.pages.compare.requests import scenes_in
from explorer.web.serving import served
from explorer.web.wire import compare as wire
from explorer.web.wire import explore as wire_explore
from losses import LOSSES

# Of a loss that cannot be run at all values at once so many are enough for a curve.
SINGLY = 41
# What one of them takes at most for each cell of the N×N matrix of the batch's pairs; measured at
# the most pairs.
CELL_BYTES = 5000
# So many rows and columns of a matrix are drawn.
MOST_CELLS = 256


def _found_of(
    scenes: Sequence[Scenario], batch: Batch, find: Callable[[Scenario], Json | None]
) -> list[Json]:
    """{found, problem} of each side; the first of them that cannot be found takes no other
    down."""
    told: list[Json] = []
    with jobs.in_turn():
        check_matrices(len(batch), CELL_BYTES)
        for done, scene in enumerate(scenes):
            jobs.step("sides", done + 1, len(scenes))
            try:
                told.append({"found": find(scene), "problem": None})
            except Problem as problem:
                told.append({"found": None, "problem": problem.to_json()})
    return told


# ---- A parameter


def _sweep(request: Json) -> Json:
    """{scenario, sides, along: the parameter of each side, "" for one that stays as it is,
    logarithmic, points, rows?} → the curves of each side, or {send_rows}."""
    found = scenes_in(request)
    if found is None:
        return {"send_rows": True}
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
    done: dict[Hashable, Json] = {}
    places = iter(range(len(scenes)))

    def of(scene: Scenario) -> Json | None:
        place = next(places)
        name, key = along[place], keys[place]
        if name and key not in done:
            also = [value for value, other in zip(present, keys, strict=True) if other == key]
            how = {"points": points, "logarithmic": ratios, "singly": SINGLY, "also": also}
            done[key] = _curves(sweeps.curves(scene, name, batch=batch, **how))
        return done[key] if name else None

    return {"sides": _found_of(scenes, batch, of)}


def _besides(scene: Scenario, name: str) -> Hashable:
    """All of a side but its value of this parameter."""
    others = frozenset(item for item in scene.parameters if item[0] != name)
    return scene.loss, scene.convention, others, name


def _present(scene: Scenario, name: str) -> object:
    """The value of this parameter as it is, None where there is none."""
    spec = LOSSES.get(scene.loss)
    usual = {one.name: one.default for one in (() if spec is None else spec.parameters)}
    return dict(scene.parameters).get(name, usual.get(name))


def _curves(found: sweeps.Curves) -> Json:
    band = found.band and [packed(torch.tensor(edge)) for edge in zip(*found.band, strict=True)]
    return {
        "parameter": found.parameter,
        "logarithmic": found.logarithmic,
        "values": packed(torch.tensor(found.values)),
        "loss": _line(found.loss),
        "gradient": _line(found.gradient),
        "effective": _line(found.effective),
        "hardest": _line(found.hardest),
        "suspects": _line(found.suspects),
        "over_scale": _line(found.over_scale),
        "limit": json_number(found.limit),
        "band": band,
        "advised": found.advised,
        "within": found.within,
    }


def _line(values: Sequence[float | None] | None) -> str | None:
    """A curve, NaN where it has no value; None where it has none at all."""
    known = [math.nan if value is None else value for value in values or ()]
    return None if all(map(math.isnan, known)) else packed(torch.tensor(known))


# ---- A batch in pieces


def _mechanics(request: Json) -> Json:
    """{scenario, sides, way, size, average: whether over all ways to cut it, rows?} → what becomes
    of each side, or {send_rows}."""
    found = scenes_in(request)
    if found is None:
        return {"send_rows": True}
    scenario, scenes = found
    way = validation.one_of(batch_mechanics.WAYS)(request.get("way"), "way")
    size = validation.integer(request.get("size"), "size")
    average = validation.of_type(bool)(request.get("average", False), "average")
    batch = make_batch(scenario.data, scenario.rules)
    check_cells(len(batch), len(scenes) * batch_mechanics.times(way, size, len(batch), average))

    def of(scene: Scenario) -> Json:
        e = explore(scene, batch)
        told = _pieces(batch_mechanics.mechanics(e, way, size))
        if average and way == "micro":
            told["average"] = _averaged(batch_mechanics.expected_of_parts(e, size))
        return told

    return {"sides": _found_of(scenes, batch, of)}


def _pieces(found: batch_mechanics.Mechanics) -> Json:
    rows, columns = found.cells.shape
    shown = found.cells[:MOST_CELLS, :MOST_CELLS]
    return {
        "parts": found.parts,
        "whole": json_number(found.whole),
        "loss": json_number(found.loss),
        "equal": found.equal,
        "gradient_ratio": json_number(found.gradient_ratio),
        "gradient_cosine": json_number(found.gradient_cosine),
        "cells": packed(shown, torch.uint8),
        "shape": list(shown.shape),
        "all": [rows, columns],
        "row_axis": found.row_axis,
        "column_axis": found.column_axis,
        "comparisons": found.comparisons,
        "whole_comparisons": found.whole_comparisons,
        "average": None,
    }


def _averaged(found: batch_mechanics.Expected) -> Json:
    return {
        "loss": json_number(found.loss),
        "comparisons": json_number(found.comparisons),
        "drawn": found.drawn,
        "exact": found.exact,
    }


# ---- Types of numbers


def _precision(request: Json) -> Json:
    """{scenario, sides, rows?} → each side in each type and form, or {send_rows}."""
    found = scenes_in(request)
    if found is None:
        return {"send_rows": True}
    scenario, scenes = found
    batch = make_batch(scenario.data, scenario.rules)

    def of(scene: Scenario) -> Json:
        return {"rows": [_precise(one) for one in types.precision(explore(scene, batch))]}

    return {"sides": _found_of(scenes, batch, of)}


def _precise(one: types.Precise) -> Json:
    return {
        "type": one.type,
        "form": one.form,
        "convention": one.convention,
        "loss": json_number(one.loss),
        "difference": json_number(one.difference),
        "gradient_difference": json_number(one.gradient_difference),
        "broken": one.broken,
        "refused": one.refused,
    }


# ---- Another batch


def _what_if(request: Json) -> Json:
    """{scenario, sides, change, pair, by, rows?} → each side before and after the change, or
    {send_rows}."""
    found = scenes_in(request)
    if found is None:
        return {"send_rows": True}
    scenario, scenes = found
    kind = validation.one_of(changes.KINDS)(request.get("change"), "change")
    pair = validation.integer(request.get("pair"), "pair")
    by = validation.finite(request.get("by"), "by")
    batch = make_batch(scenario.data, scenario.rules)
    changed = changes.changed_batch(batch, changes.Change(kind, pair, by))
    of = functools.partial(_effect, batch=batch, changed=changed, kind=kind)
    return {"pairs": len(changed), "sides": _found_of(scenes, batch, of)}


def _effect(scene: Scenario, *, batch: Batch, changed: Batch, kind: changes.Kind) -> Json:
    found = changes.effect_of(scene, batch, changed, kind)
    before, after = found.before, found.after
    return {
        "before": _state(before.loss, before.gradient, found.floor_before, found.collapse_before),
        "after": after
        and _state(after.loss, after.gradient, found.floor_after, found.collapse_after),
        "ratio": json_number(found.ratio),
        "notices": found.notices,
        "refused": found.refused and found.refused.to_json(),
    }


def _state(loss: float, gradient: float, floor: float | None, collapse: float | None) -> Json:
    return {
        "loss": json_number(loss),
        "gradient": json_number(gradient),
        "floor": json_number(floor),
        "collapse": json_number(collapse),
    }


# ---- How far collapsed


def _collapse(request: Json) -> Json:
    """{scenario, sides, points, rows?} → each side on the way to one point, or {send_rows}."""
    found = scenes_in(request)
    if found is None:
        return {"send_rows": True}
    scenario, scenes = found
    points = validation.integer(request.get("points", collapsed.POINTS), "points")
    batch = make_batch(scenario.data, scenario.rules)
    check_cells(len(batch), len(scenes) * points)
    with jobs.in_turn():
        path = collapsed.path_of(batch, points)
        cosines = path.at(0).scores
        return {
            "by_cosines": batch.given is not None and not torch.allclose(batch.given, cosines),
            "shares": packed(torch.tensor(path.shares)),
            "spread": packed(torch.tensor(path.spread)),
            "sides": _found_of(scenes, batch, functools.partial(_way, path)),
        }


def _way(path: collapsed.Path, scene: Scenario) -> Json:
    found = collapsed.way_along(path, scene)
    return {
        "values": packed(torch.tensor(found.values)),
        "start": json_number(found.values[0]),
        "line": json_number(found.line),
        "reached": json_number(found.reached),
        "falls": found.falls,
        "lowest": found.lowest,
        "least": json_number(min(found.values)),
        "arrives": found.arrives,
    }


EXPERIMENTS = [
    served("sweep", _sweep, wire.SweptSides | wire_explore.SendRows),
    served("mechanics", _mechanics, wire.CutSides | wire_explore.SendRows),
    served("precision", _precision, wire.PreciseSides | wire_explore.SendRows),
    served("what_if", _what_if, wire.ChangedSides | wire_explore.SendRows),
    served("collapse", _collapse, wire.CollapsingSides | wire_explore.SendRows),
]
