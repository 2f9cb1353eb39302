"""The Landscape page: two losses over the score of a positive and of a negative pair."""

from dataclasses import dataclass

from lossprism.explorer.lab.landscape.loss_over_two_scores import levers, offered
from lossprism.explorer.sources.textbook import EXAMPLES
from lossprism.explorer.web.pages.landscape import request_handlers
from lossprism.explorer.web.pages.landscape.state_entries import landscape_table
from lossprism.explorer.web.pages.state_entry_type import Entry
from lossprism.losses import LOSSES

SERVED = request_handlers.SERVED


@dataclass(frozen=True, kw_only=True)
class LandscapePageData:
    """Facts for the Landscape page alone: its state, the losses with a landscape and the parameters
    that move each, and the examples whose pairs it shows."""

    table: list[Entry]
    levers: dict[str, list[str]]
    examples: list[str]


def page_data() -> LandscapePageData:
    """Return the facts for this page."""
    return LandscapePageData(
        table=landscape_table(),
        levers={name: [one.name for one in levers(LOSSES[name])] for name in offered()},
        examples=list(EXAMPLES),
    )
