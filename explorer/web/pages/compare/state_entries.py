"""The state of the Compare page, entry by entry, with the names it has in the address.

Data and rules are those of a scenario of Explore, and stand in the address as its link; the losses
stand there one by one, `1=cosent&2=info_nce&2.temperature=0.1` (`kit/state_link.js`).
"""

from lossprism.explorer.core.scenario import FACETS, ORDERS
from lossprism.explorer.lab.compare.batch_change_effects import KINDS
from lossprism.explorer.lab.compare.batch_splitting_methods import WAYS
from lossprism.explorer.lab.compare.loss_comparison import MAX_LOSSES, MIN_LOSSES
from lossprism.explorer.web.page_data import Entry, table
from lossprism.explorer.web.pages.explore.state_entries import scenario_table

# What fills up an address that names fewer losses than the page needs.
FIRST = [
    {"loss": "cosent", "convention": "", "parameters": {}},
    {"loss": "info_nce", "convention": "", "parameters": {}},
]
# The experiments, by the catalogue's words under ``compare.vary.``.
VARIED = ("sweep", "mechanics", "precision", "what_if", "collapse", "landscape")
BARS = ("entry", "base", "label")
# The sections of the page, by the catalogue's words under ``compare.``. One of them is the picture
# that answers; the others are folded below it.
SECTIONS = ("gradients", "agreement", "matrices", "numbers", "formula", "vary", "parity")
# The options of the experiments, which leave the rest of the page as it is.
_EXPERIMENT_OPTIONS = ("vary", "parameter", "logarithmic", "way", "size", "change", "pair", "by")


def compare_table() -> list[Entry]:
    """Return the entries; other losses or other data begin a step of the browser's history."""
    step = {"history": True}
    redraw = {"affects": "redraw"}
    found = [
        Entry("question", "", "text", link="q"),
        Entry("picture", "gradients", "choice", choices=SECTIONS, link="picture"),
        Entry("base", 0, "whole", low=0, high=5, link="base"),
        Entry("other", 1, "whole", low=0, high=5, link="other"),
        Entry("at", [], "list", link="at"),
        Entry("facet", "value", "choice", choices=FACETS, link="facet"),
        Entry("order", "label", "choice", choices=ORDERS, link="order"),
        Entry("equalised", True, "switch", link="equalised"),
        Entry("bars", "base", "choice", choices=BARS, link="bars"),
        Entry("vary", "sweep", "choice", choices=VARIED, link="vary"),
        Entry("parameter", "scale", "text", link="parameter"),
        Entry("logarithmic", True, "switch", link="log"),
        Entry("way", "micro", "choice", choices=WAYS, link="way"),
        Entry("size", 4, "whole", low=1, high=512, link="size"),
        Entry("change", "duplicate", "choice", choices=KINDS, link="change"),
        Entry("pair", 0, "whole", low=0, high=511, link="pair"),
        Entry("by", 0.2, "number", low=-10, high=10, link="by"),
        Entry("sides", FIRST, "losses", low=MIN_LOSSES, high=MAX_LOSSES, link="1"),
    ]
    own = table(
        found,
        question={"affects": "nothing"},
        picture=redraw,
        sides=step,
        facet=redraw,
        equalised=redraw,
        bars=redraw,
        **dict.fromkeys(_EXPERIMENT_OPTIONS, redraw),
    )
    scenario = [entry for entry in scenario_table() if entry.name.startswith(("data.", "rules."))]
    return [*own, *scenario]
