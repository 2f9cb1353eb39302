"""Trend of a training loss: the move of a line through the curve, and what noise alone explains.

The noise is correlated from step to step. A line through such noise moves further than through
independent noise, by √((1 + ρ)/(1 − ρ)) if neighbours correlate by ρ."""

from dataclasses import dataclass

import numpy as np

FALSE_ALARM_RATE = 0.01  # curves of noise alone that are called a trend
# Rates, per run, of the two exponentials that describe a falling loss beside a line.
DECAY_RATES = (20.0, 5.0)
# A jump is fitted, too, if it explains this share of what the smooth curves leave.
MIN_JUMP_SHARE = 0.9
MAX_CORRELATION, MIN_FREEDOM = 0.97, 1.0  # of neighbours; degrees of freedom


@dataclass(frozen=True)
class Trend:
    """Move of a least-squares line from the first step to the last; in 99 of 100 curves of noise
    alone it is at most `by_chance`, in either direction."""

    moved: float
    by_chance: float


def trend_of(values: np.ndarray) -> Trend:
    """Return the trend of a curve [n] of at least 20 steps.

    The noise is what a line, two exponentials and perhaps a jump leave. It is taken as a
    first-order autoregression; its correlation ρ is corrected for the fitted curves (Marriott &
    Pope 1954). The line is judged by Student's t with n(1 − ρ)/(1 + ρ) independent steps.
    """
    from scipy.special import stdtrit  # on demand: it takes its time to load

    count = len(values)
    place = np.linspace(-0.5, 0.5, count)
    spread = float(place @ place)
    moved = float(place @ values / spread)
    noise, fitted = _noise(np.asarray(values, dtype=np.float64))
    power = float(noise @ noise)
    neighbours = float(noise[1:] @ noise[:-1]) / power if power > 0 else 0.0
    unbiased = neighbours + fitted * (1 + neighbours) / count
    correlation = min(max(unbiased, 0.0), MAX_CORRELATION)
    inflation = (1 + correlation) / (1 - correlation)
    error = np.sqrt(power / (count - fitted) * inflation / spread)
    freedom = max(count / inflation - 2, MIN_FREEDOM)
    return Trend(moved, float(stdtrit(freedom, 1 - FALSE_ALARM_RATE / 2) * error))


def _noise(values: np.ndarray) -> tuple[np.ndarray, int]:
    """Return what smooth curves and a jump leave of the values [n], and the number of fitted
    parameters."""
    count = len(values)
    at = np.linspace(0, 1, count)
    curves = np.stack([np.ones(count), at, *(np.exp(-rate * at) for rate in DECAY_RATES)], axis=1)
    smooth = np.linalg.qr(curves)[0]
    left = values - smooth @ (smooth.T @ values)
    # For a jump at each step: its overlap with the smooth curves, its remaining power, and the
    # power of the values that it explains.
    shared = np.cumsum(smooth[::-1], axis=0)[::-1]
    size = np.arange(count, 0, -1) - np.square(shared).sum(axis=1)
    along = np.cumsum(left[::-1])[::-1]
    explained = np.divide(np.square(along), size, out=np.zeros(count), where=size > 1e-6)
    best = int(explained.argmax())
    if explained[best] <= MIN_JUMP_SHARE * float(left @ left):
        return left, smooth.shape[1]
    jump = (np.arange(count) >= best) - smooth @ shared[best]
    return left - jump * along[best] / size[best], smooth.shape[1] + 1
