"""A number to explain, as it was written: its value, its tolerance, and what is known beside it."""

import math
from dataclasses import dataclass

from lossprism.explorer.lab.doctor.batches_to_try_for_unknown_counts import Axis
from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import Known
from lossprism.explorer.runtime.problem import Problem

MAX_MAGNITUDE = 1e12
# The default print of 0 is exact, not rounded; beside a 0, no relative error is defined.
EXACT_ZERO_TOLERANCE = 1e-6
# Largest relative rounding error of a written value: "5" is 4.95 to 5.05, not 4.5 to 5.5.
MAX_RELATIVE_ROUNDING = 0.01
# A logged value is near a reference value within this share of itself and this many tolerances.
NEAR_SHARE, NEAR_TOLERANCES = 0.005, 10
# The same share where all counts are known: a log may have the loss of a single batch.
LOG_NOISE = 0.01


@dataclass(frozen=True)
class Query:
    """A value, the largest error of its digits, and what the user knows of its loss and batch."""

    value: float
    tolerance: float
    known: Known

    @property
    def near_tolerance(self) -> float:
        """Distance within which a reference value is near the number, though not equal."""
        share = min(NEAR_SHARE * abs(self.value), NEAR_TOLERANCES * self.tolerance)
        return max(self.tolerance, share)

    def knows_counts_of(self, axis: Axis) -> bool:
        """True if every count on which a value on this axis depends is known."""
        counts = (self.known.batch, self.known.negatives, self.known.classes)
        return not axis.counted and any(counts)

    def near_tolerance_on(self, axis: Axis) -> float:
        """Return `near_tolerance`, or log noise where that is more and all counts are known."""
        noise = LOG_NOISE * abs(self.value) if self.knows_counts_of(axis) else 0.0
        return max(self.near_tolerance, noise)


def read_value(written: str) -> float:
    """Return the number that was typed. Raises Problem where it is none."""
    try:
        value = float(written.replace("−", "-"))
    except ValueError:
        value = math.nan
    if not abs(value) <= MAX_MAGNITUDE:
        raise Problem("explain_value", value=written[:60])
    return value


def tolerance_of(value: float, written: str) -> float:
    """Return half a unit of the last written digit, at most 1% of the value.

    >>> tolerance_of(5.545, "5.545"), tolerance_of(5.0, "5"), tolerance_of(0.0, "0.00")
    (0.0005, 0.05, 0.005)
    """
    mantissa, _, power = written.lower().replace("−", "-").partition("e")
    digits = len(mantissa.partition(".")[2])
    if mantissa.endswith(".0"):  # Python prints whole numbers so
        digits -= 1
    half_unit = 0.5 * 10.0 ** (int(power or 0) - digits)
    if value == 0 and digits < 2:
        return EXACT_ZERO_TOLERANCE
    is_zero = abs(value) <= EXACT_ZERO_TOLERANCE
    largest = half_unit if is_zero else MAX_RELATIVE_ROUNDING * abs(value)
    return max(min(half_unit, largest), 1e-12, 1e-12 * abs(value))
