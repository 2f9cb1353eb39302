"""The state of the Landscape page, entry by entry, with the names it has in the address."""

from lossprism.explorer.web.pages.state_entry_type import Entry

VIEWS = ("levels", "surface")
# The losses of an address that names none.
FIRST = [
    {"loss": "circle_self_paced", "convention": "", "parameters": {"scale": 10.0}},
    {"loss": "cosent", "convention": "", "parameters": {"scale": 10.0}},
]


def landscape_table() -> list[Entry]:
    """Other losses or another batch begin a step of the browser's history. `scene` is the link of a
    scenario of Explore whose batch stands in place of the example."""
    return [
        Entry("sides", FIRST, "losses", low=2, high=2, link="1", history=True),
        Entry("lever", "margin", "text", link="lever"),
        Entry("view", "levels", "choice", choices=VIEWS, link="view"),
        Entry("negative", 0.2, "number", -1.0, 1.0, link="negative"),
        Entry("example", "graded_english", "text", link="example", history=True),
        Entry("scene", "", "text", link="scene", history=True),
    ]
