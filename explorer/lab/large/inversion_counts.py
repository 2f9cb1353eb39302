"""Numbers of scores of a run of rows above a threshold of each column of a run.

Rows and columns are sorted by score once. The rows then fall into small bins, and running sums
count all bins above a column at once. Only the rows of the bin that a column cuts are compared with
it one by one.

The pairs stand in the order of their labels. Counts are exact. A gap is split into its parts
before, between and after two runs, none of them negative, so that no sums are subtracted: float32
then keeps every sum to far better than 1e-5 of itself.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import embedding_bag

from lossprism.explorer.lab.large.blocks import listed
from lossprism.explorer.lab.large.tile_survey import Progress

# Numbers of one table, and how many rows are added up before they join their run's sum.
TABLE, IN_A_ROW = 2**21, 64
# Runs that are compared cell by cell, and listed cells that are worked on together.
SHORT, AT_ONCE = 32, 2**20
# Columns of many runs are taken in groups: the rows after the last of a group are left out.
GROUP = 2**9


def _unheard(done: int, total: int) -> None:
    """Ignore the progress."""


@dataclass(frozen=True, eq=False)
class Inversions:
    """Terms of weight y_i − y_j where y_j < y_i and s_j > t_i, in the order of the labels and,
    where they are equal, of the scores: labels y, scores s and thresholds t, [N] each."""

    labels: np.ndarray
    scores: np.ndarray
    thresholds: np.ndarray

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def by_score(self) -> np.ndarray:
        """The places of the pairs, the lowest score first."""
        return np.argsort(self.scores, kind="stable").astype(np.int32)

    def _sorted(self, start: int, stop: int) -> np.ndarray:
        """The places from `start` up to `stop`, the lowest score first."""
        places = self.by_score
        if stop - start < len(self):
            places = places[(places >= start) & (places < stop)]
        return places

    def between(
        self, rows: np.ndarray, columns: np.ndarray, progress: Progress = _unheard
    ) -> tuple[np.ndarray, np.ndarray]:
        """Number and weight of the terms of each run of rows with each run of columns.

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
        size = 2 ** round(np.log2(2 * len(begins) * len(lower) / len(higher) + 1) / 2)
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
        """First pair, for each pair, of the same label that is not a margin below it."""
        rank = np.empty(len(self), dtype=np.int64)
        rank[self.by_score] = np.arange(len(self))
        level = np.cumsum(np.diff(self.labels, prepend=self.labels[:1]) != 0) * (len(self) + 1)
        sorted_scores = self.scores[self.by_score]
        above = np.empty(len(self), dtype=np.int64)
        above[self.by_score] = np.searchsorted(
            sorted_scores, self.thresholds[self.by_score], "right"
        )
        return np.minimum(np.searchsorted(level + rank, level + above), np.arange(len(self)))

    @cached_property
    def _level_sums(self) -> np.ndarray:
        """Running sum, from 0, of how many pairs of its own label stand so near below each."""
        return np.append(0, np.cumsum(np.arange(len(self)) - self._level_from))

    def _of_one_label(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Number of the pairs counted by `_ordered` that have one label."""
        top, left, right = rows[:, None], columns[None, :-1], columns[None, 1:]
        start = np.minimum(np.maximum(left, top), right)
        # Column i has the rows from `_level_from` up to i, which never falls.
        middle = np.clip(np.searchsorted(self._level_from, rows, "right")[:, None], start, right)
        sums = self._level_sums
        near = (middle - start) * (middle + start - 1 - 2 * top) // 2
        beyond = near + sums[right] - sums[middle]
        return beyond[:-1] - beyond[1:]

    def _inside(self, starts: np.ndarray, stops: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Number and weight of the terms within runs; equal labels count too.

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


def _halves(labels: Tensor, scores: Tensor, thresholds: Tensor) -> Tensor:
    """Number and weight of the terms of the rows of the first half, [:, 0], in the columns of the
    second one: [2, n]."""
    lower, order = scores[:, 0].sort()
    above = torch.searchsorted(lower, thresholds[:, 1].contiguous(), right=True)
    begins, ends = labels[:, 1, :1], labels[:, 0, -1:]
    drops = (ends - labels[:, 0]).gather(1, order).flip(1).cumsum(1)
    drops = torch.nn.functional.pad(drops, (1, 0))  # of the 0, 1, 2 … highest rows
    count = lower.shape[1] - above
    weight = (labels[:, 1] - begins + (begins - ends)) * count + drops.gather(1, count)
    return torch.stack([count.sum(dim=1), weight.sum(dim=1)])


def _squares(labels: Tensor, scores: Tensor, thresholds: Tensor) -> Tensor:
    """Number and weight of the terms within short runs, cell by cell: [2, n]."""
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
