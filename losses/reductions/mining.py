"""Triplet losses mined from the classes of a batch, without a matrix of all triplets.

hard: each anchor's farthest positive and nearest negative, found block by block in the matrix of
distances; only these pairs have a gradient. semi_hard, all: some rows of distances at a time. A
few positives are compared with all negatives of their row. For many these are sorted once, and
what a positive needs of all within its margin is a place in that order, a count, a prefix sum.

The losses are those of `gradient.with_gradient`: told which inputs want a gradient, they give
their value and a gradient for each input. The distances are those of `geometry`, or "chord", the
Euclidean distance of unit vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

from losses import geometry
from losses.inputs import may_ask
from losses.reductions.classes import both_ways, parts_of

TILE = 2**20  # distances at a time where whole rows are needed
# Up to how many positives of an anchor comparing is faster than sorting: for a sum, for a least.
FEW, FEW_FOR_LEAST = 32, 6

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
    valid = torch.minimum(farthest.value, nearest.value) > -torch.inf
    count = valid.sum().clamp_min(1)
    violations = (farthest.value + nearest.value + margin).relu_().masked_fill_(~valid, 0)
    loss = violations.sum() / count
    if not wanted:
        return loss, None
    share = violations.sign() / count
    partners = torch.stack((farthest.index, nearest.index))
    lengths = torch.stack((farthest.value, -nearest.value))
    return loss, measure.pull_pairs(partners, lengths, torch.stack((share, -share)))


def every(
    anchors: Tensor, classes: Tensor, margin: float, distance: str, wanted: bool, *, violating: bool
) -> tuple[Tensor, Tensor | None]:
    """All triplets; the mean over all of them, or over those that have a loss."""

    def terms(rows: Rows) -> Terms:
        reach = rows.distances.gather(1, rows.positives) + margin
        reach.masked_fill_(~rows.present, -torch.inf)
        negatives = rows.distances.masked_fill(rows.alike, torch.inf)
        compare = _within_reach if reach.shape[1] <= FEW else _within_reach_of_many
        return compare(negatives, reach, rows.positives)

    def count(sizes: Tensor) -> Tensor:
        return ((sizes - 1) * (len(anchors) - sizes)).sum()

    return by_rows(anchors, classes, distance, terms, None if violating else count, wanted)


def _within_reach(negatives: Tensor, reach: Tensor, positives: Tensor) -> Terms:
    total = active = 0
    slopes = torch.zeros_like(negatives)
    some = max(1, TILE // negatives.numel())
    for limits, places in zip(reach.split(some, 1), positives.split(some, 1), strict=True):
        missed = (limits[:, :, None] - negatives[:, None, :]).relu_()
        total = total + missed.sum(dtype=torch.float64)
        reached = missed.sign_().sum(dim=2)
        active = active + reached.sum(dtype=torch.float64)
        slopes.scatter_add_(1, places, reached)
        slopes -= missed.sum(dim=1)
    return total, active, slopes


def _within_reach_of_many(negatives: Tensor, reach: Tensor, positives: Tensor) -> Terms:
    negatives, places = negatives.sort(dim=1)
    within = torch.searchsorted(negatives, reach)
    sums = negatives.masked_fill_(negatives.isinf(), 0).cumsum(dim=1, dtype=torch.float64)
    sums = pad(sums, (1, 0)).gather(1, within)
    missed = within * reach.masked_fill(within == 0, 0).double() - sums
    # A negative is reached by the positives whose place in the order is beyond its own.
    beyond = negatives.new_zeros(len(negatives), negatives.shape[1] + 1)
    beyond.scatter_add_(1, within, torch.ones_like(reach))
    beyond = beyond.cumsum(dim=1)
    slopes = torch.empty_like(negatives).scatter_(1, places, beyond[:, :-1] - beyond[:, -1:])
    slopes.scatter_add_(1, positives, within.to(slopes.dtype))
    return missed.sum(), within.sum(), slopes


def semi_hard(
    anchors: Tensor, classes: Tensor, margin: float, distance: str, wanted: bool
) -> tuple[Tensor, Tensor | None]:
    """For each positive pair the nearest negative beyond it, else the farthest; the first of
    equals."""

    def terms(rows: Rows) -> Terms:
        to_positive = rows.distances.gather(1, rows.positives)
        negatives = rows.distances.masked_fill(rows.alike, torch.inf)
        nearest = _nearest_beyond if to_positive.shape[1] <= FEW_FOR_LEAST else _nearest_beyond_many
        beyond, place = nearest(negatives, to_positive)
        last, last_place = rows.distances.masked_fill(rows.alike, -torch.inf).max(1, keepdim=True)
        none = beyond.isinf()
        to_negative = torch.where(none, last, beyond)
        violations = (to_positive - to_negative + margin).relu_()
        violations.masked_fill_(~rows.present | last.isneginf(), 0)
        total = violations.sum(dtype=torch.float64)
        active = violations.sign_()
        slopes = torch.zeros_like(negatives).scatter_add_(1, rows.positives, active)
        slopes.scatter_add_(1, torch.where(none, last_place, place), -active)
        return total, active.sum(), slopes

    def count(sizes: Tensor) -> Tensor:
        return ((sizes - 1) * (sizes < len(anchors))).sum()

    return by_rows(anchors, classes, distance, terms, count, wanted)


def _nearest_beyond(negatives: Tensor, to_positive: Tensor) -> tuple[Tensor, Tensor]:
    """For each positive the nearest negative farther than it, inf if there is none."""
    found = []
    for lengths in to_positive.split(max(1, TILE // negatives.numel()), 1):
        others = negatives[:, None, :].expand(-1, lengths.shape[1], -1)
        found.append(others.masked_fill(others <= lengths[:, :, None], torch.inf).min(dim=2))
    beyond, places = zip(*found, strict=True)
    return torch.cat(beyond, dim=1), torch.cat(places, dim=1)


def _nearest_beyond_many(negatives: Tensor, to_positive: Tensor) -> tuple[Tensor, Tensor]:
    negatives, places = negatives.sort(dim=1, stable=True)
    beyond = torch.searchsorted(negatives, to_positive, right=True)
    beyond.clamp_max_(negatives.shape[1] - 1)
    return negatives.gather(1, beyond), places.gather(1, beyond)


class Rows(NamedTuple):
    """Anchors with their distances to all: `distances` and `alike` (of one class) are [A, N].

    `positives` [A, P] are the others of their class; where there are fewer than P, `present` is
    False and an arbitrary one fills the place.
    """

    distances: Tensor
    alike: Tensor
    positives: Tensor
    present: Tensor


# Of some rows: the sum, the number of terms that are not 0, the slopes of the sum in distances.
Terms = tuple[Tensor, Tensor, Tensor]


def by_rows(
    anchors: Tensor,
    classes: Tensor,
    distance: str,
    terms: Callable[[Rows], Terms],
    count: Callable[[Tensor], Tensor] | None,
    wanted: bool,
) -> tuple[Tensor, Tensor | None]:
    """Σ of the terms of all rows / their number: `count` of the class sizes, or those not 0."""
    measure = Distances(anchors, distance)
    ordered, order = classes.sort()
    starts = torch.searchsorted(ordered, ordered)
    sizes = torch.searchsorted(ordered, ordered, right=True) - starts
    step = torch.arange(len(anchors), device=anchors.device)
    offsets = step - starts
    gradient = torch.zeros_like(measure.wide)
    total = active = 0
    at_once = max(1, TILE // len(anchors))
    for start in range(0, len(anchors), at_once):
        part = slice(start, start + at_once)
        rows, size = order[part], sizes[part, None]
        most = int(size.max()) if may_ask(classes) else len(anchors)
        steps = step[1:most]
        positives = order[starts[part, None] + (offsets[part, None] + steps) % size]
        distances = measure(rows, slice(0, len(anchors)))
        alike = classes[rows, None] == classes
        here = terms(Rows(distances, alike, positives, steps < size))
        total, active = total + here[0], active + here[1]
        if wanted:
            measure.pull(gradient, rows, distances, here[2])
    if count is not None:
        active = count(sizes).double()
    active = active.clamp_min(1)
    loss = (total / active).to(anchors.dtype)
    return loss, measure.by_anchors((gradient / active).to(anchors.dtype)) if wanted else None


class Largest:
    """The largest term of each row and the first place where it stands, block by block."""

    def __init__(self, like: Tensor) -> None:
        self.like = like
        self.value = self.index = None

    def add(self, rows: slice, columns: slice, terms: Tensor) -> None:
        count = len(self.like)
        if len(terms) == count:
            self.value, self.index = terms.max(dim=1)
            return
        if self.value is None:
            self.value = self.like.new_full((count,), -torch.inf)
            self.index = torch.zeros(count, dtype=torch.int64, device=self.like.device)
        for here, there in both_ways(rows, columns, terms):
            start = columns.start if here == rows else rows.start
            value, index = there.max(dim=1)
            better = value > self.value[here]  # of equals the earlier stays
            self.value[here] = torch.where(better, value, self.value[here])
            self.index[here] = torch.where(better, index.add_(start), self.index[here])


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
        if len(weights) == len(gradient):  # all rows at once: both ways in one product
            weights = torch.empty_like(weights).index_copy_(0, rows, weights)
            weights = weights + weights.T
            gradient.addmm_(weights, self.wide, alpha=-1)
            gradient.addcmul_(weights.sum(dim=1)[:, None], self.wide)
            return
        here = self.wide[rows]
        gradient[rows] += weights.sum(dim=1)[:, None] * here - weights @ self.wide
        gradient.addmm_(weights.T, here, alpha=-1)
        gradient.addcmul_(weights.sum(dim=0)[:, None], self.wide)

    def slopes(self, distances: Tensor) -> Tensor:
        """∂d/∂z_i as a multiple of z_i − z_k; of the cosine, of −z_k."""
        if self.kind == "cosine":
            return torch.ones_like(distances)
        if self.kind == "squared_euclidean":
            return torch.full_like(distances, 2)
        return (1 / distances).masked_fill_(distances == 0, 0)

    def pull_pairs(self, partners: Tensor, lengths: Tensor, weights: Tensor) -> Tensor:
        """The gradient of Σ w d(z_i, z_partner(i)) over [P, N] partners at their distances."""
        weights = (weights * self.slopes(lengths))[:, :, None]
        there = self.vectors[partners]
        if self.kind == "cosine":
            pulls, backwards = -weights * there, -weights * self.vectors
        else:
            pulls = weights * (self.vectors - there)
            backwards = -pulls
        gradient = pulls.sum(dim=0)
        return self.by_anchors(gradient.index_add_(0, partners.flatten(), backwards.flatten(0, 1)))

    def by_anchors(self, gradient: Tensor) -> Tensor:
        """The gradient of the anchors from that of their vectors."""
        if self.vectors is self.anchors:
            return gradient
        return geometry.unit_gradient(self.anchors, gradient)
