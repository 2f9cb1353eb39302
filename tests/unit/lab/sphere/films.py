"""Films for the tests, and the cosines in them."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from lossprism.explorer.core.resolved_scenario import Resolved, resolve
from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.lab.sphere.film import Film, Steps, film
from lossprism.explorer.lab.sphere.presets import BY_NAME
from lossprism.explorer.lab.sphere.starting_points import Placed, Start, placed


def resolved(loss: str, **parameters: object) -> Resolved:
    return resolve(Scenario(loss=loss, parameters=tuple(parameters.items())))


def filmed(loss: str, start: Start, steps: Steps, **parameters: object) -> Film:
    return film(resolved(loss, **parameters), placed(start).batch, steps)


def films_of(name: str) -> tuple[Placed, Sequence[Film]]:
    """The points of a preset, and a film for each of its losses."""
    preset = BY_NAME[name]
    points = placed(preset.start)
    return points, [
        film(resolve(side.applied_to(Scenario())), points.batch, preset.steps)
        for side in preset.sides
    ]


def cosines(points: Placed, found: Film) -> Tensor:
    """The cosine of each pair in each frame, [T, N]."""
    batch = points.batch
    return (found.frames[:, batch.first] * found.frames[:, batch.second]).sum(dim=2)
