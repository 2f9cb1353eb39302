"""The state of the Compare page, entry by entry, with the names it has in the address.

Data and rules are those of a scenario of Explore, and stand in the address as its link; the losses
stand there one by one, `1=cosent&2=info_nce&2.temperature=0.1` (`kit/state_link.js`).
"""

from lossprism.explorer.core.scenario import FACETS, ORDERS
from lossprism.explorer.lab.compare.batch_change_effects import KINDS
from lossprism.explorer.lab.compare.batch_splitting_methods import WAYS
from lossprism.explorer.lab.compare.loss_comparison import MAX_LOSSES, MIN_LOSSES
from lossprism.explorer.web.pages.explore.state_entries import scenario_table
from lossprism.explorer.web.pages.state_entry_type import Entry

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


def compare_table() -> list[Entry]:
    """Return the entries; other losses or other data begin a step of the browser's history."""
    own = [
        Entry("question", "", "text", link="q", affects="nothing"),
        Entry("picture", "gradients", "choice", choices=SECTIONS, link="picture", affects="redraw"),
        Entry("base", 0, "whole", low=0, high=5, link="base"),
        Entry("other", 1, "whole", low=0, high=5, link="other"),
        Entry("at", [], "list", link="at"),
        Entry("facet", "value", "choice", choices=FACETS, link="facet", affects="redraw"),
        Entry("order", "label", "choice", choices=ORDERS, link="order"),
        Entry("equalised", True, "switch", link="equalised", affects="redraw"),
        Entry("bars", "base", "choice", choices=BARS, link="bars", affects="redraw"),
        Entry("vary", "sweep", "choice", choices=VARIED, link="vary", affects="redraw"),
        Entry("parameter", "scale", "text", link="parameter", affects="redraw"),
        Entry("logarithmic", True, "switch", link="log", affects="redraw"),
        Entry("way", "micro", "choice", choices=WAYS, link="way", affects="redraw"),
        Entry("size", 4, "whole", low=1, high=512, link="size", affects="redraw"),
        Entry("change", "duplicate", "choice", choices=KINDS, link="change", affects="redraw"),
        Entry("pair", 0, "whole", low=0, high=511, link="pair", affects="redraw"),
        Entry("by", 0.2, "number", low=-10, high=10, link="by", affects="redraw"),
        Entry("sides", FIRST, "losses", low=MIN_LOSSES, high=MAX_LOSSES, link="1", history=True),
    ]
    scenario = [entry for entry in scenario_table() if entry.name.startswith(("data.", "rules."))]
    return [*own, *scenario]
