"""Logs to begin with, made up: what a run looks like that has a thing the matter with it."""

from __future__ import annotations

import math

import numpy as np

from explorer.lab.doctor.known import Known
from explorer.lab.doctor.logs.log import Log, log_of

STEPS = 120
MNRL = Known(loss="MultipleNegativesRankingLoss", batch=32)
NOISE = 0.05


def collapsed() -> Log:
    """Its loss begins above the logarithm of its 32 candidates, and stays there."""
    at = np.arange(STEPS)
    return _log(math.log(32) + 0.4 * np.exp(-at / 12) + _noise(0.01, 1))


def learned_by_heart() -> Log:
    """Its training loss falls to the end, its held-out loss turns after a third of the way."""
    at = np.arange(STEPS)
    held = np.linspace(0, STEPS, 24)
    turned = 0.9 + 1.4 * np.exp(-held / 15) + 0.010 * np.maximum(held - 40, 0)
    return _log(0.1 + 2.4 * np.exp(-at / 25) + _noise(NOISE, 2), turned + _noise(0.02, 3)[:24])


def jumped() -> Log:
    """It falls, and at two thirds of the way it is thrown up at once."""
    at = np.arange(STEPS)
    thrown = np.where(at >= 80, 1.6, 0.0)
    return _log(0.6 + 2.4 * np.exp(-at / 20) + thrown + _noise(NOISE, 4))


def _noise(size: float, seed: int) -> np.ndarray:
    return size * np.random.default_rng(seed).standard_normal(STEPS)


def _log(values: np.ndarray, held: np.ndarray | None = None) -> Log:
    def rounded(some: np.ndarray) -> tuple[float, ...]:
        return tuple(round(float(value), 4) for value in some)

    steps = tuple(10.0 * place for place in range(1, STEPS + 1))
    return log_of((rounded(values), steps), None if held is None else (rounded(held), None))


EXAMPLES = {"collapsed": collapsed, "learned_by_heart": learned_by_heart, "jumped": jumped}
