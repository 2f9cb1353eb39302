"""Losses for pairs without labels, which all count as positives."""

from lossprism.explorer.locale import title_word
from lossprism.explorer.runtime.problem import Problem
from lossprism.losses import LOSSES, LossSpec


def refused(spec: LossSpec) -> Problem | None:
    """Return the problem of a loss that learns nothing from positives alone; None if it does.

    This follows from its inputs (`LossSpec.needs`).
    """
    if spec.learns_from_positives:
        return None
    key = "needs_negatives" if "sides" in spec.needs else "needs_scores"
    return Problem(key, about="scores", loss=title_word(spec), known=title_word(over_positives()))


def over_positives() -> LossSpec:
    """Return the first loss that contrasts positive pairs with each other."""
    return next(
        spec
        for spec in LOSSES.values()
        if spec.learns_from_positives and any(r.positives_only for r in spec.readings)
    )
