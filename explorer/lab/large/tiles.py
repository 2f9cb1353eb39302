"""Matrices that do not split, streamed over the device a few rows at a time.

What stays is one number a block, a row and a column; the tile itself is gone before the next one
is made. `Survey` is the one pass over the whole matrix, and `tile_blocks` looks at a window.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from explorer.device import device
from explorer.lab.large.blocks import MOST_BLOCKS, Blocks, Window, halved, joined
from explorer.lab.large.heaviest import MOST_TERMS, Heaviest

# Cells of one tile: few enough to stay in a processor's cache, where most of the time goes, and
# enough to keep an accelerator busy.
TILE_CELLS = 2**18
ACCELERATOR_CELLS = 2**24
# A window of so few cells is gone through anew. Of a larger matrix the sums of so many chunks each
# way are kept, which larger windows are made of.
FEW, MOST_CHUNKS = 2**20, 2**11

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Tiles:
    """A matrix of R × C terms that is never there as a whole.

    `cells(window)` gives tensors [r, c] for a part of it: the terms, which are the logarithms of
    the weights (−inf: masked), and what each cell adds to the loss. With `by_row` the loss has a
    logarithm a row, log(1 + Σ e^term), in place of that second tensor: the weights of a row are
    then normalised by it. With `by_column` it has one a column as well, over the terms that the
    third tensor holds, and a cell has the weights of both directions.
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
    add to the loss, `row_weights` and `column_weights` are the sums of the weights.
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
    all_rows = tiles.rows * (1 + tiles.by_column)
    column_norms = _column_norms(tiles, lambda done: progress(done, all_rows))
    norms, added, row_weights = (np.zeros(tiles.rows) for _ in range(3))
    column_weights = np.zeros(tiles.columns)
    logs = nearest = 0
    top = np.full(MOST_TERMS, -np.inf), np.zeros(MOST_TERMS, dtype=np.int64)
    blocks = _Gathering(whole)
    for part in parts_of(whole):
        progress(all_rows - tiles.rows + part.top, all_rows)
        terms, values, back = tiles.cells(part)
        rows = slice(part.top, part.bottom)
        if tiles.by_row:
            total = terms.logsumexp(dim=1)
            norm = torch.logaddexp(total, torch.zeros_like(total))
            norms[rows], added[rows] = norm.cpu().numpy(), norm.cpu().numpy()
            nearest += int((terms < 0).all(dim=1).sum())
            logits = _both(terms - norm[:, None], back, column_norms)
        else:
            logits = terms
            added[rows] = values.sum(dim=1).cpu().numpy()
        weights = logits.exp()
        row_weights[rows] = weights.sum(dim=1).cpu().numpy()
        column_weights += weights.sum(dim=0).cpu().numpy()
        logs += float((weights * logits.nan_to_num(neginf=0.0)).sum())
        _keep_top(top, logits, part.top * tiles.columns)
        blocks.add(terms, weights)
    progress(all_rows, all_rows)
    total = row_weights.sum()
    chunks = blocks.done(total)
    return Survey(
        levels=halved(chunks),
        norms=norms,
        column_norms=column_norms,
        added=added,
        row_weights=row_weights,
        column_weights=column_weights,
        heaviest=_heaviest(tiles, *top, total),
        effective=float(np.exp(np.log(total) - logs / total)) if total > 0 else 0.0,
        present=int(chunks.present.sum()),
        nearest=nearest if tiles.by_row else None,
    )


def tile_blocks(tiles: Tiles, found: Survey, window: Window) -> Blocks:
    """The blocks of a window, at its own resolution where it has few cells."""
    if window.cells > FEW or window == Window(0, tiles.rows, 0, tiles.columns):
        return joined(_fitting(found.levels, window), window)
    blocks = _Gathering(window)
    for part in parts_of(window):
        terms, _, back = tiles.cells(part)
        norms = torch.as_tensor(found.norms[part.top : part.bottom]).to(terms)
        of_columns = found.column_norms[part.left : part.right]
        blocks.add(terms, _both(terms - norms[:, None], back, of_columns).exp())
    return blocks.done(found.row_weights.sum())


def _fitting(levels: list[Blocks], window: Window) -> Blocks:
    """The widest chunks that still are narrower than the blocks of the window."""
    sides = window.bottom - window.top, window.right - window.left
    for chunks in reversed(levels):
        widths = chunks.rows[1], chunks.columns[1]
        if all(s >= 2 * MOST_BLOCKS * w for s, w in zip(sides, widths, strict=True)):
            return chunks
    return levels[0]


def _column_norms(tiles: Tiles, progress: Callable[[int], None]) -> np.ndarray:
    """log(1 + Σ e^term) of each column, from a pass of its own."""
    total = np.full(tiles.columns, -np.inf)
    if tiles.by_column:
        for part in parts_of(Window(0, tiles.rows, 0, tiles.columns)):
            progress(part.top)
            back = tiles.cells(part)[2]
            total = np.logaddexp(total, back.logsumexp(dim=0).cpu().double().numpy())
    return np.logaddexp(total, 0.0)


