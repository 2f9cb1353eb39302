"""A few nodes in place of many numbers: Chebyshev interpolation in bins.

A smooth function of the difference of two numbers, summed over many of both, is summed over the
nodes of the one and of the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from losses.kernels.cells import log_logistic_weights, logistic_terms, logistic_weights_

ERROR = 1e-6
# Bins of the scaled score, and the nodes of each: enough for ERROR.
BIN, NODES = 2.0, 10


@dataclass(frozen=True, eq=False)
class Nodes:
    """The nodes of numbers `scaled` [N], bin by bin."""

    scaled: np.ndarray

    def __len__(self) -> int:
        """How many nodes there are."""
        return len(self.places)

    @cached_property
    def places(self) -> np.ndarray:
        """Where the nodes lie, bin by bin."""
        bins = int(np.ptp(self.scaled) // BIN) + 1
        middles = self.scaled.min() + BIN * (np.arange(bins) + 0.5)
        return (middles[:, None] + BIN / 2 * chebyshev_points()).ravel()

    @cached_property
    def parts(self) -> tuple[np.ndarray, np.ndarray]:
        """Of each pair: the first node of its bin, and what of it each node there stands for."""
        position = (self.scaled - self.scaled.min()) / BIN
        bins = np.minimum(position.astype(np.int64), len(self) // NODES - 1)
        return bins * NODES, interpolation(2 * (position - bins) - 1)

    @cached_property
    def weights(self) -> np.ndarray:
        """σ of every node against every node."""
        return logistic_weights_(torch.from_numpy(self.places[:, None] - self.places)).numpy()

    def spread(self, places: np.ndarray, owner: np.ndarray, owners: int) -> np.ndarray:
        """What the pairs at these places come to at the nodes, summed by owner: [owners, n]."""
        first, parts = self.parts
        at = (owner * len(self) + first[places])[:, None] + np.arange(NODES)
        found = np.bincount(at.ravel(), parts[places].ravel(), owners * len(self))
        return found.reshape(owners, len(self))


def of_differences_(differences: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Of each difference the weight w of its term, in its place, and what the term adds to the loss
    and to the entropy, −w log w."""
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
    """What each node stands for of a value at these places between −1 and 1: [n, NODES]."""
    angles = np.arccos(np.clip(places, -1, 1))[:, None] * np.arange(NODES)
    of_nodes = np.arccos(chebyshev_points())[:, None] * np.arange(NODES)
    series = np.full(NODES, 2.0 / NODES)
    series[0] /= 2
    return np.cos(angles) @ (np.cos(of_nodes) * series).T
