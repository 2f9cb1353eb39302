"""Labels that a loss needs: on their scale, and any at all unless positive pairs suffice."""

from collections.abc import Sequence

from lossprism.explorer.locale import title_word
from lossprism.explorer.runtime.number_format import display_number
from lossprism.explorer.runtime.problem import Problem
from lossprism.losses import LOSSES, LossSpec
from lossprism.losses.labels import Ends, holds


def labels_needed(spec: LossSpec) -> Problem | None:
    """Return the problem of a loss that learns nothing from positives alone; None if it does.

    This follows from its inputs (`LossSpec.needs`).
    """
    if spec.learns_from_positives:
        return None
    key = "needs_negatives" if "sides" in spec.needs else "needs_scores"
    return Problem(key, about="scores", loss=title_word(spec), known=title_word(positives_loss()))


def positives_loss() -> LossSpec:
    """Return the first loss that contrasts positive pairs with each other."""
    return next(
        spec
        for spec in LOSSES.values()
        if spec.learns_from_positives and any(r.positives_only for r in spec.readings)
    )


def label_off_scale(labels: Sequence[float], label_range: Ends) -> Problem | None:
    """Return the problem of a label [N] outside the scale; None if all lie on it."""
    for label in (min(labels), max(labels)):
        if not holds(label_range, label, label):
            low, high = map(display_number, label_range)
            return Problem("labels_beyond", label=display_number(label), low=low, high=high)
    return None
