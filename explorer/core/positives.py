"""What can be done with pairs that nobody gave labels: all of them are positives."""

from __future__ import annotations

from explorer.locale import title_word
from explorer.runtime.problem import Problem
from losses import LOSSES, LossSpec


def refused(spec: LossSpec) -> Problem | None:
    """Why the loss learns nothing from positives alone, and what would; None where it does.

    That follows from what it reads (`LossSpec.needs`).
    """
    if spec.learns_from_positives:
        return None
    key = "needs_negatives" if "sides" in spec.needs else "needs_scores"
    return Problem(key, about="scores", loss=title_word(spec), known=title_word(over_positives()))


def over_positives() -> LossSpec:
    """The first loss that contrasts positive pairs with each other."""
    return next(
        spec
        for spec in LOSSES.values()
        if spec.learns_from_positives and any(r.positives_only for r in spec.readings)
    )
