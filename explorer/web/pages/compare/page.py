"""The Compare page: two to six losses, or conventions of one, on the same batch."""

from __future__ import annotations

from collections.abc import Callable

from explorer.lab.compare.sides import LEAST, MOST, USUAL
from explorer.runtime.wire import Json
from explorer.sources import textbook
from explorer.web.frame import framed
from explorer.web.instrument import Instrument, PageState
from explorer.web.pages.compare.experiments import EXPERIMENTS
from explorer.web.pages.compare.questions import QUESTIONS
from explorer.web.pages.compare.requests import SERVED
from explorer.web.pages.compare.state import BARS, compare_table
from explorer.web.pages.explore.requests import SERVED_TAKEAWAY

STATE = PageState("compare", "compare", "pages/compare/state.js")


def build() -> None:
    """Lay the page out inside the current `gr.Blocks`."""
    with framed("compare_controls", "pages/compare/controls.js", STATE, server_functions=SERVED):
        _instrument("figures")
        _instrument("formula", *SERVED)
        _instrument("gradients")
        _instrument("matrices", *SERVED_TAKEAWAY)
        _instrument("vary", *EXPERIMENTS)
        _instrument("parity", *SERVED)
        Instrument("progress", "kit/progress.js", STATE)


def _instrument(name: str, *functions: Callable) -> None:
    Instrument(f"compare_{name}", f"pages/compare/{name}.js", STATE, server_functions=functions)


def page_data() -> Json:
    """What the instruments of this page know from the start."""
    return {
        "table": compare_table(),
        "usual": list(USUAL),
        "least": LEAST,
        "most": MOST,
        "bars": BARS,
        "questions": QUESTIONS,
        "examples": {name: {"note": example.note} for name, example in textbook.EXAMPLES.items()},
    }
