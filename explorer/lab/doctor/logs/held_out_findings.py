"""Findings from evaluations on held-out pairs: a loss or a figure that turns, a loss that stays far
above that of the training, and one as low as it where hardly any is."""

from __future__ import annotations

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
from lossprism.explorer.lab.doctor.logs.run_reference_values import Marks
from lossprism.explorer.runtime.number_format import display_number

# Standard errors by which the last evaluations must be worse than the best, and by which a training
# loss must rise.
HELD_OUT_STANDARD_ERRORS, TRAINED_STANDARD_ERRORS = 3.2, 3.0
MIN_HELD_OUT_POINTS, MIN_TRAINED_POINTS = 6, 10
# The rise of a held-out loss that matters, as a share of its least value or of how far it had
# fallen, whichever is more.
LEAST_RISE = 0.02
# What is left to learn counts from the minimum. A gap: on held-out rows this many times as much is
# left as on those of the training, and at least this share of what there was at first.
GAP_TIMES, GAP_LEFT = 10.0, 0.2
# A leak: on both so small a share is left, and neither is this many times the other. Standard
# errors by which both are shown.
LEAK_LEFT, LEAK_TIMES, LEAK_STANDARD_ERRORS = 0.05, 2.0, 1.65
# The epochs from which on the rows of a training have been seen before.
REPEATED_EPOCHS = 1.5


def on_held_out(trained: Curve, held: Curve) -> Iterator[Fault]:
    """Find a held-out loss that rises visibly from its minimum on, while that of the training does
    not."""
    found = _turned(held, 1.0)
    if found is None:
        return
    best, rise = found
    least = float(held.values[best])
    if rise < LEAST_RISE * max(abs(least), float(held.values[0]) - least):
        return  # it does so surely, and as good as stays
    after = trained.values[trained.steps >= held.steps[best]]
    off = TRAINED_STANDARD_ERRORS * noise_of(after).of_slope(max(len(after), 1))
    if len(after) >= MIN_TRAINED_POINTS and slope_of(after) > off:
        return  # it is the training that went wrong
    values: dict[str, int | float | str] = {
        "name": held.name,
        "step": held.step_at(best),
        "best": display_number(least, 4),
        "last": display_number(least + rise, 4),
    }
    paste = ("load_best_model_at_end=True", 'metric_for_best_model="eval_loss"')
    yield Fault("overfits", WARNING, values, (int(held.steps[best]),), paste, room="run")


@dataclass(frozen=True)
class Left:
    """Distance of the last values of a curve from the minimum, and its standard error."""

    level: float
    error: float


def on_gap(trained: Curve, held: Curve, marks: Marks) -> Iterator[Fault]:
    """Find a held-out loss that stays far above that of the training, whether or not it rises."""
    left = _left(trained, held, marks)
    if left is None:
        return
    start, own, other = left
    low = other.level - HELD_OUT_STANDARD_ERRORS * other.error
    if low < GAP_LEFT * start or low < GAP_TIMES * (
        own.level + TRAINED_STANDARD_ERRORS * own.error
    ):
        return
    values = _both(trained, held, marks, own, other)
    yield Fault("gap", WARNING, values, (int(held.steps[-1]),), room="run")


def on_leak(trained: Curve, held: Curve, marks: Marks, epochs: float | None) -> Iterator[Fault]:
    """Find a held-out loss as low as that of a training that has seen its rows several times, where
    hardly anything is left to learn: unseen rows are hardly ever learnt so well."""
    left = _left(trained, held, marks)
    if left is None or (epochs is not None and epochs < REPEATED_EPOCHS):
        return
    start, own, other = left
    off = LEAK_STANDARD_ERRORS * math.hypot(own.error, other.error)
    if max(own.level, other.level) + off > LEAK_LEFT * start:
        return
    for one, another in ((own, other), (other, own)):
        off = LEAK_STANDARD_ERRORS * math.hypot(one.error, LEAK_TIMES * another.error)
        if one.level + off > LEAK_TIMES * another.level:
            return
    values = _both(trained, held, marks, own, other)
    yield Fault("leak", WARNING, values, (int(held.steps[-1]),), room="run")


def _left(trained: Curve, held: Curve, marks: Marks) -> tuple[float, Left, Left] | None:
    """Loss left to learn at first, and at last on the rows of the training and on held-out ones;
    None where the minimum is not known or either curve is too short."""
    floor = _minimum(trained, held, marks)
    if floor is None or len(trained) < MIN_TRAINED_POINTS or not len(held):
        return None
    last = max(len(trained) // 5, 3)
    noise = noise_of(trained.values[-2 * last :])  # that of a loss fades as it falls
    own = Left(float(trained.values[-last:].mean()) - floor, noise.of_mean(last))
    start = float(trained.values[:3].mean()) - floor
    last_evaluations = max(len(held) // 3, 1)
    scatter = (
        noise_of_evaluations(held.values[-max(2 * last_evaluations, 3) :])
        if len(held) > 3
        else Noise(0.0)
    )
    other = Left(
        float(held.values[-last_evaluations:].mean()) - floor, scatter.of_mean(last_evaluations)
    )
    below = (
        own.level + TRAINED_STANDARD_ERRORS * own.error < 0
    )  # it is not the loss that it is taken for
    if start <= 0 or below:
        return None
    return start, Left(max(own.level, 0.0), own.error), other


def _minimum(trained: Curve, held: Curve, marks: Marks) -> float | None:
    """Minimum of the loss; 0 for one that is never below it, where none is known."""
    if marks.floor is not None:
        return marks.floor
    return 0.0 if min(trained.values.min(initial=0.0), held.values.min(initial=0.0)) >= 0 else None


def _both(trained: Curve, held: Curve, marks: Marks, own: Left, other: Left) -> dict:
    floor = _minimum(trained, held, marks) or 0.0
    return {
        "name": held.name,
        "trained": display_number(own.level + floor, 3),
        "held": display_number(other.level + floor, 3),
        "floor": display_number(floor, 3),
    }


def on_figure(curve: Curve) -> Iterator[Fault]:
    """Find a held-out figure that falls from its best on."""
    found = _turned(curve, -1.0)
    if found is None:
        return
    best, fall = found
    values: dict[str, int | float | str] = {
        "name": curve.name,
        "step": curve.step_at(best),
        "best": display_number(float(curve.values[best]), 4),
        "last": display_number(float(curve.values[best]) - fall, 4),
    }
    paste = ("load_best_model_at_end=True", f'metric_for_best_model="{curve.name}"')
    yield Fault("figure_falls", WARNING, values, (int(curve.steps[best]),), paste, room="run")


def _turned(curve: Curve, sign: float) -> tuple[int, float] | None:
    """Place of the best value, and the loss of the last ones against it; None where that is no more
    than noise. The best is that of medians of three, so that no single one is."""
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
    # What lies before the best may still be on its steep way, and is no noise.
    noise = noise_of_evaluations(values[best:])
    allowed = HELD_OUT_STANDARD_ERRORS * math.hypot(noise.of_mean(len(last)), noise.of_mean(3))
    return (best, rise) if rise > allowed else None
