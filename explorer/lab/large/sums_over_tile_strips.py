"""Tiles of a matrix, and what is summed of a strip of them.

Of a tile stays what its rows hold in each band of columns; of a strip of tiles, the full width of
the matrix, one number a block, a row and a column. Each cell's exponential is taken once: its
block, its row and its weight all read it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
import torch
from torch import Tensor

from lossprism.explorer.lab.large.heaviest_terms import MAX_TERMS
from lossprism.explorer.lab.large.window_blocks import Window
from lossprism.explorer.runtime.device import device
from lossprism.losses.kernels.cell_terms import logistic_terms

# Cells of one tile, four times as wide as it is high: few enough to stay in a processor's cache,
# and so near a square that the products of vectors, where most of the time goes, read each of them
# for many cells. An accelerator is kept busy by more.
TILE_CELLS = 2**18
ACCELERATOR_CELLS = 2**24
# So far below another number that its exponential beside the other's is 0 in any precision.
ABSENT_LOGARITHM = -1e4


# The logarithms that normalise the weights of each row and of each column.
Norms = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class Tiles:
    """A matrix of R × C terms that is never there as a whole.

    `cells(window)` gives tensors [c, r] for a part of it: the cells of a column stand side by side,
    so that sums over a band of columns add whole rows of memory. The first holds the terms, which
    are the logarithms of the weights (−inf: masked), the second what each cell adds to the loss.
    With `by_row` the loss has a logarithm a row, log(1 + Σ e^term), in place of that second
    tensor: the weights of a row are then normalised by it. With `by_column` it has one a column as
    well, over the terms that the third tensor holds, and a cell has the weights of both directions.
    A term of no less than −`tied` is as large as 0.
    """

    rows: int
    columns: int
    by_row: bool
    cells: Callable[[Window], tuple[Tensor, Tensor | None, Tensor | None]]
    by_column: bool = False
    tied: float = 0.0


def tiles_of(window: Window) -> Iterator[Window]:
    """Tiles of a window, strip by strip."""
    wide = block_of(window)[1]
    for rows in strips_of(window):
        yield from tiles_across(rows, wide)


def block_of(window: Window) -> tuple[int, int]:
    """Number of rows and columns of a block of the window."""
    tall, wide = (int(cuts[1] - cuts[0]) for cuts in (window.rows, window.columns))
    return tall, wide


def strips_of(window: Window) -> list[Window]:
    """Windows of some whole block rows each, over the full width."""
    parts = _parts(window.top, window.bottom, block_of(window)[0], _tile_height())
    return [Window(top, bottom, window.left, window.right) for top, bottom in parts]


def tiles_across(strip: Window, wide: int) -> list[Window]:
    """The tiles of a strip, each of some whole bands of `wide` columns."""
    width = 4 * _tile_height() ** 2 // (strip.bottom - strip.top)
    parts = _parts(strip.left, strip.right, wide, width)
    return [Window(strip.top, strip.bottom, left, right) for left, right in parts]


def _parts(start: int, stop: int, band: int, length: int) -> list[tuple[int, int]]:
    """Starts and ends of groups of bands that are about `length` long."""
    step = band * max(1, length // band)
    return [(at, min(at + step, stop)) for at in range(start, stop, step)]


def _tile_height() -> int:
    cells = TILE_CELLS if device().type == "cpu" else ACCELERATOR_CELLS
    return int((cells // 4) ** 0.5)


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
        below = (banded - _finite(largest)[:, None]).clamp_min_(ABSENT_LOGARITHM)
        powers = below.exp()
        return cls(largest, powers.sum(dim=1), below.mul_(powers).sum(dim=1))

    @classmethod
    def joined(cls, tiles: list[Self]) -> Self:
        """Join the bands of a strip's tiles."""
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


class Strip(NamedTuple):
    """Figures of a strip.

    Of its blocks [block rows, bands], of its rows, of the columns where the loss is a plain sum; Σ
    w log w of its weights w; the number of rows without a term as large as 0; and of the `heaviest`
    bands of its rows the largest log w, the row and the band.
    """

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


