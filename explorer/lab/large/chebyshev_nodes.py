"""Chebyshev interpolation in bins: a few nodes in place of many numbers.

A smooth function of the difference of two numbers, summed over many of both, becomes a sum over the
nodes of the one and of the other.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from lossprism.losses.kernels.cell_terms import (
    log_logistic_weights,
    logistic_terms,
    logistic_weights_,
)

ERROR = 1e-6
# Bins of the scaled score, and the nodes of each: enough for ERROR.
BIN, NODES = 2.0, 10


@dataclass(frozen=True, eq=False)
class Nodes:
    """The nodes of numbers `scaled` [N], bin by bin."""

    scaled: np.ndarray

    def __len__(self) -> int:
        """Number of nodes."""
        return len(self.places)

    @cached_property
    def places(self) -> np.ndarray:
        """Positions of the nodes, bin by bin."""
        bins = int(np.ptp(self.scaled) // BIN) + 1
        middles = self.scaled.min() + BIN * (np.arange(bins) + 0.5)
        return (middles[:, None] + BIN / 2 * chebyshev_points()).ravel()

    @cached_property
    def parts(self) -> tuple[np.ndarray, np.ndarray]:
        """First node of each pair's bin, and the part of the pair that each node there stands
        for."""
        position = (self.scaled - self.scaled.min()) / BIN
        bins = np.minimum(position.astype(np.int64), len(self) // NODES - 1)
        return bins * NODES, interpolation(2 * (position - bins) - 1)

    @cached_property
    def weights(self) -> np.ndarray:
        """σ of every node against every node."""
        return logistic_weights_(torch.from_numpy(self.places[:, None] - self.places)).numpy()

    def spread(self, places: np.ndarray, owner: np.ndarray, owners: int) -> np.ndarray:
        """Sums at the nodes of the pairs at these places, by owner: [owners, n]."""
        first, parts = self.parts
        at = (owner * len(self) + first[places])[:, None] + np.arange(NODES)
        found = np.bincount(at.ravel(), parts[places].ravel(), owners * len(self))
        return found.reshape(owners, len(self))


def of_differences_(differences: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Replace each difference by its term's weight w; also return the term's part of the loss and
    of the entropy, −w log w."""
    addends, logs = logistic_terms(differences), log_logistic_weights(differences)
    weights = logistic_weights_(differences)
    return weights, addends, logs.mul_(weights).neg_()


def log_weights(differences: np.ndarray) -> np.ndarray:
    """The logarithms of the weights; −inf where there is no term."""
    return log_logistic_weights(torch.from_numpy(differences)).numpy()


def chebyshev_points() -> np.ndarray:
    """The nodes of a bin, which reaches from −1 to 1."""
    return np.cos(np.pi * (np.arange(NODES) + 0.5) / NODES)


def interpolation(places: np.ndarray) -> np.ndarray:
    """Coefficient of each node for values at these places between −1 and 1: [n, NODES]."""
    angles = np.arccos(np.clip(places, -1, 1))[:, None] * np.arange(NODES)
    of_nodes = np.arccos(chebyshev_points())[:, None] * np.arange(NODES)
    series = np.full(NODES, 2.0 / NODES)
    series[0] /= 2
    return np.cos(angles) @ (np.cos(of_nodes) * series).T
