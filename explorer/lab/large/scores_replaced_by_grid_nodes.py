"""Interpolation on a grid: a few nodes in place of many numbers.

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

MAX_RELATIVE_ERROR = 1e-6
# Distance of two nodes, and the nodes next to a number that stand for it: enough for this error.
NODE_DISTANCE, NODES_PER_NUMBER = 0.27, 8
NODE_OFFSETS = (
    np.arange(NODES_PER_NUMBER) - (NODES_PER_NUMBER - 1) / 2
)  # of these nodes from the middle between them
_COEFFICIENTS = np.linalg.inv(np.vander(NODE_OFFSETS, increasing=True)).T


@dataclass(frozen=True, eq=False)
class Nodes:
    """The nodes of numbers `scaled` [N]."""

    scaled: np.ndarray

    @cached_property
    def _least(self) -> float:
        return float(self.scaled.min())

    def __len__(self) -> int:
        """Number of nodes."""
        return len(self.places)

    @cached_property
    def places(self) -> np.ndarray:
        """Positions of the nodes."""
        count = int(np.ptp(self.scaled) / NODE_DISTANCE) + NODES_PER_NUMBER
        return self._least + NODE_DISTANCE * (np.arange(count) + NODE_OFFSETS[0] + 0.5)

    def parts(self, places: np.ndarray | slice) -> tuple[np.ndarray, np.ndarray]:
        """First node of the pairs at these places, and the part of each pair that each of its nodes
        stands for, [NODES, ·]."""
        position = (self.scaled[places] - self._least) / NODE_DISTANCE
        first = position.astype(np.int64)
        return first, interpolation(position - first - 0.5)

    @cached_property
    def weights(self) -> np.ndarray:
        """σ of every node against every node."""
        return logistic_weights_(torch.from_numpy(self.places[:, None] - self.places)).numpy()

    def spread(self, places: np.ndarray | slice, owner: np.ndarray, owners: int) -> np.ndarray:
        """Sums at the nodes of the pairs at these places, by owner: [owners, n]."""
        first, parts = self.parts(places)
        at = np.add.outer(np.arange(NODES_PER_NUMBER), owner * len(self) + first)
        sums = np.bincount(at.ravel(), parts.ravel(), owners * len(self))
        return sums.reshape(owners, len(self))

    def read(self, values: np.ndarray, places: slice, owner: np.ndarray) -> np.ndarray:
        """Values at the pairs of these places, from those of their owners at the nodes, [·, n]."""
        first, parts = self.parts(places)
        at = np.add.outer(np.arange(NODES_PER_NUMBER), owner * len(self) + first)
        return (values.ravel()[at] * parts).sum(axis=0)


def of_differences_(differences: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Replace each difference by its term's weight w; also return the term's part of the loss and
    of the entropy, −w log w."""
    addends, logs = logistic_terms(differences), log_logistic_weights(differences)
    weights = logistic_weights_(differences)
    return weights, addends, logs.mul_(weights).neg_()


def log_weights(differences: np.ndarray) -> np.ndarray:
    """The logarithms of the weights; −inf where there is no term."""
    return log_logistic_weights(torch.from_numpy(differences)).numpy()


def interpolation(places: np.ndarray) -> np.ndarray:
    """Coefficients of the nodes for values at these places [N], in steps from the middle between
    the nodes: [NODES, N]."""
    powers = np.ones((NODES_PER_NUMBER, len(places)))
    for power in range(1, NODES_PER_NUMBER):
        np.multiply(powers[power - 1], places, out=powers[power])
    return _COEFFICIENTS @ powers
