"""Labels against the scale that they were given on."""

from collections.abc import Sequence

from lossprism.explorer.runtime.number_format import display_number
from lossprism.explorer.runtime.problem import Problem
from lossprism.losses.labels import Ends, holds


def beyond_scale(labels: Sequence[float], label_range: Ends) -> Problem | None:
    """Return the problem of a label [N] outside the scale; None if all lie on it."""
    for label in (min(labels), max(labels)):
        if not holds(label_range, label, label):
            low, high = map(display_number, label_range)
            return Problem("labels_beyond", label=display_number(label), low=low, high=high)
    return None
