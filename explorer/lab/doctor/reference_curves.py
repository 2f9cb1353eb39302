"""Curves of reference values: one over the unknown count of a batch, shared by all losses that have
the same values there. `number_matching` searches them for a number.

Those of the losses that ship, where nothing but the number is known, take a second to compute and
stand in `reference_curves.json`; `python -m scripts.reference_curves` writes it.
"""

import functools
import json
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from torch import Tensor

from lossprism.explorer.lab.doctor.batch_counts import Axis, axes_of
from lossprism.explorer.lab.doctor.batch_layouts import Layout
from lossprism.explorer.lab.doctor.count_from_value import Points, constant, points
from lossprism.explorer.lab.doctor.known_loss_and_batch import Known
from lossprism.explorer.lab.doctor.minimum_without_labels import small_layouts
from lossprism.explorer.lab.doctor.reference_values import (
    COLLAPSE,
    FLOOR,
    START,
    ConfiguredLoss,
    reference_value,
)
from lossprism.explorer.runtime import jobs
from lossprism.losses import SHIPPED

FILE = Path(__file__).with_suffix(".json")


@dataclass(frozen=True)
class Curve:
    """Reference values of one kind along an axis of counts, and every loss that has them.

    `constant` is the value where no count changes it, else None; then `sample` has a few counts
    with their values, between which to search.
    """

    kind: str
    members: tuple[tuple[ConfiguredLoss, Axis], ...]
    constant: float | None
    sample: Points

    @property
    def axis(self) -> Axis:
        return self.members[0][1]

    def value_at(self, count: int) -> float | None:
        return reference_value(self.members[0][0], self.kind, self.axis.layout_of(count))


class Line(NamedTuple):
    """Reference values of one loss along one of its axes of counts: `axis` is the place of that in
    `axes_of`; `constant` and `sample` are as in `Curve`."""

    kind: str
    axis: int
    constant: float | None
    sample: Points


@functools.lru_cache(maxsize=16)
def curves_of(losses: tuple[ConfiguredLoss, ...], known: Known) -> tuple[Curve, ...]:
    """Return the curves of these losses."""
    members: dict[tuple, list[tuple[ConfiguredLoss, Axis]]] = {}
    values: dict[tuple, tuple[float | None, Points]] = {}
    for loss in losses:
        jobs.check()
        axes = tuple(axes_of(loss, known))
        for line in _lines_of(loss, axes, known):
            axis = axes[line.axis]
            is_constant = line.constant is not None
            counted, most = ("", 1) if is_constant else (axis.counted, axis.most)
            key = (line.kind, counted, axis.least, most, _in_ten_digits(line.sample))
            members.setdefault(key, []).append((loss, axis))
            values.setdefault(key, (line.constant, line.sample))
    return tuple(Curve(key[0], tuple(found), *values[key]) for key, found in members.items())


def _lines_of(loss: ConfiguredLoss, axes: tuple[Axis, ...], known: Known) -> Iterable[Line]:
    """Return the lines of a loss: from the file, unless more is known, or the loss is the user's
    own."""
    if known == Known() and _shipped_functions().get(loss.name) is loss.function:
        return _lines_in_file()[loss.name, loss.convention]
    return computed_lines(loss, axes, known)


def computed_lines(loss: ConfiguredLoss, axes: tuple[Axis, ...], known: Known) -> Iterator[Line]:
    """Compute the reference values of a loss along these axes, without those that repeat
    another's."""
    for kind in _kinds(loss):
        seen: set[object] = set()
        for place, axis in enumerate(axes):
            if kind == FLOOR and axis.counted and not _has_telling_minimum(loss, known):
                continue
            if not _has_unique_count(loss, kind, axis, known):
                continue
            constant, sample = _values_along(loss, kind, axis)
            # A second axis of this loss with the same values would match at the same counts.
            identity = _in_ten_digits(sample) if constant is None else ("constant", constant)
            if sample and identity not in seen:
                seen.add(identity)
                yield Line(kind, place, constant, sample)


