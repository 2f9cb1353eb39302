"""Triplet losses mined from the classes of a batch, without a matrix of all triplets.

hard: each anchor's farthest positive and nearest negative, found block by block in the matrix of
distances; only these pairs have a gradient. semi_hard, all: some rows of distances at a time. A few
positives are compared with all negatives of their row. For many, the negatives are sorted once, and
all that a positive needs is a place in that order, a count, a prefix sum.

The losses are those of `value_with_gradient.with_gradient`: given which inputs need a gradient,
they return their value and a gradient for each input. The distances are those of `geometry`, or
"chord", the Euclidean distance of unit vectors.
"""

from collections.abc import Sequence
from functools import partial, reduce
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

from lossprism.losses import geometry
from lossprism.losses.input_checks import may_ask
from lossprism.losses.kernels.class_label_losses import both_ways, parts_of
from lossprism.losses.kernels.stable_functions import softplus
from lossprism.losses.kernels.tile_sizes import rows_at_once
from lossprism.losses.torch_internals import cdist_backward

TILE_CELLS = 2**20  # distances at a time where whole rows are needed
# Up to how many positives of an anchor comparing is faster than sorting: for a sum, for a least.
MAX_POSITIVES, MAX_POSITIVES_FOR_LEAST = 32, 6
# Up to how many rows all differences are as fast as a product, for distances that are taken all at
# once and for their gradient.
MAX_ROWS_AT_ONCE = 192

Exact = tuple[Tensor, Sequence[Tensor | None]]


def mined(
    needs_grad: Sequence[bool],
    anchors: Tensor,
    classes: Tensor,
    mining: str,
    margin: float,
    distance: str,
) -> Exact:
    """Compute mean max(0, d(a, p) − d(a, n) + m) over the triplets that `mining` selects.

    "all", "semi_hard" and "hard" as `losses.triplet`; "violating": all with a loss. With the prefix
    "soft_", log(1 + exp(·)) replaces max(0, ·).
    """
    arguments = (anchors, classes, margin, distance, any(needs_grad))
    if mining in ("hard", "soft_hard"):
        loss, gradient = hardest(*arguments, soft=mining != "hard")
    else:
        loss, gradient = by_rows(mining, *arguments)
    return loss, (gradient, None, None, None, None)


