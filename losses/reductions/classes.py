"""Losses on the cosines of all pairs of a batch, told apart by class, without the N×N matrix.

Similarities are symmetric: of each pair of row blocks one block is formed, and looked at from
both sides. Every loss passes over the blocks once or twice for what a row must know of its sums,
and once more for the gradient. What belongs to the positives only is a sum over each class.

Every function takes unit rows [N, D] and gives the loss and, if wanted, the gradient of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from losses.reductions.plain import softplus

Block = tuple[slice, slice, Tensor]


def supervised(
    units: Tensor,
    classes: Tensor,
    queue: Tensor,
    queue_classes: Tensor,
    *,
    temperature: float | Tensor,
    include_self: bool,
    zeros: bool,
    wanted: bool,
) -> tuple[Tensor, tuple[Tensor, Tensor] | None]:
    """SupCon, with the keys of a queue [Q, D]. With `zeros`, an anchor without a positive counts
    as a zero in the mean."""
    keys = torch.cat((units, queue))
    numbers = class_numbers(torch.cat((classes, queue_classes)))
    own = numbers[: len(units)]
    sizes = class_sums(numbers, torch.ones_like(keys[:, 0]))
    positives = sizes[own] - int(not include_self)
    valid = positives > 0
    share = valid.to(units.dtype)  # of each anchor in the mean
    share /= len(units) if zeros else share.sum().clamp_min(1)
    attracting = class_sums(numbers, keys)[own]
    if not include_self:
        attracting -= units
    attracting /= positives.clamp_min(1)[:, None]
    attraction = (units * attracting).sum(dim=1) / temperature

    partition = RunningSum(units, len(units))
    for rows, columns, similarities in both_ways(units):
        logits = similarities / temperature
        if rows == columns and not include_self:
            logits.fill_diagonal_(-torch.inf)
        partition.add(rows, logits)
    for rows, columns, similarities in blocks_against(units, queue):
        partition.add(rows, similarities / temperature)
    per_anchor = (partition.log() - attraction).masked_fill(~valid, 0)
    loss = (share * per_anchor).sum()
    if not wanted:
        return loss, None

    level = (partition.log() - share.log()).masked_fill(~valid, torch.inf)

    def slopes(rows: slice, columns: slice, similarities: Tensor) -> Tensor:
        logits = similarities / temperature
        if rows == columns and not include_self:
            logits.fill_diagonal_(-torch.inf)
        return (logits - level[rows, None]).exp_()

    to_units = pulled(units, slopes)
    to_queue = torch.zeros_like(queue)
    for rows, columns, similarities in blocks_against(units, queue):
        weights = (similarities / temperature - level[rows, None]).exp_()
        to_units[rows].addmm_(weights, queue[columns])
        to_queue[columns].addmm_(weights.T, units[rows])
    per_positive = share / positives.clamp_min(1)
    attracted = class_sums(own, units * per_positive[:, None], len(keys))
    to_units -= share[:, None] * attracting + attracted[own]
    if not include_self:
        to_units += units * per_positive[:, None]
    to_queue -= attracted[numbers[len(units) :]]
    return loss, (to_units / temperature, to_queue / temperature)


def several_positives(
    units: Tensor, classes: Tensor, *, temperature: float | Tensor, wanted: bool
) -> tuple[Tensor, Tensor | None]:
    """NT-Xent with a softmax for each positive pair, against the negatives of its anchor."""
    numbers = class_numbers(classes)
    sizes = class_sums(numbers, torch.ones_like(units[:, 0]))
    pairs = (sizes * (sizes - 1)).sum().clamp_min(1)

    negatives = RunningSum(units, len(units))
    for rows, columns, similarities in both_ways(units):
        alike = classes[rows, None] == classes[columns]
        negatives.add(rows, (similarities / temperature).masked_fill_(alike, -torch.inf))
    level = negatives.log()
    total = units.new_zeros(())
    missed = torch.zeros_like(level)  # how much of its positives an anchor gives to negatives
    for rows, columns, similarities in both_ways(units):
        excess = level[rows, None] - similarities / temperature
        excess.masked_fill_(classes[rows, None] != classes[columns], -torch.inf)
        if rows == columns:
            excess.fill_diagonal_(-torch.inf)
        total += softplus(excess).sum()
        missed[rows] += excess.sigmoid_().sum(dim=1)
    loss = total / pairs
    if not wanted:
        return loss, None

    spread = (level - missed.log()).masked_fill(missed == 0, torch.inf)

    def slopes(rows: slice, columns: slice, similarities: Tensor) -> Tensor:
        logits = similarities / temperature
        pull = (level[rows, None] - logits).sigmoid_().neg_()
        if rows == columns:
            pull.fill_diagonal_(0)
        push = (logits - spread[rows, None]).exp_()
        return torch.where(classes[rows, None] == classes[columns], pull, push)

    return loss, pulled(units, slopes) / (pairs * temperature)


def paced_circle(
    units: Tensor, classes: Tensor, *, scale: float, margin: float, wanted: bool
) -> tuple[Tensor, Tensor | None]:
    """Self-paced Circle: a softplus for each anchor, the mean over those that are not 0."""

    def logits_of(rows: slice, columns: slice, similarities: Tensor) -> tuple[Tensor, ...]:
        alike = classes[rows, None] == classes[columns]
        # One form for both kinds: a positive at s is a negative at 1 − s, turned round.
        mirrored = torch.where(alike, 1 - similarities, similarities)
        slope = (mirrored + margin).relu_().mul_(scale)
        logits = slope * (mirrored - margin)
        if rows == columns:
            logits.fill_diagonal_(-torch.inf)
        return alike, slope, logits

    positives, negatives = RunningSum(units, len(units)), RunningSum(units, len(units))
    for rows, columns, similarities in both_ways(units):
        alike, _, logits = logits_of(rows, columns, similarities)
        positives.add(rows, logits.masked_fill(~alike, -torch.inf))
        negatives.add(rows, logits.masked_fill_(alike, -torch.inf))
    sums = positives.log() + negatives.log()
    per_anchor = softplus(sums)
    anchors = (per_anchor > 0).sum().clamp_min(1)
    loss = per_anchor.sum() / anchors
    if not wanted:
        return loss, None

    weight = sums.sigmoid() / anchors
    positive_level = (positives.log() - weight.log()).masked_fill(weight == 0, torch.inf)
    negative_level = (negatives.log() - weight.log()).masked_fill(weight == 0, torch.inf)

    def slopes(rows: slice, columns: slice, similarities: Tensor) -> Tensor:
        alike, slope, logits = logits_of(rows, columns, similarities)
        level = torch.where(alike, positive_level[rows, None], negative_level[rows, None])
        weights = slope.mul_((logits - level).exp_())
        return torch.where(alike, -weights, weights)

    return loss, pulled(units, slopes)


class RunningSum:
    """log Σ exp of the terms of each row, which come in pieces; −inf for a row without any."""

    def __init__(self, like: Tensor, count: int) -> None:
        self.largest = like.new_full((count,), torch.finfo(like.dtype).min)
        self.total = like.new_zeros(count)

    def add(self, rows: slice, terms: Tensor) -> None:
        before = self.largest[rows]
        largest = torch.maximum(before, terms.amax(dim=1))
        added = (terms - largest[:, None]).exp_().sum(dim=1)
        self.total[rows] = self.total[rows] * (before - largest).exp_() + added
        self.largest[rows] = largest

    def log(self) -> Tensor:
        return self.largest + self.total.log()


def pulled(units: Tensor, slopes: Callable[[slice, slice, Tensor], Tensor]) -> Tensor:
    """Σ_k (G_ik + G_ki) u_k, the gradient of the rows, where `slopes` gives the blocks of G."""
    gradient = torch.zeros_like(units)
    for rows, columns, similarities in blocks(units):
        weights = slopes(rows, columns, similarities)
        weights = weights + slopes(columns, rows, similarities.T).T
        gradient[rows].addmm_(weights, units[columns])
        if rows != columns:
            gradient[columns].addmm_(weights.T, units[rows])
    return gradient


def temperature_gradient(
    temperature: float | Tensor, *pulls: tuple[Tensor, Tensor]
) -> Tensor | None:
    """∂L/∂τ from (unit vectors, their gradients), when L depends on cosines / τ alone.

    Every product of two vectors stands in the sum twice, once for each of them.
    """
    if not isinstance(temperature, Tensor):
        return None
    along = sum((units * gradient).sum() for units, gradient in pulls)
    return (-along / (2 * temperature)).reshape(temperature.shape)


def both_ways(units: Tensor) -> Iterator[Block]:
    """All blocks of the matrix of similarities, those below the diagonal by transposing."""
    for rows, columns, similarities in blocks(units):
        yield rows, columns, similarities
        if rows != columns:
            yield columns, rows, similarities.T


def blocks(units: Tensor) -> Iterator[Block]:
    """The blocks on and above the diagonal: rows, columns, similarities."""
    parts = parts_of(units)
    for place, rows in enumerate(parts):
        for columns in parts[place:]:
            yield rows, columns, units[rows] @ units[columns].T


def blocks_against(units: Tensor, queue: Tensor) -> Iterator[Block]:
    for rows in parts_of(units):
        for columns in parts_of(queue):
            yield rows, columns, units[rows] @ queue[columns].T


def parts_of(rows: Tensor) -> list[slice]:
    """Rows in pieces of which a block stays in the cache, or fills an accelerator."""
    size = 512 if rows.device.type == "cpu" else 8192
    return [slice(start, start + size) for start in range(0, len(rows), size)]


def is_small(rows: int, like: Tensor, columns: int = 0) -> bool:
    """Whether the dense definition, of fewer steps, is as fast; then it is also lean enough."""
    side = 256 if like.device.type == "cpu" else 1024
    return rows * (rows + columns) < side * side


def class_numbers(classes: Tensor) -> Tensor:
    """The classes [N] numbered from 0 without gaps, so that N bounds them on any device."""
    ordered, order = classes.sort()
    steps = torch.zeros_like(order)
    steps[1:] = ordered[1:] != ordered[:-1]
    return torch.empty_like(order).scatter_(0, order, steps.cumsum(0))


def class_sums(numbers: Tensor, values: Tensor, count: int | None = None) -> Tensor:
    """Σ of the values [N, …] of each class."""
    sums = values.new_zeros(len(values) if count is None else count, *values.shape[1:])
    return sums.index_add_(0, numbers, values)
