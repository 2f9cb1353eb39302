"""The minimum of a loss where labels, or the kind of its scores, are not known."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import torch

from lossprism.explorer.lab.doctor.batch_counts import family_of
from lossprism.explorer.lab.doctor.batch_layouts import Layout, inputs_of
from lossprism.explorer.lab.doctor.known_loss_and_batch import Known, is_of_library, sides_for
from lossprism.explorer.lab.doctor.reference_values import (
    COLLAPSE,
    FLOOR,
    START,
    Side,
    landmark,
    lower_bound,
)
from lossprism.explorer.runtime.problem import Problem
from lossprism.losses.labels import Ends
from lossprism.losses.readable_inputs import READABLE
from lossprism.losses.score_kinds import SCORE_KINDS

ZERO = 1e-6
# Labels of positives that are tried where the labels are unknown.
GRADES = (1.0, 5.0, 100.0)
BEYOND = 2.0  # times the end of the labels that a loss is made for


@dataclass(frozen=True)
class Minimum:
    """Lower bound of a loss.

    `certain` holds whatever labels and kind of score are unknown; None where there is no such
    value. `cause` may bring the loss below the assumed minimum: "cosines" (dot products, logits and
    vectors of other lengths have another), "labels", "" for nothing. Once a label lies outside
    `label_ends` the loss has no minimum; None where it always has one.
    """

    certain: float | None
    cause: str = ""
    label_ends: Ends | None = None


def minimum_of(side: Side, known: Known, layout: Layout) -> Minimum:
    """Return the minimum of a loss on batches of this layout; `known` has the rest."""
    if _depends_on_lengths(side):
        return Minimum(None if falls_below_zero(side.loss) else 0.0, "cosines")
    unbounded = _on_other_scores(side, known)
    own = _least([(side, layout)])
    on_scores = _least([(side, layout), *((one, layout) for one in unbounded)])
    with_labels = _least(
        [(side, layout), *((side, one) for one in _with_other_labels(side, layout))]
    )
    cause = "cosines" if on_scores != own else "labels" if with_labels != own else ""
    certain = None if None in (on_scores, with_labels) else min(on_scores or 0, with_labels or 0)
    ends = (one.spec.label_ends for one in (side, *unbounded) if _falls_outside(one, layout))
    return Minimum(certain, cause, next(ends, None))


def _least(batches: list[tuple[Side, Layout]]) -> float | None:
    """The least of the lower bounds of these; None where one has none."""
    bounds = [lower_bound(*one) for one in batches]
    known = [bound for bound in bounds if bound is not None]
    return min(known) if len(known) == len(bounds) else None


def _on_other_scores(side: Side, known: Known) -> list[Side]:
    """Return the loss on dot products, for a library's class that can compare these; and, for a
    loss by a name that is no class's, its conventions on unbounded scores."""
    if known.score or not SCORE_KINDS[side.spec.score].bounded:
        return []
    reads_similarities = side.spec.reads_scores or "similarity" in side.spec.defaults
    if is_of_library(known.loss) or known.convention:
        if known.convention or not reads_similarities:
            return []
        return sides_for(_on_dots(known))[:1]
    if not side.spec.reads_scores_only:
        return []
    others = [one for one in sides_for(known) if one.loss == side.loss]
    return [one for one in others if not SCORE_KINDS[one.spec.score].bounded]


@functools.lru_cache(maxsize=4096)
def _depends_on_lengths(side: Side) -> bool:
    """True if a loss whose minimum is that of unit vectors depends on the lengths of its
    vectors."""
    spec, chosen = side.spec, dict(side.parameters)
    vectors = [name for name, what in spec.reads.items() if READABLE[what].axes[-1] == "dimension"]
    if not vectors or spec.score == "dot" or chosen.get("similarity") == "dot":
        return False
    try:
        inputs = inputs_of(small_layouts(side)[-1], spec.reads, orthogonal=True)
    except Problem:  # there is no batch so small for it
        return False
    draw = torch.Generator().manual_seed(0)
    shapes = {name: inputs[name].shape for name in vectors if name in inputs}
    drawn = {name: torch.randn(*shapes[name], generator=draw).double() for name in shapes}
    longer = {name: 3 * made for name, made in drawn.items()}
    with torch.no_grad():
        values = [
            float(spec.definition(**{**inputs, **made}, **chosen)) for made in (drawn, longer)
        ]
    return not math.isclose(*values, rel_tol=1e-6, abs_tol=1e-9)


def _on_dots(known: Known) -> Known:
    return Known(**{**vars(known), "score": "dot"})


def _with_other_labels(side: Side, layout: Layout) -> list[Layout]:
    """Batches of the same size whose labels are others, of a loss that reads them as values."""
    family, ends = family_of(side), side.spec.label_ends
    if family not in ("pairs", "lists") or not side.spec.reads_labels:
        return []
    grades = GRADES if ends is None else (ends[1],)
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
    """Ends outside of which labels take the minimum of a loss away, in any convention."""
    for side in sides_for(Known(loss=loss)):
        if side.spec.label_ends and _falls_outside(side, Layout(1, 1)):
            return side.spec.label_ends
    return None


def _falls_outside(side: Side, layout: Layout) -> bool:
    """True if a label outside the ends of the loss takes its minimum away."""
    ends = side.spec.label_ends
    if ends is None or lower_bound(side, layout) is None:
        return False
    return lower_bound(side, layout._replace(grade=BEYOND * ends[1])) is None


@functools.lru_cache(maxsize=256)
def falls_below_zero(name: str) -> bool:
    """True if any reference value of the loss, in any convention, is below 0 at a few counts."""
    sides = sides_for(Known(loss=name))
    return any(
        (found := landmark(side, kind, layout)) is not None and found < -ZERO
        for side in sides
        for layout in small_layouts(side)
        for kind in (COLLAPSE, START, FLOOR)
    )


def small_layouts(side: Side) -> tuple[Layout, ...]:
    """A few small batches of what a loss reads."""
    family = family_of(side)
    if family == "triplets":
        return Layout(1, 1, one_query=True), Layout(1, 2, one_query=True)
    if family == "lists":
        return Layout(1, 2, one_query=True), Layout(1, 4, one_query=True)
    if family == "pairs":
        return Layout(2, 2), Layout(2, 3)
    own = dict(side.parameters).get("in_batch") is False
    return (Layout(1, 2), Layout(1, 4)) if own else (Layout(2), Layout(5))
