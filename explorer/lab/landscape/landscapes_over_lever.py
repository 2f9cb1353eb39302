"""Landscapes of losses beside each other over the whole range of one lever, for a page to draw."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import Tensor

from lossprism.explorer.core.batch import Batch
from lossprism.explorer.core.resolved_scenario import Resolved, resolve
from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.lab.landscape import loss_over_two_scores as two_scores
from lossprism.explorer.lab.landscape.loss_over_two_scores import Boundary
from lossprism.explorer.runtime import jobs
from lossprism.explorer.runtime.base64_arrays import packed
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.response_field_types import Floats
from lossprism.losses.spec import Parameter

COSINE_RANGE = (-1.0, 1.0)  # of a cosine
GRID_POINTS = 41  # heights along each score
FIRST_ARROW, BETWEEN_ARROWS = 2, 4  # places on the grid
CUT_POINTS = 401  # points of a cut

Found = TypeVar("Found")


@dataclass(frozen=True)
class Landscape:
    """A loss over the score of the positive (columns) and of the negative (rows).

    `heights` [stops, G, G], `slopes` [stops, A, A, 2] by both scores, and `boundaries` are at each
    stop of the lever, or once for a loss without it. `dots` [D, 2] are the scores of the positive
    and the negative of comparisons of the batch, at most 200 of all `comparisons`.
    """

    heights: Floats
    slopes: Floats
    boundaries: list[Boundary | None]
    dots: Floats
    comparisons: int


@dataclass(frozen=True)
class LandscapeSide:
    """The landscape of a loss, or the problem that prevented it."""

    found: Landscape | None
    problem: Problem | None


@dataclass(frozen=True)
class Landscapes:
    """Landscapes of losses at the same values of a lever, `stops`, over the same `axis` of both
    scores; arrows stand at the scores `arrows`."""

    sides: list[LandscapeSide]
    stops: list[float]
    axis: list[float]
    arrows: list[float]


@dataclass(frozen=True)
class Cut:
    """A loss along the score of the positive at each stop: `heights` and the second derivative
    `curvature`, [stops, points] each, and the same by the formula λ²S/(1+S)², null for a loss that
    it is not about."""

    heights: Floats
    curvature: Floats
    formula: Floats | None


@dataclass(frozen=True)
class CutSide:
    """The cut of a loss, or the problem that prevented it."""

    found: Cut | None
    problem: Problem | None


@dataclass(frozen=True)
class Cuts:
    """Cuts of losses at the same stops of a lever, over the same `axis`."""

    sides: list[CutSide]
    stops: list[float]
    axis: list[float]


def landscapes(scenarios: Sequence[Scenario], lever: str, batch: Batch) -> Landscapes:
    """Compute the landscapes of the losses of scenarios at each stop of a lever, "" for none, with
    the comparisons of a batch."""
    axis = _axis(GRID_POINTS)
    stops, surfaces = _each(scenarios, lever, lambda moved: _landscape(moved, axis, batch))
    sides = [LandscapeSide(*one) for one in surfaces]
    arrows = axis[FIRST_ARROW::BETWEEN_ARROWS]
    return Landscapes(sides, stops, axis.tolist(), arrows.tolist())


def cuts(scenarios: Sequence[Scenario], lever: str, negative: float) -> Cuts:
    """Compute the cuts of the losses of scenarios through a score of the negative at each stop of a
    lever."""
    axis = _axis(CUT_POINTS)
    stops, sections = _each(scenarios, lever, lambda moved: _cut(moved, axis, negative))
    return Cuts([CutSide(*one) for one in sections], stops, axis.tolist())


def lever_stops(losses: Sequence[Resolved], lever: str) -> list[float]:
    """Return the values of a lever, [] if none of the losses has it."""
    levers = [(one, parameter) for one in losses if (parameter := _lever_of(one, lever))]
    values = [float(one.parameters[lever]) for one, _ in levers]  # type: ignore[arg-type]
    return two_scores.stops([parameter for _, parameter in levers], values) if levers else []


def _lever_of(resolved: Resolved, lever: str) -> Parameter | None:
    return next((one for one in two_scores.levers(resolved.spec) if one.name == lever), None)


def _each(
    scenarios: Sequence[Scenario], lever: str, find: Callable[[list[Resolved]], Found]
) -> tuple[list[float], list[tuple[Found | None, Problem | None]]]:
    """Return the stops of a lever, and for each scenario what is found of its loss at these stops,
    or the problem that prevented it."""
    resolved = [_or_problem(resolve, scenario) for scenario in scenarios]
    stops = lever_stops([one for one, _ in resolved if one], lever)

    def found_of(one: Resolved) -> Found:
        jobs.check()
        has_lever = _lever_of(one, lever) is not None
        return find([one.at(**{lever: stop}) for stop in stops] if has_lever else [one])

    return stops, [
        _or_problem(found_of, one) if one else (None, problem) for one, problem in resolved
    ]


Given = TypeVar("Given")


def _or_problem(
    find: Callable[[Given], Found], given: Given
) -> tuple[Found | None, Problem | None]:
    try:
        return find(given), None
    except Problem as problem:
        return None, problem


def _axis(count: int) -> Tensor:
    return torch.linspace(*COSINE_RANGE, count, dtype=torch.float64)


def _landscape(moved: Sequence[Resolved], axis: Tensor, batch: Batch) -> Landscape:
    negatives, positives = torch.meshgrid(axis, axis, indexing="ij")
    points = torch.stack([positives.flatten(), negatives.flatten()], dim=1)
    surfaces = [two_scores.surface(one, points) for one in moved]
    heights = torch.stack([one.values for one in surfaces])
    slopes = torch.stack([one.slopes.view(len(axis), len(axis), 2) for one in surfaces])
    arrows = slice(FIRST_ARROW, None, BETWEEN_ARROWS)
    dots = two_scores.comparisons(batch, moved[0].spec)
    in_sight = dots[((dots >= COSINE_RANGE[0]) & (dots <= COSINE_RANGE[1])).all(dim=1)]
    return Landscape(
        heights=packed(heights),
        slopes=packed(slopes[:, arrows, arrows]),
        boundaries=[two_scores.boundary(one) for one in moved],
        dots=packed(in_sight[: two_scores.MAX_DOTS]),
        comparisons=len(dots),
    )


def _cut(moved: Sequence[Resolved], axis: Tensor, negative: float) -> Cut:
    points = torch.stack([axis, torch.full_like(axis, negative)], dim=1)
    surfaces = [two_scores.surface(one, points) for one in moved]
    by_formula = [one for at in moved if (one := two_scores.curvature_of(at, points)) is not None]
    return Cut(
        heights=packed(torch.stack([one.values for one in surfaces])),
        curvature=packed(torch.stack([one.curvature for one in surfaces])),
        formula=packed(torch.stack(by_formula)) if by_formula else None,
    )
