"""The page of the sources' claims: one claim executed on a batch, and the verdicts on all."""

from dataclasses import dataclass

from lossprism.explorer.lab.claims.claim_lookup import claims
from lossprism.explorer.lab.claims.training_claims import TRAININGS
from lossprism.explorer.runtime.response_parent_classes import as_answer
from lossprism.explorer.web.pages.claims import request_handlers
from lossprism.explorer.web.pages.claims.state_entries import claims_table
from lossprism.explorer.web.pages.state_entry_type import Entry

SERVED = request_handlers.SERVED


@dataclass(frozen=True)
class ListedClaim:
    """A claim of a source; `scaled` says whether λ changes it, `trains` whether runs measure it."""

    name: str
    source: str
    formula: str
    scaled: bool
    trains: bool


@dataclass(frozen=True)
class ClaimsPageData:
    """Facts for the page of claims alone."""

    table: list[Entry]
    listed: list[ListedClaim]


def page_data() -> ClaimsPageData:
    """Return the facts for this page."""
    listed = [
        as_answer(ListedClaim, one, trains=one.name in TRAININGS) for one in claims().values()
    ]
    return ClaimsPageData(claims_table(), listed)
