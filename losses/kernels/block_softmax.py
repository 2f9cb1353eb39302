"""Softmax of each row over several blocks of logits: queries against keys, against each other …

As in `query_key_losses_by_tiles`, a span of rows lives until it is summed and multiplied into the
gradient. The cells of all blocks are side by side in it, so that one softmax may span all of them.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import torch
from torch import Tensor

from lossprism.losses.duplicate_text_masks import Absent
from lossprism.losses.kernels.cell_terms import logistic_terms, share_of_others
from lossprism.losses.kernels.query_key_losses_by_tiles import (
    MAX_UNSHIFTED,
    Directions,
    Logits,
    height,
    multiply,
    part_of,
)
from lossprism.losses.kernels.stable_functions import exp_, flush_

# Of the gaps log Σⱼ exp(sᵢⱼ) − ownᵢ and the rows they are of: what each costs, and its slope.
Shape = Callable[[Tensor, slice], tuple[Tensor, Tensor]]


# Rows [M], the points [M] that are their columns, and the logits [M] that stand there.
Cells = tuple[Tensor, Tensor, Tensor]


class Points(Protocol):
    """Rows whose products are the similarities, with the accumulated gradient by them."""

    units: Tensor
    gradient: Tensor | None


class Vectors:
    """Vectors [P, D] compared without normalisation, by dot products; else as
    `query_key_losses_by_tiles.Directions`."""

    def __init__(self, vectors: Tensor, *, needs_grad: bool) -> None:
        exact = torch.promote_types(vectors.dtype, torch.float32)
        self.units = vectors
        self.gradient = torch.zeros_like(vectors, dtype=exact) if needs_grad else None

    def pull_back(
        self, share: float | Tensor, scale: float | Tensor
    ) -> tuple[Tensor, Tensor | None]:
        assert self.gradient is not None, "no gradient was requested"
        by_scale = None
        if isinstance(scale, Tensor):
            by_scale = share / 2 * (self.gradient * self.units).sum()
        return self.gradient.mul_(share * scale).to(self.units.dtype), by_scale


@dataclass(frozen=True)
class Block:
    """Rows against columns, both parts of the points; row i is row i of the loss.

    If `diagonal`, the cell of row i in column i is its own and never counts; nor do `absent` cells.
    A logit is `scale` times its similarity, and `harder` times as large as a constant: the rest of
    it carries no gradient. `cells` are overwritten. Blocks of the first `softmax` come first, and
    so on.
    """

    rows: slice
    columns: slice
    diagonal: bool = True
    absent: Absent | None = None
    harder: float | Tensor = 1.0
    capped: bool = True
    softmax: int = 0
    cells: Cells | None = None


def log1p(gaps: Tensor, _rows: slice) -> tuple[Tensor, Tensor]:
    """Compute InfoNCE: log(1 + exp(gap))."""
    per_row = logistic_terms(gaps)
    return per_row, share_of_others(per_row)


def over_blocks(
    points: Points,
    blocks: Sequence[Block],
    own: Tensor,
    scale: float | Tensor,
    *,
    largest: float,
    ceiling: Tensor | None = None,
    further: Tensor | None = None,
    shape: Shape = log1p,
    needs_grad: bool = True,
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Compute Σ over rows and softmaxes of shape(log Σⱼ exp(sᵢⱼ) − ownᵢ).

    The gradient by the points, without the factor `scale`, is added to theirs.

    Args:
        own: [N], the logit that each row is compared with; a constant here.
        largest: an upper bound of the logits; if it is small, no row is shifted before exp.
        ceiling: [N], the logit above which a cell of a `capped` block does not count.
        further: [N, K], logits of cells outside all blocks, in the first softmax; −∞ is absent.
        shape: see `Shape`.

    Returns:
        The value; its slope by a common shift of each row [N], to be subtracted for its own logit;
        and the gradient by `further`.
    """
    units, gradient = points.units, points.gradient if needs_grad else None
    extra = 0 if further is None else further.shape[1]
    sides = [(units[block.rows], units[block.columns]) for block in blocks]
    ends = [extra]
    for _, columns in sides:
        ends.append(ends[-1] + len(columns))
    places = [slice(*pair) for pair in pairwise(ends)]
    softmaxes = _softmaxes(blocks, places)
    step = height(len(own), ends[-1], own)
    room = own.new_empty(step, ends[-1])
    value, pulls = own.new_zeros(()), torch.zeros_like(own)
    by_further = None if further is None else torch.zeros_like(further)
    for start in range(0, len(own), step):
        span = slice(start, min(start + step, len(own)))
        tile = room if span.stop - start == step else room[: span.stop - start]
        for block, (rows, columns), place in zip(blocks, sides, places, strict=True):
            cells = tile[:, place]
            if isinstance(scale, Tensor):
                multiply(part_of(rows, span), columns.T, cells, 0).mul_(scale)
            else:
                multiply(part_of(rows, span), columns.T, cells, 0, scale)
            if block.diagonal:
                cells.diagonal(start).fill_(-torch.inf)
            if block.absent is not None:
                cells.masked_fill_(block.absent(span), -torch.inf)
            if ceiling is not None and block.capped:
                cells.masked_fill_(cells > part_of(ceiling, span)[:, None], -torch.inf)
            if isinstance(block.harder, Tensor) or block.harder != 1:
                cells.mul_(block.harder)
            if block.cells is not None:
                _overwrite(cells, span, block.columns.start, *block.cells)
        if further is not None:
            tile[:, :extra].copy_(part_of(further, span))
        factors = []
        for place in softmaxes:
            cells, level = tile[:, place], part_of(own, span)
            if largest > MAX_UNSHIFTED:
                most = cells.amax(dim=1).clamp_min_(torch.finfo(cells.dtype).min)
                cells.sub_(most[:, None])
                level = level - most
            total = exp_(cells).sum(dim=1)
            costs, slopes = shape(total.log().sub_(level), span)
            value += costs.sum()
            part_of(pulls, span).add_(slopes)
            factors.append(slopes.div_(total.masked_fill(total == 0, 1)).unsqueeze(1))
        if gradient is None:
            continue
        if by_further is not None:
            torch.mul(tile[:, :extra], factors[0], out=part_of(by_further, span))
        for block, (rows, columns), place in zip(blocks, sides, places, strict=True):
            weights, by_row = tile[:, place].to(rows.dtype), factors[block.softmax]
            pulled = columns.new_empty(len(weights), columns.shape[1], dtype=own.dtype)
            multiply(weights, columns, pulled, 0)
            part_of(gradient[block.rows], span).addcmul_(pulled, by_row)
            moved = part_of(rows, span) * by_row
            moved = (flush_(moved) if largest > MAX_UNSHIFTED else moved).to(rows.dtype)
            multiply(weights.T, moved, gradient[block.columns])
    return value, pulls, by_further


