"""The state of the Map page, entry by entry, with the names it has in the address."""

from lossprism.explorer.lab.map.projections import METHODS
from lossprism.explorer.sources.textbook import with_vectors
from lossprism.explorer.web.pages.state_entry_type import Entry

SEEDS = (0, 999)


def map_table() -> list[Entry]:
    """Another batch or method begins a step of the browser's history. `scene` is the link of a
    scenario of Explore, `run` a run of Fine-tune, `large` what the Large page asks for, as JSON, in
    place of the example; `moment` goes from 0, before the run, to 1, after it; `pairs` are the
    marked ones. `sight` has both coordinates of the middle of what is in sight and how far it
    reaches across, and is empty for all of the map."""
    return [
        Entry(
            "example",
            "graded_english",
            "choice",
            choices=with_vectors(),
            link="example",
            history=True,
        ),
        Entry("scene", "", "text", link="scene", history=True),
        Entry("run", "", "text", link="run", history=True),
        Entry("large", "", "text", link="large", history=True),
        Entry("method", "pca", "choice", choices=METHODS, link="method", history=True),
        Entry("seed", 0, "whole", *SEEDS, link="seed", history=True),
        Entry("moment", 0.0, "number", 0.0, 1.0, link="moment", affects="redraw"),
        Entry("pairs", [], "list", link="pair", affects="redraw"),
        Entry("search", "", "text", link="search", affects="redraw"),
        Entry("sight", [], "list", link="sight", affects="redraw"),
    ]
