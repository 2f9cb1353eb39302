"""Losses on the way to collapse: all vectors moved towards their mean, until they are one point.

At a share c each vector is (1 − c) of itself and c of the mean of all, at its own length if vectors
have one length. Each loss runs to its value at collapse, whose line the page draws. A loss that
falls on the way prefers an encoder that maps everything to one point to the present one.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from lossprism.explorer.core.batch import Batch
from lossprism.explorer.core.explore import Exploration, explore
from lossprism.explorer.core.own_loss_from_python_file import own_loss_errors
from lossprism.explorer.core.resolved_scenario import resolve
from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.runtime import jobs
from lossprism.explorer.runtime.problem import Problem
from lossprism.losses.geometry import unit

POINTS, MAX_POINTS = 21, 200
# What is less than this of a loss is rounding.
MIN_FALL_SHARE = 1e-9


@dataclass(frozen=True)
class Way:
    """A loss on its way: its value at each share, `line` its value at collapse by its `LossSpec`
    (None where that is not known), `reached` its value at the last share.

    `falls`: at the end it is below its start. `lowest` is the share at which it is least; above 0
    for a loss that falls first and then rises. `arrives`: it ends on its line.
    """

    loss: str
    convention: str
    values: tuple[float, ...]
    line: float | None
    reached: float
    falls: bool
    lowest: float
    arrives: bool | None


@dataclass(frozen=True)
class Collapsing:
    """Losses at the same `shares`, from 0, the batch itself, to 1, one point; `spread` is that
    between the largest and the smallest cosine of a pair on the way."""

    shares: tuple[float, ...]
    spread: tuple[float, ...]
    ways: tuple[Way, ...]

    @property
    def falling(self) -> tuple[Way, ...]:
        """The losses that rather have all vectors alike."""
        return tuple(way for way in self.ways if way.falls)


def collapsing(scenarios: Sequence[Scenario], batch: Batch, points: int = POINTS) -> Collapsing:
    """Run each loss on a batch whose vectors are moved towards their mean, step by step.

    Raises:
        Problem: if the batch has no vectors, `points` is below 2 or above 200, or a loss cannot be
            run on the batch.
    """
    path = path_of(batch, points)
    return Collapsing(path.shares, path.spread, tuple(way_along(path, one) for one in scenarios))


@dataclass(frozen=True, eq=False)
class Path:
    """A `batch` on its way to one point, seen at the `shares`; `spread` as in `Collapsing`. Where
    it is at a share is worked out anew for each loss: two hundred batches are no small thing to
    hold."""

    batch: Batch
    shares: tuple[float, ...]
    spread: tuple[float, ...]

    def at(self, share: float) -> Batch:
        jobs.check()
        return moved_together(self.batch, share)


def path_of(batch: Batch, points: int = POINTS) -> Path:
    """The batch moved towards one point in so many steps, 2 to 200. Raises Problem without
    vectors."""
    if not 2 <= points <= MAX_POINTS:
        raise Problem("sweep_points", about="loss", points=points, most=MAX_POINTS)
    shares = tuple(torch.linspace(0, 1, points, dtype=torch.float64).tolist())
    return Path(batch, shares, tuple(_spread(batch, share) for share in shares))


def _spread(batch: Batch, share: float) -> float:
    jobs.check()
    scores = moved_together(batch, share).scores
    return float(scores.max() - scores.min())


def moved_together(batch: Batch, share: float) -> Batch:
    """The batch with each vector this share of its way to the mean of all; 0 leaves it as it is."""
    if share == 0:
        return batch if batch.given is None else dataclasses.replace(batch, given=None)
    vectors = batch.needed_vectors.detach()
    return dataclasses.replace(batch, vectors=_mixed(vectors, share), given=None)


def _mixed(vectors: Tensor, share: float) -> Tensor:
    lengths = vectors.norm(dim=1, keepdim=True)
    mean = vectors.mean(dim=0)
    mixed = (1 - share) * vectors + share * mean
    if not bool(torch.isclose(lengths, lengths[:1], rtol=1e-3).all()):
        return mixed
    if float(mean.norm()) <= 1e-12 * float(lengths[0]):  # there is no way to go
        mixed = (1 - share) * vectors + share * vectors[0]
    return unit(mixed) * lengths.mean()


def way_along(path: Path, scenario: Scenario) -> Way:
    """Explore a loss at both ends of the way, and run its definition without gradients between
    them.

    Raises Problem as `explore`.
    """
    shares, (first, *between, last) = path.shares, path.shares
    resolved = resolve(scenario)
    start, end = explore(resolved, path.at(first)), explore(resolved, path.at(last))
    with torch.no_grad(), own_loss_errors(start.spec):
        values = (start.loss, *(_value(start, path.at(one)) for one in between), end.loss)
    size = max(abs(start.loss), abs(end.loss), 1e-12)
    line = end.collapse
    return Way(
        loss=start.spec.name,
        convention=scenario.convention,
        values=values,
        line=line,
        reached=end.loss,
        falls=end.loss < start.loss - MIN_FALL_SHARE * size,
        lowest=shares[min(range(len(values)), key=values.__getitem__)],
        arrives=None if line is None else abs(end.loss - line) <= 1e-6 * max(abs(line), 1),
    )


def _value(e: Exploration, batch: Batch) -> float:
    reads = e.spec.reads.items()
    inputs = {name: batch.read(what, batch.vectors, batch.scores) for name, what in reads}
    called: dict[str, Any] = {**inputs, **e.parameters}
    return float(e.spec.definition(**called))
