"""Curves of reference values: one over the unknown count of a batch, shared by all losses that have
the same values there. `number_matching` searches them for a number.

Values of the losses that ship, along the axes of an unknown batch, take a second to compute and
stand in `reference_values_by_unknown_count.json`; `python -m scripts.reference_value_curves` writes
it.
"""

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from lossprism.explorer.lab.doctor.batches_to_try_for_unknown_counts import Axis, axes_of
from lossprism.explorer.lab.doctor.count_from_value import Points, constant, points
from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import Known
from lossprism.explorer.lab.doctor.minimum_for_unknown_labels_or_scores import small_layouts
from lossprism.explorer.lab.doctor.reference_values import (
    COLLAPSE,
    FLOOR,
    START,
    ConfiguredLoss,
    configured_losses,
    reference_value,
)
from lossprism.explorer.lab.doctor.synthetic_batches_from_counts import Layout
from lossprism.explorer.runtime import jobs
from lossprism.explorer.runtime.json_reading import read_json
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


class Values(NamedTuple):
    """Reference values of one loss along an axis of counts, as `Curve` has them."""

    constant: float | None
    sample: Points


@functools.lru_cache(maxsize=16)
def curves_of(losses: tuple[ConfiguredLoss, ...], known: Known) -> tuple[Curve, ...]:
    """Return the curves of these losses."""
    members: dict[tuple, list[tuple[ConfiguredLoss, Axis]]] = {}
    values: dict[tuple, Values] = {}
    for loss in losses:
        jobs.check()
        for kind, axis, along_axis in _lines_of(loss, known):
            is_constant = along_axis.constant is not None
            counted, most = ("", 1) if is_constant else (axis.counted, axis.most)
            key = (kind, counted, axis.least, most, _in_ten_digits(along_axis.sample))
            members.setdefault(key, []).append((loss, axis))
            values.setdefault(key, along_axis)
    return tuple(Curve(key[0], tuple(along), *values[key]) for key, along in members.items())


def _lines_of(loss: ConfiguredLoss, known: Known) -> Iterator[tuple[str, Axis, Values]]:
    """Yield the reference values of a loss by kind and axis, without those that tell nothing or
    repeat another's."""
    axes = tuple(axes_of(loss, known))
    for kind in _in_file().get(loss) or kinds_of(loss):
        seen: set[object] = set()
        for axis in axes:
            if kind == FLOOR and axis.counted and not _has_telling_minimum(loss, known):
                continue
            values = _values(loss, kind, axis, known)
            # A dimension that changes nothing is no count.
            if values is None or (values.constant is not None and axis.counted == "dimension"):
                continue
            # A second axis of this loss with the same values would match at the same counts.
            constant, sample = values
            identity = _in_ten_digits(sample) if constant is None else ("constant", constant)
            if identity not in seen:
                seen.add(identity)
                yield kind, axis, values


def _values(loss: ConfiguredLoss, kind: str, axis: Axis, known: Known) -> Values | None:
    """Return the values along an axis, from the file if they stand there."""
    in_file, identity = _in_file().get(loss, {}).get(kind, {}), _identity(axis)
    # Positives of an unknown batch are judged otherwise (`_has_unique_count`).
    if identity in in_file and (axis.counted != "positives" or known.batch is None):
        return in_file[identity]
    return values_along(loss, kind, axis, known)


@functools.cache
def _in_file() -> dict[ConfiguredLoss, dict[str, dict[tuple, Values | None]]]:
    """Read the values of each loss and convention that ship, by kind and axis."""
    table = read_json(FILE.read_text("utf-8"))
    return {
        loss: {
            kind: dict(
                zip(map(_identity, axes_of(loss, Known())), map(_read, by_axis), strict=True)
            )
            for kind, by_axis in table[spec.name][loss.convention].items()
        }
        for spec in SHIPPED
        for loss in configured_losses(spec)
    }


def _read(entry: list | None) -> Values | None:
    if entry is None:
        return None
    constant, sample = entry
    return Values(constant, tuple((count, value) for count, value in sample))


def _identity(axis: Axis) -> tuple:
    """Return what two axes share that have the same batches: a few of these, and the ends."""
    counts = (axis.least, (axis.least + axis.most) // 2, axis.most)
    return axis.counted, counts, tuple(map(axis.layout_of, counts))


def _in_ten_digits(sample: Points) -> Points:
    return tuple((count, ten_digits(value)) for count, value in sample)


def kinds_of(loss: ConfiguredLoss) -> Iterator[str]:
    """Yield the kinds of reference values that a loss has."""
    yield COLLAPSE
    if not starts_at_collapse(loss):
        yield START
    yield FLOOR


def _has_telling_minimum(loss: ConfiguredLoss, known: Known) -> bool:
    """True unless the loss is unknown and counts change the minimum: some count would make it any
    number."""
    return bool(known.loss) or constant_value(loss, FLOOR) is not None


def _has_unique_count(loss: ConfiguredLoss, kind: str, axis: Axis, known: Known) -> bool:
    """True if the value depends on nothing but the count of this axis: on the number of ordered
    pairs (positives times negatives), or, for an unknown batch, on the share of positives."""
    if axis.counted == "ordered":
        return _is_equal_on(loss, kind, Layout(1, 6), Layout(2, 3), Layout(3, 2))
    if axis.counted == "positives" and known.batch is None:
        return _is_equal_on(loss, kind, Layout(1, 2), Layout(2, 4), Layout(3, 6))
    return True


def _is_equal_on(loss: ConfiguredLoss, kind: str, *layouts: Layout) -> bool:
    values = [reference_value(loss, kind, layout) for layout in layouts]
    return None not in values and len({ten_digits(value or 0.0) for value in values}) == 1


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
    values = _in_file().get(loss, {}).get(kind, {}).get(_identity(axis))
    return _fixed(loss, kind, axis) if values is None else values.constant


def values_along(loss: ConfiguredLoss, kind: str, axis: Axis, known: Known) -> Values | None:
    """Compute the values along an axis; None where they are unknown."""
    if not _has_unique_count(loss, kind, axis, known):
        return None
    if (fixed := _fixed(loss, kind, axis)) is not None:
        return Values(fixed, ((1, fixed),))
    if not axis.counted:
        return None
    sample = points(
        lambda count: reference_value(loss, kind, axis.layout_of(count)), axis.most, axis.least
    )
    return Values(None, sample) if sample else None


def _fixed(loss: ConfiguredLoss, kind: str, axis: Axis) -> float | None:
    """Return the value at every count of the axis; None where it changes."""
    if not axis.counted:
        return reference_value(loss, kind, axis.layout_of(1))
    if axis.most < max(axis.least, 7):
        return None
    return constant(lambda count: reference_value(loss, kind, axis.layout_of(count)))


def ten_digits(value: float) -> float:
    """Round to ten digits, and a rounding error to 0: equal values of two losses become equal."""
    return 0.0 if abs(value) < 1e-9 else float(f"{value:.10g}")
