"""Noise of the values of a curve about their trend, and its correlation.

The noise of a training loss is correlated from step to step: a warm optimizer, data in an order,
values that a logger averages. A mean of such values errs further than one of independent draws, and
successive values differ by less than they scatter. Both are read within short blocks, so that
neither the curve's trend over the run nor a jump or a spike is taken for noise.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np

SHORTEST_BLOCK, LONGEST_BLOCK = 10, 40
# The share of the blocks that is left out as too far from a line: steep bends, jumps and spikes.
LEFT_OUT = 0.15
MAX_CORRELATED = 0.9
# What neighbours of a curve too short to show it may correlate by.
ASSUMED = 0.4
# The same of evaluations, which are fewer still: with less assumed, they turn by chance.
ASSUMED_OF_EVALUATIONS = 0.7
# Steps after which the noise is uncorrelated.
FAR = 200


@dataclass(frozen=True)
class Noise:
    """The standard deviation of one value, and the correlation of neighbours: that of k steps apart
    is its k-th power, as in an autoregression of the first order."""

    deviation: float
    correlation: float = 0.0

    def of_mean(self, count: int) -> float:
        """Standard deviation of the mean of `count` successive values."""
        lags = np.arange(1, min(count, FAR))
        together = float(((1 - lags / count) * self.correlation**lags).sum())
        return self.deviation * math.sqrt((1 + 2 * together) / count)

    def of_slope(self, count: int) -> float:
        """Standard deviation of the slope, a step, of a least-squares line through `count`
        successive values."""
        return math.sqrt(12) * self.of_mean(count) / count

    def of_sum(self, weights: np.ndarray) -> float:
        """The standard deviation of Σ weights·values [n] of n successive values."""
        together = _correlated(len(weights), self.correlation)
        return self.deviation * math.sqrt(weights @ together @ weights)


def noise_of(values: np.ndarray) -> Noise:
    """Estimate the noise of a curve [n], about a line through each of its blocks of 10 to 40
    values.

    The correlated noise that a line takes away is known, and added again: the correlation is the
    one that would leave neighbours as alike as they are. Its own error, one standard deviation, is
    added: too small a correlation makes wrong claims.
    """
    count = len(values)
    if count < 2 * SHORTEST_BLOCK:
        return noise_of_few(values)
    block = max(min(count // 5, 20), min(count // 10, LONGEST_BLOCK), SHORTEST_BLOCK)
    kept = values[count % block :].reshape(-1, block) @ _beside_a_line(block)
    power = np.square(kept).sum(axis=1)
    quiet = np.argsort(power)[: max(int((1 - LEFT_OUT) * len(kept)), 1)]
    total = float(power[quiet].sum())
    if total <= 0:
        return Noise(0.0)
    alike = float((kept[quiet, 1:] * kept[quiet, :-1]).sum()) / total
    correlations, expected, powers = _left_by_a_line(block)
    found = float(np.interp(alike, expected, correlations))
    correlation = min(found + math.sqrt((1 - found**2) / count), MAX_CORRELATED)
    power_of_one = total / len(quiet) / float(np.interp(correlation, correlations, powers))
    return Noise(math.sqrt(power_of_one), correlation)


def noise_of_few(values: np.ndarray) -> Noise:
    """Estimate the noise of values too few to show their correlation, most of which may lie on a
    steep trend.

    From the differences of successive values, or of each from the middle of its neighbours. The
    median counts, so that a jump or a spike has no effect.
    """
    if len(values) < 3:
        return Noise(0.0)
    # Of noise of power 1, ρ being ASSUMED, these have a power of 2(1 − ρ) and 2(1 − ρ)(3 − ρ).
    powers = (2 * (1 - ASSUMED), 2 * (1 - ASSUMED) * (3 - ASSUMED))
    deviations = [
        1.4826 * float(np.median(np.abs(np.diff(values, n=order)))) / math.sqrt(power)
        for order, power in enumerate(powers, 1)
        if len(values) > order + 1
    ]
    return Noise(min(deviations), ASSUMED)


def noise_of_evaluations(values: np.ndarray) -> Noise:
    """Estimate the noise of a few values [n] on a straight or bent trend, if neighbours correlate
    by `ASSUMED_OF_EVALUATIONS`: from the distances to a line, or of each from the middle of its
    neighbours, whichever is less. The part of such noise that either takes away is added again."""
    count, correlation = len(values), ASSUMED_OF_EVALUATIONS
    if count < 3:
        return Noise(0.0)
    beside = _beside_a_line(count)
    expected = float(np.trace(beside @ _correlated(count, correlation) @ beside))
    by_line = float(np.square(beside @ values).sum()) / expected
    bends = 2 * (1 - correlation) * (3 - correlation)  # the power of a second difference
    by_neighbours = float(np.square(np.diff(values, n=2)).mean()) / bends
    return Noise(math.sqrt(min(by_line, by_neighbours)), correlation)


def slope_of(values: np.ndarray) -> float:
    """Rise of a least-squares line through the values [n] from one to the next."""
    places = np.arange(len(values)) - (len(values) - 1) / 2
    return float((places * values).sum() / np.square(places).sum())


@functools.cache
def _beside_a_line(count: int) -> np.ndarray:
    """The matrix [n, n] that takes a least-squares line away."""
    line = np.linalg.qr(np.stack([np.ones(count), np.arange(count)], axis=1))[0]
    return np.eye(count) - line @ line.T


@functools.cache
def _left_by_a_line(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Expected figures of n values beside their line, for correlations from 0 to the largest.

    Σ of the products of neighbours as a share of the power, and the power, where a value alone has
    1.
    """
    correlations = np.linspace(0, MAX_CORRELATED, 46)
    beside = _beside_a_line(count)
    left = [beside @ _correlated(count, float(one)) @ beside for one in correlations]
    powers = np.array([np.trace(one) for one in left])
    return correlations, np.array([np.trace(one, 1) for one in left]) / powers, powers


def _correlated(count: int, correlation: float) -> np.ndarray:
    """Correlation between every two of n successive values."""
    place = np.arange(count)
    return correlation ** np.abs(place[:, None] - place)
