"""Axes of batches: an unknown count that a reference value may depend on, and the batch at each."""

import bisect
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import Known
from lossprism.explorer.lab.doctor.reference_values import (
    MAX_MATRIX_PAIRS,
    MAX_RUN_PAIRS,
    MAX_RUN_SENTENCES,
    MAX_RUN_TRIPLETS,
    ConfiguredLoss,
    is_matrix,
)
from lossprism.explorer.lab.doctor.synthetic_batches_from_counts import Layout

Counts = tuple[tuple[str, int], ...]
# Largest counts that are searched for a value.
MAX_BATCH, MAX_CLASSES, MAX_CANDIDATES, MAX_ORDERED_PAIRS = 2**16, 2**10, 2**8, 2**12
MAX_NEGATIVES_PER_QUERY, MAX_DIMENSIONS = 64, 2**13
ENUMERATED_PAIRS = 10  # largest batch for which every share of positives is tried

# Costs of assuming a kind of batch, in units of one unknown count (`number_matching.Costs`).
DIMENSION_COST = 0.5  # the value depends on the dimension of the vectors
HARD_NEGATIVES_COST = 0.5  # the queries have negatives of their own
SOME_POSITIVES_COST = 0.5  # only some pairs of the batch are positive
HALF_POSITIVE_COST = 0.2
SMALL_BATCH_COST = 1.5  # a batch of at most `ENUMERATED_PAIRS`, some of which are positive
SENTENCES_COST = 0.3  # the known batch size counts sentences, not pairs
ONE_PROCESS_COST = 0.3  # each process computes the loss of its own batch


