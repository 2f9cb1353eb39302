"""All claims, found in the modules of this package, and their verdicts."""

import functools
import importlib
import pkgutil
import re
from collections.abc import Mapping

import lossprism.explorer.lab.claims as package
from lossprism.explorer.lab.claims.claim import Claim


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
