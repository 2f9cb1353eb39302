"""Noise of the values of a curve about their trend, and its correlation.

The noise of a training loss is correlated from step to step: by the optimizer's momentum, the order
of the data, a logger that averages. A mean of such values has a larger error than one of
independent values, and successive values differ by less than they scatter. Both are estimated
within short blocks, so that neither a trend nor a jump or a spike counts as noise.
"""

import functools
import math
from dataclasses import dataclass

import numpy as np

MIN_BLOCK, MAX_BLOCK = 10, 40  # values of a block
# Share of the blocks that are furthest from a line, and left out: bends, jumps and spikes.
LEFT_OUT_SHARE = 0.15
MAX_CORRELATION = 0.9
# Correlation of neighbours that is assumed of a curve too short to show it; more of evaluations,
# which would otherwise seem to turn by chance.
ASSUMED_CORRELATION, ASSUMED_EVALUATION_CORRELATION = 0.4, 0.7
MAX_LAG = 200  # steps after which noise is taken as uncorrelated


@dataclass(frozen=True)
class Noise:
    """Standard deviation of one value, and correlation of neighbours. That of values k steps apart
    is its k-th power, as in a first-order autoregression."""

    deviation: float
    correlation: float = 0.0

    def of_mean(self, count: int) -> float:
        """Standard deviation of the mean of `count` successive values."""
        lags = np.arange(1, min(count, MAX_LAG))
        covariance = float(((1 - lags / count) * self.correlation**lags).sum())
        return self.deviation * math.sqrt((1 + 2 * covariance) / count)

    def of_slope(self, count: int) -> float:
        """Standard deviation of the slope, a step, of a least-squares line through `count`
        successive values."""
        return math.sqrt(12) * self.of_mean(count) / count

    def of_sum(self, weights: np.ndarray) -> float:
        """Standard deviation of Σ weights·values [n] of n successive values."""
        correlations = _correlations(len(weights), self.correlation)
        return self.deviation * math.sqrt(weights @ correlations @ weights)


def noise_of(values: np.ndarray) -> Noise:
    """Estimate the noise of a curve [n], about a line through each of its blocks of 10 to 40
    values.

    The correlation is the one at which values beside such lines have the measured product of
    neighbours, plus one standard error: too small a correlation would make wrong claims. The noise
    that the lines absorb at this correlation is added again.
    """
    count = len(values)
    if count < 2 * MIN_BLOCK:
        return noise_of_short_curve(values)
    block = max(min(count // 5, 20), min(count // 10, MAX_BLOCK), MIN_BLOCK)
    residuals = values[count % block :].reshape(-1, block) @ _line_remover(block)
    power = np.square(residuals).sum(axis=1)
    quiet = np.argsort(power)[: max(int((1 - LEFT_OUT_SHARE) * len(residuals)), 1)]
    total = float(power[quiet].sum())
    if total <= 0:
        return Noise(0.0)
    of_neighbours = float((residuals[quiet, 1:] * residuals[quiet, :-1]).sum()) / total
    correlations, expected, powers = _expected_residuals(block)
    found = float(np.interp(of_neighbours, expected, correlations))
    correlation = min(found + math.sqrt((1 - found**2) / count), MAX_CORRELATION)
    power_of_one = total / len(quiet) / float(np.interp(correlation, correlations, powers))
    return Noise(math.sqrt(power_of_one), correlation)


def noise_of_short_curve(values: np.ndarray) -> Noise:
    """Estimate the noise of values too few to show their correlation, perhaps on a steep trend.

    It is the less of two estimates, from the medians of first and of second differences, which a
    jump or a spike does not change.
    """
    if len(values) < 3:
        return Noise(0.0)
    # First and second differences of noise of power 1, whose neighbours correlate by ρ, have these.
    first = 2 * (1 - ASSUMED_CORRELATION)
    powers = (first, first * (3 - ASSUMED_CORRELATION))
    deviations = [
        1.4826 * float(np.median(np.abs(np.diff(values, n=order)))) / math.sqrt(power)
        for order, power in enumerate(powers, 1)
        if len(values) > order + 1
    ]
    return Noise(min(deviations), ASSUMED_CORRELATION)


def noise_of_evaluations(values: np.ndarray) -> Noise:
    """Estimate the noise of a few values [n] on a straight or bent trend.

    It is the less of two estimates, from the distances to a line and from second differences, at an
    assumed correlation of neighbours. What either absorbs of such noise is added again.
    """
    count, correlation = len(values), ASSUMED_EVALUATION_CORRELATION
    if count < 3:
        return Noise(0.0)
    beside = _line_remover(count)
    expected = float(np.trace(beside @ _correlations(count, correlation) @ beside))
    by_line = float(np.square(beside @ values).sum()) / expected
    bends = 2 * (1 - correlation) * (3 - correlation)  # the power of a second difference
    by_neighbours = float(np.square(np.diff(values, n=2)).mean()) / bends
    return Noise(math.sqrt(min(by_line, by_neighbours)), correlation)


def slope_of(values: np.ndarray) -> float:
    """Return the slope per value of a least-squares line through the values [n]."""
    places = np.arange(len(values)) - (len(values) - 1) / 2
    return float((places * values).sum() / np.square(places).sum())


@functools.cache
def _line_remover(count: int) -> np.ndarray:
    """Return the matrix [n, n] that subtracts a least-squares line from n values."""
    line = np.linalg.qr(np.stack([np.ones(count), np.arange(count)], axis=1))[0]
    return np.eye(count) - line @ line.T


@functools.cache
def _expected_residuals(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return correlations from 0 to the largest, and at each the expected figures of n values after
    subtraction of their line: the products of neighbours as a share of the power, and the power,
    for noise of power 1."""
    correlations = np.linspace(0, MAX_CORRELATION, 46)
    beside = _line_remover(count)
    left = [beside @ _correlations(count, float(one)) @ beside for one in correlations]
    powers = np.array([np.trace(one) for one in left])
    return correlations, np.array([np.trace(one, 1) for one in left]) / powers, powers


def _correlations(count: int, correlation: float) -> np.ndarray:
    """Return the correlation of every two of n successive values [n, n]."""
    place = np.arange(count)
    return correlation ** np.abs(place[:, None] - place)
