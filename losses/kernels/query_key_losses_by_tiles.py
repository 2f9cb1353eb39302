"""Losses over all pairs of two sets of vectors, a tile of rows at a time.

A tile of logits lives until its rows are summed and its weights, the derivatives of the value
by the logits, are multiplied into the gradient. So value and gradient together cost three
matrix products (four where columns are summed too), and the N×N matrix is never stored.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any

import torch
from torch import Tensor

from lossprism.losses.duplicate_text_masks import Absent
from lossprism.losses.geometry import divisors
from lossprism.losses.kernels.cell_terms import (
    logistic_terms,
    logistic_weights_,
    mistaken_,
    only_others_,
    share_of_others,
)
from lossprism.losses.kernels.stable_functions import exp_, flush_
from lossprism.losses.kernels.tile_sizes import rows_at_once

# Logits up to this size need no shift before exp: neither e⁶⁵, nor the sum of 10⁹ of them, nor
# e⁻⁶⁵ leaves the range of float32 and bfloat16.
MAX_UNSHIFTED = 65.0

# Cells of a tile, which has `MIN_TILE_ROWS` rows or more: fewer would starve the matrix product.
TILE_CELLS, MIN_TILE_ROWS = 2**22, 256


def height(rows: int, columns: int, like: Tensor) -> int:
    """Return the rows of a tile, the same for all: a low tile multiplies slowly."""
    tiles = math.ceil(rows / max(MIN_TILE_ROWS, rows_at_once(TILE_CELLS, columns, like)))
    return math.ceil(rows / tiles)


class Directions:
    """The directions [P, D] of vectors, and the accumulated gradient of a value by them.

    Replaces the vectors in memory. bfloat16 on CUDA stays so in the matrix products, which sum in
    float32.
    """

    def __init__(self, vectors: Tensor, *, needs_grad: bool) -> None:
        exact = torch.promote_types(vectors.dtype, torch.float32)
        self.divisors = divisors(vectors, exact)
        self.units = vectors.div_(self.divisors.lengths)
        self.gradient = torch.zeros_like(vectors, dtype=exact) if needs_grad else None

    def between(
        self, rows: slice, columns: slice, scale: float | Tensor, needs_grad: tuple[bool, bool]
    ) -> Logits:
        """Return scale · cos of two parts; accumulate their gradient here if `needs_grad`."""
        largest = math.inf if isinstance(scale, Tensor) else abs(scale)
        gradient = self.gradient
        by_rows, by_columns = (
            gradient[part] if needed and gradient is not None else None
            for part, needed in zip((rows, columns), needs_grad, strict=True)
        )
        return Logits(
            self.units[rows], self.units[columns], scale, by_rows, by_columns, largest=largest
        )

    def pull_back(
        self, share: float | Tensor, scale: float | Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """Return the gradient of `share` times the value by the vectors, and by a learned `scale`.

        Consumes the gradient. All logits must be `scale` times a cosine.
        """
        assert self.gradient is not None, "no gradient was requested"
        along = (self.gradient * self.units).sum(dim=1, keepdim=True)
        lengths, short, _ = self.divisors
        # A short vector was divided by a constant.
        turning = along if short is None else along.masked_fill(short, 0)
        factors = lengths.reciprocal().mul_(share * scale)
        self.gradient.addcmul_(self.units, turning, value=-1).mul_(factors)
        # Each cosine counts in its row and in its column.
        by_scale = share / 2 * along.sum() if isinstance(scale, Tensor) else None
        return self.gradient.to(self.units.dtype), by_scale


class Logits:
    """scale · rows · columnsᵀ [N, K], none larger than `largest`.

    If gradients are needed, ∂value/∂rows is added to `by_rows` and ∂value/∂columns to `by_columns`,
    both without the factor `scale`. They may be one tensor, as rows and columns may.
    """

    def __init__(
        self,
        rows: Tensor,
        columns: Tensor,
        scale: float | Tensor,
        by_rows: Tensor | None,
        by_columns: Tensor | None,
        *,
        largest: float = math.inf,
    ) -> None:
        self.rows, self.columns, self.scale = rows, columns, scale
        self.by_rows, self.by_columns = by_rows, by_columns
        self.needs_grad = by_rows is not None or by_columns is not None
        self.bounded = largest <= MAX_UNSHIFTED
        self.exact = torch.promote_types(rows.dtype, torch.float32)
        self.step = height(len(rows), len(columns), rows)

    def tiles(self) -> Iterator[tuple[slice, Tensor]]:
        """Yield spans of rows with their logits [n, K], in a buffer that the next span
        overwrites."""
        columns, count, scale = self.columns.T, len(self.rows), self.scale
        learned = isinstance(scale, Tensor)
        room = columns.new_empty(self.step, columns.shape[1], dtype=self.exact)
        for start in range(0, count, self.step):
            span = slice(start, min(start + self.step, count))
            tile = room if span.stop - start == len(room) else room[: span.stop - start]
            multiply(part_of(self.rows, span), columns, tile, 0, 1 if learned else scale)
            yield span, tile.mul_(scale) if learned else tile

    def at(self, columns: Tensor) -> Tensor:
        """Return the logit of each row in one column, without the factor `scale`: [N]."""
        return (self.rows.to(self.exact) * self.columns[columns]).sum(dim=1)

    def weights(self, tile: Tensor) -> Tensor:
        """Return exp of the tile, in place unless it will be multiplied in another type."""
        if tile.dtype == self.rows.dtype:
            return tile.exp_() if self.bounded else exp_(tile)
        return torch.exp(tile, out=torch.empty_like(tile, dtype=self.rows.dtype))

    def add(self, span: slice, weights: Tensor, factors: Tensor | None = None) -> None:
        """Add the gradient of a tile with ∂value/∂logits = weights [n, K] · factors [n, 1]."""
        rows, columns = part_of(self.rows, span), self.columns
        weights = weights.to(rows.dtype)
        if factors is not None and len(columns) <= columns.shape[1]:  # the weights are fewer
            weights, factors = weights.mul_(factors), None
        if not self.bounded:
            flush_(weights)
        if factors is None:
            if self.by_rows is not None:
                multiply(weights, columns, part_of(self.by_rows, span))
            if self.by_columns is not None:
                multiply(weights.T, rows, self.by_columns)
            return
        if self.by_rows is not None:
            part = torch.empty_like(rows, dtype=self.exact)
            part_of(self.by_rows, span).addcmul_(multiply(weights, columns, part, 0), factors)
        if self.by_columns is not None:
            moved = rows * factors
            moved = (moved if self.bounded else flush_(moved)).to(rows.dtype)
            multiply(weights.T, moved, self.by_columns)


def directions_and_logits(
    needs_grad: Sequence[bool], rows: Tensor, columns: Tensor, scale: float | Tensor
) -> tuple[Directions, Logits]:
    """Return rows [N, D] and columns [K, D] as directions, and the logits of rows with columns.

    `needs_grad` says whether rows, columns and scale need a gradient.
    """
    count = len(rows)
    points = Directions(torch.cat((rows, columns)), needs_grad=any(needs_grad))
    sides = (needs_grad[0] or needs_grad[2], needs_grad[1] or needs_grad[2])
    return points, points.between(slice(0, count), slice(count, None), scale, sides)


def against_others(
    logits: Logits,
    columns: Tensor | None = None,
    *,
    absent: Tensor | None = None,
    own: Tensor | None = None,
    slopes: Tensor | None = None,
    share: float = 1.0,
    left_out: Absent | None = None,
    beside_own: bool = True,
) -> tuple[Tensor, Tensor]:
    """Compute Σᵢ log(1 + Σⱼ exp(sᵢⱼ − ownᵢ)) over the other columns j, and log Σⱼ exp(sᵢⱼ − ownᵢ)
    [N].

    Row i owns the column `columns[i]`, or column i; of the others, `absent[i]` and `left_out` cells
    do not count. Its own logit is the one in its column, or `own[i]`, which moves with that one by
    `slopes[i]`. The gradient of `share` times the sum by the logits is added to theirs. Unless
    `beside_own`, the 1 is dropped; there must be others then.
    """
    gaps = []
    for span, tile in logits.tiles():
        own_here = _taken(tile, span, columns) if own is None else part_of(own, span)
        for provided in (columns, absent):
            if provided is not None:
                _put(tile, span, provided, -torch.inf)
        only_others_(tile, (span.start,) if columns is None else (), _cells(left_out, span))
        if not logits.bounded:
            largest = tile.amax(dim=1).clamp_min(torch.finfo(tile.dtype).min)
            tile.sub_(largest[:, None])
            own_here = own_here - largest
        weights = logits.weights(tile)
        total = weights.sum(dim=1, dtype=tile.dtype)
        gaps.append(total.log().sub_(own_here))
        if logits.needs_grad:
            _put(weights, span, columns, -total if slopes is None else -total * slopes[span])
            factors = own_here.exp().add_(total) if beside_own else total
            factors = factors.reciprocal()
            logits.add(span, weights, (factors if share == 1 else factors.mul_(share)).unsqueeze(1))
    gaps = torch.cat(gaps)
    return (logistic_terms(gaps) if beside_own else gaps).sum(), gaps


def against_members(logits: Logits, columns: Tensor, distance: float) -> Tensor:
    """Compute, for rows with members, the columns j with `columns[j]` = i, the mean_i of log(1 +
    Σ_members exp(distance − sᵢⱼ)), plus mean_i log(1 + Σ_others exp(distance + sᵢⱼ)). Adds the
    gradient by the logits."""
    count = len(logits.rows)
    own = (logits.rows[columns].to(logits.exact) * logits.columns).sum(dim=1) * logits.scale
    exponents = distance - own
    largest = own.new_zeros(count).scatter_reduce_(0, columns, exponents, "amax")
    sums = own.new_zeros(count).index_add_(0, columns, (exponents - largest[columns]).exp_())
    pulls = sums.add_(largest.neg().expm1_()).log1p_().add_(largest)
    present = own.new_zeros(count).index_fill_(0, columns, 1).sum()
    slopes = (exponents - pulls[columns]).exp_().div_(-present)
    pushes = []
    for span, tile in logits.tiles():
        members = _within(columns, span, count)
        tile.add_(distance)
        _put_members(tile, *members, -torch.inf)
        here = tile.logsumexp(dim=1)
        here = logistic_terms(here.clamp_min_(torch.finfo(here.dtype).min))
        pushes.append(here.sum())
        if logits.needs_grad:
            weights = exp_(tile.sub_(here[:, None])).div_(count)
            _put_members(weights, *members, slopes)
            logits.add(span, weights)
    return pulls.sum() / present + reduce(torch.add, pushes) / count


def against_own(logits: Logits, distance: float, left_out: Absent | None = None) -> Tensor:
    """Compute Σ log(1 + exp(sᵢⱼ − sᵢᵢ + distance)) over all i ≠ j but those `left_out`; add the
    gradient by the logits."""
    values = []
    for span, tile in logits.tiles():
        own = _taken(tile, span, None).sub_(distance)
        terms = only_others_(tile, (span.start,), _cells(left_out, span), own)
        values.append(logistic_terms(terms).sum())
        weights = logistic_weights_(terms)
        _put(weights, span, None, -weights.sum(dim=1))
        logits.add(span, weights)
    return reduce(torch.add, values)


def against_threshold(
    logits: Logits, threshold: float | Tensor, left_out: Absent | None = None
) -> tuple[Tensor, Tensor]:
    """Compute Σ log(1 + exp(±(sᵢⱼ − threshold))), + for i ≠ j and − for i = j, and ∂/∂threshold of
    it.

    Cells i ≠ j that are `left_out` do not count. The gradient by the logits is added to theirs.
    """
    values, slopes = [], []
    for span, tile in logits.tiles():
        mistaken = mistaken_(tile.sub_(threshold), span.start, _cells(left_out, span))
        values.append(logistic_terms(mistaken).sum())
        weights = logistic_weights_(mistaken)
        weights.diagonal(span.start).neg_()
        slopes.append(-weights.sum())
        logits.add(span, weights)
    return reduce(torch.add, values), reduce(torch.add, slopes)


def both_ways(
    logits: Logits, left_out: Absent | None = None, left_out_back: Absent | None = None
) -> Tensor:
    """Compute `against_others` by rows plus the same by the first N columns; add the gradient.

    By rows the cells `left_out` do not count, by columns those `left_out_back` [n, N].
    """
    count = len(logits.rows)
    in_one = list(logits.tiles()) if logits.step == count else None
    own, of_rows = logits.rows.new_empty(2, count, dtype=logits.exact)
    of_columns = torch.full_like(own, -torch.inf)
    for span, tile in in_one or logits.tiles():
        own[span] = tile.diagonal(span.start)
        only_others_(tile, (span.start,), None)
        of_rows[span] = _without(tile, span, left_out).logsumexp(dim=1)
        by_columns = _without(tile[:, :count], span, left_out_back)
        of_columns = torch.logaddexp(of_columns, by_columns.logsumexp(dim=0))
    gaps = torch.stack((of_rows, of_columns)).sub_(own)
    per_row = logistic_terms(gaps)
    value, pulls = per_row.sum(), share_of_others(per_row).sum(dim=0)
    of_rows, of_columns = torch.logaddexp(of_rows, own), torch.logaddexp(of_columns, own)
    for span, tile in (in_one or logits.tiles()) if logits.needs_grad else ():
        by_columns = exp_(_without(tile[:, :count], span, left_out_back) - of_columns)
        only_others_(tile, (), _cells(left_out, span))
        exp_(tile.sub_(of_rows[span, None]))
        tile[:, :count] += by_columns
        _put(tile, span, None, -pulls[span])
        logits.add(span, tile)
    return value


def _without(tile: Tensor, span: slice, left_out: Absent | None) -> Tensor:
    """Return the tile with −∞ in the cells that are left out, a copy if there are any."""
    return tile if left_out is None else tile.masked_fill(left_out(span), -torch.inf)


def _cells(left_out: Absent | None, span: slice) -> Tensor | None:
    """Return the cells of a span that are left out, if any."""
    return None if left_out is None else left_out(span)


def part_of(tensor: Tensor, span: slice) -> Tensor:
    """Return the rows of a span; without a view for all rows, which costs time in a small
    batch."""
    return tensor if span.stop - span.start == len(tensor) else tensor[span]


def _taken(tile: Tensor, span: slice, columns: Tensor | None) -> Tensor:
    """Copy one cell of each row, in its column of `columns` or on the diagonal."""
    if columns is None:
        return tile.diagonal(span.start).clone()
    return tile.gather(1, columns[span, None]).squeeze(1)


def _put(tile: Tensor, span: slice, columns: Tensor | None, values: Tensor | float) -> None:
    """Overwrite these cells."""
    if columns is None:
        cells = tile.diagonal(span.start)
        cells.copy_(values) if isinstance(values, Tensor) else cells.fill_(values)
    elif isinstance(values, Tensor):
        tile.scatter_(1, columns[span, None], values.to(tile.dtype)[:, None])
    else:
        tile.scatter_(1, columns[span, None], values)


def _within(columns: Tensor, span: slice, count: int) -> tuple[Tensor, Tensor | None]:
    """Return the row of each column's cell within a span, and whether it is inside (None: all
    are)."""
    height = span.stop - span.start
    if height == count:
        return columns[None], None
    rows = (columns - span.start)[None]
    return rows.clamp(0, height - 1), (rows >= 0) & (rows < height)


def _put_members(tile: Tensor, rows: Tensor, inside: Tensor | None, values: Tensor | float) -> None:
    """Overwrite the cell of each column that is inside."""
    if inside is not None:
        values = torch.where(inside, values, tile.gather(0, rows))
    elif isinstance(values, Tensor):
        values = values[None]
    if isinstance(values, Tensor):
        tile.scatter_(0, rows, values.to(tile.dtype))
    else:
        tile.scatter_(0, rows, values)


def multiply(
    first: Tensor, second: Tensor, out: Tensor, beta: float = 1, alpha: float = 1
) -> Tensor:
    """Compute beta · out + alpha · first @ second in `out`, whose type sums half precision."""
    precision: dict[str, Any] = {} if first.dtype == out.dtype else {"out_dtype": out.dtype}
    if torch.compiler.is_compiling() and not out.is_contiguous():  # which no graph writes into
        return out.copy_(torch.addmm(out, first, second, beta=beta, alpha=alpha, **precision))
    return torch.addmm(out, first, second, beta=beta, alpha=alpha, out=out, **precision)