@functools.cache
def _shipped_functions() -> dict[str, Callable[..., Tensor]]:
    return {spec.name: spec.function for spec in SHIPPED}


@functools.cache
def _lines_in_file() -> dict[tuple[str, str], tuple[Line, ...]]:
    """Read the lines of each loss and convention that ship."""
    table = json.loads(FILE.read_text("utf-8"))
    return {
        (loss, convention): tuple(
            Line(kind, axis, constant, tuple((count, value) for count, value in sample))
            for kind, axis, constant, sample in lines
        )
        for loss, conventions in table.items()
        for convention, lines in conventions.items()
    }


def _in_ten_digits(sample: Points) -> Points:
    return tuple((count, ten_digits(value)) for count, value in sample)


def _kinds(loss: ConfiguredLoss) -> Iterator[str]:
    yield COLLAPSE
    if not starts_at_collapse(loss):
        yield START
    yield FLOOR


def _has_telling_minimum(loss: ConfiguredLoss, known: Known) -> bool:
    """True unless loss and batch size are unknown and counts change the minimum: some count would
    make it any number."""
    has_context = bool(known.loss) or known.batch is not None
    return has_context or constant_value(loss, FLOOR) is not None


def _has_unique_count(loss: ConfiguredLoss, kind: str, axis: Axis, known: Known) -> bool:
    """True if the value depends on nothing but the count of this axis: on the number of ordered
    pairs (positives times negatives), or, for an unknown batch, on the share of positives."""
    if axis.counted == "ordered":
        return _is_equal_on(loss, kind, Layout(1, 6), Layout(2, 3), Layout(3, 2))
    if axis.counted == "positives" and known.batch is None:
        return _is_equal_on(loss, kind, Layout(1, 2), Layout(2, 4), Layout(3, 6))
    return True


def _is_equal_on(loss: ConfiguredLoss, kind: str, *layouts: Layout) -> bool:
    found = [reference_value(loss, kind, layout) for layout in layouts]
    return None not in found and len({ten_digits(value or 0.0) for value in found}) == 1


@functools.lru_cache(maxsize=4096)
def starts_at_collapse(loss: ConfiguredLoss) -> bool:
    """True if the loss has the same value with all vectors equal and with all at right angles."""
    for layout in small_layouts(loss):
        collapse, start = (reference_value(loss, kind, layout) for kind in (COLLAPSE, START))
        if collapse is None or start is None or not math.isclose(collapse, start, rel_tol=1e-9):
            return False
    return True


@functools.lru_cache(maxsize=4096)
def constant_value(loss: ConfiguredLoss, kind: str) -> float | None:
    """Return a reference value that no count changes; None where one does."""
    axis = next(axes_of(loss, Known()), None)
    if axis is None or axis.counted == "dimension":
        return None
    return _constant_along(loss, kind, axis)


def _constant_along(loss: ConfiguredLoss, kind: str, axis: Axis) -> float | None:
    if not axis.counted:
        return reference_value(loss, kind, axis.layout_of(1))
    if axis.most < max(axis.least, 7):
        return None
    return constant(lambda count: reference_value(loss, kind, axis.layout_of(count)))


def _values_along(loss: ConfiguredLoss, kind: str, axis: Axis) -> tuple[float | None, Points]:
    """Return the `constant` and the `sample` of a curve; no sample where there is no curve."""
    constant = _constant_along(loss, kind, axis)
    if constant is not None:
        is_curve = axis.counted != "dimension"  # a dimension that changes nothing is no count
        return (constant, ((1, constant),)) if is_curve else (None, ())
    if not axis.counted:
        return None, ()
    return None, points(
        lambda count: reference_value(loss, kind, axis.layout_of(count)), axis.most, axis.least
    )


def ten_digits(value: float) -> float:
    """Round to ten digits, and a rounding error to 0: equal values of two losses become equal."""
    return 0.0 if abs(value) < 1e-9 else float(f"{value:.10g}")
