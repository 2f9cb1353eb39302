"""Data on which a loss can run."""

from __future__ import annotations

import dataclasses

from lossprism.explorer.core.scenario import Data
from lossprism.explorer.sources.encoders.bundled_encoder import EMBEDDED_WIDTH
from lossprism.losses import LOSSES, Convention, LossSpec

CANDIDATES = 4  # of each query of a random batch, for a loss on lists


def data_for(loss: str, data: Data, convention: str = "") -> Data:
    """The data as they are; for a loss on lists with several candidates of each query: random ones
    with as many, all others as the textbook example of lists. For one on a teacher's vectors
    textbook sentences with such a teacher; random ones have it."""
    needs = LOSSES[loss].under(convention).needs if loss in LOSSES else set()
    if "teacher_vectors" in needs and data.source != "random":
        return Data(teacher_model=f"all alike {EMBEDDED_WIDTH}")
    if not needs & {"lists", "teacher"}:
        return data
    if data.source != "random":
        return Data(example="graded_lists", encoder=data.encoder)
    return dataclasses.replace(data, random=dataclasses.replace(data.random, candidates=CANDIDATES))


def rows_for(loss: str, rows: list[tuple]) -> list[tuple]:
    """Typed rows, of which every two share their first sentence if the loss is one on lists."""
    if not LOSSES[loss].needs & {"lists", "teacher"}:
        return rows
    return [(rows[place // 2 * 2][0], *row[1:]) for place, row in enumerate(rows)]


def drawn_apart(spec: LossSpec) -> tuple[Convention, ...]:
    """The conventions with a definition of their own; of a loss whose conventions are no more than
    other parameters of the same definition, the first."""
    own = tuple(c for c in spec.conventions if spec.under(c.name).definition != spec.definition)
    return own or spec.conventions[:1]


# A chart as a page sends it to be drawn.
CHART = {
    **{"name": "sweep", "size": "one_column", "palette": "print", "picture_only": True},
    "chart": {
        "title": "Loss",
        "caption": ["cosent"],
        "legend": [{"name": "A", "colour": "#112233", "dashes": "5 3"}],
        "panels": [
            {
                **{"wide": 200, "tall": 100, "title": ""},
                "data": [{"type": "scatter", "mode": "lines", "x": [1, 2], "y": [3, None]}],
                "layout": {"xaxis": {"range": [1, 2]}, "yaxis": {"range": [0, 4]}},
            },
            {"wide": 90, "tall": 90, "shapes": [{"tag": "circle", "cx": 1, "cy": 2, "r": 3}]},
        ],
    },
}
