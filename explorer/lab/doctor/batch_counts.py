"""Axes of batch counts that a loss may depend on; unknown counts are open."""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from lossprism.explorer.lab.doctor.batch_layouts import Layout
from lossprism.explorer.lab.doctor.known_loss_and_batch import Known
from lossprism.explorer.lab.doctor.reference_values import (
    MAX_MATRIX_PAIRS,
    MAX_RUN_PAIRS,
    MAX_RUN_SENTENCES,
    MAX_RUN_TRIPLETS,
    ConfiguredLoss,
    is_matrix,
)

Counts = tuple[tuple[str, int], ...]
MAX_BATCH, MAX_CLASSES, MAX_CANDIDATES, MAX_ORDERED = 2**16, 2**10, 2**8, 2**12
MAX_HARD, MAX_DIMENSIONS = 64, 2**13
ENUMERATED_PAIRS = 10  # largest batch for which every share of positives is tried


@dataclass(frozen=True)
class Axis:
    """Batches along one count, from `least` to `most`: the layout at each, and how to say it.

    Of a batch that is known, both are one. `cost` is what is assumed beside the count; `counted`
    the name of that count, "" where nothing is open.
    """

    counted: str
    layout_of: Callable[[int], Layout]
    counts_of: Callable[[int], Counts]
    least: int = 1
    most: int = 1
    cost: float = 0.0

    @property
    def usual_count(self) -> int:
        """The count of the batch that stands for all, where no count changes a value."""
        return max(self.least, min(self.most, 4))


def axes_of(loss: ConfiguredLoss, known: Known) -> Iterator[Axis]:
    """Yield the batches to search for a reference value of this loss, likeliest first."""
    for axis in _AXES[family_of(loss)](loss, known):
        if axis.counted and (limit := max_batch_pairs(loss)):
            axis = replace(axis, most=_fitting(axis, limit))
        yield _in_dimensions(axis, known.dimension) if known.dimension else axis
    if known.dimension is None:
        yield Axis(
            "dimension",
            lambda n: Layout(4, dimensions=n),
            lambda n: (("dimension", n),),
            2,
            MAX_DIMENSIONS,
            0.5,
        )


def family_of(loss: ConfiguredLoss) -> str:
    """Return the family of a loss by its inputs: one of `_MARKS`, or else "pairs"."""
    reads = set(loss.spec.reads.values())
    for family, marks in _MARKS.items():
        if reads & marks:
            return family
    return "pairs"


def max_batch_pairs(loss: ConfiguredLoss) -> int | None:
    """The pairs of the largest batch whose landmarks are computed: where its definition is run for
    them, or a matrix of the batch is formed. None where any batch will do."""
    if loss.spec.collapse is not None:
        return MAX_MATRIX_PAIRS if is_matrix(loss.spec) else None
    reads = set(loss.spec.reads.values())
    if "paired_classes" in reads:
        return math.isqrt(MAX_RUN_TRIPLETS) // 2
    return MAX_RUN_SENTENCES // 2 if reads & {"embeddings", "classes"} else MAX_RUN_PAIRS // 2


def _fitting(axis: Axis, limit: int) -> int:
    """Last count of an axis whose batch has at most `limit` pairs."""
    counts = range(axis.least, axis.most + 1)
    fits = bisect.bisect_right(counts, limit, key=lambda count: axis.layout_of(count).pairs)
    return counts[max(fits - 1, 0)]


_MARKS = {
    "lists": {"list_scores"},
    "margins": {"margin_positives"},
    "triplets": {"triplet_anchors"},
    "prototypes": {"prototypes"},
    "sentences": {"embeddings"},
    "keys": {"queries"},
}


def _in_dimensions(axis: Axis, dimension: int) -> Axis:
    def layout_of(count: int) -> Layout:
        return axis.layout_of(count)._replace(dimensions=dimension)

    def counts_of(count: int) -> Counts:
        return (*axis.counts_of(count), ("dimension", dimension))

    return replace(axis, layout_of=layout_of, counts_of=counts_of)


def _fixed(layout: Layout, *counts: tuple[str, int], cost: float = 0.0) -> Axis:
    return Axis("", lambda _: layout, lambda _: counts, cost=cost)


def _of_lists(_: ConfiguredLoss, known: Known) -> Iterator[Axis]:
    if known.negatives is not None:
        candidates = 1 + known.negatives
        yield _fixed(Layout(1, known.negatives, one_query=True), ("candidates", candidates))
        return
    yield Axis(
        "candidates",
        lambda n: Layout(1, n - 1, one_query=True),
        lambda n: (("candidates", n),),
        2,
        MAX_CANDIDATES,
    )


def _of_margins(_: ConfiguredLoss, __: Known) -> Iterator[Axis]:
    yield from ()  # no value holds for every teacher


def _of_triplets(_: ConfiguredLoss, __: Known) -> Iterator[Axis]:
    """Yield one triplet: no reference value depends on their number."""
    yield _fixed(Layout(1, 1, one_query=True), ("candidates", 2))


