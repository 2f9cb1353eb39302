"""Matrices that do not split, streamed over the device by tiles and strips.

`Survey` is the one pass over the whole matrix, and `tile_blocks` looks at a window.
"""

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import torch

from lossprism.explorer.lab.large.heaviest_terms import MAX_TERMS, Heaviest
from lossprism.explorer.lab.large.sums_over_tile_strips import (
    Norms,
    Strip,
    Tiles,
    as_numbers,
    block_of,
    both_directions,
    strip_of,
    strips_of,
    tiles_across,
)
from lossprism.explorer.lab.large.window_blocks import MAX_BLOCKS, Blocks, Window, halved, joined
from lossprism.explorer.runtime.device import device
from lossprism.losses.kernels.cell_terms import logistic_terms

# Strips that are worked on at the same time: each of them takes some 30 MB.
MAX_WORKERS = 8
# Largest window, in cells, that is computed again. The sums of a larger matrix's chunks, at most so
# many each way, are stored, and larger windows made of them.
SMALL_WINDOW_CELLS, MAX_CHUNKS = 2**20, 2**11

Progress = Callable[[int, int], None]
Made = TypeVar("Made")


@dataclass(frozen=True, eq=False)
class Survey:
    """Findings of one pass over the whole matrix.

    `levels` are chunks that the blocks of large windows are made of: the smallest ones first, then
    twice as wide each time, down to the blocks of the overview. `norms` [R] is the logarithm that
    normalises each row's weights (0 without `by_row`), and `column_norms` [C] that of each column's
    (0 without `by_column`); `added` [R] are the rows' parts of the loss, `row_weights` [R] the sums
    of the weights, and `column_weights` [C] too where the loss is a plain sum (0 with `by_row`).
    `nearest` counts the rows without a term as large as 0 where a row's own logarithm is taken,
    else None: nothing is as near to them as the column that they are compared with.
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
    is_small = tiles.rows * tiles.columns <= SMALL_WINDOW_CELLS
    whole = Window(0, tiles.rows, 0, tiles.columns, MAX_BLOCKS if is_small else MAX_CHUNKS)
    steps = tiles.rows * (1 + tiles.by_column)
    known = None
    if tiles.by_column:
        known = _norms(tiles, lambda done: progress(done, steps))
    norms, added, row_weights = (np.zeros(tiles.rows) for _ in range(3))
    column_weights = np.zeros(tiles.columns)
    logs = nearest = 0
    top, blocks, block = _Top(), _Gathering(whole), block_of(whole)
    strips = strips_of(whole)
    progress(steps - tiles.rows, steps)
    for rows, strip in zip(
        strips, _in_turn(lambda rows: strip_of(tiles, rows, block, known), strips), strict=True
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


def tile_blocks(tiles: Tiles, survey: Survey, window: Window) -> Blocks:
    """The blocks of a window, at its own resolution where it has few cells."""
    if window.cells > SMALL_WINDOW_CELLS or window == Window(0, tiles.rows, 0, tiles.columns):
        return joined(_fitting(survey.levels, window), window)
    norms = survey.norms, survey.column_norms
    blocks, block = _Gathering(window), block_of(window)
    for strip in _in_turn(lambda rows: strip_of(tiles, rows, block, norms), strips_of(window)):
        blocks.add(strip)
    return blocks.done(survey.row_weights.sum())


def _fitting(levels: list[Blocks], window: Window) -> Blocks:
    """The widest chunks that still are narrower than the blocks of the window."""
    sides = window.bottom - window.top, window.right - window.left
    for chunks in reversed(levels):
        widths = chunks.rows[1], chunks.columns[1]
        if all(s >= 2 * MAX_BLOCKS * w for s, w in zip(sides, widths, strict=True)):
            return chunks
    return levels[0]


def _in_turn(work: Callable[[Window], Made], strips: Sequence[Window]) -> Iterator[Made]:
    """Yield the result of `work` for each strip, in their order, one strip on each core of a CPU.

    Cores that share the steps of one strip would wait for each other at every step, and long where
    one of them has something else to do.
    """
    workers = min(os.cpu_count() or 1, MAX_WORKERS) if device().type == "cpu" else 1
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


def _norms(tiles: Tiles, progress: Callable[[int], None]) -> Norms:
    """log(1 + Σ e^term) of each row and, over the other direction's terms, of each column."""

    def work(strip: Window) -> tuple[Window, np.ndarray, np.ndarray]:
        of_rows, of_columns = [], []
        for part in tiles_across(strip, 1):
            terms, _, back = tiles.cells(part)
            of_rows.append(as_numbers(terms.logsumexp(dim=0)))
            assert back is not None, "norms of columns are those of a matrix by columns"
            of_columns.append(as_numbers(back.logsumexp(dim=1)))
        return strip, np.logaddexp.reduce(of_rows), np.concatenate(of_columns)

    rows, columns = np.zeros(tiles.rows), np.full(tiles.columns, -np.inf)
    progress(0)
    for strip, of_rows, of_columns in _in_turn(
        work, strips_of(Window(0, tiles.rows, 0, tiles.columns))
    ):
        rows[strip.top : strip.bottom] = of_rows
        columns = np.logaddexp(columns, of_columns)
        progress(strip.bottom)
    sums = (torch.from_numpy(side) for side in (rows, columns))
    of_rows, of_columns = (as_numbers(logistic_terms(side)) for side in sums)
    return of_rows, of_columns


