"""A film: the points of a batch after each step down the gradient of a loss."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from lossprism.explorer.core.batch import Batch
from lossprism.explorer.core.explore import check_batch, value_on
from lossprism.explorer.core.resolved_scenario import Resolved
from lossprism.explorer.lab.sphere.film_metrics import Measures, measures
from lossprism.explorer.lab.sphere.optimisers import OPTIMISERS, moved, tangent
from lossprism.explorer.locale import title_word
from lossprism.explorer.runtime import jobs
from lossprism.explorer.runtime.problem import Problem
from lossprism.losses.geometry import unit

MAX_POINTS, MAX_STEPS, MAX_MOVES = 64, 400, 24
CHECK_EVERY = 20  # steps between looks whether anybody still waits
ANGLE_UNITS_PER_DEGREE = 10  # of a degree: the unit of a move's angles
# For waiting one's turn: measured at 64 points, 0.9 s for 200 steps of the slowest losses.
SECONDS_PER_STEP = 0.005


@dataclass(frozen=True)
class Move:
    """A point that a hand puts elsewhere before a step: to an azimuth, from 0 to 3600, and on a
    sphere to an angle from its pole, from 0 to 1800; both in tenths of a degree."""

    step: int
    point: int
    azimuth: int
    polar: int

    def place(self, dimension: int) -> list[float]:
        """Return the place that the point is put to, [D]."""
        around = math.radians(self.azimuth / ANGLE_UNITS_PER_DEGREE)
        if dimension == 2:
            return [math.cos(around), math.sin(around)]
        down = math.radians(self.polar / ANGLE_UNITS_PER_DEGREE)
        level = math.sin(down)
        return [level * math.cos(around), level * math.sin(around), math.cos(down)]


@dataclass(frozen=True)
class Steps:
    """Steps of an optimiser at a learning rate: how many, and the points that a hand moves on the
    way."""

    optimiser: str = "sgd"
    rate: float = 1.0
    count: int = 200
    moves: tuple[Move, ...] = ()


@dataclass(frozen=True, eq=False)
class Film:
    """The points after 0, 1, … T steps, `frames` [T + 1, S, D], and of each frame the loss, the
    norm of its gradient along the sphere, [T + 1] each, and what else is measured."""

    frames: Tensor
    loss: Tensor
    gradient: Tensor
    measures: Measures


def film(resolved: Resolved, batch: Batch, steps: Steps) -> Film:
    """Move the points of a batch, its vectors at length 1, down the gradient of a loss.

    Raises:
        Problem: if the loss reads what free points do not have, or its gradient is no number.
    """
    check_reads(resolved, batch)
    optimiser = OPTIMISERS[steps.optimiser]()
    points = unit(batch.needed_vectors.detach())
    frames, losses, gradients = [], [], []
    for number in range(steps.count + 1):
        if number % CHECK_EVERY == 0:
            jobs.check()
        points = _with_moves(points, steps, number, optimiser.forget)
        loss, gradient = _downhill(resolved, batch, points)
        if not bool(gradient.isfinite().all()):
            raise Problem("sphere_gradient", loss=title_word(resolved.spec), step=number)
        frames.append(points)
        losses.append(loss)
        gradients.append(gradient.norm())
        points = moved(points, -steps.rate * optimiser.direction(points, gradient))
    shown = torch.stack(frames)
    return Film(shown, torch.stack(losses), torch.stack(gradients), measures(shown, batch))


def _downhill(resolved: Resolved, batch: Batch, points: Tensor) -> tuple[Tensor, Tensor]:
    """Return the loss of these points, and its gradient along the sphere, [S, D]."""
    leaves = points.clone().requires_grad_()
    loss = value_on(resolved, batch, leaves)
    if not loss.requires_grad:
        return loss, torch.zeros_like(points)
    (found,) = torch.autograd.grad(loss, leaves, allow_unused=True)
    gradient = torch.zeros_like(points) if found is None else found
    return loss.detach(), tangent(points, gradient)


def _with_moves(points: Tensor, steps: Steps, number: int, forget) -> Tensor:
    for move in steps.moves:
        if move.step == number:
            points = points.clone()
            points[move.point] = points.new_tensor(move.place(points.shape[1]))
            forget(move.point)
    return points


def check_reads(resolved: Resolved, batch: Batch) -> None:
    """Raise Problem if the loss reads what these points do not have: labels, lists, a teacher, a
    guide."""
    spec, about = resolved.spec, {"loss": title_word(resolved.spec)}
    check_batch(batch, spec)
    missing = batch.lacking(spec.reads.values())
    if missing is not None and missing.about in ("lists", "teacher", "teacher_vectors"):
        raise Problem(f"sphere_{missing.about}", about="loss", **about)
    if spec.reads_guide and batch.guide is None:
        raise Problem("sphere_guide", about="loss", **about)
