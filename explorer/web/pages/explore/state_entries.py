"""The state of the Explore page: the scenario, entry by entry."""

from lossprism.explorer.core.scenario import FACETS, ORDERS, SOURCES, TWINS, Scenario
from lossprism.explorer.sources import random_batch, textbook
from lossprism.explorer.web.pages.state_entry_type import Entry, Kind, entries, table
from lossprism.losses import LOSSES

_KINDS: dict[str, Kind] = {
    **{"step": "whole", "threshold": "number", "pinned": "list", "reading": "object"},
    "marked": "list",
    "label_range": "list",
    "colour_range": "list",
}


def scenario_table() -> list[Entry]:
    """Another loss or other data are a step of the browser's history; a slider is not."""
    found = entries(
        Scenario(),
        ranges=random_batch.RANGES,
        kinds={**_KINDS, "parameters": "parameters"},
        choices={
            "source": SOURCES,
            "example": tuple(textbook.EXAMPLES),
            "labels": random_batch.LABELS,
            "loss": tuple(LOSSES),
            "facet": FACETS,
            "order": ORDERS,
            "twins": TWINS,
        },
    )
    step = {"history": True}
    return table(
        found,
        loss=step,
        convention=step,
        data__source=step,
        data__example={**step, "when": ("data.source", "example")},
        data__file={**step, "when": ("data.source", "table")},
        data__encoder=step,
        data__cross_encoder=step,
        data__guide=step,
        data__teacher_model=step,
        view__pinned={"affects": "nothing"},
        view__colour_range={"affects": "nothing"},
    )
