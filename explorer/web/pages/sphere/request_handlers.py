"""Requests of the sphere: a film for each of one or two losses."""

from dataclasses import dataclass
from typing import Any

from lossprism.explorer.core.resolved_scenario import resolve
from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.export.figure.figure_files import chart_text
from lossprism.explorer.lab.compare.comparison_results import Side
from lossprism.explorer.lab.sphere import starting_points
from lossprism.explorer.lab.sphere.film import (
    ANGLE_UNITS_PER_DEGREE,
    MAX_MOVES,
    SECONDS_PER_STEP,
    Film,
    Move,
    Steps,
    film,
)
from lossprism.explorer.lab.sphere.optimisers import OPTIMISERS
from lossprism.explorer.lab.sphere.starting_points import Placed, Start, placed
from lossprism.explorer.runtime import jobs, validation
from lossprism.explorer.runtime.base64_arrays import packed
from lossprism.explorer.runtime.number_format import Real
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.response_field_types import Floats, Json
from lossprism.explorer.runtime.validation import invalid_value, within
from lossprism.explorer.sources.random_batch import LABELS
from lossprism.explorer.web.page_requests import served
from lossprism.explorer.web.pages.compare.request_handlers import side_in
from lossprism.explorer.web.pages.sphere.state_entries import MOST_SIDES, RATE, STEPS


@dataclass(frozen=True)
class SphereFilm:
    """A film: `points` after each step, [T + 1, S, D], and a number for each frame of every curve,
    NaN where there is none; or the problem of this loss."""

    problem: Problem | None
    points: Floats | None = None
    curves: dict[str, Floats] | None = None


@dataclass(frozen=True)
class Filmed:
    """A film for each loss, and the points in it: their names and classes, and the positive
    `pairs`. `variance_share` and `left_out` are as in
    `explorer.lab.sphere.starting_points.Placed`."""

    films: list[SphereFilm]
    frames: int
    dimension: int
    names: list[str]
    classes: list[int]
    pairs: list[tuple[int, int]]
    variance_share: Real | None
    left_out: int


def _film(request: Json) -> Filmed:
    """{sides: [{loss, convention, parameters}], start, steps} → a film for each of the losses."""
    sides, chosen, steps = _sides_in(request), _start_in(request), _steps_in(request)
    points = placed(chosen)
    batch = points.batch
    if any(move.point >= len(batch.needed_vectors) for move in steps.moves):
        raise invalid_value("steps.moves", max(move.point for move in steps.moves))
    positive = zip(
        batch.first[batch.positive].tolist(), batch.second[batch.positive].tolist(), strict=True
    )
    return Filmed(
        films=[_filmed(side, points, steps) for side in sides],
        frames=steps.count + 1,
        dimension=chosen.dimension,
        names=list(batch.pairs.sentences),
        classes=batch.classes.tolist(),
        pairs=list(positive),
        variance_share=points.variance_share,
        left_out=points.left_out,
    )


def _filmed(side: Side, points: Placed, steps: Steps) -> SphereFilm:
    try:
        with jobs.light_work_turn(SECONDS_PER_STEP * steps.count):
            filmed = film(resolve(side.applied_to(Scenario())), points.batch, steps)
    except Problem as problem:
        if problem.about == "again":  # the machine was busy; the loss is not at fault
            raise
        return SphereFilm(problem)
    return SphereFilm(None, packed(filmed.frames), _curves(filmed))


def _curves(filmed: Film) -> dict[str, Floats]:
    measured = {"loss": filmed.loss, **vars(filmed.measures)}
    return {name: packed(values) for name, values in measured.items()}


def _sides_in(request: Json) -> list[Side]:
    listed = request.get("sides")
    if not isinstance(listed, list) or not 1 <= len(listed) <= MOST_SIDES:
        raise invalid_value("sides", listed)
    return [side_in(one, f"sides[{place}]") for place, one in enumerate(listed)]


def _start_in(request: Json) -> Start:
    return validation.read(Start, request.get("start", {}), "start", _READERS, _unknown)


def _steps_in(request: Json) -> Steps:
    steps = validation.read(Steps, request.get("steps", {}), "steps", _READERS, _unknown)
    if any(move.step > steps.count for move in steps.moves):
        raise invalid_value("steps.moves", max(move.step for move in steps.moves))
    return steps


def _unknown(place: str) -> Problem:
    return invalid_value(place, place)


def _moves(value: Any, where: str) -> tuple[Move, ...]:
    """Read four whole numbers a move: step, point, and two angles."""
    numbers = validation.of_type(list, tuple)(value, where)
    if len(numbers) % 4 or len(numbers) > 4 * MAX_MOVES:
        raise invalid_value(where, value)
    step, point = within(0, STEPS[1]), within(0, starting_points.MAX_POINTS - 1)
    around, down = within(0, 360 * ANGLE_UNITS_PER_DEGREE), within(0, 180 * ANGLE_UNITS_PER_DEGREE)
    readers = (step, point, around, down) * (len(numbers) // 4)
    read = [reader(one, where) for reader, one in zip(readers, numbers, strict=True)]
    return tuple(Move(*read[at : at + 4]) for at in range(0, len(read), 4))


_READERS: validation.Readers = {
    (Start, "kind"): validation.one_of(starting_points.KINDS),
    (Start, "labels"): validation.one_of(LABELS),
    **{(Start, name): within(*ends) for name, ends in starting_points.RANGES.items()},
    (Steps, "optimiser"): validation.one_of(tuple(OPTIMISERS)),
    (Steps, "rate"): within(*RATE),
    (Steps, "count"): within(*STEPS),
    (Steps, "moves"): _moves,
}

SERVED = [served("film", _film), served("chart", chart_text)]
