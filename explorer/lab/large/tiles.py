"""Matrices that do not split, streamed over the device tile by tile.

Of a tile stays what its rows hold in each band of columns; of a strip of tiles, the full width of
the matrix, one number a block, a row and a column. Each cell's exponential is taken once: its
block, its row and its weight all read it. `Survey` is the one pass over the whole matrix, and
`tile_blocks` looks at a window.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple, Self, TypeVar

import numpy as np
import torch
from torch import Tensor

from explorer.lab.large.blocks import MOST_BLOCKS, Blocks, Window, halved, joined
from explorer.lab.large.heaviest import MOST_TERMS, Heaviest
from explorer.runtime.device import device

# Cells of one tile, four times as wide as it is high: few enough to stay in a processor's cache,
# and so near a square that the products of vectors, where most of the time goes, read each of them
# for many cells. An accelerator is kept busy by more.
TILE_CELLS = 2**18
ACCELERATOR_CELLS = 2**24
# Strips that are worked on at the same time: each of them takes some 30 MB.
MOST_WORKERS = 8
# A window of so few cells is gone through anew. Of a larger matrix the sums of so many chunks each
# way are kept, which larger windows are made of.
FEW, MOST_CHUNKS = 2**20, 2**11
# So far below another number that its exponential beside the other's is 0 in any precision.
NEVER = -1e4

Progress = Callable[[int, int], None]
# The logarithms that normalise the weights of each row and of each column.
Norms = tuple[np.ndarray, np.ndarray]
Made = TypeVar("Made")


@dataclass(frozen=True, eq=False)
class Tiles:
    """A matrix of R × C terms that is never there as a whole.

    `cells(window)` gives tensors [c, r] for a part of it: the cells of a column stand side by side,
    so that sums over a band of columns add whole rows of memory. The first holds the terms, which
    are the logarithms of the weights (−inf: masked), the second what each cell adds to the loss.
    With `by_row` the loss has a logarithm a row, log(1 + Σ e^term), in place of that second
    tensor: the weights of a row are then normalised by it. With `by_column` it has one a column as
    well, over the terms that the third tensor holds, and a cell has the weights of both directions.
    """

    rows: int
    columns: int
    by_row: bool
    cells: Callable[[Window], tuple[Tensor, Tensor | None, Tensor | None]]
    by_column: bool = False


@dataclass(frozen=True, eq=False)
class Survey:
    """What one pass over the whole matrix finds.

    `levels` are chunks that the blocks of large windows are made of: the smallest ones first, then
    twice as wide each time, down to the blocks of the overview.
    `norms` [R] is the logarithm that normalises each row's weights (0 without `by_row`), and
    `column_norms` [C] that of each column's (0 without `by_column`); `added` [R] is what the rows
    add to the loss, `row_weights` [R] are the sums of the weights, and `column_weights` [C] too
    where the loss is a plain sum (0 with `by_row`).
    `nearest` counts the rows without a term of 0 or more where a row's own logarithm is taken,
    else None: nothing is as near to them as what they are compared with.
    """

    levels: list[Blocks]
    norms: np.ndarray
    column_norms: np.ndarray
    added: np.ndarray
    row_weights: np.ndarray
    column_weights: np.ndarray
    heaviest: Heaviest
    effective: float
    present: int
    nearest: int | None


def survey(tiles: Tiles, progress: Progress) -> Survey:
    """Stream the whole matrix once. `progress` hears of rows done and may raise to stop."""
    few = tiles.rows * tiles.columns <= FEW
    whole = Window(0, tiles.rows, 0, tiles.columns, MOST_BLOCKS if few else MOST_CHUNKS)
    steps = tiles.rows * (1 + tiles.by_column)
    known = None
    if tiles.by_column:
        known = _norms(tiles, lambda done: progress(done, steps))
    norms, added, row_weights = (np.zeros(tiles.rows) for _ in range(3))
    column_weights = np.zeros(tiles.columns)
    logs = nearest = 0
    top, blocks, block = _Top(), _Gathering(whole), _block(whole)
    strips = _strips(whole)
    progress(steps - tiles.rows, steps)
    for rows, strip in zip(
        strips, _in_turn(lambda rows: _strip(tiles, rows, block, known), strips), strict=True
    ):
        progress(steps - tiles.rows + rows.bottom, steps)
        seen = slice(rows.top, rows.bottom)
        norms[seen], added[seen], row_weights[seen] = strip.norms, strip.added, strip.row_weights
        column_weights += strip.column_weights
        logs += strip.logs
        nearest += strip.nearest
        top.add(strip.heaviest)
        blocks.add(strip)
    total = row_weights.sum()
    chunks = blocks.done(total)
    column_norms = known[1] if known else np.zeros(tiles.columns)
    return Survey(
        levels=halved(chunks),
        norms=norms,
        column_norms=column_norms,
        added=added,
        row_weights=row_weights,
        column_weights=column_weights,
        heaviest=top.terms(tiles, whole, (norms, column_norms), total),
        effective=float(np.exp(np.log(total) - logs / total)) if total > 0 else 0.0,
        present=int(chunks.present.sum()),
        nearest=nearest if tiles.by_row else None,
    )


def tile_blocks(tiles: Tiles, found: Survey, window: Window) -> Blocks:
    """The blocks of a window, at its own resolution where it has few cells."""
    if window.cells > FEW or window == Window(0, tiles.rows, 0, tiles.columns):
        return joined(_fitting(found.levels, window), window)
    norms = found.norms, found.column_norms
    blocks, block = _Gathering(window), _block(window)
    for strip in _in_turn(lambda rows: _strip(tiles, rows, block, norms), _strips(window)):
        blocks.add(strip)
    return blocks.done(found.row_weights.sum())


def _fitting(levels: list[Blocks], window: Window) -> Blocks:
    """The widest chunks that still are narrower than the blocks of the window."""
    sides = window.bottom - window.top, window.right - window.left
    for chunks in reversed(levels):
        widths = chunks.rows[1], chunks.columns[1]
        if all(s >= 2 * MOST_BLOCKS * w for s, w in zip(sides, widths, strict=True)):
            return chunks
    return levels[0]


# ---- Tiles of a window ---------------------------------------------------------------------------


def tiles_of(window: Window) -> Iterator[Window]:
    """All tiles of a window, strip by strip."""
    wide = _block(window)[1]
    for rows in _strips(window):
        yield from _across(rows, wide)


def _block(window: Window) -> tuple[int, int]:
    """How many rows and columns a block of the window has."""
    return tuple(int(cuts[1] - cuts[0]) for cuts in (window.rows, window.columns))


def _strips(window: Window) -> list[Window]:
    """Some whole block rows at a time, the full width of the window."""
    parts = _parts(window.top, window.bottom, _block(window)[0], _tile_height())
    return [Window(top, bottom, window.left, window.right) for top, bottom in parts]


def _across(strip: Window, wide: int) -> list[Window]:
    """The tiles of a strip, each of some whole bands of `wide` columns."""
    width = 4 * _tile_height() ** 2 // (strip.bottom - strip.top)
    parts = _parts(strip.left, strip.right, wide, width)
    return [Window(strip.top, strip.bottom, left, right) for left, right in parts]


def _parts(start: int, stop: int, band: int, length: int) -> list[tuple[int, int]]:
    """From where to where some bands reach that are about so long together."""
    step = band * max(1, length // band)
    return [(at, min(at + step, stop)) for at in range(start, stop, step)]


def _tile_height() -> int:
    cells = TILE_CELLS if device().type == "cpu" else ACCELERATOR_CELLS
    return int((cells // 4) ** 0.5)


def _in_turn(work: Callable[[Window], Made], strips: Sequence[Window]) -> Iterator[Made]:
    """What `work` makes of each strip, in their order, one strip on each core of a CPU.

    Cores that share the steps of one strip would wait for each other at every step, and long where
    one of them has something else to do.
    """
    workers = min(os.cpu_count() or 1, MOST_WORKERS) if device().type == "cpu" else 1
    waiting = deque()
    pool = ThreadPoolExecutor(workers)
    try:
        for strip in strips:
            waiting.append(pool.submit(work, strip))
            if len(waiting) > workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


# ---- Sums of a strip -----------------------------------------------------------------------------


class _Bands(NamedTuple):
    """Numbers x of each row within each band of columns, all [bands, rows]: the largest of them,
    Σ e^(x − largest), and Σ (x − largest) e^(x − largest)."""

    largest: Tensor
    sums: Tensor
    mixed: Tensor

    @classmethod
    def of(cls, numbers: Tensor, wide: int) -> Self:
        """The numbers of a tile [c, r], whose bands are `wide` columns each, the last one less."""
        banded = _banded(numbers, wide, -torch.inf)
        largest = banded.amax(dim=1)
        below = (banded - _finite(largest)[:, None]).clamp_min_(NEVER)
        powers = below.exp()
        return cls(largest, powers.sum(dim=1), below.mul_(powers).sum(dim=1))

    @classmethod
    def joined(cls, tiles: list[Self]) -> Self:
        """Those of a strip from those of its tiles."""
        return cls(*(torch.cat(parts) for parts in zip(*tiles, strict=True)))

    def log_totals(self) -> Tensor:
        """log Σ e^x of each row."""
        largest = self.largest.amax(dim=0)
        shift = _finite(largest)
        return (self.largest - shift).exp_().mul_(self.sums).sum(dim=0).log() + shift

    def blocks(self, tall: int) -> tuple[Tensor, Tensor]:
        """log Σ e^x and the largest x of each `tall` rows of each band, [bands, block rows]."""
        stacked = _stacked(self.largest, tall, -torch.inf)
        largest = stacked.amax(dim=2)
        shift = _finite(largest)
        powers = (stacked - shift[:, :, None]).exp_().mul_(_stacked(self.sums, tall, 0.0))
        return powers.sum(dim=2).log() + shift, largest


class _Strip(NamedTuple):
    """What is known of a strip: of its blocks [block rows, bands], of its rows, of the columns
    where the loss is a plain sum; Σ w log w of its weights w; how many rows have no term of 0 or
    more; and of the `heaviest` bands of its rows the largest log w, the row and the band."""

    total: np.ndarray
    largest: np.ndarray
    weight: np.ndarray
    present: np.ndarray
    norms: np.ndarray
    added: np.ndarray
    row_weights: np.ndarray
    column_weights: np.ndarray | float
    logs: float
    nearest: int
    heaviest: tuple[np.ndarray, np.ndarray, np.ndarray]


def _strip(tiles: Tiles, rows: Window, block: tuple[int, int], known: Norms | None) -> _Strip:
    """The strip of these rows, under the `known` logarithms that normalise rows and columns, or
    those of the rows themselves: the strip then has to be as wide as the matrix."""
    tall, wide = block
    pieces, both, present, columns = [], [], [], []
    added = 0.0
    for part in _across(rows, wide):
        terms, values, back = tiles.cells(part)
        pieces.append(_Bands.of(terms, wide))
        present.append(_present(terms, wide, tall))
        if back is not None:
            both.append(_Bands.of(_both(terms, back, known, part), wide))
        if values is not None:
            added = added + _numbers(values.sum(dim=0))
            columns.append(_numbers(terms.exp().sum(dim=1)))
    found = _Bands.joined(pieces)
    if known is not None:
        norms = torch.from_numpy(known[0][rows.top : rows.bottom]).to(found.sums)
    else:
        norms = found.sums.new_zeros(rows.bottom - rows.top)
        if tiles.by_row:
            norms = torch.logaddexp(found.log_totals(), norms)
    of_weights = _Bands.joined(both) if both else found._replace(largest=found.largest - norms)
    powers = of_weights.largest.exp()
    weights = powers * of_weights.sums
    logs = powers.mul_(of_weights.mixed).add_(weights * _finite(of_weights.largest)).sum()
    total, largest = found.blocks(tall)
    return _Strip(
        *(_numbers(side.T) for side in (total, largest, _stacked(weights, tall, 0.0).sum(dim=2))),
        torch.cat(present).T.cpu().numpy(),
        _numbers(norms),
        added if columns else _numbers(norms),
        _numbers(weights.sum(dim=0)),
        np.concatenate(columns) if columns else 0.0,
        float(logs),
        int((found.largest.amax(dim=0) < 0).sum()),
        _heaviest_bands(of_weights.largest, rows.top),
    )


def _present(terms: Tensor, wide: int, tall: int) -> Tensor:
    """How many terms each block of a tile has, [bands, blocks]."""
    if terms.amin() > -torch.inf:
        sizes = (
            torch.tensor([min(step, side - start) for start in range(0, side, step)])
            for side, step in zip(terms.shape, (wide, tall), strict=True)
        )
        return torch.outer(*sizes).to(terms.device)
    there = (terms > -torch.inf).to(torch.int32)
    return _stacked(_banded(there, wide, 0).sum(dim=1), tall, 0).sum(dim=2)


def _heaviest_bands(largest: Tensor, top: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    best, places = largest.flatten().topk(min(MOST_TERMS, largest.numel()))
    band, row = np.divmod(places.cpu().numpy(), largest.shape[1])
    return _numbers(best), row + top, band


def _both(terms: Tensor, back: Tensor, known: Norms, part: Window) -> Tensor:
    """The logarithms of the weights of both directions."""
    rows = torch.from_numpy(known[0][part.top : part.bottom]).to(terms)
    columns = torch.from_numpy(known[1][part.left : part.right]).to(terms)
    return torch.logaddexp(terms - rows, back - columns[:, None])


def _norms(tiles: Tiles, progress: Callable[[int], None]) -> Norms:
    """log(1 + Σ e^term) of each row and, over the other direction's terms, of each column."""

    def work(strip: Window) -> tuple[Window, np.ndarray, np.ndarray]:
        of_rows, of_columns = [], []
        for part in _across(strip, 1):
            terms, _, back = tiles.cells(part)
            of_rows.append(_numbers(terms.logsumexp(dim=0)))
            of_columns.append(_numbers(back.logsumexp(dim=1)))
        return strip, np.logaddexp.reduce(of_rows), np.concatenate(of_columns)

    rows, columns = np.zeros(tiles.rows), np.zeros(tiles.columns)
    progress(0)
    for strip, of_rows, of_columns in _in_turn(
        work, _strips(Window(0, tiles.rows, 0, tiles.columns))
    ):
        rows[strip.top : strip.bottom] = np.logaddexp(0.0, of_rows)
        columns = np.logaddexp(columns, of_columns)
        progress(strip.bottom)
    return rows, columns