@dataclass(frozen=True)
class Axis:
    """Batches along one unknown count, from `least` to `most`.

    `counted` names the count, "" for a known batch, where `least` and `most` are 1. `layout_of` and
    `counts_of` give the batch at a count and all its counts by name. `cost` is that of assuming a
    batch of this kind.
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
    for axis in _AXES_OF_FAMILY[family_of(loss)](loss, known):
        if axis.counted and (limit := max_batch_pairs(loss)):
            axis = replace(axis, most=_last_count_within(axis, limit))
        yield _with_dimension(axis, known.dimension) if known.dimension else axis
    if known.dimension is None:
        yield Axis(
            "dimension",
            lambda n: Layout(4, dimensions=n),
            lambda n: (("dimension", n),),
            2,
            MAX_DIMENSIONS,
            DIMENSION_COST,
        )


def family_of(loss: ConfiguredLoss) -> str:
    """Return the family of a loss: that of an input in `_FAMILY_BY_INPUT`, or else "pairs"."""
    reads = set(loss.spec.reads.values())
    return next((family for name, family in _FAMILY_BY_INPUT.items() if name in reads), "pairs")


def max_batch_pairs(loss: ConfiguredLoss) -> int | None:
    """Return the pairs of the largest batch with known reference values; None for any batch, where
    a formula needs neither the definition nor a matrix of the batch."""
    if loss.spec.collapse is not None:
        return MAX_MATRIX_PAIRS if is_matrix(loss.spec) else None
    reads = set(loss.spec.reads.values())
    if "paired_classes" in reads:
        return math.isqrt(MAX_RUN_TRIPLETS) // 2
    return MAX_RUN_SENTENCES // 2 if reads & {"embeddings", "classes"} else MAX_RUN_PAIRS // 2


def _last_count_within(axis: Axis, max_pairs: int) -> int:
    counts = range(axis.least, axis.most + 1)
    within = bisect.bisect_right(counts, max_pairs, key=lambda count: axis.layout_of(count).pairs)
    return counts[max(within - 1, 0)]


# The families by an input of theirs; the first that a loss reads decides.
_FAMILY_BY_INPUT = {
    "list_scores": "lists",
    "margin_positives": "margins",
    "triplet_anchors": "triplets",
    "prototypes": "prototypes",
    "embeddings": "sentences",
    "queries": "keys",
}


def _with_dimension(axis: Axis, dimension: int) -> Axis:
    def layout_of(count: int) -> Layout:
        return axis.layout_of(count)._replace(dimensions=dimension)

    def counts_of(count: int) -> Counts:
        return (*axis.counts_of(count), ("dimension", dimension))

    return replace(axis, layout_of=layout_of, counts_of=counts_of)


def _known_batch(layout: Layout, *counts: tuple[str, int], cost: float = 0.0) -> Axis:
    return Axis("", lambda _: layout, lambda _: counts, cost=cost)


def _list_axes(_: ConfiguredLoss, known: Known) -> Iterator[Axis]:
    if known.negatives is not None:
        candidates = 1 + known.negatives
        yield _known_batch(Layout(1, known.negatives, one_query=True), ("candidates", candidates))
        return
    yield Axis(
        "candidates",
        lambda n: Layout(1, n - 1, one_query=True),
        lambda n: (("candidates", n),),
        2,
        MAX_CANDIDATES,
    )


def _triplet_axes(_: ConfiguredLoss, __: Known) -> Iterator[Axis]:
    """Yield a single triplet: no reference value depends on their number."""
    yield _known_batch(Layout(1, 1, one_query=True), ("candidates", 2))


def _class_axes(loss: ConfiguredLoss, known: Known) -> Iterator[Axis]:
    """Yield two sentences of each class, unless batch and classes are known."""
    classes, batch = known.classes, known.batch
    if classes and batch and batch >= 2 * classes and batch % classes == 0:
        size = batch // classes
        counts = (("classes", classes), ("sentences", batch))
        yield _known_batch(Layout(classes, per_class=size), *counts)
    elif classes:
        counts = (("classes", classes), ("sentences", 2 * classes))
        yield _known_batch(Layout(classes), *counts)
        yield Axis(
            "sentences",
            lambda n: Layout(classes, per_class=n),
            lambda n: (("classes", classes), ("sentences", n * classes)),
            3,
            max(MAX_CLASSES // classes, 3),
        )
    elif batch and family_of(loss) == "sentences":
        yield _known_batch(Layout(batch), ("batch", batch), ("sentences", 2 * batch))
        if batch % 2 == 0:
            half = batch // 2
            yield _known_batch(
                Layout(half), ("sentences", batch), ("classes", half), cost=SENTENCES_COST
            )
    else:
        counted = "batch" if family_of(loss) == "sentences" else "classes"
        yield Axis(
            counted, Layout, lambda n: ((counted, n), ("sentences", 2 * n)), most=MAX_CLASSES
        )


def _key_axes(loss: ConfiguredLoss, known: Known) -> Iterator[Axis]:
    takes_negatives = "negatives" in loss.spec.reads.values()
    negatives = (known.negatives or 0) if takes_negatives else 0
    processes = known.processes or 1
    if dict(loss.parameters).get("in_batch") is False:
        yield from _own_negative_axes(known.negatives)
        return
    own_negatives = (("negatives_per_query", negatives),) if negatives else ()
    if known.batch is None:
        all_processes = (("processes", processes),) if processes > 1 else ()
        yield Axis(
            "batch",
            lambda n: Layout(n * processes, n * processes * negatives),
            lambda n: (("batch", n), *own_negatives, *all_processes),
            most=MAX_BATCH // (processes * (1 + negatives)) or 1,
        )
        return
    batch, total = known.batch, known.batch * processes
    counts = (("batch", batch), *own_negatives)
    if processes > 1:
        yield _known_batch(Layout(total, total * negatives), *counts, ("processes", processes))
    cost = ONE_PROCESS_COST if processes > 1 else 0.0
    yield _known_batch(Layout(batch, batch * negatives), *counts, cost=cost)
    if takes_negatives and known.negatives is None:
        yield Axis(
            "negatives_per_query",
            lambda n: Layout(total, total * n),
            lambda n: (("batch", batch), ("negatives_per_query", n)),
            most=min(MAX_NEGATIVES_PER_QUERY, MAX_BATCH // total or 1),
            cost=HARD_NEGATIVES_COST,
        )
    is_computed = batch <= (max_batch_pairs(loss) or batch)
    if known.loss and processes == 1 and not negatives and batch > 2 and is_computed:
        # Without a named loss, any number would be the value at some count.
        yield Axis(
            "positives",
            Layout,
            lambda n: (("batch", batch), ("positives", n)),
            2,
            batch - 1,
            SOME_POSITIVES_COST,
        )


def _own_negative_axes(negatives: int | None) -> Iterator[Axis]:
    """Yield a single query, for a loss that compares each with its own negatives alone."""
    if negatives is not None:
        yield _known_batch(Layout(1, negatives), ("negatives_per_query", negatives))
    else:
        yield Axis(
            "negatives_per_query",
            lambda n: Layout(1, n),
            lambda n: (("negatives_per_query", n),),
            most=MAX_BATCH,
        )


def _pair_axes(_: ConfiguredLoss, known: Known) -> Iterator[Axis]:
    batch = known.batch
    if batch is not None:
        half = batch // 2
        if batch > 1:
            yield _known_batch(
                Layout(batch - half, half),
                *_counts_by_label(batch - half, half),
                cost=HALF_POSITIVE_COST,
            )
            for swapped in (False, True):
                yield _positives_axis(batch, swapped)
        return
    yield Axis(
        "ordered", lambda n: Layout(1, n), lambda n: (("ordered", n),), most=MAX_ORDERED_PAIRS
    )
    yield Axis(
        "batch",
        lambda n: Layout(n, n),
        lambda n: _counts_by_label(n, n),
        most=MAX_BATCH // 2,
        cost=HALF_POSITIVE_COST,
    )
    for total in range(3, ENUMERATED_PAIRS + 1):
        for swapped in (False, True):
            yield replace(_positives_axis(total, swapped), cost=SMALL_BATCH_COST)


def _positives_axis(batch: int, swapped: bool) -> Axis:
    """Return the axis of the number of positives of a batch, up to half of it; `swapped`, that of
    the other pairs."""

    def split(count: int) -> tuple[int, int]:
        return (batch - count, count) if swapped else (count, batch - count)

    return Axis(
        "positives",
        lambda n: Layout(*split(n)),
        lambda n: _counts_by_label(*split(n)),
        1,
        max(batch // 2, 1),
        SOME_POSITIVES_COST,
    )


def _counts_by_label(positives: int, negatives: int) -> Counts:
    return ("batch", positives + negatives), ("positives", positives), ("negatives", negatives)


_AXES_OF_FAMILY: dict[str, Callable[[ConfiguredLoss, Known], Iterator[Axis]]] = {
    "lists": _list_axes,
    "margins": lambda _, __: iter(()),  # no value holds for every teacher
    "triplets": _triplet_axes,
    "prototypes": _class_axes,
    "sentences": _class_axes,
    "keys": _key_axes,
    "pairs": _pair_axes,
}
