"""The state of the Doctor page, entry by entry: all of it stands in the address, and only what is
known, so that a link is short enough for an issue."""

from __future__ import annotations

from explorer.lab.doctor.known import COUNTS, SETTINGS
from explorer.web.state import Entry, table

# Numbers that people are stuck with, each with what they know beside it.
EXAMPLES = [
    {"value": "0.693"},
    {"value": "1.3863", "loss": "FlagEmbedding", "negatives": "3"},
    {"value": "5.545", "loss": "siglip"},
    {"value": "3.17", "loss": "MultipleNegativesRankingLoss", "scale": "1", "batch": "64"},
    {"value": "6.92", "loss": "SimCLR"},
    {"value": "5", "loss": "TripletLoss"},
]


def doctor_table() -> list[dict[str, object]]:
    """Another number is a step of the browser's history."""
    known = (*COUNTS, *SETTINGS)
    found = [
        Entry("value", "", "text", link="value", history=True),
        Entry("loss", "", "text", link="loss", history=True),
        *(Entry(name, "", "text", link=name) for name in known),
    ]
    return table(found)
