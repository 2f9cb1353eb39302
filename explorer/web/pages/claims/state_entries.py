"""The state of the page of claims: a claim, λ, a scenario of Explore, and runs that measure it."""

from lossprism.explorer.lab.claims.claim_lookup import claims
from lossprism.explorer.web.pages.state_entry_type import Entry

OPENING, SCALE = "S1-39", 20.0
# λ, as far as CoSENT takes it.
SCALES = (0.1, 200.0)


def claims_table() -> list[Entry]:
    """Another claim is a step of the browser's history."""
    return [
        Entry("claim", OPENING, "choice", choices=tuple(claims()), link="claim", history=True),
        Entry("scale", SCALE, "number", *SCALES, link="scale"),
        Entry("scene", "", "text", link="scene"),
        Entry("runs", "", "text", link="runs"),
    ]
