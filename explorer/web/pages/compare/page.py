"""The Compare page: two to six losses, or conventions of one, on the same batch."""

from __future__ import annotations

from explorer.lab.compare.compared_losses import MAX_LOSSES, MIN_LOSSES, USUAL
from explorer.runtime.response_types import Json
from explorer.sources import textbook
from explorer.web.pages.compare import requests
from explorer.web.pages.compare.experiments import EXPERIMENTS
from explorer.web.pages.compare.parity_request import PARITY
from explorer.web.pages.compare.questions import OPENING, QUESTIONS
from explorer.web.pages.compare.state import BARS, SECTIONS, compare_table
from explorer.web.pages.compare.sweep import SWEEP
from explorer.web.pages.explore.requests import TAKE

SERVED = [*requests.SERVED, PARITY, SWEEP, *EXPERIMENTS, TAKE]


def page_data() -> Json:
    """Return what the components of this page know from the start."""
    return {
        "table": compare_table(),
        "usual": list(USUAL),
        "least": MIN_LOSSES,
        "most": MAX_LOSSES,
        "bars": BARS,
        "sections": SECTIONS,
        "questions": QUESTIONS,
        "opening": OPENING,
        "examples": {name: {"note": example.note} for name, example in textbook.EXAMPLES.items()},
    }
