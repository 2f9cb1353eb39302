"""Losses that ended below their minimum: the certain one, or the one with assumed labels."""

from collections.abc import Mapping

from lossprism.explorer.lab.doctor.finding import NOTE, SEVERE, WARNING, Fault, Value
from lossprism.explorer.lab.doctor.logs.run_reference_values import RunReferenceValues
from lossprism.explorer.runtime.number_format import display_number

BELOW_MINIMUM_FINDINGS = {"below_floor", "below_assumed", "labels_outside"}  # findings
# A level this near to a reference value, relative to it, is at that value, however small its error.
AT_LEVEL_SHARE = 0.005


def below_minimum(
    level: float, error: float, marks: RunReferenceValues, values: Mapping[str, Value]
) -> Fault | None:
    """Find a run that ended below its minimum by more than `error`; None where it did not.

    It is severe below the minimum for any scores and labels; below that of unit vectors and labels
    1 and 0, which are assumed, it is not.
    """
    minimum, floor = marks.minimum, marks.floor
    if minimum.certain is not None and _is_below(level, minimum.certain, error):
        numbers = {**values, "floor": display_number(minimum.certain, 4)}
        if minimum.label_ends is None:
            return Fault("below_floor", SEVERE, numbers, subject="run")
        ends = dict(zip(("low", "high"), map(display_number, minimum.label_ends), strict=True))
        return Fault("labels_outside", SEVERE, {**numbers, **ends}, subject="run")
    if floor is None or not _is_below(level, floor, error):
        return None
    severity = NOTE if minimum.cause == "labels" else WARNING
    return Fault("below_assumed", severity, {**values}, subject="run")


def _is_below(level: float, minimum: float, error: float) -> bool:
    return level < minimum - error - AT_LEVEL_SHARE * max(abs(minimum), 1e-3)
