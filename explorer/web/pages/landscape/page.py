"""The Landscape page: two losses over the score of a positive and of a negative pair."""

from __future__ import annotations

from explorer.lab.landscape.surface import levers, offered
from explorer.runtime.response_types import Json
from explorer.sources.textbook import EXAMPLES
from explorer.web.pages.landscape import requests
from explorer.web.pages.landscape.state import landscape_table
from losses import LOSSES

SERVED = requests.SERVED


def page_data() -> Json:
    """Return the facts for this page: its state, the losses with a landscape and what moves each,
    and the examples whose pairs it shows."""
    return {
        "table": landscape_table(),
        "levers": {name: [one.name for one in levers(LOSSES[name])] for name in offered()},
        "examples": list(EXAMPLES),
    }
