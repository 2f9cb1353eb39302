"""How far collapsed: all vectors moved towards their mean, until they are one point.

At a share c each vector is (1 − c) of itself and c of the mean of all, at its own length if vectors
have one length. Each loss runs to its value at collapse, whose line the page draws; one that falls
on the way would rather have the encoder say the same of everything than what it says now.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from explorer.core.batch import Batch
from explorer.core.explore import Exploration, explore
from explorer.core.scenario import Scenario
from explorer.runtime.problem import Problem
from losses.geometry import unit

POINTS, MOST_POINTS = 21, 200
# What is less than this of a loss is rounding.
FALLEN = 1e-9


@dataclass(frozen=True)
class Way:
    """One loss on its way: its value at each share, `line` its value at collapse as its `LossSpec`
    has it (None where that is not known), `reached` its value at the last share.

    `falls`: at the end it is below where it started. `lowest` is the share at which it is least;
    above 0 for a loss that falls first and then rises. `arrives`: it ends on its line."""

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
    """All losses at the same `shares`, from 0, as the batch is, to 1, one point; `spread` is that
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
        Problem: if the batch has no vectors, or `points` is below 2 or above 200.
    """
    if not 2 <= points <= MOST_POINTS:
        raise Problem("sweep_points", about="loss", points=points, most=MOST_POINTS)
    shares = tuple(torch.linspace(0, 1, points, dtype=torch.float64).tolist())
    moved = [moved_together(batch, share) for share in shares]
    spread = tuple(float(one.scores.max() - one.scores.min()) for one in moved)
    ways = tuple(_way(scenario, moved, shares) for scenario in scenarios)
    return Collapsing(shares, spread, ways)


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


def _way(scenario: Scenario, moved: Sequence[Batch], shares: Sequence[float]) -> Way:
    found: list[Exploration] = [explore(scenario, one) for one in moved]
    values = tuple(one.loss for one in found)
    start, end, line = values[0], values[-1], found[-1].collapse
    size = max(abs(start), abs(end), 1e-12)
    return Way(
        loss=found[0].spec.name,
        convention=scenario.convention,
        values=values,
        line=line,
        reached=end,
        falls=end < start - FALLEN * size,
        lowest=shares[min(range(len(values)), key=values.__getitem__)],
        arrives=None if line is None else abs(end - line) <= 1e-6 * max(abs(line), 1),
    )
