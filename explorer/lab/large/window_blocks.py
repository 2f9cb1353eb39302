"""A window of the matrix as at most 256 × 256 blocks."""

from dataclasses import dataclass

import numpy as np

MAX_BLOCKS = 256


@dataclass(frozen=True)
class Window:
    """Rows `top` … `bottom` − 1 and columns `left` … `right` − 1 of the matrix, in at most
    `max_bands` bands each way."""

    top: int
    bottom: int
    left: int
    right: int
    max_bands: int = MAX_BLOCKS

    @property
    def rows(self) -> np.ndarray:
        return edges(self.top, self.bottom, self.max_bands)

    @property
    def columns(self) -> np.ndarray:
        return edges(self.left, self.right, self.max_bands)

    @property
    def cells(self) -> int:
        return (self.bottom - self.top) * (self.right - self.left)


@dataclass(frozen=True, eq=False)
class Blocks:
    """Figures of each block, [R, C] each.

    Block (r, c) holds the rows from `rows[r]` up to `rows[r + 1]` and the columns from `columns[c]`
    up to `columns[c + 1]`. `total` is the logsumexp of the block's terms, −inf where the mask
    leaves none. `share` is the block's part of the weight of the whole matrix. `largest` is its
    largest term, or an upper bound of it where `bounded`. `present` counts the cells that take
    part.
    """

    rows: np.ndarray
    columns: np.ndarray
    total: np.ndarray
    share: np.ndarray
    largest: np.ndarray
    present: np.ndarray
    bounded: bool = False


def edges(start: int, stop: int, max_bands: int = MAX_BLOCKS) -> np.ndarray:
    """Starts of the bands of `start` … `stop` − 1, and the end: equal widths, the last less.

    >>> edges(0, 7, 3)
    array([0, 3, 6, 7])
    """
    width = max(1, -(-(stop - start) // max_bands))
    return np.append(np.arange(start, stop, width), stop)


def joined(chunks: Blocks, window: Window) -> Blocks:
    """The blocks of a window, of whole chunks: it is widened to where these begin and end."""
    bands = []
    for cuts, start, stop in (
        (chunks.rows, window.top, window.bottom),
        (chunks.columns, window.left, window.right),
    ):
        first, last = np.searchsorted(cuts, start, "right") - 1, np.searchsorted(cuts, stop, "left")
        bands.append(edges(int(first), int(last), window.max_bands))
    part = tuple(slice(band[0], band[-1]) for band in bands)
    widths = [band[1] - band[0] for band in bands]

    def over(add: np.ufunc, values: np.ndarray) -> np.ndarray:
        return _folded(add, _folded(add, values, widths[0]).T, widths[1]).T

    total, largest = chunks.total[part], over(np.maximum, chunks.largest[part])
    shift = np.where(np.isneginf(largest), 0, largest)
    of_chunks = shift
    for axis, band in enumerate(bands):
        of_chunks = np.repeat(of_chunks, np.diff(band), axis)
    # Arrays of all chunks are large: one is enough.
    sums = over(np.add, np.exp(np.subtract(total, of_chunks, out=of_chunks), out=of_chunks))
    return Blocks(
        chunks.rows[bands[0]],
        chunks.columns[bands[1]],
        np.log(sums, where=sums > 0, out=np.full_like(sums, -np.inf)) + shift,
        over(np.add, chunks.share[part]),
        largest,
        over(np.add, chunks.present[part]),
        chunks.bounded,
    )


def _folded(add: np.ufunc, values: np.ndarray, width: int) -> np.ndarray:
    """Combine each `width` rows, the last of what is left: several times as fast as `reduceat`."""
    folded = values[::width].copy()
    for place in range(1, width):
        rows = values[place::width]
        add(folded[: len(rows)], rows, out=folded[: len(rows)])
    return folded


def halved(chunks: Blocks) -> list[Blocks]:
    """Chunks, joined two by two again and again until one view holds them all."""
    levels = [chunks]
    while (longest := max(levels[-1].total.shape)) > MAX_BLOCKS:
        rows, columns = levels[-1].rows, levels[-1].columns
        whole = Window(0, int(rows[-1]), 0, int(columns[-1]), -(-longest // 2))
        levels.append(joined(levels[-1], whole))
    return levels


def listed(starts: np.ndarray, stops: np.ndarray) -> np.ndarray:
    """Numbers from each of `starts` up to each of `stops`, one range after the other.

    >>> listed(np.array([2, 9, 5]), np.array([4, 9, 8]))
    array([2, 3, 5, 6, 7])
    """
    lengths = stops - starts
    ends = np.cumsum(lengths)
    return np.arange(lengths.sum()) + np.repeat(stops - ends, lengths)


def log_sums(values: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The logsumexp and the maximum of each run of `values`; a run ends where the next starts."""
    largest = np.maximum.reduceat(values, starts)
    shift = np.where(np.isneginf(largest), 0, largest)
    lengths = np.diff(np.append(starts, len(values)))
    with np.errstate(divide="ignore"):
        total = np.log(np.add.reduceat(np.exp(values - np.repeat(shift, lengths)), starts)) + shift
    return total, largest