def _of_classes(loss: ConfiguredLoss, known: Known) -> Iterator[Axis]:
    """Yield two of each class, unless batch and classes say otherwise."""
    classes, batch = known.classes, known.batch
    if classes and batch and batch >= 2 * classes and batch % classes == 0:
        size = batch // classes
        counts = (("classes", classes), ("sentences", batch))
        yield _fixed(Layout(classes, per_class=size), *counts)
    elif classes:
        counts = (("classes", classes), ("sentences", 2 * classes))
        yield _fixed(Layout(classes), *counts)
        yield Axis(
            "sentences",
            lambda n: Layout(classes, per_class=n),
            lambda n: (("classes", classes), ("sentences", n * classes)),
            3,
            max(MAX_CLASSES // classes, 3),
        )
    elif batch and family_of(loss) == "sentences":
        yield _fixed(Layout(batch), ("batch", batch), ("sentences", 2 * batch))
        if batch % 2 == 0:
            half = batch // 2
            yield _fixed(Layout(half), ("sentences", batch), ("classes", half), cost=0.3)
    else:
        counted = "batch" if family_of(loss) == "sentences" else "classes"
        yield Axis(
            counted,
            Layout,
            lambda n: ((counted, n), ("sentences", 2 * n)),
            most=MAX_CLASSES,
        )


def _of_keys(loss: ConfiguredLoss, known: Known) -> Iterator[Axis]:
    takes = "negatives" in loss.spec.reads.values()
    hard = (known.negatives or 0) if takes else 0
    together = known.processes or 1
    if dict(loss.parameters).get("in_batch") is False:
        yield from _of_own_negatives(known.negatives)
        return
    named = (("negatives_per_query", hard),) if hard else ()
    if known.batch is None:
        more = (("processes", together),) if together > 1 else ()
        yield Axis(
            "batch",
            lambda n: Layout(n * together, n * together * hard),
            lambda n: (("batch", n), *named, *more),
            most=MAX_BATCH // (together * (1 + hard)) or 1,
        )
        return
    batch, total = known.batch, known.batch * together
    alone = (("batch", batch), *named)
    if together > 1:
        yield _fixed(Layout(total, total * hard), *alone, ("processes", together))
    yield _fixed(Layout(batch, batch * hard), *alone, cost=0.3 * (together > 1))
    if takes and known.negatives is None:
        yield Axis(
            "negatives_per_query",
            lambda n: Layout(total, total * n),
            lambda n: (("batch", batch), ("negatives_per_query", n)),
            most=min(MAX_HARD, MAX_BATCH // total or 1),
            cost=0.5,
        )
    within = batch <= (max_batch_pairs(loss) or batch)
    if known.loss and together == 1 and not hard and batch > 2 and within:
        # Only of a loss that is named: else any value is some count's.
        yield Axis(
            "positives",
            Layout,
            lambda n: (("batch", batch), ("positives", n)),
            2,
            batch - 1,
            0.5,
        )


def _of_own_negatives(hard: int | None) -> Iterator[Axis]:
    """Yield queries that see their own negatives alone, so that the batch does not matter."""
    if hard is not None:
        yield _fixed(Layout(1, hard), ("negatives_per_query", hard))
    else:
        yield Axis(
            "negatives_per_query",
            lambda n: Layout(1, n),
            lambda n: (("negatives_per_query", n),),
            most=MAX_BATCH,
        )


def _of_pairs(_: ConfiguredLoss, known: Known) -> Iterator[Axis]:
    batch = known.batch
    if batch is not None:
        half = batch // 2
        if batch > 1:
            yield _fixed(Layout(batch - half, half), *_by_label(batch - half, half), cost=0.2)
            for swapped in (False, True):
                yield _part_positive(batch, swapped)
        return
    yield Axis("ordered", lambda n: Layout(1, n), lambda n: (("ordered", n),), most=MAX_ORDERED)
    yield Axis(
        "batch", lambda n: Layout(n, n), lambda n: _by_label(n, n), most=MAX_BATCH // 2, cost=0.2
    )
    for total in range(3, ENUMERATED_PAIRS + 1):
        for swapped in (False, True):
            yield replace(_part_positive(total, swapped), cost=1.5)


def _part_positive(batch: int, swapped: bool) -> Axis:
    """Return the axis of the number of positives, or of others, of a batch; up to half of it."""

    def split(count: int) -> tuple[int, int]:
        return (batch - count, count) if swapped else (count, batch - count)

    return Axis(
        "positives",
        lambda n: Layout(*split(n)),
        lambda n: _by_label(*split(n)),
        1,
        max(batch // 2, 1),
        0.5,
    )


def _by_label(positives: int, negatives: int) -> Counts:
    return ("batch", positives + negatives), ("positives", positives), ("negatives", negatives)


_AXES: dict[str, Callable[[ConfiguredLoss, Known], Iterator[Axis]]] = {
    "lists": _of_lists,
    "margins": _of_margins,
    "triplets": _of_triplets,
    "prototypes": _of_classes,
    "sentences": _of_classes,
    "keys": _of_keys,
    "pairs": _of_pairs,
}
