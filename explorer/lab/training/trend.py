"""Movement of a line through a curve, and the part that the curve's noise alone explains.

The noise of a training loss is correlated from step to step: a warm optimizer, data in an order,
values that a logger averages. A line through such noise moves further than through independent
draws, by √((1 + ρ)/(1 − ρ)) where neighbours correlate by ρ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# Share of curves of noise alone that are called a trend, if all assumptions hold.
MISTAKEN = 0.01
# What a falling loss looks like beside a line: the rates of two exponentials, over the whole run.
RATES = (20.0, 5.0)
# A jump that explains this share of the rest is no noise.
JUMP = 0.9
MAX_CORRELATED, LEAST_FREE = 0.97, 1.0


@dataclass(frozen=True)
class Trend:
    """Movement of a least-squares line from the first step to the last, and the bound, either way,
    of that of noise alone in 99 of 100 curves."""

    moved: float
    by_chance: float


def trend_of(values: np.ndarray) -> Trend:
    """The trend of a curve [n], n of 20 or more.

    The noise is what a line, two exponentials and, where there is one, a jump leave. Its
    correlation from step to step is that of an autoregression of the first order, with the bias
    that these fitted curves give it taken back (Marriott & Pope 1954), and the line is judged by
    Student's t with as many independent steps as that leaves, n(1 − ρ)/(1 + ρ).
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
    correlated = min(max(unbiased, 0.0), MAX_CORRELATED)
    wider = (1 + correlated) / (1 - correlated)
    error = np.sqrt(power / (count - fitted) * wider / spread)
    free = max(count / wider - 2, LEAST_FREE)
    return Trend(moved, float(stdtrit(free, 1 - MISTAKEN / 2) * error))


def _noise(values: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the rest that no smooth curve and no jump explains, and the number of fitted
    parameters."""
    count = len(values)
    at = np.linspace(0, 1, count)
    curves = np.stack([np.ones(count), at, *(np.exp(-rate * at) for rate in RATES)], axis=1)
    smooth = np.linalg.qr(curves)[0]
    left = values - smooth @ (smooth.T @ values)
    # For a jump at each step: its smooth part, and the part of the rest that it explains.
    shared = np.cumsum(smooth[::-1], axis=0)[::-1]
    size = np.arange(count, 0, -1) - np.square(shared).sum(axis=1)
    along = np.cumsum(left[::-1])[::-1]
    explained = np.divide(np.square(along), size, out=np.zeros(count), where=size > 1e-6)
    best = int(explained.argmax())
    if explained[best] <= JUMP * float(left @ left):
        return left, smooth.shape[1]
    jump = (np.arange(count) >= best) - smooth @ shared[best]
    return left - jump * along[best] / size[best], smooth.shape[1] + 1
