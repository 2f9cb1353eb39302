"""Losses over all pairs of two sets of vectors, a tile of rows at a time.

A tile of logits lives until its rows are summed and its weights, the derivatives of the value
by the logits, are multiplied into the gradient. So value and gradient together cost three
matrix products (four where columns are summed too), and the N×N matrix is never stored.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn.functional import softplus

from losses.geometry import SHORTEST

# Logits up to this size need no shift before exp: neither e⁶⁵, nor the sum of 10⁹ of them, nor
# e⁻⁶⁵ leaves the range of float32 and bfloat16.
SAFE = 65.0

# From here on torch's softplus answers x itself, which is exact in float64 too.
STRAIGHT = 40.0

# Cells of a tile: on a processor what its caches hold, on an accelerator what keeps it busy. A
# tile has `FEWEST` rows or more, since fewer would starve the matrix product.
CELLS, CELLS_OF_AN_ACCELERATOR, FEWEST = 2**22, 2**26, 256


class Directions:
    """The directions [P, D] of vectors, and the gradient of a value of them as it is added up.

    Takes the place of the vectors in memory. On an accelerator bfloat16 vectors stay so in the
    matrix products, which sum in float32.
    """

    def __init__(self, vectors: Tensor, *, wanted: bool) -> None:
        exact = torch.promote_types(vectors.dtype, torch.float32)
        self.lengths = torch.linalg.vector_norm(vectors, dim=1, keepdim=True, dtype=exact)
        self.divisors = self.lengths.clamp_min(SHORTEST)
        self.units = vectors.div_(self.divisors)
        self.gradient = torch.zeros_like(vectors, dtype=exact) if wanted else None

    def between(
        self, rows: slice, columns: slice, scale: float | Tensor, wanted: tuple[bool, bool]
    ) -> Logits:
        """scale · cos of two parts; their gradient, if `wanted`, is added up here."""
        largest = math.inf if isinstance(scale, Tensor) else abs(scale)
        by_rows, by_columns = (
            self.gradient[part] if needed else None
            for part, needed in zip((rows, columns), wanted, strict=True)
        )
        return Logits(
            self.units[rows], self.units[columns], scale, by_rows, by_columns, largest=largest
        )

    def pull_back(self, share: float, scale: float | Tensor) -> tuple[Tensor, Tensor | None]:
        """The gradient of `share` times the value: by the vectors, and by a learned `scale`.

        Uses the gradient up. All logits must be `scale` times a cosine.
        """
        along = (self.gradient * self.units).sum(dim=1, keepdim=True)
        # A vector too short for a direction was divided by a constant.
        turning = along.masked_fill(self.lengths < SHORTEST, 0)
        factors = self.divisors.reciprocal().mul_(share * scale)
        self.gradient.addcmul_(self.units, turning, value=-1).mul_(factors)
        # Each cosine counts in its row and in its column.
        by_scale = share / 2 * along.sum() if isinstance(scale, Tensor) else None
        return self.gradient.to(self.units.dtype), by_scale


class Logits:
    """scale · rows · columnsᵀ [N, K], none larger than `largest`.

    Where the gradient is wanted, ∂value/∂rows is added to `by_rows` and ∂value/∂columns to
    `by_columns`, both without the factor `scale`. They may be one tensor, as rows and columns may.
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
        self.bounded = largest <= SAFE
        self.exact = torch.promote_types(rows.dtype, torch.float32)
        cells = CELLS if rows.is_cpu else CELLS_OF_AN_ACCELERATOR
        self.step = min(len(rows), max(FEWEST, cells // len(columns)))

    def tiles(self) -> Iterator[tuple[slice, Tensor]]:
        """Spans of rows with their logits [n, K], in a room that the next span overwrites."""
        columns, count = self.columns.T, len(self.rows)
        learned = isinstance(self.scale, Tensor)
        room = columns.new_empty(self.step, columns.shape[1], dtype=self.exact)
        for start in range(0, count, self.step):
            span = slice(start, min(start + self.step, count))
            tile = room[: span.stop - start]
            _multiply(self.rows[span], columns, tile, 0, 1 if learned else self.scale)
            yield span, tile.mul_(self.scale) if learned else tile

    def at(self, columns: Tensor | slice) -> Tensor:
        """The logit of each row in one column: [N]."""
        return (self.rows.to(self.exact) * self.columns[columns]).sum(dim=1) * self.scale

    def weights(self, tile: Tensor) -> Tensor:
        """exp of the tile, in its place unless it will be multiplied in another type."""
        if tile.dtype == self.rows.dtype:
            return tile.exp_()
        return torch.exp(tile, out=torch.empty_like(tile, dtype=self.rows.dtype))

    def add(self, span: slice, weights: Tensor, factors: Tensor | None = None) -> None:
        """Add what ∂value/∂logits = weights [n, K] · factors [n, 1] of a tile brings."""
        rows, columns, weights = self.rows[span], self.columns, weights.to(self.rows.dtype)
        if factors is None:
            if self.by_rows is not None:
                _multiply(weights, columns, self.by_rows[span])
            if self.by_columns is not None:
                _multiply(weights.T, rows, self.by_columns)
            return
        if self.by_rows is not None:
            part = torch.empty_like(rows, dtype=self.exact)
            self.by_rows[span].addcmul_(_multiply(weights, columns, part, 0), factors)
        if self.by_columns is not None:
            _multiply(weights.T, (rows * factors).to(rows.dtype), self.by_columns)

    def subtract_at(self, columns: Tensor | slice, weights: Tensor) -> None:
        """Subtract what ∂value/∂logits = weights [N], in one column of each row, brings."""
        weights = weights[:, None]
        if self.by_rows is not None:
            self.by_rows.addcmul_(self.columns[columns], weights, value=-1)
        if self.by_columns is None:
            return
        if isinstance(columns, slice):
            self.by_columns[columns].addcmul_(self.rows, weights, value=-1)
        else:
            self.by_columns.index_add_(0, columns, self.rows * weights, alpha=-1)


def against_others(
    logits: Logits, own: Tensor, absent: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Σᵢ log(1 + Σⱼ exp(sᵢⱼ − ownᵢ)) over the columns j that are not `absent` [N, m] in row i.

    Without `absent`, column i is.

    Returns the value and −∂value/∂own; the gradient by the logits is added to theirs.
    """
    gaps = torch.empty_like(own)
    for span, tile in logits.tiles():
        if absent is None:
            tile.diagonal(span.start).fill_(-torch.inf)
        else:
            tile.scatter_(1, absent[span], -torch.inf)
        own_here = own[span]
        if not logits.bounded:
            largest = tile.amax(dim=1).clamp_min(torch.finfo(tile.dtype).min)
            tile.sub_(largest[:, None])
            own_here = own_here - largest
        weights = logits.weights(tile)
        total = weights.sum(dim=1, dtype=tile.dtype)
        torch.sub(total.log(), own_here, out=gaps[span])
        logits.add(span, weights, own_here.exp().add_(total).reciprocal_()[:, None])
    return softplus(gaps, threshold=STRAIGHT).sum(), gaps.sigmoid_()


def against_thresholds(logits: Logits, thresholds: Tensor) -> tuple[Tensor, Tensor]:
    """Σ log(1 + exp(sᵢⱼ − thresholdᵢ)) over all i ≠ j.

    Returns the value and −∂value/∂threshold; the gradient by the logits is added to theirs.
    """
    values, slopes = torch.empty_like(thresholds), torch.empty_like(thresholds)
    for span, tile in logits.tiles():
        tile.diagonal(span.start).fill_(-torch.inf)
        tile.sub_(thresholds[span, None])
        torch.sum(softplus(tile, threshold=STRAIGHT), dim=1, out=values[span])
        weights = tile.sigmoid_()
        torch.sum(weights, dim=1, out=slopes[span])
        logits.add(span, weights)
    return values.sum(), slopes


def both_ways(logits: Logits, own: Tensor) -> tuple[Tensor, Tensor]:
    """`against_others` by rows plus the same by the first N columns; row i owns column i."""
    count = len(own)
    in_one = list(logits.tiles()) if logits.step == count else None
    of_rows, of_columns = torch.empty_like(own), torch.full_like(own, -torch.inf)
    for span, tile in in_one or logits.tiles():
        tile.diagonal(span.start).fill_(-torch.inf)
        of_rows[span] = tile.logsumexp(dim=1)
        of_columns = torch.logaddexp(of_columns, tile[:, :count].logsumexp(dim=0))
    gaps = torch.stack((of_rows, of_columns)).sub_(own)
    of_rows, of_columns = torch.logaddexp(of_rows, own), torch.logaddexp(of_columns, own)
    wanted = logits.by_rows is not None or logits.by_columns is not None
    for span, tile in (in_one or logits.tiles()) if wanted else ():
        tile.diagonal(span.start).fill_(-torch.inf)
        by_columns = (tile[:, :count] - of_columns).exp_()
        tile.sub_(of_rows[span, None]).exp_()
        tile[:, :count] += by_columns
        logits.add(span, tile)
    return softplus(gaps, threshold=STRAIGHT).sum(), gaps.sigmoid_().sum(dim=0)


def _multiply(
    first: Tensor, second: Tensor, out: Tensor, beta: float = 1, alpha: float = 1
) -> Tensor:
    """beta · out + alpha · first @ second, in `out`; half precision is summed in that of `out`."""
    given = {} if first.dtype == out.dtype else {"out_dtype": out.dtype}
    return torch.addmm(out, first, second, beta=beta, alpha=alpha, out=out, **given)