def _overwrite(
    cells: Tensor, span: slice, first: int, rows: Tensor, columns: Tensor, logits: Tensor
) -> None:
    """Overwrite the logits of these cells in a span of rows, with columns counted from
    `first`."""
    here = ((rows >= span.start) & (rows < span.stop)).nonzero()[:, 0]
    cells[rows[here] - span.start, columns[here] - first] = logits[here]


def _softmaxes(blocks: Sequence[Block], places: Sequence[slice]) -> list[slice]:
    """Return the columns of each softmax; cells outside all blocks come before the first."""
    ends: dict[int, int] = {}
    for block, place in zip(blocks, places, strict=True):
        ends[block.softmax] = place.stop
    if not ends:
        return [slice(0, None)]
    return [slice(*pair) for pair in pairwise([0, *ends.values()])]


def noise_of_views(
    logits: Logits,
    partner: Tensor,
    beta: float,
    cost: Callable[[Tensor, Tensor], tuple[Tensor, Tensor, Tensor]],
) -> Tensor:
    """Compute Σᵢ of the cost of (noiseᵢ, positiveᵢ), each row against all but itself and its
    partner.

    noise = log( Σ e^((1+β)s) / mean e^(βs) ); `cost` returns each row's value and its slopes in
    both. The gradient by the logits is added to theirs.
    """
    value = logits.rows.new_zeros((), dtype=logits.exact)
    others = len(logits.columns) - 2
    for span, tile in logits.tiles():
        columns = partner[span, None]
        positive = tile.gather(1, columns).squeeze(1)
        tile.diagonal(span.start).fill_(-torch.inf)
        tile.scatter_(1, columns, -torch.inf)
        noise = _level(tile * (1 + beta) if beta else tile)
        light = _level(tile * beta) if beta and others else None
        if light is not None:
            noise.sub_(light).add_(math.log(others))
        costs, by_noise, by_positive = cost(noise, positive)
        value += costs.sum()
        if not logits.needs_grad:
            continue
        if light is not None:
            heavy = noise.add_(light).sub_(math.log(others))
            weights = torch.exp(tile * (1 + beta) - heavy[:, None]).mul_(1 + beta)
            weights.sub_(tile.mul_(beta).sub_(light[:, None]).exp_().mul_(beta))
        else:
            weights = exp_(tile.sub_(noise.clamp_min(torch.finfo(tile.dtype).min)[:, None]))
        weights.mul_(by_noise[:, None])
        weights.scatter_(1, columns, by_positive[:, None])
        logits.add(span, weights)
    return value