def _banded(numbers: Tensor, wide: int, filler: float) -> Tensor:
    """[c, r] as [bands, wide, r], the last band filled up."""
    if missing := -numbers.shape[0] % wide:
        numbers = torch.nn.functional.pad(numbers, (0, 0, 0, missing), value=filler)
    return numbers.unflatten(0, (-1, wide))


def _stacked(numbers: Tensor, tall: int, filler: float) -> Tensor:
    """[bands, r] as [bands, block rows, tall], the last block row filled up."""
    if missing := -numbers.shape[1] % tall:
        numbers = torch.nn.functional.pad(numbers, (0, missing), value=filler)
    return numbers.unflatten(1, (-1, tall))


def _finite(numbers: Tensor) -> Tensor:
    return numbers.masked_fill(numbers.isneginf(), 0.0)


def _numbers(values: Tensor) -> np.ndarray:
    return values.cpu().double().numpy()


# ---- Gathered from all strips --------------------------------------------------------------------


class _Gathering:
    """The blocks of a window, filled strip by strip.

    The room is taken at once: small results that outlive their tiles would be scattered over the
    memory that the tiles leave, and no later tile would fit in between.
    """

    def __init__(self, window: Window) -> None:
        self._window = window
        shape = len(window.rows) - 1, len(window.columns) - 1
        self._total, self._weight, self._largest = (np.zeros(shape) for _ in range(3))
        self._present = np.zeros(shape, dtype=np.int32)
        self._filled = 0

    def add(self, strip: _Strip) -> None:
        """The next strip of whole block rows."""
        rows = slice(self._filled, self._filled + len(strip.total))
        self._total[rows], self._largest[rows] = strip.total, strip.largest
        self._weight[rows], self._present[rows] = strip.weight, strip.present
        self._filled = rows.stop

    def done(self, weight: float) -> Blocks:
        """All blocks; `weight` is that of the whole matrix."""
        self._weight /= weight if weight > 0 else 1.0
        rows, columns = self._window.rows, self._window.columns
        return Blocks(rows, columns, self._total, self._weight, self._largest, self._present)


