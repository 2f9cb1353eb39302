"""The checks of a claim on the batches that it is tried on, and its verdicts."""

import functools

from lossprism.explorer.lab.claims.batches import random_batches
from lossprism.explorer.lab.claims.claim import Check, Claim, ClaimBatch
from lossprism.explorer.lab.claims.claim_lookup import claims
from lossprism.explorer.lab.claims.verdict import PartVerdict, part_verdicts


def tried_batches(claim: Claim) -> tuple[ClaimBatch, ...]:
    """Return the batches whose comparisons make the claim's verdict: the source's own and, for a
    claim about batches, random ones."""
    return claim.examples if claim.needs == "nothing" else (*claim.examples, *random_batches())


@functools.cache
def checks_of(name: str) -> tuple[Check, ...]:
    """Return a claim's checks on the batches that it is tried on."""
    claim = claims()[name]
    return tuple(
        claim.check(batch)
        for batch in tried_batches(claim)
        if batch.vectors is not None or claim.needs != "vectors"
    )


@functools.cache
def verdicts(name: str) -> tuple[PartVerdict, ...]:
    """Return the verdicts on a claim's statements, the claim itself first."""
    return part_verdicts(claims()[name], checks_of(name))
