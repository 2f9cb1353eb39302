"""The hinge on more pairs than can be compared one with one.

A term (y_i − y_j) [s_j − s_i + m]₊ is linear where it is not 0, and its weight is the gap of the
labels. So a block needs no cells: it needs to know how many scores of its rows lie above each
s_i − m, and the sum of their labels. Rows and columns are sorted by score once; the rows then fall
into bins of a few, and all bins above a column are counted at once by running sums. Only the rows
of the one bin that a column cuts are compared with it one by one.

The pairs stand in the order of their labels. Counts are exact. A gap is taken apart into what lies
before, between and after two runs, none of it negative, so that no difference is taken of sums:
float32 then keeps every sum to far better than 1e-5 of itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import embedding_bag

from explorer.lab.large.blocks import MOST_BLOCKS, Blocks, Window, edges, listed
from explorer.lab.large.heaviest import MOST_TERMS, Heaviest
from explorer.lab.large.tiles import Progress
from explorer.runtime.device import all_cores
from losses import pairwise_hinge

# Chunks of the whole matrix whose sums are kept.
MOST_CHUNKS = 2**11
# Numbers of one table, and how many rows are added up before they join their run's sum.
TABLE, IN_A_ROW = 2**21, 64
# Runs that are compared cell by cell, listed cells that are worked on together, and a window of so
# few cells that it is compared one by one.
SHORT, AT_ONCE, FEW = 32, 2**20, 2**20
# Columns of many runs are taken in groups: the rows after the last of a group are left out.
GROUP = 2**9


def _unheard(done: int, total: int) -> None:
    """Nobody waits for it."""


@dataclass(frozen=True, eq=False)
class Hinge:
    """Terms (y_i − y_j) [s_j − s_i + m]₊ over y_j < y_i, in the order of the labels and, where they
    are equal, of the scores, [N]. The loss is their sum by that of all gaps and ε."""

    labels: np.ndarray
    scores: np.ndarray
    margin: float
    eps: float

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def thresholds(self) -> np.ndarray:
        """A row has a term in a column if its score lies above this, and its label below."""
        return self.scores - self.margin

    @cached_property
    def _by_score(self) -> np.ndarray:
        """The places of the pairs, the lowest score first."""
        return np.argsort(self.scores, kind="stable").astype(np.int32)

    def _sorted(self, start: int, stop: int) -> np.ndarray:
        """The places from `start` up to `stop`, the lowest score first."""
        places = self._by_score
        if stop - start < len(self):
            places = places[(places >= start) & (places < stop)]
        return places

    def cells(self, rows: slice, columns: slice) -> np.ndarray:
        """The weights of these rows and columns, one by one; 0 where there is no term."""
        gaps = np.maximum(self.labels[None, columns] - self.labels[rows, None], 0)
        return gaps * (self.scores[rows, None] > self.thresholds[None, columns])

    # ---- All terms, once -----------------------------------------------------------------------

    def survey(self, progress: Progress) -> Chunked:
        """Go through the whole matrix. `progress` hears of pairs done and may raise to stop."""
        size = 1 << max(0, -(-len(self) // MOST_CHUNKS) - 1).bit_length()
        cuts = np.append(np.arange(0, len(self), size), len(self))
        count, weight = self._between(cuts, cuts, progress)
        firsts, lasts = self.labels[cuts[:-1]], self.labels[cuts[1:] - 1]
        least = np.maximum(firsts - lasts[:, None], 0)
        bounds = _entropy(count, weight, least, lasts - firsts[:, None])
        return Chunked(size, cuts, count, weight, bounds)

    # ---- Blocks --------------------------------------------------------------------------------

    def blocks(self, window: Window, found: Chunked) -> Blocks:
        """The blocks of a window; one of too many cells begins and ends with a chunk."""
        rows, columns, bounded = window.rows, window.columns, True
        if window.cells <= FEW:
            weight = self.cells(slice(window.top, window.bottom), slice(window.left, window.right))
            starts = rows[:-1] - rows[0], columns[:-1] - columns[0]
            count, bounded = weight > 0, False
            largest = np.maximum.reduceat(np.maximum.reduceat(weight, starts[0], 0), starts[1], 1)
        else:
            smaller_than_chunks = window.cells <= (found.size * MOST_BLOCKS) ** 2
            if smaller_than_chunks:
                cuts = np.union1d(rows, columns)
                row_cuts = cuts[(cuts >= window.top) & (cuts <= window.bottom)]
                column_cuts = cuts[(cuts >= window.left) & (cuts <= window.right)]
                count, weight = self._between(row_cuts, column_cuts)
            else:
                rows, row_chunks = found.widened(window.top, window.bottom)
                columns, column_chunks = found.widened(window.left, window.right)
                row_cuts, column_cuts = found.cuts[row_chunks], found.cuts[column_chunks]
                count = found.count[row_chunks, column_chunks]
                weight = found.weight[row_chunks, column_chunks]
            starts = (
                np.searchsorted(row_cuts, rows[:-1]),
                np.searchsorted(column_cuts, columns[:-1]),
            )
            largest = self.labels[columns[1:] - 1] - self.labels[rows[:-1], None]
        count, weight = (
            np.add.reduceat(np.add.reduceat(part, starts[0], 0, dtype), starts[1], 1)
            for part, dtype in ((count, np.int64), (weight, np.float64))
        )
        total, largest = (
            np.log(part, where=count > 0, out=np.full(count.shape, -np.inf))
            for part in (weight, largest)
        )
        share = weight / max(found.total, 1e-300)
        return Blocks(rows, columns, total, share, largest, count, bounded)

    # ---- What the page asks --------------------------------------------------------------------

    def present(self, found: Chunked) -> int:
        """How many terms there are."""
        return int(found.count.sum())

    def loss(self, found: Chunked) -> float:
        return self._value_and_gradient[0]

    def gradient(self, found: Chunked) -> np.ndarray:
        """∂L/∂s of each pair."""
        return self._value_and_gradient[1]

    @cached_property
    def _value_and_gradient(self) -> tuple[float, np.ndarray]:
        scores = torch.from_numpy(self.scores).requires_grad_()
        labels = torch.from_numpy(self.labels)
        with all_cores():
            value = pairwise_hinge(scores, labels, margin=self.margin, eps=self.eps)
            value.backward()
        return float(value.detach()), scores.grad.numpy()

    @property
    def is_known(self) -> bool:
        """Whether loss and gradient are there at once."""
        return "_value_and_gradient" in vars(self)

    def heaviest(self, found: Chunked, most: int = MOST_TERMS) -> Heaviest:
        """The terms of the largest gaps.

        Of the rows only those with the largest best gaps are needed, as in `heaviest_terms`.
        """
        thresholds = self.thresholds[self._by_score]
        highest = np.append(-np.inf, np.maximum.accumulate(self.labels[self._by_score]))
        best = highest[np.searchsorted(thresholds, self.scores, "left")] - self.labels
        rows = np.argsort(-best, kind="stable")[:most]
        rows = rows[best[rows] > 0]
        # No column with a lower label is among the heaviest.
        least = best[rows[-1]] if len(rows) == most else 0.0
        starts = np.searchsorted(self.labels, (self.labels[rows] + least) - abs(least) * 1e-9)
        gaps = [
            self.cells(slice(row, row + 1), slice(start, None))[0]
            for row, start in zip(rows, starts, strict=True)
        ]
        taken = [np.argsort(-gap, kind="stable")[:most] for gap in gaps]
        of_row = np.repeat(rows, [len(places) for places in taken])
        columns = np.concatenate([[], *map(np.add, starts, taken)]).astype(np.int64)
        values = np.concatenate([[], *map(np.take, gaps, taken)])
        top = np.lexsort((columns, of_row, -values))[:most]
        top = top[values[top] > 0]
        shares = values[top] / max(found.total, 1e-300)
        return Heaviest(of_row[top], columns[top], np.log(values[top]), shares)

    # ---- Runs of rows with runs of columns -----------------------------------------------------

    def _between(
        self, rows: np.ndarray, columns: np.ndarray, progress: Progress = _unheard
    ) -> tuple[np.ndarray, np.ndarray]:
        """How many terms each run of rows has with each run of columns, and their weight.

        Runs begin at `rows` and `columns`, which also have the end of the last one; a run of rows
        and a run of columns are the same one, or have no place in common.
        """
        count, weight = np.zeros((2, len(rows) - 1, len(columns) - 1))
        for left in range(0, len(columns) - 1, GROUP):
            some = columns[left : left + GROUP + 1]
            before = rows[: np.searchsorted(rows, some[-1]) + 1]
            if len(before) > 1:
                here = np.s_[: len(before) - 1, left : left + GROUP]
                count[here], weight[here] = self._ordered(before, some)
            progress(int(some[-1] - columns[0]), int(columns[-1] - columns[0]))
        starts, row, column = np.intersect1d(rows[:-1], columns[:-1], return_indices=True)
        if len(starts):
            count[row, column], weight[row, column] = self._inside(starts, rows[row + 1])
        count -= self._of_one_label(rows, columns)
        masked = rows[:-1, None] > columns[:-1]
        count[masked] = weight[masked] = 0
        return count, weight

    def _ordered(self, rows: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same, as if every row came before every column; equal labels count too."""
        begins, ends = self.labels[columns[:-1]], self.labels[rows[1:] - 1]
        lower, higher = (self._sorted(run[0], run[-1]) for run in (rows, columns))
        row, column = (
            np.repeat(np.arange(len(run) - 1, dtype=np.int16), np.diff(run))[places - run[0]]
            for run, places in ((rows, lower), (columns, higher))
        )
        drop, rise = ends[row] - self.labels[lower], self.labels[higher] - begins[column]
        above = np.searchsorted(self.scores[lower], self.thresholds[higher], "right")
        # Small bins make long tables, large ones leave many rows to be compared one by one.
        size = 2 ** round(np.log2(len(begins) * len(lower) / len(higher) / 8 + 1) / 2)
        first = -(-above // size)  # the first bin that lies wholly above a column
        found = torch.zeros(3, len(ends), len(begins))
        for bins, known in _running(first, column, rise, -(-len(lower) // size), len(begins)):
            some = slice(bins.start * size, bins.stop * size)
            _add_rows(row[some], drop[some], size, known, found)
        count, rises, drops = found.double().numpy()
        weight = rises + drops
        # The rows from there up to that bin, one by one.
        stops = np.minimum(first * size, len(lower))
        many = -(-int((stops - above).sum()) // AT_ONCE) or 1
        for of in np.array_split(np.arange(len(higher)), many):
            places, lengths = listed(above[of], stops[of]), stops[of] - above[of]
            cell = row[places] * np.int64(len(begins)) + np.repeat(column[of], lengths)
            parts = drop[places] + np.repeat(rise[of], lengths)
            count += np.bincount(cell, minlength=count.size).reshape(count.shape)
            weight += np.bincount(cell, parts, count.size).reshape(count.shape)
        return count, weight + np.maximum(begins - ends[:, None], 0) * count

    @cached_property
    def _level_from(self) -> np.ndarray:
        """Of each pair the first with its label that it does not stand a margin above."""
        rank = np.empty(len(self), dtype=np.int64)
        rank[self._by_score] = np.arange(len(self))
        level = np.cumsum(np.diff(self.labels, prepend=self.labels[:1]) != 0) * (len(self) + 1)
        sorted_scores = self.scores[self._by_score]
        above = np.empty(len(self), dtype=np.int64)
        above[self._by_score] = np.searchsorted(
            sorted_scores, self.thresholds[self._by_score], "right"
        )
        return np.minimum(np.searchsorted(level + rank, level + above), np.arange(len(self)))

    @cached_property
    def _level_sums(self) -> np.ndarray:
        """Running sum, from 0, of how many pairs of its own label stand so near below each."""
        return np.append(0, np.cumsum(np.arange(len(self)) - self._level_from))

    def _of_one_label(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """How many of the pairs that `_ordered` counts have one label."""
        top, left, right = rows[:, None], columns[None, :-1], columns[None, 1:]
        start = np.minimum(np.maximum(left, top), right)
        # Column i has the rows from `_level_from` up to i, which never falls.
        middle = np.clip(np.searchsorted(self._level_from, rows, "right")[:, None], start, right)
        sums = self._level_sums
        near = (middle - start) * (middle + start - 1 - 2 * top) // 2
        beyond = near + sums[right] - sums[middle]
        return beyond[:-1] - beyond[1:]

    def _inside(self, starts: np.ndarray, stops: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How many terms runs have within themselves, and their weight; equal labels count too.

        Each half of a run is joined with the other one, and then halved itself.
        """
        width = 1 << (int((stops - starts).max(initial=1)) - 1).bit_length()
        places = starts[:, None] + np.arange(width)
        there, places = places < stops[:, None], np.minimum(places, len(self) - 1)
        # What is not there has a score below everything, and a threshold above.
        labels, scores, thresholds = (
            torch.from_numpy(values)
            for values in (
                self.labels[places],
                np.where(there, self.scores[places], -np.inf),
                np.where(there, self.thresholds[places], np.inf),
            )
        )
        found = torch.zeros(2, len(starts), dtype=torch.float64)
        while width > SHORT:
            width //= 2
            halves = (part.reshape(-1, 2, width) for part in (labels, scores, thresholds))
            found += _halves(*halves).reshape(2, len(starts), -1).sum(dim=2)
        for some in torch.arange(len(starts)).split(max(1, AT_ONCE // (places.shape[1] * width))):
            parts = (part[some].reshape(-1, width) for part in (labels, scores, thresholds))
            found[:, some] += _squares(*parts).reshape(2, len(some), -1).sum(dim=2)
        return found[0].numpy(), found[1].numpy()


@dataclass(frozen=True, eq=False)
class Chunked:
    """Of each chunk of rows with each chunk of columns how many terms there are and their weight;
    and two bounds of the entropy of all weights.

    Chunk k holds the pairs from `cuts[k]` up to `cuts[k + 1]`, which are `size` but for the last.
    """

    size: int
    cuts: np.ndarray
    count: np.ndarray
    weight: np.ndarray
    entropy: tuple[float, float]

    @cached_property
    def total(self) -> float:
        """The weight of all terms."""
        return float(self.weight.sum())

    @property
    def effective(self) -> float:
        """exp of the entropy of the weights, in the middle of its bounds."""
        return float(np.exp(self.entropy).mean()) if self.total > 0 else 0.0

    @property
    def effective_error(self) -> float:
        """How far off that may be, relative to itself."""
        least, most = self.entropy
        return float(np.tanh((most - least) / 2))

    def widened(self, start: int, stop: int) -> tuple[np.ndarray, slice]:
        """Where blocks of whole chunks begin that cover these places, and the end; the chunks."""
        first, last = start // self.size, -(-stop // self.size)
        return self.cuts[edges(first, last)], slice(first, last)


def _entropy(
    count: np.ndarray, weight: np.ndarray, least: np.ndarray, most: np.ndarray
) -> tuple[float, float]:
    """Two bounds of the entropy of the weights, from the sums over parts in which each weight lies
    between `least` and `most`.

    g log g is convex: its sum lies between that of equal weights and that of weights at either
    end. The two are near where there are many chunks.
    """
    total = weight.sum()
    if total <= 0:
        return 0.0, 0.0
    count, weight, least, most = (part[count > 0] for part in (count, weight, least, most))
    mean = weight / count
    apart = most > least
    share = np.divide(mean - least, most - least, where=apart, out=np.zeros_like(mean))
    equal, at_least, at_most = (x * np.log(np.maximum(x, 1e-300)) for x in (mean, least, most))
    at_ends = np.where(apart, at_least + share * (at_most - at_least), equal)
    return tuple(float(np.log(total) - (count * x).sum() / total) for x in (at_ends, equal))


def _halves(labels: Tensor, scores: Tensor, thresholds: Tensor) -> Tensor:
    """How many terms the rows of the first half, [:, 0], have in the columns of the second one,
    and their weight: [2, n]."""
    lower, order = scores[:, 0].sort()
    above = torch.searchsorted(lower, thresholds[:, 1].contiguous(), right=True)
    begins, ends = labels[:, 1, :1], labels[:, 0, -1:]
    drops = (ends - labels[:, 0]).gather(1, order).flip(1).cumsum(1)
    drops = torch.nn.functional.pad(drops, (1, 0))  # of the 0, 1, 2 … highest rows
    count = lower.shape[1] - above
    weight = (labels[:, 1] - begins + (begins - ends)) * count + drops.gather(1, count)
    return torch.stack([count.sum(dim=1), weight.sum(dim=1)])


def _squares(labels: Tensor, scores: Tensor, thresholds: Tensor) -> Tensor:
    """How many terms short runs have within themselves, and their weight, cell by cell: [2, n]."""
    there = (scores[:, :, None] > thresholds[:, None, :]).triu_(1)
    gaps = (labels[:, None, :] - labels[:, :, None]).mul_(there)
    return torch.stack([there.sum(dim=(1, 2)), gaps.sum(dim=(1, 2))])


def _running(
    first: np.ndarray, column: np.ndarray, rise: np.ndarray, bins: int, columns: int
) -> Iterator[tuple[slice, Tensor]]:
    """Bins, some at a time, and at each of them how many columns of each run lie below it and the
    sum of their rises: [2, bins, columns], float32."""
    many = max(SHORT, TABLE // columns // SHORT * SHORT)
    so_far = torch.zeros(2, columns, dtype=torch.float64)
    sums = torch.ones(SHORT, SHORT).tril()
    for low in range(0, bins, many):
        some = slice(*np.searchsorted(first, [low, min(low + many, bins)]))
        cell = torch.from_numpy((first[some] - low) * columns + column[some])
        table = torch.zeros(2, min(many, -(-(bins - low) // SHORT) * SHORT) * columns)
        table[0].index_add_(0, cell, torch.ones(len(cell)))
        table[1].index_add_(0, cell, torch.from_numpy(rise[some].astype(np.float32)))
        # Sums within SHORT bins, then over the bins before them.
        table = sums @ table.view(2, -1, SHORT, columns)
        before = torch.cat([so_far[:, None], table[:, :, -1].double()], dim=1).cumsum(1)
        so_far = before[:, -1]
        table += before[:, :-1, None].float()
        yield slice(low, low + many), table.view(2, -1, columns)


def _add_rows(row: np.ndarray, drop: np.ndarray, size: int, known: Tensor, found: Tensor) -> None:
    """Add what each row finds in the tables at its bin to the counts, rises and drops [3, R, C]."""
    order = np.argsort(row, kind="stable")
    run = row[order]
    cut = np.diff(run, prepend=-1) != 0
    cut[::IN_A_ROW] = True
    starts = np.flatnonzero(cut)
    at, offsets = torch.from_numpy(order // size), torch.from_numpy(starts)
    runs = torch.from_numpy(run[starts].astype(np.int64))
    drops = torch.from_numpy(drop[order].astype(np.float32))
    for place, (table, weights) in enumerate(((0, None), (1, None), (0, drops))):
        sums = embedding_bag(at, known[table], offsets, mode="sum", per_sample_weights=weights)
        found[place].index_add_(0, runs, sums)
