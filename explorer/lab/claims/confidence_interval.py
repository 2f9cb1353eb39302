"""Means of independent values with their intervals."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from lossprism.explorer.lab.training.run_difference_verdict import LEVEL


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds with the ends of its interval at LEVEL."""

    mean: float
    low: float
    high: float


def estimate_of(values: Sequence[float]) -> Estimate:
    """Return the mean of two or more independent values with Student's interval at LEVEL."""
    from scipy.special import stdtrit  # on demand: it takes its time to load

    sample = torch.tensor(values, dtype=torch.float64)
    mean, freedom = float(sample.mean()), len(values) - 1
    quantile = float(stdtrit(freedom, (1 + LEVEL) / 2))
    half = quantile * float(sample.std()) / math.sqrt(len(values))
    return Estimate(mean, mean - half, mean + half)
