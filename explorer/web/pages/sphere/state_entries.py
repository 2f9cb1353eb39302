"""The state of the sphere: one loss or two, where the points start, how they move, and the frame in
sight."""

import dataclasses

from lossprism.explorer.lab.sphere import starting_points
from lossprism.explorer.lab.sphere.film import MAX_STEPS
from lossprism.explorer.lab.sphere.optimisers import OPTIMISERS
from lossprism.explorer.lab.sphere.presets import PRESETS
from lossprism.explorer.sources.random_batch import LABELS
from lossprism.explorer.sources.textbook import with_vectors
from lossprism.explorer.web.pages.state_entry_type import Entry, entries

MOST_SIDES = 2
RATE = (1e-4, 100.0)
STEPS = (20, MAX_STEPS)
TURN = [-30, 20]  # degrees: of the sphere around its axis, and towards the viewer
# What counts for one kind of start only.
_OF_KIND = {
    **dict.fromkeys(("classes", "spread"), "classes"),
    **dict.fromkeys(("labels", "agreement"), "random"),
    **dict.fromkeys(("example", "scene"), "sentences"),
}


def sphere_table() -> list[Entry]:
    """Return the entries; another film is a step of the browser's history. `steps.moves` has four
    whole numbers for each point that a hand moved (`explorer.lab.sphere.film.Move`)."""
    first = PRESETS[0]
    sides = [
        {"loss": one.loss, "convention": one.convention, "parameters": dict(one.parameters)}
        for one in first.sides
    ]
    places = entries(
        first.start,
        prefix="start.",
        ranges=starting_points.RANGES,
        choices={"kind": starting_points.KINDS, "labels": LABELS, "example": with_vectors()},
    )
    steps = entries(
        first.steps,
        prefix="steps.",
        ranges={"rate": RATE, "count": STEPS},
        choices={"optimiser": tuple(OPTIMISERS)},
    )
    chosen = [_in_link(one) for one in (*places, *steps)]
    return [
        Entry("sides", sides, "losses", 1, MOST_SIDES, link="1", history=True),
        *chosen,
        Entry("at", 0, "whole", 0, MAX_STEPS, link="at", affects="redraw"),
        Entry("turn", TURN, "list", link="turn", affects="redraw"),
    ]


def _in_link(entry: Entry) -> Entry:
    """Return the entry with a name in the address, and the kind of start that it counts for."""
    group, name = entry.name.split(".")
    kind = _OF_KIND.get(name) if group == "start" else None
    when = ("start.kind", kind) if kind else None
    return dataclasses.replace(entry, link=name, history=True, when=when)
