"""What evaluations on held-out pairs say of a run: a loss or a figure that turns."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from explorer.lab.doctor.faults import WARNING, Fault
from explorer.lab.doctor.logs.log import Curve
from explorer.lab.doctor.logs.noise import noise_of, noise_of_evaluations, slope_of
from explorer.runtime.numbers import display_number

# Standard errors by which the last evaluations must be worse than the best, and by which a training
# loss must rise.
SURE_HELD, SURE_TRAINED = 3.2, 3.0
FEW_HELD_OUT, FEW_TRAINED = 6, 10
# The rise of a held-out loss that matters, as a share of its least value or of how far it had
# fallen, whichever is more.
LEAST_RISE = 0.02


def on_held_out(trained: Curve, held: Curve) -> Iterator[Fault]:
    """A held-out loss that rises visibly from its least on, while that of the training does not."""
    found = _turned(held, 1.0)
    if found is None:
        return
    best, rise = found
    least = float(held.values[best])
    if rise < LEAST_RISE * max(abs(least), float(held.values[0]) - least):
        return  # it does so surely, and as good as stays
    after = trained.values[trained.steps >= held.steps[best]]
    off = SURE_TRAINED * noise_of(after).of_slope(max(len(after), 1))
    if len(after) >= FEW_TRAINED and slope_of(after) > off:
        return  # it is the training that went wrong
    said: dict[str, int | float | str] = {
        "name": held.name,
        "step": held.step_at(best),
        "best": display_number(least, 4),
        "last": display_number(least + rise, 4),
    }
    paste = ("load_best_model_at_end=True", 'metric_for_best_model="eval_loss"')
    yield Fault("overfits", WARNING, said, (int(held.steps[best]),), paste, room="run")


def on_figure(curve: Curve) -> Iterator[Fault]:
    """A held-out figure that falls from its best on."""
    found = _turned(curve, -1.0)
    if found is None:
        return
    best, fall = found
    said: dict[str, int | float | str] = {
        "name": curve.name,
        "step": curve.step_at(best),
        "best": display_number(float(curve.values[best]), 4),
        "last": display_number(float(curve.values[best]) - fall, 4),
    }
    paste = ("load_best_model_at_end=True", f'metric_for_best_model="{curve.name}"')
    yield Fault("figure_falls", WARNING, said, (int(curve.steps[best]),), paste, room="run")


def _turned(curve: Curve, sign: float) -> tuple[int, float] | None:
    """The place of the best value, and by how much the last ones are worse; None where that is no
    more than its noise. The best is that of medians of three, so that no single one is."""
    values = sign * curve.values
    if len(values) < FEW_HELD_OUT:
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
    most = SURE_HELD * math.hypot(noise.of_mean(len(last)), noise.of_mean(3))
    return (best, rise) if rise > most else None
