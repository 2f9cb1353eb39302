"""The range of a loss's value for equal embeddings over all labels that a batch may have."""

from dataclasses import dataclass, replace

from lossprism.explorer.lab.doctor.batches_to_try_for_unknown_counts import (
    ENUMERATED_PAIRS,
    axes_of,
)
from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import Known
from lossprism.explorer.lab.doctor.reference_values import COLLAPSE, ConfiguredLoss, reference_value
from lossprism.explorer.lab.doctor.synthetic_batches_from_counts import Layout

# All counts up to this one are tried, of larger ones some.
MAX_ENUMERATED_COUNT = 64


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
