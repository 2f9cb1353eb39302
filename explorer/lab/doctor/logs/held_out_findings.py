"""Findings from evaluations on held-out pairs: a loss or a figure that turns, a loss far above the
training loss, and one as low as a training loss that is nearly at its minimum."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lossprism.explorer.lab.doctor.finding import WARNING, Fault
from lossprism.explorer.lab.doctor.logs.curve_noise import (
    Noise,
    noise_of,
    noise_of_evaluations,
    slope_of,
)
from lossprism.explorer.lab.doctor.logs.log import Curve
from lossprism.explorer.lab.doctor.logs.run_reference_values import RunReferenceValues
from lossprism.explorer.runtime.number_format import display_number

# Standard errors of evaluations and of training losses by which a difference is reported.
HELD_OUT_STANDARD_ERRORS, TRAINED_STANDARD_ERRORS = 3.2, 3.0
MIN_HELD_OUT_POINTS, MIN_TRAINED_POINTS = 6, 10
# Least rise of a held-out loss, as a share of its least value or, if that is more, of its fall.
MIN_RISE_SHARE = 0.02
# The excess of a loss is its distance from the minimum. A gap: the held-out excess is this many
# times that of the training, and at least this share of the first one.
GAP_RATIO, MIN_GAP_SHARE = 10.0, 0.2
# A leak: both excesses are at most this share of the first one, and neither is this many times the
# other, by so many standard errors.
MAX_LEAK_SHARE, MAX_LEAK_RATIO, LEAK_STANDARD_ERRORS = 0.05, 2.0, 1.65
# Epochs after which a training has seen its rows before.
MIN_REPEATED_EPOCHS = 1.5


def on_held_out(trained: Curve, held_out: Curve) -> Iterator[Fault]:
    """Find a held-out loss that rises after its least value, while the training loss does not."""
    turn = _turn(held_out, 1.0)
    if turn is None:
        return
    best, rise = turn
    least = float(held_out.values[best])
    if rise < MIN_RISE_SHARE * max(abs(least), float(held_out.values[0]) - least):
        return  # a certain rise, but too small to matter
    after = trained.values[trained.steps >= held_out.steps[best]]
    error = TRAINED_STANDARD_ERRORS * noise_of(after).of_slope(max(len(after), 1))
    if len(after) >= MIN_TRAINED_POINTS and slope_of(after) > error:
        return  # the training itself diverges
    values: dict[str, int | float | str] = {
        "name": held_out.name,
        "step": held_out.step_at(best),
        "best": display_number(least, 4),
        "last": display_number(least + rise, 4),
    }
    paste = ("load_best_model_at_end=True", 'metric_for_best_model="eval_loss"')
    yield Fault("overfits", WARNING, values, (int(held_out.steps[best]),), paste, subject="run")


@dataclass(frozen=True)
class Excess:
    """Distance of the last values of a curve from the minimum, and its standard error."""

    level: float
    error: float


def on_gap(trained: Curve, held_out: Curve, marks: RunReferenceValues) -> Iterator[Fault]:
    """Find a held-out loss that stays far above the training loss, whether or not it rises."""
    excess = _excesses(trained, held_out, marks)
    if excess is None:
        return
    start, own, other = excess
    low = other.level - HELD_OUT_STANDARD_ERRORS * other.error
    if low < MIN_GAP_SHARE * start or low < GAP_RATIO * (
        own.level + TRAINED_STANDARD_ERRORS * own.error
    ):
        return
    values = _both(trained, held_out, marks, own, other)
    yield Fault("gap", WARNING, values, (int(held_out.steps[-1]),), subject="run")


def on_leak(
    trained: Curve, held_out: Curve, marks: RunReferenceValues, epochs: float | None
) -> Iterator[Fault]:
    """Find a held-out loss as low as the training loss, with both nearly at the minimum, after more
    than one pass over the rows: unseen rows are hardly ever learned so well."""
    excess = _excesses(trained, held_out, marks)
    if excess is None or (epochs is not None and epochs < MIN_REPEATED_EPOCHS):
        return
    start, own, other = excess
    error = LEAK_STANDARD_ERRORS * math.hypot(own.error, other.error)
    if max(own.level, other.level) + error > MAX_LEAK_SHARE * start:
        return
    for one, another in ((own, other), (other, own)):
        error = LEAK_STANDARD_ERRORS * math.hypot(one.error, MAX_LEAK_RATIO * another.error)
        if one.level + error > MAX_LEAK_RATIO * another.level:
            return
    values = _both(trained, held_out, marks, own, other)
    yield Fault("leak", WARNING, values, (int(held_out.steps[-1]),), subject="run")


def _excesses(
    trained: Curve, held_out: Curve, marks: RunReferenceValues
) -> tuple[float, Excess, Excess] | None:
    """Return the excess of the training loss at first and at last, and the held-out one at last;
    None where the minimum is unknown, or either curve too short."""
    floor = _minimum(trained, held_out, marks)
    if floor is None or len(trained) < MIN_TRAINED_POINTS or not len(held_out):
        return None
    last = max(len(trained) // 5, 3)
    noise = noise_of(trained.values[-2 * last :])  # earlier, a higher loss has more noise
    own = Excess(float(trained.values[-last:].mean()) - floor, noise.of_mean(last))
    start = float(trained.values[:3].mean()) - floor
    last_evaluations = max(len(held_out) // 3, 1)
    late = held_out.values[-max(2 * last_evaluations, 3) :]
    held_noise = noise_of_evaluations(late) if len(held_out) > 3 else Noise(0.0)
    other = Excess(
        float(held_out.values[-last_evaluations:].mean()) - floor,
        held_noise.of_mean(last_evaluations),
    )
    is_below_minimum = own.level + TRAINED_STANDARD_ERRORS * own.error < 0  # of another loss, then
    if start <= 0 or is_below_minimum:
        return None
    return start, Excess(max(own.level, 0.0), own.error), other


def _minimum(trained: Curve, held_out: Curve, marks: RunReferenceValues) -> float | None:
    """Return the minimum of the loss; where it is unknown, 0 if no value is below that, else
    None."""
    if marks.floor is not None:
        return marks.floor
    return (
        0.0 if min(trained.values.min(initial=0.0), held_out.values.min(initial=0.0)) >= 0 else None
    )


def _both(
    trained: Curve, held_out: Curve, marks: RunReferenceValues, own: Excess, other: Excess
) -> dict:
    floor = _minimum(trained, held_out, marks) or 0.0
    return {
        "name": held_out.name,
        "trained": display_number(own.level + floor, 3),
        "held": display_number(other.level + floor, 3),
        "floor": display_number(floor, 3),
    }


def on_figure(curve: Curve) -> Iterator[Fault]:
    """Find a held-out figure that falls after its best value."""
    turn = _turn(curve, -1.0)
    if turn is None:
        return
    best, fall = turn
    values: dict[str, int | float | str] = {
        "name": curve.name,
        "step": curve.step_at(best),
        "best": display_number(float(curve.values[best]), 4),
        "last": display_number(float(curve.values[best]) - fall, 4),
    }
    paste = ("load_best_model_at_end=True", f'metric_for_best_model="{curve.name}"')
    yield Fault("figure_falls", WARNING, values, (int(curve.steps[best]),), paste, subject="run")


def _turn(curve: Curve, sign: float) -> tuple[int, float] | None:
    """Return the place of the best value and how much worse the last values are; None within noise.

    The best is the least of `sign` times the medians of three, so that no single outlier is.
    """
    values = sign * curve.values
    if len(values) < MIN_HELD_OUT_POINTS:
        return None
    smooth = np.median(np.lib.stride_tricks.sliding_window_view(values, 3), axis=1)
    best = int(smooth.argmin()) + 1
    after = values[best + 1 :]
    if len(after) < 3:
        return None
    last = after[-max(len(after) // 3, 2) :]
    rise = float(last.mean() - smooth[best - 1])
    # Before the best, the curve may fall steeply, which is no noise.
    noise = noise_of_evaluations(values[best:])
    allowed = HELD_OUT_STANDARD_ERRORS * math.hypot(noise.of_mean(len(last)), noise.of_mean(3))
    return (best, rise) if rise > allowed else None