def hardest(
    anchors: Tensor,
    classes: Tensor,
    margin: float,
    distance: str,
    needs_grad: bool,
    *,
    soft: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Compute the loss of each anchor's farthest positive and nearest negative, the first of
    ties."""
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
    violations = farthest.value + nearest.value + margin
    terms = (softplus(violations) if soft else violations.relu_()).masked_fill_(~valid, 0)
    loss = (terms / count).sum()  # the mean may fit where the sum would overflow
    if not needs_grad:
        return loss, None
    slopes = violations.sigmoid_() if soft else terms.sign()
    share = slopes.masked_fill_(~valid, 0) / count
    partners = torch.stack((farthest.index, nearest.index))
    lengths = torch.stack((farthest.value, -nearest.value))
    return loss, measure.pull_pairs(partners, lengths, torch.stack((share, -share)))


def lifted(
    needs_grad: Sequence[bool], anchors: Tensor, classes: Tensor, margin: float, distance: str
) -> Exact:
    """Compute ½ mean [log(Σ_k e^{m − d_ik} + Σ_l e^{m − d_jl}) + d_ij]₊² over all (i, j) of one
    class, with the k and l of other classes."""
    if may_ask(classes) and len(classes.unique()) == len(classes):  # without a positive pair
        return anchors.new_zeros(()), (torch.zeros_like(anchors), None, None, None)
    every = slice(0, len(anchors))
    parts = torch.arange(len(anchors), device=anchors.device).split(
        rows_at_once(TILE_CELLS, len(anchors), anchors)
    )
    measure = Distances(anchors, distance, at_once=len(parts) == 1)
    measured = measure(every, every) if len(parts) == 1 else None

    def seen(rows: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the distances of some rows, the mask of their class, and m − d to the others."""
        distances = measure(rows, every) if measured is None else measured
        alike = classes[rows, None] == classes
        return distances, alike, (margin - distances).masked_fill_(alike, -torch.inf)

    views = [seen(rows) for rows in parts] if measured is not None else None
    levels = torch.cat([away.logsumexp(dim=1) for *_, away in views or map(seen, parts)])
    levels.clamp_min_(torch.finfo(levels.dtype).min / 4)  # where there is no negative
    gradient = torch.zeros_like(measure.wide) if measured is None else levels
    slopes = levels
    total = pairs = levels.new_zeros((), dtype=torch.float64)
    for rows, (distances, alike, away) in zip(parts, views or map(seen, parts), strict=True):
        alike.scatter_(1, rows[:, None], False)
        own = levels[rows, None]
        missed = torch.logaddexp(own, levels).add_(distances).relu_().mul_(alike)
        total, pairs = total + missed.square().sum(dtype=torch.float64), pairs + alike.sum()
        if any(needs_grad):  # a pair is there twice, and moves the levels of both its ends
            moved = (missed * (own - levels).sigmoid_()).sum(dim=1, keepdim=True).mul_(-2)
            slopes = missed.addcmul_(away.sub_(own).exp_(), moved)
            if measured is None:
                measure.pull(gradient, rows, distances, slopes)
    pairs = pairs.clamp_min(1)
    loss = (total / pairs / 2).to(anchors.dtype)
    if not any(needs_grad):
        return loss, ()
    if measured is not None:
        by_anchors = measure.pulled(measured, slopes.div_(pairs))
    else:
        by_anchors = measure.by_anchors((gradient / pairs).to(anchors.dtype))
    return loss, (by_anchors, None, None, None)


class Rows(NamedTuple):
    """Anchors with their distances to all: `distances` and `alike` (of one class) are [A, N].

    `positives` [A, P] are others of their class, at the distances `to_positive`; anchors with fewer
    than P have arbitrary ones in the remaining places, at −∞.
    """

    distances: Tensor
    alike: Tensor
    positives: Tensor
    to_positive: Tensor


# Of some rows: the sum, the number of terms that are not 0, the slopes of the sum in distances.
Terms = tuple[Tensor, Tensor, Tensor]


def _cost(violations: Tensor, soft: bool) -> tuple[Tensor, Tensor]:
    """Return the sum of the hinges of all violations, or of their soft forms, and replace them by
    slopes."""
    if soft:
        return softplus(violations).sum(dtype=torch.float64), violations.sigmoid_()
    total = violations.relu_().sum(dtype=torch.float64)
    return total, violations.sign_()


def of_hard(rows: Rows, margin: float, soft: bool = False) -> Terms:
    """Select each anchor's nearest negative, the first of ties, for the only positive of its
    row."""
    negatives = rows.distances.masked_fill(rows.alike, torch.inf)
    return _compared(rows, *negatives.min(dim=1, keepdim=True), margin, soft)


def of_semi_hard(rows: Rows, margin: float, soft: bool = False) -> Terms:
    """Select for each positive pair the nearest negative beyond it, else the farthest; the first of
    ties."""
    negatives = rows.distances.masked_fill(rows.alike, torch.inf)
    few = rows.positives.shape[1] <= MAX_POSITIVES_FOR_LEAST
    beyond, place = (_nearest_beyond if few else _nearest_beyond_many)(negatives, rows.to_positive)
    last, last_place = rows.distances.masked_fill(rows.alike, -torch.inf).max(1, keepdim=True)
    none = beyond == torch.inf
    # Where there is no negative at all, one at infinity has no violation.
    last.masked_fill_(last == -torch.inf, torch.inf)
    beyond, place = torch.where(none, last, beyond), torch.where(none, last_place, place)
    return _compared(rows, beyond, place, margin, soft)


def _compared(
    rows: Rows, to_negative: Tensor, negatives: Tensor, margin: float, soft: bool
) -> Terms:
    """Compare each positive with its one negative."""
    total, active = _cost(rows.to_positive - to_negative + margin, soft)
    slopes = torch.zeros_like(rows.distances).scatter_add_(1, rows.positives, active)
    slopes.scatter_add_(1, negatives, -active)
    return total, active.sum(), slopes


def of_every(rows: Rows, margin: float, soft: bool = False) -> Terms:
    """Compare every positive with every negative."""
    negatives = rows.distances.masked_fill(rows.alike, torch.inf)
    if soft:
        return _within_reach(negatives, rows.to_positive + margin, rows.positives, soft)
    compare = _within_reach if rows.positives.shape[1] <= MAX_POSITIVES else _within_reach_of_many
    return compare(negatives, rows.to_positive + margin, rows.positives)


TERMS = {"hard": of_hard, "semi_hard": of_semi_hard, "all": of_every, "violating": of_every}
TERMS |= {f"soft_{mining}": partial(terms, soft=True) for mining, terms in TERMS.items()}


def _within_reach(negatives: Tensor, reach: Tensor, positives: Tensor, soft: bool = False) -> Terms:
    slopes = torch.zeros_like(negatives)

    def compared(limits: Tensor, places: Tensor) -> tuple[Tensor, Tensor]:
        total, active = _cost(limits[:, :, None] - negatives[:, None, :], soft)
        reached = active.sum(dim=2)
        slopes.scatter_add_(1, places, reached).sub_(active.sum(dim=1))
        return total, reached.sum(dtype=torch.float64)

    some = rows_at_once(TILE_CELLS, negatives.numel(), negatives)
    if reach.shape[1] <= some:
        return *compared(reach, positives), slopes
    parts = zip(reach.split(some, 1), positives.split(some, 1), strict=True)
    totals, actives = zip(*(compared(*part) for part in parts), strict=True)
    return reduce(torch.add, totals), reduce(torch.add, actives), slopes


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


def _nearest_beyond(negatives: Tensor, to_positive: Tensor) -> tuple[Tensor, Tensor]:
    """Return for each positive the nearest negative farther than it, inf if there is none."""
    some = rows_at_once(TILE_CELLS, negatives.numel(), negatives)
    if to_positive.shape[1] <= some:
        others, lengths = negatives[:, None, :], to_positive[:, :, None]
        return torch.where(others > lengths, others, torch.inf).min(dim=2)
    parts = (_nearest_beyond(negatives, part) for part in to_positive.split(some, 1))
    beyond, places = zip(*parts, strict=True)
    return torch.cat(beyond, dim=1), torch.cat(places, dim=1)


def _nearest_beyond_many(negatives: Tensor, to_positive: Tensor) -> tuple[Tensor, Tensor]:
    negatives, places = negatives.sort(dim=1, stable=True)
    beyond = torch.searchsorted(negatives, to_positive, right=True)
    beyond.clamp_max_(negatives.shape[1] - 1)
    return negatives.gather(1, beyond), places.gather(1, beyond)


def number_of_terms(mining: str, sizes: Tensor, active: Tensor) -> Tensor:
    """Return the number of terms of the mean, from the size of each anchor's class; or `active`
    ones."""
    if mining == "violating":
        return active
    mining = mining.removeprefix("soft_")
    partners, strangers = sizes - 1, len(sizes) - sizes
    if mining == "all":
        return (partners * strangers).sum()  # CUDA has no dot product of whole numbers
    if mining == "hard":
        partners = partners.sign()
    return (partners * strangers.sign()).sum()


def by_rows(
    mining: str, anchors: Tensor, classes: Tensor, margin: float, distance: str, needs_grad: bool
) -> tuple[Tensor, Tensor | None]:
    """Compute Σ of the terms of all rows / their number."""
    measure = Distances(anchors, distance)
    ordered, order = classes.sort()
    starts = torch.searchsorted(ordered, ordered)
    sizes = torch.searchsorted(ordered, ordered, right=True) - starts
    step = torch.arange(len(anchors), device=anchors.device)
    offsets = step - starts
    gradient = torch.zeros_like(measure.wide)
    total = active = gradient.new_zeros((), dtype=torch.float64)
    at_once = rows_at_once(TILE_CELLS, len(anchors), anchors)
    for start in range(0, len(anchors), at_once):
        part = slice(start, start + at_once)
        rows, size = order[part], sizes[part, None]
        most = int(size.max()) if may_ask(classes) else len(anchors)
        steps = step[1:most]
        positives = order[starts[part, None] + (offsets[part, None] + steps) % size]
        distances = measure(rows, slice(0, len(anchors)))
        alike = classes[rows, None] == classes
        to_positive = distances.gather(1, positives).masked_fill_(steps >= size, -torch.inf)
        here = TERMS[mining](Rows(distances, alike, positives, to_positive), margin)
        total, active = total + here[0], active + here[1]
        if needs_grad:
            measure.pull(gradient, rows, distances, here[2])
    count = number_of_terms(mining, sizes, active).double().clamp_min(1)
    loss = (total / count).to(anchors.dtype)
    return loss, measure.by_anchors((gradient / count).to(anchors.dtype)) if needs_grad else None


class Largest:
    """Running maximum of the terms of each row and its first place, block by block."""

    def __init__(self, like: Tensor) -> None:
        self.like = like
        self.empty = True  # until a block comes, and with it the two
        self.value: Tensor
        self.index: Tensor

    def add(self, rows: slice, columns: slice, terms: Tensor) -> None:
        count = len(self.like)
        if len(terms) == count:
            self.value, self.index = terms.max(dim=1)
            return
        if self.empty:
            self.empty = False
            self.value = self.like.new_full((count,), -torch.inf)
            self.index = torch.zeros(count, dtype=torch.int64, device=self.like.device)
        for here, there in both_ways(rows, columns, terms):
            start = columns.start if here == rows else rows.start
            value, index = there.max(dim=1)
            better = value > self.value[here]  # of equals the earlier stays
            self.value[here] = torch.where(better, value, self.value[here])
            self.index[here] = torch.where(better, index.add_(start), self.index[here])


class Distances:
    """Distances d(z_i, z_k) of the rows of a batch, block by block, and their gradient.

    In float32 the Gram matrix would lose near duplicates to cancellation. It is computed in float64
    and rounded, so equal vectors are at equal distances from every other. For few rows, `at_once`
    with all of them, taking differences is faster.
    """

    def __init__(self, anchors: Tensor, kind: str, *, at_once: bool = False) -> None:
        self.kind = kind
        self.vectors, self.by_anchors = anchors.detach(), lambda gradient: gradient
        if kind in ("cosine", "chord"):
            self.vectors, self.by_anchors = geometry.unit_and_pull(anchors)
        few = at_once and len(anchors) <= MAX_ROWS_AT_ONCE
        self.by_gram = kind != "cosine" and anchors.dtype == torch.float32 and not few
        if self.by_gram:  # distances do not tell where the mean is
            self.centred = self.vectors.double()
            self.centred = self.centred - self.centred.mean(dim=0)
            self.squares = self.centred.square().sum(dim=1)
            # Four times the largest is the most that the square of a distance can be.
            most = torch.finfo(anchors.dtype).max
            self.too_large = may_ask(anchors) and self.squares.max().item() > most / 4

    @property
    def wide(self) -> Tensor:
        """The vectors in the type that products need."""
        if self.by_gram:
            return self.centred
        return self.vectors if self.kind == "cosine" else self.vectors.double()

    def __call__(self, rows: slice | Tensor, columns: slice) -> Tensor:
        if self.kind == "cosine":
            return 1 - geometry.dot_matrix(self.vectors[rows], self.vectors[columns])
        if not self.by_gram:
            kind = "euclidean" if self.kind == "chord" else self.kind
            first = self.vectors[rows]  # one tensor on both sides takes half the time
            second = first if rows is columns else self.vectors[columns]
            return geometry.distance_matrix(first, second, kind)
        sums = self.squares[rows, None] + self.squares[columns]
        squares = torch.addmm(sums, self.wide[rows], self.wide[columns].T, alpha=-2)
        squares.masked_fill_(squares < 1e-14 * sums, 0)  # no more than rounding
        if self.too_large and self.kind != "squared_euclidean":
            squares.sqrt_()  # which may fit where the square does not
            return squares.to(self.vectors.dtype)
        squares = squares.to(self.vectors.dtype)
        return squares if self.kind == "squared_euclidean" else squares.sqrt_()

    def pull(self, gradient: Tensor, rows: Tensor, distances: Tensor, slopes: Tensor) -> None:
        """Add Σ_k G_ik ∂d_ik/∂z to the gradient, for the slopes G of some rows."""
        if self.kind == "cosine":
            gradient[rows] -= geometry.dot_matrix(slopes, self.wide.T)
            gradient.addmm_(slopes.T, self.wide[rows], alpha=-1)
            return
        weights = self.weights(distances, slopes).to(self.wide.dtype)
        if len(weights) == len(gradient):  # all rows at once: both ways in one product
            weights = torch.empty_like(weights).index_copy_(0, rows, weights)
            gradient += self._pulled_by_product(weights + weights.T)
            return
        here = self.wide[rows]
        gradient[rows] += weights.sum(dim=1)[:, None] * here - weights @ self.wide
        gradient.addmm_(weights.T, here, alpha=-1)
        gradient.addcmul_(weights.sum(dim=0)[:, None], self.wide)

    def pulled(self, distances: Tensor, slopes: Tensor) -> Tensor:
        """Return Σ_ik G_ik ∂d_ik/∂anchors, for the slopes G of all rows in their order."""
        slopes = slopes + slopes.T
        if self.kind == "cosine":
            gradient = geometry.dot_matrix(slopes, self.vectors.T).neg_()
        elif len(slopes) <= MAX_ROWS_AT_ONCE:
            lengths = distances
            if self.kind == "squared_euclidean":
                lengths = distances.sqrt()
                slopes.mul_(lengths).mul_(2)
            vectors = self.vectors
            gradient = cdist_backward(slopes, vectors, lengths)
        else:
            weights = self.weights(distances, slopes).to(self.wide.dtype)
            gradient = self._pulled_by_product(weights).to(self.vectors.dtype)
        return self.by_anchors(gradient)

    def _pulled_by_product(self, weights: Tensor) -> Tensor:
        own = weights.sum(dim=1, keepdim=True) * self.wide
        return own.addmm_(weights, self.wide, alpha=-1)

    def weights(self, distances: Tensor, slopes: Tensor) -> Tensor:
        """Return the factor of z_i − z_k in each pair's share of ∂/∂z_i; for the cosine, of
        −z_k."""
        if self.kind == "cosine":
            return slopes
        if self.kind == "squared_euclidean":
            return 2 * slopes
        return (slopes / distances).masked_fill_(distances == 0, 0)

    def pull_pairs(self, partners: Tensor, lengths: Tensor, weights: Tensor) -> Tensor:
        """Return the gradient of Σ w d(z_i, z_partner(i)) over [P, N] partners at their
        distances."""
        weights = self.weights(lengths, weights)[:, :, None]
        there = self.vectors[partners]
        if self.kind == "cosine":
            pulls, backwards = -weights * there, -weights * self.vectors
        else:
            pulls = weights * (self.vectors - there)
            backwards = -pulls
        gradient = pulls.sum(dim=0)
        return self.by_anchors(gradient.index_add_(0, partners.flatten(), backwards.flatten(0, 1)))