# ---- Gathered from all strips --------------------------------------------------------------------


class _Gathering:
    """The blocks of a window, filled strip by strip.

    The memory is taken at once: small results that outlive their tiles would be scattered over the
    memory that the tiles leave, and no later tile would fit in between.
    """

    def __init__(self, window: Window) -> None:
        self._window = window
        shape = len(window.rows) - 1, len(window.columns) - 1
        self._total, self._weight, self._largest = (np.zeros(shape) for _ in range(3))
        self._present = np.zeros(shape, dtype=np.int32)
        self._filled = 0

    def add(self, strip: Strip) -> None:
        """Add the next strip of whole block rows."""
        rows = slice(self._filled, self._filled + len(strip.total))
        self._total[rows], self._largest[rows] = strip.total, strip.largest
        self._weight[rows], self._present[rows] = strip.weight, strip.present
        self._filled = rows.stop

    def done(self, weight: float) -> Blocks:
        """Return all blocks; `weight` is that of the whole matrix."""
        self._weight /= weight if weight > 0 else 1.0
        rows, columns = self._window.rows, self._window.columns
        return Blocks(rows, columns, self._total, self._weight, self._largest, self._present)


class _Top:
    """The bands of rows that hold the heaviest terms.

    No term of another band exceeds the largest terms of MAX_TERMS bands.
    """

    def __init__(self) -> None:
        nowhere = np.zeros(0, dtype=np.int64)
        self._found = np.zeros(0), nowhere, nowhere

    def add(self, bands: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
        """Add the heaviest bands of a strip: their largest logarithm of a weight, row and band."""
        joined = [np.concatenate(both) for both in zip(self._found, bands, strict=True)]
        chosen = np.argsort(-joined[0], kind="stable")[:MAX_TERMS]
        self._found = tuple(side[chosen] for side in joined)

    def terms(self, tiles: Tiles, whole: Window, norms: Norms, total: float) -> Heaviest:
        """Return the heaviest terms, `total` being the weight of all."""
        found = []
        for row, band in zip(*self._found[1:], strict=True):
            start, stop = whole.columns[band : band + 2]
            part = Window(int(row), int(row) + 1, int(start), int(stop))
            terms, _, back = tiles.cells(part)
            of_row = torch.from_numpy(norms[0][part.top : part.bottom]).to(terms)
            logs = terms - of_row if back is None else both_directions(terms, back, norms, part)
            columns = np.arange(start, stop)
            sides = (as_numbers(side[:, 0]) for side in (terms, logs))
            found.append(np.stack([np.full(len(columns), row), columns, *sides]))
        rows, columns, terms, logs = np.concatenate(found, axis=1)
        top = np.lexsort((columns, rows, -logs))[:MAX_TERMS]
        top = top[logs[top] > -np.inf]
        rows, columns = (side[top].astype(np.int64) for side in (rows, columns))
        return Heaviest(rows, columns, terms[top], np.exp(logs[top]) / max(total, 1e-300))
