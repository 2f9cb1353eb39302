"""Triplet losses mined from the classes of a batch, without a matrix of all triplets.

hard: each anchor's farthest positive and nearest negative, found block by block in the matrix of
distances; only these pairs have a gradient. semi_hard, all: a few rows of distances at a time,
the negatives of each sorted once. What a positive needs of all negatives within its margin is
then a place in that order, a count and a prefix sum.

The losses are those of `gradient.with_gradient`: told which inputs want a gradient, they give
their value and a gradient for each input. The distances are those of `geometry`, or "chord", the
Euclidean distance of unit vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.nn.functional import pad

from losses import geometry
from losses.inputs import may_ask
from losses.reductions.classes import both_ways, class_numbers, class_sums, parts_of

TILE = 2**20  # distances at a time where whole rows are needed

Exact = tuple[Tensor, Sequence[Tensor | None]]


def mined(
    wanted: Sequence[bool],
    anchors: Tensor,
    classes: Tensor,
    mining: str,
    margin: float,
    distance: str,
) -> Exact:
    """mean max(0, d(a, p) − d(a, n) + m) over the triplets that `mining` finds.

    "all", "semi_hard" and "hard" as `losses.triplet`; "violating": all that have a loss.
    """
    given = (anchors, classes, margin, distance, any(wanted))
    if mining == "hard":
        loss, gradient = hardest(*given)
    elif mining == "semi_hard":
        loss, gradient = semi_hard(*given)
    else:
        loss, gradient = every(*given, violating=mining == "violating")
    return loss, (gradient, None, None, None, None)


def hardest(
    anchors: Tensor, classes: Tensor, margin: float, distance: str, wanted: bool
) -> tuple[Tensor, Tensor | None]:
    """Each anchor with its farthest positive and its nearest negative, the first of equals."""
    measure = Distances(anchors, distance)
    farthest, nearest = Largest(anchors), Largest(anchors)
    parts = parts_of(anchors)
    for at, rows in enumerate(parts):
        for columns in parts[at:]:
            alike = classes[rows, None] == classes[columns]
            within = measure(rows, columns)
            away = within.neg().masked_fill_(alike, -torch.inf)
            within.masked_fill_(~alike, -torch.inf)
            if rows == columns:
                within.fill_diagonal_(-torch.inf)
            farthest.add(rows, columns, within)
            nearest.add(rows, columns, away)
    valid = ~(farthest.value.isneginf() | nearest.value.isneginf())
    count = valid.sum().clamp_min(1)
    to_positive = measure.pairs(farthest.index)
    to_negative = measure.pairs(nearest.index)
    violations = (to_positive - to_negative + margin).relu().masked_fill(~valid, 0)
    loss = violations.sum() / count
    if not wanted:
        return loss, None
    share = (violations > 0).to(anchors.dtype) / count
    gradient = measure.pull_pairs(farthest.index, share * measure.slopes(to_positive))
    gradient -= measure.pull_pairs(nearest.index, share * measure.slopes(to_negative))
    return loss, measure.by_anchors(gradient)


def every(
    anchors: Tensor, classes: Tensor, margin: float, distance: str, wanted: bool, *, violating: bool
) -> tuple[Tensor, Tensor | None]:
    """All triplets; the mean over all of them, or over those that have a loss."""

    def terms(rows: Rows) -> tuple[Tensor, Tensor, Tensor | None]:
        negatives, places = rows.distances.masked_fill(rows.alike, torch.inf).sort(dim=1)
        reach = (rows.distances[:, rows.members] + margin).masked_fill_(~rows.partners, -torch.inf)
        within = torch.searchsorted(negatives, reach)
        sums = negatives.masked_fill_(negatives.isinf(), 0).cumsum(dim=1, dtype=torch.float64)
        sums = pad(sums, (1, 0)).gather(1, within)
        missed = within * reach.masked_fill_(~rows.partners, 0).double() - sums
        if not wanted:
            return missed.sum(), within.sum(), None
        # A negative is reached by the partners whose place in the order is beyond its own.
        beyond = torch.zeros_like(rows.distances[:, :1]).expand(-1, rows.distances.shape[1] + 1)
        beyond = beyond.scatter_add(1, within, rows.partners.to(beyond.dtype)).cumsum(dim=1)
        reached = beyond[:, :-1] - beyond[:, -1:]
        slopes = torch.empty_like(rows.distances).scatter_(1, places, reached)
        slopes.index_add_(1, rows.members, within.to(slopes.dtype))
        return missed.sum(), within.sum(), slopes

    def count(sizes: Tensor) -> Tensor:
        return ((sizes - 1) * (len(anchors) - sizes)).sum()

    return by_rows(anchors, classes, distance, terms, None if violating else count)


def semi_hard(
    anchors: Tensor, classes: Tensor, margin: float, distance: str, wanted: bool
) -> tuple[Tensor, Tensor | None]:
    """For each positive pair the nearest negative beyond it, else the farthest; the first of
    equals."""

    def terms(rows: Rows) -> tuple[Tensor, Tensor, Tensor | None]:
        strangers = rows.distances.masked_fill(rows.alike, torch.inf)
        negatives, places = strangers.sort(dim=1, stable=True)
        number = (~rows.alike).sum(dim=1, keepdim=True)
        farthest = negatives.gather(1, (number - 1).clamp_min(0))
        farthest = torch.searchsorted(negatives, farthest)
        to_positive = rows.distances[:, rows.members]
        beyond = torch.searchsorted(negatives, to_positive, right=True)
        chosen = torch.where(beyond < number, beyond, farthest)
        violations = (to_positive - negatives.gather(1, chosen) + margin).relu_()
        violations.masked_fill_(~(rows.partners & (number > 0)), 0)
        active = (violations > 0).to(violations.dtype)
        total = violations.sum(dtype=torch.float64)
        if not wanted:
            return total, active.sum(), None
        slopes = torch.zeros_like(rows.distances)
        slopes.scatter_add_(1, places.gather(1, chosen), -active)
        slopes.index_add_(1, rows.members, active)
        return total, active.sum(), slopes

    def count(sizes: Tensor) -> Tensor:
        return ((sizes - 1) * (sizes < len(anchors))).sum()

    return by_rows(anchors, classes, distance, terms, count)


class Rows:
    """Anchors of neighbouring classes: their distances to all, and who may be their positives.

    `distances` and `alike` are [A, N]. `members` [M] are those among whom the positives are,
    and `partners` [A, M] tells which of them are.
    """

    def __init__(
        self, distances: Tensor, numbers: Tensor, anchors: Tensor, members: Tensor
    ) -> None:
        self.distances = distances
        self.alike = numbers[anchors, None] == numbers
        self.members = members
        self.partners = self.alike[:, members] & (anchors[:, None] != members)


def by_rows(
    anchors: Tensor,
    classes: Tensor,
    distance: str,
    terms: Callable[[Rows], tuple[Tensor, Tensor, Tensor | None]],
    count: Callable[[Tensor], Tensor] | None,
) -> tuple[Tensor, Tensor]:
    """Σ of the terms of all rows / their number: `count` of the class sizes, or those not 0.

    `terms` gives of some rows the sum, the number of terms that are not 0, and the slopes of the
    sum in the distances, if they are wanted.
    """
    numbers = class_numbers(classes)
    ordered, order = numbers.sort(stable=True)
    measure = Distances(anchors, distance)
    everything = slice(0, len(anchors))
    gradient = torch.zeros_like(measure.wide)
    total = torch.zeros((), dtype=torch.float64, device=anchors.device)
    active = torch.zeros_like(total)
    size = max(1, TILE // len(anchors))
    for start in range(0, len(anchors), size):
        stop = min(start + size, len(anchors))
        rows, members = order[start:stop], order
        if may_ask(classes):
            first = torch.searchsorted(ordered, ordered[start])
            last = torch.searchsorted(ordered, ordered[stop - 1], right=True)
            members = order[int(first) : int(last)]
        distances = measure(rows, everything)
        sum_here, active_here, slopes = terms(Rows(distances, numbers, rows, members))
        total += sum_here
        active += active_here
        if slopes is not None:
            measure.pull(gradient, rows, distances, slopes)
    if count is not None:
        ones = torch.ones_like(total).expand(len(anchors))
        active = count(class_sums(numbers, ones)[numbers])
    active = active.clamp_min(1)
    by_anchors = measure.by_anchors((gradient / active).to(anchors.dtype))
    return (total / active).to(anchors.dtype), by_anchors


class Largest:
    """The largest term of each row and the first place where it stands, block by block."""

    def __init__(self, like: Tensor) -> None:
        self.value = like.new_full((len(like),), -torch.inf)
        self.index = torch.zeros(len(like), dtype=torch.int64, device=like.device)

    def add(self, rows: slice, columns: slice, terms: Tensor) -> None:
        for here, there in both_ways(rows, columns, terms):
            start = columns.start if here == rows else rows.start
            value, index = there.max(dim=1)
            better = value > self.value[here]  # of equals the earlier stays
            self.value[here] = torch.where(better, value, self.value[here])
            self.index[here] = torch.where(better, index + start, self.index[here])


class Distances:
    """d(z_i, z_k) of the rows of a batch, block by block, and the way back to its gradient.

    In float32 the Gram matrix would lose near duplicates to cancellation. It is taken in float64
    and rounded, so equal vectors are at equal distances from every other.
    """

    def __init__(self, anchors: Tensor, kind: str) -> None:
        self.anchors, self.kind = anchors, kind
        self.vectors = geometry.unit(anchors) if kind in ("cosine", "chord") else anchors
        self.wide = self.vectors if kind == "cosine" else self.vectors.double()
        self.by_gram = kind != "cosine" and anchors.dtype == torch.float32
        if self.by_gram:
            self.wide = self.wide - self.wide.mean(dim=0)
            self.squares = self.wide.square().sum(dim=1)

    def __call__(self, rows: slice | Tensor, columns: slice) -> Tensor:
        if self.kind == "cosine":
            return 1 - geometry.dot_matrix(self.vectors[rows], self.vectors[columns])
        if not self.by_gram:
            kind = "euclidean" if self.kind == "chord" else self.kind
            return geometry.distance_matrix(self.vectors[rows], self.vectors[columns], kind)
        sums = self.squares[rows, None] + self.squares[columns]
        squares = torch.addmm(sums, self.wide[rows], self.wide[columns].T, alpha=-2)
        squares.masked_fill_(squares < 1e-14 * sums, 0)  # no more than rounding
        squares = squares.to(self.vectors.dtype)
        return squares if self.kind == "squared_euclidean" else squares.sqrt_()

    def pull(self, gradient: Tensor, rows: Tensor, distances: Tensor, slopes: Tensor) -> None:
        """Add Σ_k G_ik ∂d_ik/∂z to the gradient, for the slopes G of some rows."""
        if self.kind == "cosine":
            gradient[rows] -= geometry.dot_matrix(slopes, self.wide.T)
            gradient.addmm_(slopes.T, self.wide[rows], alpha=-1)
            return
        weights = (slopes * self.slopes(distances)).to(self.wide.dtype)
        here = self.wide[rows]
        gradient[rows] += weights.sum(dim=1)[:, None] * here - weights @ self.wide
        gradient += weights.sum(dim=0)[:, None] * self.wide - weights.T @ here

    def pairs(self, partner: Tensor) -> Tensor:
        """d(z_i, z_partner(i))."""
        if self.kind == "cosine":
            return 1 - (self.vectors * self.vectors[partner]).sum(dim=1)
        kind = "euclidean" if self.kind == "chord" else self.kind
        return geometry.distance(self.vectors, self.vectors[partner], kind)

    def slopes(self, distances: Tensor) -> Tensor:
        """∂d/∂z_i as a multiple of z_i − z_k; of the cosine, of −z_k."""
        if self.kind == "cosine":
            return torch.ones_like(distances)
        if self.kind == "squared_euclidean":
            return torch.full_like(distances, 2)
        return (1 / distances).masked_fill_(distances == 0, 0)

    def pull_pairs(self, partner: Tensor, weights: Tensor) -> Tensor:
        """The gradient of Σ_i w_i d(z_i, z_partner(i)) from weights that hold its slopes."""
        there = self.vectors[partner]
        if self.kind == "cosine":
            gradient = -weights[:, None] * there
            return gradient.index_add_(0, partner, -weights[:, None] * self.vectors)
        gradient = weights[:, None] * (self.vectors - there)
        return gradient.clone().index_add_(0, partner, -gradient)

    def by_anchors(self, gradient: Tensor) -> Tensor:
        """The gradient of the anchors from that of their vectors."""
        if self.vectors is self.anchors:
            return gradient
        return geometry.unit_gradient(self.anchors, gradient)
