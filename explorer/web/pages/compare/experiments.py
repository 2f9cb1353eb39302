"""What the section “One thing varied” of the Compare page asks the server for.

Each answer has an entry for each side, in their order: what was found of it, or the problem that
kept it from being found.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import torch

from explorer.core.batch import Batch, make_batch
from explorer.core.explore import explore
from explorer.core.scenario import Scenario
from explorer.lab.compare import collapsed
from explorer.lab.compare import mechanics as batch_mechanics
from explorer.lab.compare import precision as types
from explorer.lab.compare import what_if as changes
from explorer.runtime import jobs, validation
from explorer.runtime.numbers import Real, json_number
from explorer.runtime.problem import Problem
from explorer.runtime.resource_checks import check_cells, check_matrices
from explorer.runtime.wire import Bytes, Floats, Json, as_answer, packed
from explorer.web.pages.compare.requests import scenes_in
from explorer.web.scenes import SendRows
from explorer.web.serving import served

# What one of them takes at most for each cell of the N×N matrix of the batch's pairs; measured at
# the most pairs.
CELL_BYTES = 5000
# So many rows and columns of a matrix are drawn.
MOST_CELLS = 256

Found = TypeVar("Found")
Told = TypeVar("Told")


def found_of(
    scenes: Sequence[Scenario],
    batch: Batch,
    find: Callable[[Scenario], Found | None],
    side: Callable[[Found | None, Problem | None], Told],
) -> list[Told]:
    """What was found of each side, or why nothing; the first of them that cannot be found takes no
    other down."""
    told: list[Told] = []
    with jobs.in_turn():
        check_matrices(len(batch), CELL_BYTES)
        for done, scene in enumerate(scenes):
            jobs.step("sides", done + 1, len(scenes))
            try:
                told.append(side(find(scene), None))
            except Problem as problem:
                told.append(side(None, problem))
    return told


# ---- A batch in pieces


@dataclass(frozen=True)
class Averaged:
    """Over all ways to cut a batch into parts of one size, or over so many that were `drawn`."""

    loss: Real
    comparisons: Real | None
    drawn: int
    exact: bool


@dataclass(frozen=True)
class Pieces:
    """A batch by another way than in one piece; `cells`, 0 absent, 1 felt, 2 only seen, are the
    first of `all` rows and columns."""

    parts: int
    whole: Real
    loss: Real
    equal: bool
    gradient_ratio: Real | None
    gradient_cosine: Real | None
    cells: Bytes
    shape: tuple[int, int]
    all: tuple[int, int]
    row_axis: str
    column_axis: str
    comparisons: int
    whole_comparisons: int
    average: Averaged | None


@dataclass(frozen=True)
class CutSide:
    """What becomes of a side."""

    found: Pieces | None
    problem: Problem | None


@dataclass(frozen=True)
class CutSides:
    """Sides on a batch in pieces."""

    sides: list[CutSide]


def _mechanics(request: Json) -> CutSides | SendRows:
    """{scenario, sides, way, size, average: whether over all ways to cut it, rows?} → what becomes
    of each side."""
    found = scenes_in(request)
    if found is None:
        return SendRows()
    scenario, scenes = found
    way = validation.one_of(batch_mechanics.WAYS)(request.get("way"), "way")
    size = validation.integer(request.get("size"), "size")
    average = validation.of_type(bool)(request.get("average", False), "average")
    batch = make_batch(scenario.data, scenario.rules)
    check_cells(len(batch), len(scenes) * batch_mechanics.times(way, size, len(batch), average))

    def of(scene: Scenario) -> Pieces:
        e = explore(scene, batch)
        cut = batch_mechanics.mechanics(e, way, size)
        over_all = average and way == "micro"
        return _pieces(cut, batch_mechanics.expected_of_parts(e, size) if over_all else None)

    return CutSides(found_of(scenes, batch, of, CutSide))


def _pieces(found: batch_mechanics.Mechanics, average: batch_mechanics.Expected | None) -> Pieces:
    rows, columns = found.cells.shape
    shown = found.cells[:MOST_CELLS, :MOST_CELLS]
    return as_answer(
        Pieces,
        found,
        cells=packed(shown, torch.uint8),
        shape=tuple(shown.shape),
        all=(rows, columns),
        average=average and as_answer(Averaged, average),
    )


# ---- Types of numbers


@dataclass(frozen=True)
class PreciseRow:
    """A loss in one type and one form; `broken` is the first step without a number, "" for none,
    and `refused` what torch says that cannot compute this."""

    type: str
    form: types.Form
    convention: str
    loss: Real | None
    difference: Real | None
    gradient_difference: Real | None
    broken: str
    refused: str


@dataclass(frozen=True)
class PreciseRows:
    """A loss in all types and forms."""

    rows: list[PreciseRow]


@dataclass(frozen=True)
class PreciseSide:
    """What becomes of a side."""

    found: PreciseRows | None
    problem: Problem | None


@dataclass(frozen=True)
class PreciseSides:
    """Sides in all types and forms."""

    sides: list[PreciseSide]


def _precision(request: Json) -> PreciseSides | SendRows:
    """{scenario, sides, rows?} → each side in each type and form."""
    found = scenes_in(request)
    if found is None:
        return SendRows()
    scenario, scenes = found
    batch = make_batch(scenario.data, scenario.rules)

    def of(scene: Scenario) -> PreciseRows:
        found = types.precision(explore(scene, batch))
        return PreciseRows([as_answer(PreciseRow, one) for one in found])

    return PreciseSides(found_of(scenes, batch, of, PreciseSide))


# ---- Another batch


@dataclass(frozen=True)
class ChangedState:
    """A loss on one batch."""

    loss: Real
    gradient: Real
    floor: Real | None
    collapse: Real | None


@dataclass(frozen=True)
class ChangedLoss:
    """A loss before and after a change; `refused` says why there is no after."""

    before: ChangedState
    after: ChangedState | None
    ratio: Real | None
    notices: bool
    refused: Problem | None


@dataclass(frozen=True)
class ChangedSide:
    """What becomes of a side."""

    found: ChangedLoss | None
    problem: Problem | None


@dataclass(frozen=True)
class ChangedSides:
    """Sides before and after a change of the batch, which has so many `pairs` after it."""

    pairs: int
    sides: list[ChangedSide]


def _what_if(request: Json) -> ChangedSides | SendRows:
    """{scenario, sides, change, pair, by, rows?} → each side before and after the change, or
    {send_rows}."""
    found = scenes_in(request)
    if found is None:
        return SendRows()
    scenario, scenes = found
    kind = validation.one_of(changes.KINDS)(request.get("change"), "change")
    pair = validation.integer(request.get("pair"), "pair")
    by = validation.finite(request.get("by"), "by")
    batch = make_batch(scenario.data, scenario.rules)
    changed = changes.changed_batch(batch, changes.Change(kind, pair, by))
    of = functools.partial(_effect, batch=batch, changed=changed, kind=kind)
    return ChangedSides(len(changed), found_of(scenes, batch, of, ChangedSide))


def _effect(scene: Scenario, *, batch: Batch, changed: Batch, kind: changes.Kind) -> ChangedLoss:
    found = changes.effect_of(scene, batch, changed, kind)
    before, after = found.before, found.after
    return as_answer(
        ChangedLoss,
        found,
        before=_state(before.loss, before.gradient, found.floor_before, found.collapse_before),
        after=after and _state(after.loss, after.gradient, found.floor_after, found.collapse_after),
    )


def _state(loss: float, gradient: float, *landmarks: float | None) -> ChangedState:
    return ChangedState(json_number(loss), json_number(gradient), *map(json_number, landmarks))


# ---- How far collapsed


@dataclass(frozen=True)
class Collapsing:
    """A loss on the way to one point: its value at each share, at its `start`, where it is
    `lowest` (`least`), and at the end (`reached`), beside its `line` at collapse."""

    values: Floats
    start: Real
    line: Real | None
    reached: Real
    falls: bool
    lowest: float
    least: Real
    arrives: bool | None


@dataclass(frozen=True)
class CollapsingSide:
    """What becomes of a side."""

    found: Collapsing | None
    problem: Problem | None


@dataclass(frozen=True)
class CollapsingSides:
    """Sides at the same `shares` of the way of all vectors to one point; `spread` is that between
    the largest and the smallest cosine of a pair. `by_cosines`: these took the place of scores that
    were given."""

    by_cosines: bool
    shares: Floats
    spread: Floats
    sides: list[CollapsingSide]


def _collapse(request: Json) -> CollapsingSides | SendRows:
    """{scenario, sides, points, rows?} → each side on the way to one point."""
    found = scenes_in(request)
    if found is None:
        return SendRows()
    scenario, scenes = found
    points = validation.integer(request.get("points", collapsed.POINTS), "points")
    batch = make_batch(scenario.data, scenario.rules)
    check_cells(len(batch), len(scenes) * points)
    with jobs.in_turn():
        path = collapsed.path_of(batch, points)
        cosines = path.at(0).scores
        by_cosines = batch.given is not None and not torch.allclose(batch.given, cosines)
        way = functools.partial(_way, path)
        return CollapsingSides(
            by_cosines,
            shares=packed(torch.tensor(path.shares)),
            spread=packed(torch.tensor(path.spread)),
            sides=found_of(scenes, batch, way, CollapsingSide),
        )


def _way(path: collapsed.Path, scene: Scenario) -> Collapsing:
    found = collapsed.way_along(path, scene)
    return as_answer(
        Collapsing,
        found,
        values=packed(torch.tensor(found.values)),
        start=json_number(found.values[0]),
        least=json_number(min(found.values)),
    )


EXPERIMENTS = [
    served("mechanics", _mechanics),
    served("precision", _precision),
    served("what_if", _what_if),
    served("collapse", _collapse),
]
