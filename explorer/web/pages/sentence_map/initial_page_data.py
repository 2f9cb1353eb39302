"""The Map page: the sentences of a batch or a run as points, its pairs as lines."""

from dataclasses import dataclass

from lossprism.explorer.sources.textbook import with_vectors
from lossprism.explorer.web.pages.sentence_map import request_handlers
from lossprism.explorer.web.pages.sentence_map.state_entries import map_table
from lossprism.explorer.web.pages.state_entry_type import Entry

SERVED = request_handlers.SERVED


@dataclass(frozen=True, kw_only=True)
class MapPageData:
    """Facts for the Map page alone: its state, and the examples whose sentences it shows."""

    table: list[Entry]
    examples: list[str]


def page_data() -> MapPageData:
    """Return the facts for this page."""
    return MapPageData(table=map_table(), examples=list(with_vectors()))