def _level(tile: Tensor) -> Tensor:
    """Return log Σ exp of each row; −∞ for an empty one."""
    most = tile.amax(dim=1).clamp_min_(torch.finfo(tile.dtype).min)
    return (tile - most[:, None]).exp_().sum(dim=1).log_().add_(most)


def against_targets(logits: Logits, targets: Tensor, by_targets: Tensor | None = None) -> Tensor:
    """Compute −Σᵢⱼ targetᵢⱼ log softmaxᵢⱼ; add the gradient by the logits, and write that by the
    targets in its place, if there is one."""
    value = logits.rows.new_zeros((), dtype=logits.exact)
    for span, tile in logits.tiles():
        target = part_of(targets, span).to(tile.dtype)
        shares = tile.log_softmax(dim=1)
        value -= torch.mul(target, shares, out=tile).sum()
        if by_targets is not None:
            part_of(by_targets, span).copy_(shares).neg_()
        if logits.needs_grad:
            logits.add(span, exp_(shares).mul_(target.sum(dim=1, keepdim=True)).sub_(target))
    return value


def mean_over_queries(
    queries: Tensor,
    keys: Tensor,
    negatives: Tensor | None,
    scale: float | Tensor,
    blocks: Sequence[Block],
    *,
    shape: Shape = log1p,
    needs_grad: bool,
) -> tuple[Tensor, tuple[Tensor | None, ...]]:
    """Return the mean over the queries of their softmax at `blocks`, by cosines, with its gradient
    by the first four arguments; an empty tuple for it where none is needed.

    The points of the blocks are the queries [N, D], the keys [N, D] and the negatives [Q, D], in
    one row; key i is query i's own.
    """
    parts = [part for part in (queries, keys, negatives) if part is not None]
    points = Directions(torch.cat(parts), needs_grad=needs_grad)
    count, exact = len(queries), torch.promote_types(queries.dtype, torch.float32)
    of_queries, of_keys = slice(0, count), slice(count, 2 * count)
    looking, looked_for = points.units[of_queries], points.units[of_keys]
    value, pulls, _ = over_blocks(
        points,
        blocks,
        (looking.to(exact) * looked_for).sum(dim=1) * scale,
        scale,
        largest=math.inf if isinstance(scale, Tensor) else scale,
        shape=shape,
        needs_grad=needs_grad,
    )
    if not needs_grad:
        return value / count, ()
    assert points.gradient is not None
    pulls = pulls.neg_()[:, None]
    points.gradient[of_queries].addcmul_(looked_for, pulls)
    points.gradient[of_keys].addcmul_(looking, pulls)
    gradient, by_scale = points.pull_back(1 / count, scale)
    by_queries, by_keys, *by_negatives = gradient.split([len(part) for part in parts])
    return value / count, (by_queries, by_keys, *(by_negatives or [None]), by_scale)
