"""The sphere, below Learn: points that the gradient of a loss moves, as a film."""

from __future__ import annotations

import dataclasses

from explorer.lab.sphere.film import MAX_MOVES
from explorer.lab.sphere.presets import PRESETS, Preset
from explorer.runtime.response_types import Json
from explorer.web.pages.sphere import requests
from explorer.web.pages.sphere.state import EXAMPLES, RATE, sphere_table

SERVED = requests.SERVED


def page_data() -> Json:
    """Return the facts for this page."""
    return {
        "table": sphere_table(),
        "presets": [_preset(one) for one in PRESETS],
        "examples": list(EXAMPLES),
        "rate": list(RATE),
        "moves": MAX_MOVES,
    }


def _preset(preset: Preset) -> Json:
    sides = [
        {"loss": one.loss, "convention": one.convention, "parameters": dict(one.parameters)}
        for one in preset.sides
    ]
    start, steps = dataclasses.asdict(preset.start), dataclasses.asdict(preset.steps)
    return {"name": preset.name, "sides": sides, "start": start, "steps": steps}
