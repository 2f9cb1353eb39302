"""The page of the sources' claims: one claim executed on a batch, and the verdicts on all."""

from __future__ import annotations

from explorer.lab.claims.claim import Claim
from explorer.lab.claims.registry import claims
from explorer.lab.claims.trainings import TRAININGS
from explorer.runtime.response_types import Json
from explorer.web.pages.claims import requests
from explorer.web.pages.claims.state import claims_table

SERVED = requests.SERVED


def page_data() -> Json:
    """Return the facts for this page."""
    return {"table": claims_table(), "listed": [_listed(claim) for claim in claims().values()]}


def _listed(claim: Claim) -> Json:
    return {
        "name": claim.name,
        "source": claim.source,
        "formula": claim.formula,
        "needs": claim.needs,
        "scaled": claim.scaled,
        "trains": claim.name in TRAININGS,
    }