def strip_of(tiles: Tiles, rows: Window, block: tuple[int, int], known: Norms | None) -> Strip:
    """The strip of these rows, under the `known` logarithms that normalise rows and columns, or
    those of the rows themselves: the strip then has to be as wide as the matrix."""
    tall, wide = block
    pieces, both, present, columns = [], [], [], []
    added = np.zeros(rows.bottom - rows.top)
    for part in tiles_across(rows, wide):
        terms, values, back = tiles.cells(part)
        pieces.append(_Bands.of(terms, wide))
        present.append(_present(terms, wide, tall))
        if back is not None and known is not None:
            both.append(_Bands.of(both_directions(terms, back, known, part), wide))
        if values is not None:
            added = added + as_numbers(values.sum(dim=0))
            columns.append(as_numbers(terms.exp().sum(dim=1)))
    bands = _Bands.joined(pieces)
    if known is not None:
        norms = torch.from_numpy(known[0][rows.top : rows.bottom]).to(bands.sums)
    else:
        norms = bands.sums.new_zeros(rows.bottom - rows.top)
        if tiles.by_row:
            norms = logistic_terms(bands.log_totals())
    of_weights = _Bands.joined(both) if both else bands._replace(largest=bands.largest - norms)
    powers = of_weights.largest.exp()
    weights = powers * of_weights.sums
    logs = powers.mul_(of_weights.mixed).add_(weights * _finite(of_weights.largest)).sum()
    total, largest = bands.blocks(tall)
    return Strip(
        total=as_numbers(total.T),
        largest=as_numbers(largest.T),
        weight=as_numbers(_stacked(weights, tall, 0.0).sum(dim=2).T),
        present=torch.cat(present).T.cpu().numpy(),
        norms=as_numbers(norms),
        added=added if columns else as_numbers(norms),
        row_weights=as_numbers(weights.sum(dim=0)),
        column_weights=np.concatenate(columns) if columns else 0.0,
        logs=float(logs),
        nearest=int((bands.largest.amax(dim=0) < -tiles.tied).sum()),
        heaviest=_heaviest_bands(of_weights.largest, rows.top),
    )


def _present(terms: Tensor, wide: int, tall: int) -> Tensor:
    """Number of terms of each block of a tile, [bands, blocks]."""
    if terms.amin() > -torch.inf:
        sizes = (
            torch.tensor([min(step, side - start) for start in range(0, side, step)])
            for side, step in zip(terms.shape, (wide, tall), strict=True)
        )
        return torch.outer(*sizes).to(terms.device)
    there = (terms > -torch.inf).to(torch.int32)
    return _stacked(_banded(there, wide, 0).sum(dim=1), tall, 0).sum(dim=2)


def _heaviest_bands(largest: Tensor, top: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    best, places = largest.flatten().topk(min(MAX_TERMS, largest.numel()))
    band, row = np.divmod(places.cpu().numpy(), largest.shape[1])
    return as_numbers(best), row + top, band


def both_directions(terms: Tensor, back: Tensor, known: Norms, part: Window) -> Tensor:
    """The logarithms of the weights of both directions."""
    rows = torch.from_numpy(known[0][part.top : part.bottom]).to(terms)
    columns = torch.from_numpy(known[1][part.left : part.right]).to(terms)
    return torch.logaddexp(terms - rows, back - columns[:, None])


def _banded(numbers: Tensor, wide: int, filler: float) -> Tensor:
    """Reshape [c, r] to [bands, wide, r], the last band filled up."""
    if missing := -numbers.shape[0] % wide:
        numbers = torch.nn.functional.pad(numbers, (0, 0, 0, missing), value=filler)
    return numbers.unflatten(0, (-1, wide))


def _stacked(numbers: Tensor, tall: int, filler: float) -> Tensor:
    """Reshape [bands, r] to [bands, block rows, tall], the last block row filled up."""
    if missing := -numbers.shape[1] % tall:
        numbers = torch.nn.functional.pad(numbers, (0, missing), value=filler)
    return numbers.unflatten(1, (-1, tall))


def _finite(numbers: Tensor) -> Tensor:
    return numbers.masked_fill(numbers.isneginf(), 0.0)


def as_numbers(values: Tensor) -> np.ndarray:
    return values.cpu().double().numpy()
