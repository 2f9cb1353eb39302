"""Position of a number between the minimum of a loss and its value at collapse, at known counts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lossprism.explorer.core.parameter_values import Settings
from lossprism.explorer.lab.doctor.assumed_labels import assumed_counts, assumed_labels
from lossprism.explorer.lab.doctor.batches_to_try_for_unknown_counts import Counts, axes_of
from lossprism.explorer.lab.doctor.collapse_range_for_unknown_labels import (
    CollapseRange,
    collapse_range,
)
from lossprism.explorer.lab.doctor.minimum_for_unknown_labels_or_scores import (
    falls_below_zero,
    minimum_of,
)
from lossprism.explorer.lab.doctor.number_matching import layouts_without_comparison
from lossprism.explorer.lab.doctor.number_with_rounding_tolerance import Query
from lossprism.explorer.lab.doctor.reference_values import (
    COLLAPSE,
    FLOOR,
    START,
    ConfiguredLoss,
    reference_value,
)
from lossprism.explorer.lab.doctor.reference_values_by_unknown_count import constant_value
from lossprism.explorer.lab.doctor.synthetic_batches_from_counts import Layout

# A value near collapse is no further from it than this share of the way to the minimum.
MAX_NEAR_SHARE = 0.1


@dataclass(frozen=True)
class Position:
    """Position of a number for a loss at known counts.

    `place`: "negative" where the loss cannot be; "below" its minimum, which no embedding reaches;
    "below_assumed", below its minimum on unit vectors and labels 1 and 0; "labels_outside", where
    only labels outside its ends reach it; "floor"; "between"; "collapse"; "starting", above
    collapse, up to `start`, the value of an untrained encoder (None where unknown); "above".
    `share`: of the way from collapse to minimum, for a value between both; else None. `assumed`
    names the unknown labels behind an end (`assumed_labels`), "" for none, and `collapses` has the
    value at collapse with others, where the counts are known. `near`: within log noise of the value
    at collapse, but not equal to its digits.
    """

    loss: str
    convention: str
    parameters: Settings
    counts: Counts
    floor: float | None
    collapse: float
    start: float | None
    place: str
    share: float | None
    assumed: str = ""
    collapses: CollapseRange | None = None
    near: bool = False


def position_of(losses: Sequence[ConfiguredLoss], query: Query) -> Position | None:
    """Return the position of the number for the named loss; None without a name, or where its
    counts are unknown and change its value at collapse."""
    known, loss = query.known, losses[0]
    if not known.loss or len({one.name for one in losses}) > 1:
        return None
    axis = next(axes_of(loss, known), None)
    if axis is None or (axis.counted and constant_value(loss, COLLAPSE) is None):
        return None
    layout = axis.layout_of(axis.usual_count)
    collapse, start = (reference_value(loss, kind, layout) for kind in (COLLAPSE, START))
    if collapse is None:
        return None
    if abs(query.value) <= query.tolerance and layout in layouts_without_comparison(loss):
        return None
    has_floor = not axis.counted or constant_value(loss, FLOOR) is not None
    floor = reference_value(loss, FLOOR, layout) if has_floor else None
    near = query.near_tolerance_on(axis)
    if floor is not None:  # where both ends are close together, a value is near neither
        near = min(near, MAX_NEAR_SHARE * abs(collapse - floor))
    place, share = _place(query, collapse, floor, near), None
    if place == "below":
        place = _place_below(query, loss, layout, floor or 0.0)
    elif place == "above" and start is not None and query.value <= start + query.tolerance:
        place = "starting"
    elif place == "between" and floor is not None and collapse > floor:
        share = (collapse - query.value) / (collapse - floor)
    position = Position(
        loss=loss.name,
        convention=loss.convention,
        parameters=loss.changed_parameters,
        counts=assumed_counts(loss, COLLAPSE) if axis.counted else axis.counts_of(1),
        floor=floor,
        collapse=collapse,
        start=start,
        place=place,
        share=share,
        near=place == "collapse" and abs(query.value - collapse) > query.tolerance,
    )
    if place in ("below_assumed", "labels_outside"):  # which say what they assume
        return position
    ends = (COLLAPSE,) if floor is None else (COLLAPSE, FLOOR)
    if not (assumed := assumed_labels(loss, known, ends)):
        return position
    return replace(position, assumed=assumed, collapses=collapse_range(loss, known, assumed))


def _place(query: Query, collapse: float, floor: float | None, near: float) -> str:
    """Return "collapse", "floor", "above", "below" or "between"."""
    if abs(query.value - collapse) <= max(query.tolerance, near):
        return "collapse"
    if floor is not None and abs(query.value - floor) <= query.tolerance:
        return "floor"
    if query.value > collapse:
        return "above"
    return "below" if floor is not None and query.value < floor else "between"


def _place_below(query: Query, loss: ConfiguredLoss, layout: Layout, floor: float) -> str:
    """Return the place of a value below the assumed minimum, by what may explain it."""
    minimum = minimum_of(loss, query.known, layout)
    certain = minimum.certain
    if minimum.cause and (certain is None or query.value >= certain - query.tolerance):
        return "below_assumed"
    if minimum.label_ends is not None:
        return "labels_outside"
    return "negative" if query.value < 0 <= floor and not falls_below_zero(loss.name) else "below"
