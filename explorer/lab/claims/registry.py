"""All claims, found in the modules of this package, and their verdicts."""

import functools
import importlib
import pkgutil
import re
from collections.abc import Mapping

import lossprism.explorer.lab.claims as package
from lossprism.explorer.lab.claims.batches import random_batches
from lossprism.explorer.lab.claims.claim import Check, Claim, ClaimBatch
from lossprism.explorer.lab.claims.verdict import PartVerdict, part_verdicts


@functools.cache
def claims() -> Mapping[str, Claim]:
    """Return every claim by its name, in the order of the sources."""
    modules = (
        importlib.import_module(f"{package.__name__}.{found.name}")
        for found in pkgutil.iter_modules(package.__path__)
    )
    listed = [claim for module in modules for claim in getattr(module, "CLAIMS", ())]
    return {claim.name: claim for claim in sorted(listed, key=_place)}


def _place(claim: Claim) -> tuple[str, int, str]:
    """The source, the equation's number (after all others for none), the name."""
    source, _, rest = claim.name.partition("-")
    number = re.match(r"\d+", rest)
    return source, int(number[0]) if number else 10**6, rest


def claims_about(loss: str) -> list[str]:
    """Return the names of the claims that bear on the formula of a loss."""
    return [claim.name for claim in claims().values() if loss in claim.losses]


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