def _both(logits: Tensor, back: Tensor | None, column_norms: np.ndarray) -> Tensor:
    """The logarithms of the weights, of the other direction too if there is one."""
    if back is None:
        return logits
    return torch.logaddexp(logits, back - torch.as_tensor(column_norms).to(back))


def parts_of(window: Window) -> list[Window]:
    """Bands of about TILE_CELLS cells: some whole block rows, or a part of one."""
    rows = window.rows
    tall = int(rows[1] - rows[0])
    cells = TILE_CELLS if device().type == "cpu" else ACCELERATOR_CELLS
    fitting = max(1, cells // (window.right - window.left))
    height = fitting // tall * tall if fitting >= tall else fitting
    parts = []
    top = window.top
    while top < window.bottom:
        band_end = window.top + (1 + (top - window.top) // tall) * tall
        bottom = min(top + height, window.bottom, band_end if height < tall else window.bottom)
        parts.append(Window(top, bottom, window.left, window.right))
        top = bottom
    return parts


class _Gathering:
    """The blocks of a window, filled tile by tile.

    The room is taken at once: small results that outlive their tiles would be scattered over the
    memory that the tiles leave, and no later tile would fit in between.
    """

    def __init__(self, window: Window) -> None:
        self._window = window
        self._tall = int(window.rows[1] - window.rows[0])
        self._wide = int(window.columns[1] - window.columns[0])
        heights = [-(-(part.bottom - part.top) // self._tall) for part in parts_of(window)]
        self._starts = np.array([part.top for part in parts_of(window)])
        shape = sum(heights), len(window.columns) - 1
        self._total, self._share, self._largest = (np.zeros(shape) for _ in range(3))
        self._present = np.zeros(shape, dtype=np.int32)
        self._filled = 0

    def add(self, terms: Tensor, weights: Tensor) -> None:
        """The next tile: whole block rows, or a part of one."""
        blocked = _blocked(terms, self._tall, self._wide, -torch.inf)
        # One dimension after the other: several times as fast as both at once.
        largest = blocked.amax(dim=1).amax(dim=2)
        shift = largest.masked_fill(largest.isneginf(), 0)
        sums = (blocked - shift[:, None, :, None]).exp_().sum(dim=1).sum(dim=2)
        rows = slice(self._filled, self._filled + len(sums))
        self._total[rows] = (sums.log() + shift).cpu().numpy()
        self._largest[rows] = largest.cpu().numpy()
        self._present[rows] = (~blocked.isneginf()).sum(dim=1).sum(dim=2).cpu().numpy()
        weights = _blocked(weights, self._tall, self._wide, 0.0)
        self._share[rows] = weights.sum(dim=1).sum(dim=2).cpu().numpy()
        self._filled = rows.stop

    def done(self, weight: float) -> Blocks:
        """All blocks; `weight` is that of the whole matrix."""
        rows, columns = self._window.rows, self._window.columns
        total, share = self._total, self._share
        largest, present = self._largest, self._present
        if len(total) > len(rows) - 1:  # more than one tile for each block row
            first = np.searchsorted(self._starts, rows[:-1])
            total = np.logaddexp.reduceat(total, first)
            share, present = (np.add.reduceat(sums, first) for sums in (share, present))
            largest = np.maximum.reduceat(largest, first)
        share = share / weight if weight > 0 else np.zeros_like(share)
        return Blocks(rows, columns, total, share, largest, present)


def _blocked(cells: Tensor, tall: int, wide: int, filler: float) -> Tensor:
    """[r, c] as [bands, tall, bands, wide], the last bands filled up; less than one band of rows
    is a band of its own."""
    tall = min(tall, len(cells))
    missing = (-cells.shape[1] % wide, -cells.shape[0] % tall)
    if any(missing):
        cells = torch.nn.functional.pad(cells, (0, missing[0], 0, missing[1]), value=filler)
    return cells.view(cells.shape[0] // tall, tall, cells.shape[1] // wide, wide)


def _keep_top(top: tuple[np.ndarray, np.ndarray], logits: Tensor, offset: int) -> None:
    """Put the largest of a tile among the largest so far; `offset` is the tile's first cell."""
    values, cells = top
    best = logits.flatten().topk(min(MOST_TERMS, logits.numel()))
    joined = np.concatenate([values, best.values.cpu().double().numpy()])
    numbers = np.concatenate([cells, best.indices.cpu().numpy() + offset])
    chosen = np.argsort(-joined, kind="stable")[:MOST_TERMS]
    values[:], cells[:] = joined[chosen], numbers[chosen]


def _heaviest(tiles: Tiles, logits: np.ndarray, cells: np.ndarray, total: float) -> Heaviest:
    taken = logits > -np.inf
    rows, columns = np.divmod(cells[taken], tiles.columns)
    one_by_one = (
        tiles.cells(Window(row, row + 1, column, column + 1))[0].item()
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True)
    )
    values = np.fromiter(one_by_one, dtype=np.float64, count=len(rows))
    return Heaviest(rows, columns, values, np.exp(logits[taken]) / max(total, 1e-300))
