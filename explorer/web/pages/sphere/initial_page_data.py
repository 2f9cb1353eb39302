"""The sphere, below Learn: points that the gradient of a loss moves, as a film."""

import dataclasses
from dataclasses import dataclass
from typing import Any

from lossprism.explorer.lab.compare.comparison_results import Side
from lossprism.explorer.lab.sphere.film import MAX_MOVES
from lossprism.explorer.lab.sphere.presets import PRESETS, Preset
from lossprism.explorer.sources.textbook import with_vectors
from lossprism.explorer.web.pages.page_data_types import ChosenLoss
from lossprism.explorer.web.pages.sphere import request_handlers
from lossprism.explorer.web.pages.sphere.state_entries import sphere_table
from lossprism.explorer.web.pages.state_entry_type import Entry

SERVED = request_handlers.SERVED


@dataclass(frozen=True)
class SpherePreset:
    """A film worth watching: its losses, and where and how the points move, as the state of the
    page has them."""

    name: str
    sides: list[ChosenLoss]
    start: dict[str, object]
    steps: dict[str, object]


@dataclass(frozen=True, kw_only=True)
class SpherePageData:
    """Facts for the sphere alone; `moves` is the largest number of points that a hand may move."""

    table: list[Entry]
    presets: list[SpherePreset]
    examples: list[str]
    moves: int


def page_data() -> SpherePageData:
    """Return the facts for this page."""
    return SpherePageData(
        table=sphere_table(),
        presets=[_preset(one) for one in PRESETS],
        examples=list(with_vectors()),
        moves=MAX_MOVES,
    )


def _preset(preset: Preset) -> SpherePreset:
    sides = [_chosen(one) for one in preset.sides]
    start, steps = dataclasses.asdict(preset.start), dataclasses.asdict(preset.steps)
    return SpherePreset(preset.name, sides, start, steps)


def _chosen(side: Side) -> ChosenLoss:
    parameters: dict[str, Any] = dict(side.parameters)
    return ChosenLoss(side.loss, side.convention, parameters)
