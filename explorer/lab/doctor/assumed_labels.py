"""The labels that Doctor assumes for reference values where nobody gave any."""

import functools
from collections.abc import Iterable

from lossprism.explorer.lab.doctor.batches_to_try_for_unknown_counts import (
    Counts,
    family_of,
)
from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import Known
from lossprism.explorer.lab.doctor.losses_with_known_name_and_settings import is_of_library
from lossprism.explorer.lab.doctor.reference_values import ConfiguredLoss, reference_value
from lossprism.explorer.lab.doctor.synthetic_batches_from_counts import Layout

# Values that differ by less are equal but for rounding.
ROUNDING_ERROR = 1e-6

# The assumption of each family of losses: its name, batches that differ in labels alone, and the
# counts that it stands for where the batch is unknown.
_ASSUMPTIONS: dict[str, tuple[str, tuple[Layout, ...], Counts]] = {
    "pairs": ("halves", (Layout(1, 6), Layout(3, 4)), (("positive_percent", 50),)),
    "keys": ("positives", (Layout(2), Layout(3), Layout(7)), ()),
    "sentences": (
        "classes",
        (Layout(8), Layout(4, 4), Layout(2, per_class=8), Layout(4, per_class=4)),
        (("per_class", 2),),
    ),
    "lists": (
        "one_right",
        (Layout(1, 5, one_query=True), Layout(3, 3, one_query=True)),
        (("right", 1),),
    ),
}


@functools.lru_cache(maxsize=4096)
def _assumption(loss: ConfiguredLoss, kind: str) -> tuple[str, Counts]:
    """Return the name and the counts of the assumption behind a reference value; "" where labels
    change nothing."""
    name, layouts, counts = _ASSUMPTIONS.get(family_of(loss), ("", (), ()))
    values = [value for one in layouts if (value := reference_value(loss, kind, one)) is not None]
    spread = max(values, default=0.0) - min(values, default=0.0)
    return (name, counts) if spread > ROUNDING_ERROR else ("", ())


def assumed_counts(loss: ConfiguredLoss, kind: str) -> Counts:
    """Return the counts that a reference value assumes of an unknown batch."""
    return _assumption(loss, kind)[1]


def assumed_labels(loss: ConfiguredLoss, known: Known, kinds: Iterable[str]) -> str:
    """Name the unknown labels (in `_ASSUMPTIONS`) that one of these reference values depends on; ""
    where there are none."""
    names = (_assumption(loss, kind)[0] for kind in kinds)
    assumed = next(filter(None, names), "")
    is_known = {
        # With hard negatives, or in a library without labels, every pair is positive.
        "positives": known.batch in (None, 1) or known.negatives or is_of_library(known.loss),
        "classes": known.classes,  # with the batch size, this gives the size of each class
    }
    return "" if is_known.get(assumed) else assumed
