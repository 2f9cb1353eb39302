"""Verdicts on claims, computed from comparisons by one rule."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from lossprism.explorer.lab.claims.claim import Check, Claim, Comparison

Verdict = Literal["holds", "only_if", "fails", "vacuous", "depends", "undecided", "nothing"]


@dataclass(frozen=True)
class PartVerdict:
    """The verdict on a statement of a claim, and on how many of the checked batches it held."""

    part: str
    verdict: Verdict
    held: int
    checked: int


def verdict_of(comparisons: Iterable[Comparison]) -> Verdict:
    """Return the verdict on one statement, compared on one batch or on several.

    It holds if every comparison does. It holds only under its condition if all comparisons within
    the condition hold and one outside fails. It is vacuous if its premise is never met. It is
    undecided if all that speaks against it is an interval too wide to tell. "nothing" was compared.
    """
    comparisons = list(comparisons)
    asserted = [one for one in comparisons if one.asserted]
    if not asserted:
        return "vacuous" if comparisons else "nothing"
    if all(one.holds for one in asserted):
        return "holds"
    if all(one.holds or not one.decided for one in asserted):
        return "undecided"
    within = [one for one in asserted if one.within]
    return "only_if" if within and all(one.holds for one in within) else "fails"


def part_verdicts(claim: Claim, checks: Sequence[Check]) -> tuple[PartVerdict, ...]:
    """Return the verdict on each statement of a claim over these checks, the claim itself first.

    Advice that is followed on some batches and not on others depends on the batch.
    """
    parts = dict.fromkeys(one.part for check in checks for one in check.comparisons)
    found = []
    for part in parts:
        by_check = [[one for one in check.comparisons if one.part == part] for check in checks]
        verdicts = [verdict_of(some) for some in by_check if some]
        holding = sum(one in ("holds", "vacuous") for one in verdicts)
        whole = verdict_of(one for some in by_check for one in some)
        if claim.advice and 0 < holding < len(verdicts):
            whole = "depends"
        found.append(PartVerdict(part, whole, holding, len(verdicts)))
    return tuple(found)