class _Top:
    """The bands of rows that hold the heaviest terms: the largest terms of as many bands as terms
    are wanted already are so many that no term of another band exceeds."""

    def __init__(self) -> None:
        nowhere = np.zeros(0, dtype=np.int64)
        self._found = np.zeros(0), nowhere, nowhere

    def add(self, bands: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
        """The heaviest bands of a strip: their largest logarithm of a weight, row and band."""
        joined = [np.concatenate(both) for both in zip(self._found, bands, strict=True)]
        chosen = np.argsort(-joined[0], kind="stable")[:MOST_TERMS]
        self._found = tuple(side[chosen] for side in joined)

    def terms(self, tiles: Tiles, whole: Window, norms: Norms, total: float) -> Heaviest:
        """The heaviest terms, `total` being the weight of all."""
        found = []
        for row, band in zip(*self._found[1:], strict=True):
            start, stop = whole.columns[band : band + 2]
            part = Window(int(row), int(row) + 1, int(start), int(stop))
            terms, _, back = tiles.cells(part)
            of_row = torch.from_numpy(norms[0][part.top : part.bottom]).to(terms)
            logs = terms - of_row if back is None else _both(terms, back, norms, part)
            columns = np.arange(start, stop)
            sides = (_numbers(side[:, 0]) for side in (terms, logs))
            found.append(np.stack([np.full(len(columns), row), columns, *sides]))
        rows, columns, terms, logs = np.concatenate(found, axis=1)
        top = np.lexsort((columns, rows, -logs))[:MOST_TERMS]
        top = top[logs[top] > -np.inf]
        places = (side[top].astype(np.int64) for side in (rows, columns))
        return Heaviest(*places, terms[top], np.exp(logs[top]) / max(total, 1e-300))
