"""Steps along the sphere: the gradient's part along the tangent, a step, and the way back onto it.

All points [S, D] have length 1. A step leaves the sphere by a little and is scaled back to length
1; what an optimizer remembers of earlier steps is turned into the new tangent plane.
"""

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from lossprism.losses.geometry import unit

MOMENTUM = 0.9
ADAM = (0.9, 0.999)  # how long Adam remembers gradients, and their squares
EPSILON = 1e-8


def tangent(points: Tensor, vectors: Tensor) -> Tensor:
    """Return the part of vectors [S, D] along the sphere at these points: g − (g·u) u (S1 eq.
    31)."""
    return vectors - (vectors * points).sum(dim=1, keepdim=True) * points


def moved(points: Tensor, step: Tensor) -> Tensor:
    """Return the points after a step, back at length 1."""
    return unit(points + step)


class Plain:
    """Gradient descent."""

    def direction(self, _points: Tensor, gradient: Tensor) -> Tensor:
        return gradient

    def forget(self, _point: int) -> None:
        """Gradient descent remembers nothing."""


class Momentum:
    """Gradient descent that goes on in the direction of its earlier steps."""

    def __init__(self) -> None:
        self.velocity: Tensor | None = None

    def direction(self, points: Tensor, gradient: Tensor) -> Tensor:
        before = torch.zeros_like(points) if self.velocity is None else self.velocity
        self.velocity = tangent(points, before).mul_(MOMENTUM).add_(gradient)
        return self.velocity

    def forget(self, point: int) -> None:
        """Forget the earlier steps of a point."""
        if self.velocity is not None:
            self.velocity[point] = 0


class Adam:
    """Adam on the sphere: the squares are those of the length of each point's gradient, so that no
    axis is special (Bécigneul & Ganea 2019)."""

    def __init__(self) -> None:
        self.mean: Tensor | None = None
        self.square: Tensor | None = None
        self.steps: Tensor | None = None

    def direction(self, points: Tensor, gradient: Tensor) -> Tensor:
        of_mean, of_square = ADAM
        if self.mean is None or self.square is None or self.steps is None:
            self.mean, self.square = torch.zeros_like(points), torch.zeros_like(points[:, :1])
            self.steps = torch.zeros_like(self.square)
        self.steps += 1
        squares = gradient.square().sum(dim=1, keepdim=True)
        self.mean = tangent(points, self.mean).mul_(of_mean).add_(gradient, alpha=1 - of_mean)
        self.square.mul_(of_square).add_(squares, alpha=1 - of_square)
        mean = self.mean / (1 - of_mean**self.steps)
        square = self.square / (1 - of_square**self.steps)
        return mean / (square.sqrt() + EPSILON)

    def forget(self, point: int) -> None:
        """Forget the earlier gradients of a point."""
        for remembered in (self.mean, self.square, self.steps):
            if remembered is not None:
                remembered[point] = 0


OPTIMISERS: Mapping[str, Callable[[], Plain | Momentum | Adam]] = {
    "sgd": Plain,
    "momentum": Momentum,
    "adam": Adam,
}
