"""Reference values that depend on labels which nobody gave: the labels that Doctor assumes, and the
value at collapse with others."""

import functools
from collections.abc import Iterable
from dataclasses import dataclass, replace

from lossprism.explorer.lab.doctor.batches_from_counts import Layout
from lossprism.explorer.lab.doctor.known_loss_and_batch import Known, is_of_library
from lossprism.explorer.lab.doctor.reference_values import COLLAPSE, ConfiguredLoss, reference_value
from lossprism.explorer.lab.doctor.unknown_count_axes import (
    ENUMERATED_PAIRS,
    Counts,
    axes_of,
    family_of,
)

# Values that differ by less are equal but for rounding.
ROUNDING_ERROR = 1e-6
# All counts up to this one are tried, of larger ones some.
MAX_ENUMERATED_COUNT = 64

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


@dataclass(frozen=True)
class CollapseRange:
    """Least and largest value at collapse over the labels of batches of one size.

    The batches have 1 to `most` positive pairs or, for a loss on classes, classes of 2 to `most`
    sentences. `graded` is the value with labels in even steps; None where the loss reads none.
    """

    low: float
    high: float
    most: int
    graded: float | None = None


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


def collapse_range(loss: ConfiguredLoss, known: Known, assumed: str) -> CollapseRange | None:
    """Return the values at collapse with labels other than `assumed`; None where fewer than two
    are known."""
    most, layouts = _layouts_by_labels(loss, known, assumed)
    values = [reference_value(loss, COLLAPSE, one) for one in layouts]
    known_values = [value for value in values if value is not None]
    if len(known_values) < 2:
        return None
    graded = None
    if assumed == "halves":
        graded = reference_value(loss, COLLAPSE, Layout(layouts[0].pairs, graded=True))
    return CollapseRange(min(known_values), max(known_values), most, graded)


def _layouts_by_labels(
    loss: ConfiguredLoss, known: Known, assumed: str
) -> tuple[int, list[Layout]]:
    """Return `CollapseRange.most`, and batches of the known size that differ in their labels."""
    batch, negatives = known.batch or 0, known.negatives or 0
    if assumed == "positives":
        axes = [next(axes_of(loss, replace(known, batch=one))) for one in _some_counts(batch)]
        # The loss leaves the other pairs out, or takes them as negatives of the positive ones.
        left_out = [axis.layout_of(1) for axis in axes]
        takes_negatives = "negatives" in loss.spec.reads.values() and not known.processes
        as_negatives = [one._replace(negatives=batch - one.positives) for one in left_out]
        return batch, left_out + (as_negatives if takes_negatives else [])
    if assumed == "halves":
        return batch - 1, [Layout(one, batch - one) for one in _some_counts(batch - 1)]
    if assumed == "one_right":
        right = _some_counts(negatives)
        return negatives, [Layout(one, negatives + 1 - one, one_query=True) for one in right]
    sizes = [one for one in range(2, batch + 1) if 2 * batch % one == 0]
    return batch, [Layout(2 * batch // one, per_class=one) for one in sizes]


def _some_counts(largest: int) -> list[int]:
    """Return all counts from 1 to `largest`, or of many some, with the ends and the middle."""
    if largest <= MAX_ENUMERATED_COUNT:
        return list(range(1, largest + 1))
    middle = {largest // 2, (largest + 1) // 2, largest // 2 + 1}
    return sorted({1, *range(2, largest, largest // ENUMERATED_PAIRS), *middle, largest})
