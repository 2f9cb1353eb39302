"""The minimum of a loss where labels, or the kind of its scores, are not known."""

import functools
import math
from dataclasses import dataclass

import torch

from lossprism.explorer.lab.doctor.batches_to_try_for_unknown_counts import family_of
from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import Known
from lossprism.explorer.lab.doctor.losses_with_known_name_and_settings import (
    is_of_library,
    possible_losses,
)
from lossprism.explorer.lab.doctor.reference_values import (
    COLLAPSE,
    FLOOR,
    START,
    ConfiguredLoss,
    lower_bound,
    reference_value,
)
from lossprism.explorer.lab.doctor.synthetic_batches_from_counts import Layout, inputs_of
from lossprism.explorer.runtime.problem import Problem
from lossprism.losses.inputs_that_losses_may_read import READABLE
from lossprism.losses.labels import Ends
from lossprism.losses.score_kinds import SCORE_KINDS

ZERO_TOLERANCE = 1e-6
# Labels of positive pairs that are tried where labels are unknown: the largest of usual scales.
UNKNOWN_LARGEST_LABELS = (1.0, 5.0, 100.0)
# A label outside the ends of a loss, as a multiple of its upper end.
OUTSIDE_LABEL = 2.0


@dataclass(frozen=True)
class Minimum:
    """Lower bound of a loss.

    `certain` holds for all unknown labels and kinds of score; None where there is no such value.
    `cause` is the assumption behind the usual minimum that may fail: "cosines" (dot products,
    logits and other lengths have another minimum), "labels", "" for none. With a label outside
    `label_ends` the loss has no minimum; None where it always has one.
    """

    certain: float | None
    cause: str = ""
    label_ends: Ends | None = None


def minimum_of(loss: ConfiguredLoss, known: Known, layout: Layout) -> Minimum:
    """Return the minimum of a loss on batches of this layout, given what else is known."""
    if _depends_on_lengths(loss):
        return Minimum(None if falls_below_zero(loss.name) else 0.0, "cosines")
    unbounded = _on_unbounded_scores(loss, known)
    own = _least([(loss, layout)])
    on_scores = _least([(loss, layout), *((one, layout) for one in unbounded)])
    with_labels = _least(
        [(loss, layout), *((loss, one) for one in _with_other_labels(loss, layout))]
    )
    cause = "cosines" if on_scores != own else "labels" if with_labels != own else ""
    certain = None if None in (on_scores, with_labels) else min(on_scores or 0, with_labels or 0)
    ends = (
        one.spec.label_ends for one in (loss, *unbounded) if _loses_minimum_outside(one, layout)
    )
    return Minimum(certain, cause, next(ends, None))


def _least(batches: list[tuple[ConfiguredLoss, Layout]]) -> float | None:
    """Return the least lower bound; None where a loss has none."""
    bounds = [lower_bound(*one) for one in batches]
    known = [bound for bound in bounds if bound is not None]
    return min(known) if len(known) == len(bounds) else None


def _on_unbounded_scores(loss: ConfiguredLoss, known: Known) -> list[ConfiguredLoss]:
    """Return the configurations with unbounded scores that the name may mean: for a library's class
    that on dot products, for any other name its conventions on such scores."""
    if known.score or not SCORE_KINDS[loss.spec.score].bounded:
        return []
    reads_similarities = loss.spec.reads_scores or "similarity" in loss.spec.defaults
    if is_of_library(known.loss) or known.convention:
        if known.convention or not reads_similarities:
            return []
        return possible_losses(Known(**{**vars(known), "score": "dot"}))[:1]
    if not loss.spec.reads_scores_only:
        return []
    others = [one for one in possible_losses(known) if one.name == loss.name]
    return [one for one in others if not SCORE_KINDS[one.spec.score].bounded]


@functools.lru_cache(maxsize=4096)
def _depends_on_lengths(loss: ConfiguredLoss) -> bool:
    """True if vectors three times as long change the value of a loss on cosines."""
    spec, chosen = loss.spec, dict(loss.parameters)
    vectors = [name for name, what in spec.reads.items() if READABLE[what].axes[-1] == "dimension"]
    if not vectors or spec.score == "dot" or chosen.get("similarity") == "dot":
        return False
    try:
        inputs = inputs_of(small_layouts(loss)[-1], spec.reads, orthogonal=True)
    except Problem:  # there is no batch so small for it
        return False
    draw = torch.Generator().manual_seed(0)
    shapes = {name: inputs[name].shape for name in vectors if name in inputs}
    drawn = {name: torch.randn(*shapes[name], generator=draw).double() for name in shapes}
    longer = {name: 3 * drawn_values for name, drawn_values in drawn.items()}
    with torch.no_grad():
        values = [
            float(spec.definition(**{**inputs, **drawn_values}, **chosen))
            for drawn_values in (drawn, longer)
        ]
    return not math.isclose(*values, rel_tol=1e-6, abs_tol=1e-9)


def _with_other_labels(loss: ConfiguredLoss, layout: Layout) -> list[Layout]:
    """Return batches of the same size with other labels, for a loss that reads their values."""
    family, ends = family_of(loss), loss.spec.label_ends
    if family not in ("pairs", "lists") or not loss.spec.reads_labels:
        return []
    grades = UNKNOWN_LARGEST_LABELS if ends is None else (ends[1],)
    count = layout.pairs
    positives = sorted({0, 1, count // 2, count})
    shared = {"one_query": layout.one_query}
    return [
        Layout(some, count - some, grade=grade, **shared)
        for some in positives
        for grade in grades
        if some or grade == grades[0]
    ]


def ends_of_labels(loss: str) -> Ends | None:
    """Return the ends outside of which labels leave a loss without a minimum, in any convention;
    None without such ends."""
    for one in possible_losses(Known(loss=loss)):
        if one.spec.label_ends and _loses_minimum_outside(one, Layout(1, 1)):
            return one.spec.label_ends
    return None


def _loses_minimum_outside(loss: ConfiguredLoss, layout: Layout) -> bool:
    """True if a label outside its ends leaves the loss without a minimum."""
    ends = loss.spec.label_ends
    if ends is None or lower_bound(loss, layout) is None:
        return False
    return lower_bound(loss, layout._replace(grade=OUTSIDE_LABEL * ends[1])) is None


@functools.lru_cache(maxsize=256)
def falls_below_zero(name: str) -> bool:
    """True if any reference value of the loss, in any convention, is below 0 at a few counts."""
    losses = possible_losses(Known(loss=name))
    return any(
        (value := reference_value(loss, kind, layout)) is not None and value < -ZERO_TOLERANCE
        for loss in losses
        for layout in small_layouts(loss)
        for kind in (COLLAPSE, START, FLOOR)
    )


def small_layouts(loss: ConfiguredLoss) -> tuple[Layout, ...]:
    """Return two small batches with the inputs of a loss."""
    family = family_of(loss)
    if family == "triplets":
        return Layout(1, 1, one_query=True), Layout(1, 2, one_query=True)
    if family == "lists":
        return Layout(1, 2, one_query=True), Layout(1, 4, one_query=True)
    if family == "pairs":
        return Layout(2, 2), Layout(2, 3)
    own = dict(loss.parameters).get("in_batch") is False
    return (Layout(1, 2), Layout(1, 4)) if own else (Layout(2), Layout(5))
