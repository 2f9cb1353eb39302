"""Numbers of scores of a run of rows above a threshold of each column of a run.

Rows and columns are sorted by score once. The rows then fall into small bins, and running sums
count all bins above a column at once. Only the rows of the bin that a column cuts are compared with
it one by one.

The pairs stand in the order of their labels. Counts are exact. A gap of two runs is split into its
parts before, between and after them, none of them negative, so that no sums are subtracted: float32
then keeps every sum to 1e-6 of itself. Gaps within a run are summed in float64.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import embedding_bag

from lossprism.explorer.lab.large.tile_survey import Progress
from lossprism.explorer.lab.large.window_blocks import listed

# Numbers of one table, and how many rows are added up before they join their run's sum.
TABLE_NUMBERS, ROWS_PER_SUM = 2**19, 64
# Runs that are compared cell by cell, and listed cells that are worked on together.
SHORT_RUN, CELLS_AT_ONCE = 64, 2**20
# Columns of many runs are taken in groups: the rows after the last of a group are left out.
COLUMNS_IN_GROUP = 2**8


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
        return np.argsort(self.scores).astype(np.int32)

    @cached_property
    def _below(self) -> np.ndarray:
        """Number of scores below each pair's score, [0], and of those that are at most its
        threshold, [1]: a row has a term in a column if its first number reaches the column's
        second one."""
        scores, found = self.scores[self.by_score], np.empty((2, len(self)), dtype=np.int32)
        first = np.arange(len(self)) * (np.diff(scores, prepend=-np.inf) > 0)  # of equal scores
        found[0, self.by_score] = np.maximum.accumulate(first)
        found[1, self.by_score] = np.searchsorted(scores, self.thresholds[self.by_score], "right")
        return found

    def between(
        self, rows: np.ndarray, columns: np.ndarray, progress: Progress = _unheard
    ) -> tuple[np.ndarray, np.ndarray]:
        """Number and weight of the terms of each run of rows with each run of columns.

        Runs begin at `rows` and `columns`, which also have the end of the last one; a run of rows
        and a run of columns are the same one, or have no place in common.
        """
        count, weight = np.zeros((2, len(rows) - 1, len(columns) - 1))
        starts, row, column = np.intersect1d(rows[:-1], columns[:-1], return_indices=True)
        # NumPy leaves Python's lock to others while it computes: two cores are used.
        with ThreadPoolExecutor(1) as beside:
            inside = beside.submit(self._inside, starts, rows[row + 1])
            of_one_label = beside.submit(self._of_one_label, rows, columns)
            for left in range(0, len(columns) - 1, COLUMNS_IN_GROUP):
                some = columns[left : left + COLUMNS_IN_GROUP + 1]
                before = rows[: np.searchsorted(rows, some[-1]) + 1]
                if len(before) > 1:
                    here = np.s_[: len(before) - 1, left : left + COLUMNS_IN_GROUP]
                    count[here], weight[here] = self._ordered(before, some)
                progress(int(some[-1] - columns[0]), int(columns[-1] - columns[0]))
        count[row, column], weight[row, column] = inside.result()
        count -= of_one_label.result()
        masked = rows[:-1, None] > columns[:-1]
        count[masked] = weight[masked] = 0
        return count, weight

    def _ordered(self, rows: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same, as if every row came before every column; equal labels count too."""
        begins, ends = self.labels[columns[:-1]], self.labels[rows[1:] - 1]
        places = self.by_score
        is_row, is_column = ((places >= run[0]) & (places < run[-1]) for run in (rows, columns))
        lower, higher = places[is_row], places[is_column]
        row, column = (
            np.repeat(np.arange(len(run) - 1, dtype=np.int16), np.diff(run))[places - run[0]]
            for run, places in ((rows, lower), (columns, higher))
        )
        drop, rise = ends[row] - self.labels[lower], self.labels[higher] - begins[column]
        above = np.append(0, np.cumsum(is_row))[self._below[1, higher]]
        # Small bins make long tables, large ones leave many rows to be compared one by one.
        size = 2 ** round(np.log2(len(begins) * len(lower) / len(higher) / 2 + 1) / 2)
        first = -(-above // size)  # the first bin that lies wholly above a column
        sums = torch.zeros(3, len(ends), len(begins))
        for bins, known in _running(first, column, rise, -(-len(lower) // size), len(begins)):
            some = slice(bins.start * size, bins.stop * size)
            _add_rows(row[some], drop[some], size, known, sums)
        count, rises, drops = sums.double().numpy()
        weight = rises + drops
        # The rows from there up to that bin, one by one.
        stops = np.minimum(first * size, len(lower))
        many = -(-int((stops - above).sum()) // CELLS_AT_ONCE) or 1
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
        level = np.cumsum(np.diff(self.labels, prepend=-np.inf) > 0) * (len(self) + 1)
        score, threshold = self._below + level
        return np.minimum(np.searchsorted(score, threshold), np.arange(len(self)))

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
        if not len(starts):
            return np.zeros(0), np.zeros(0)
        width = 1 << (int((stops - starts).max()) - 1).bit_length()
        places = starts[:, None] + np.arange(width)
        there, places = places < stops[:, None], np.minimum(places, len(self) - 1)
        # What is not there has a score below everything, and a threshold above.
        labels, (scores, thresholds) = self.labels[places], self._below[:, places]
        scores[~there], thresholds[~there] = -1, len(self)
        sums = np.zeros((2, len(starts)))
        while width > SHORT_RUN:
            width //= 2
            halves = (part.reshape(-1, 2, width) for part in (labels, scores, thresholds))
            sums += _halves(*halves).reshape(2, len(starts), -1).sum(axis=2)
        runs = (part.reshape(-1, width) for part in (labels, scores, thresholds))
        sums += _squares(*runs).reshape(2, len(starts), -1).sum(axis=2)
        return sums[0], sums[1]


def _halves(labels: np.ndarray, scores: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """Number and weight of the terms of the rows of the first half, [:, 0], in the columns of the
    second one: [2, n]."""
    width = labels.shape[2]
    # Rows and columns in one order: a row has a term in each column that stands before it.
    order = np.concatenate([2 * scores[:, 0] + 1, 2 * thresholds[:, 1]], axis=1).argsort(axis=1)
    is_row = order < width
    rows = is_row.cumsum(axis=1, dtype=np.int32)
    columns = np.arange(1, 2 * width + 1, dtype=np.int32) - rows
    count = np.einsum("nk,nk->n", is_row, columns)
    gaps = np.take_along_axis(_above_first(labels), order, axis=1)
    return np.stack([count, np.einsum("nk,nk->n", gaps, np.where(is_row, -columns, width - rows))])


def _squares(labels: np.ndarray, scores: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """Number and weight of the terms within short runs, cell by cell: [2, n]."""
    of_rows, of_columns = (np.zeros(labels.shape, dtype=np.int8) for _ in range(2))
    for apart in range(1, labels.shape[1]):
        there = scores[:, :-apart] >= thresholds[:, apart:]
        of_rows[:, :-apart] += there
        of_columns[:, apart:] += there
    gaps = _above_first(labels)
    return np.stack([of_rows.sum(axis=1), np.einsum("nk,nk->n", gaps, of_columns - of_rows)])


def _above_first(labels: np.ndarray) -> np.ndarray:
    """Labels of each run, [n, ·], less its first one: their differences stay the same, and sums of
    them small."""
    runs = labels.reshape(len(labels), -1)
    return runs - runs[:, :1]


def _running(
    first: np.ndarray, column: np.ndarray, rise: np.ndarray, bins: int, columns: int
) -> Iterator[tuple[slice, Tensor]]:
    """Bins, some at a time, and at each of them how many columns of each run lie below it and the
    sum of their rises: [2, bins, columns], float32."""
    many = max(SHORT_RUN, TABLE_NUMBERS // columns // SHORT_RUN * SHORT_RUN)
    so_far = torch.zeros(2, columns, dtype=torch.float64)
    for low in range(0, bins, many):
        some = slice(*np.searchsorted(first, [low, min(low + many, bins)]))
        cell = torch.from_numpy((first[some] - low) * columns + column[some])
        table = torch.zeros(2, min(many, -(-(bins - low) // SHORT_RUN) * SHORT_RUN) * columns)
        table[0].index_add_(0, cell, torch.ones(len(cell)))
        table[1].index_add_(0, cell, torch.from_numpy(rise[some].astype(np.float32)))
        # Sums within SHORT_RUN bins, then over the bins before them.
        table = table.view(2, -1, SHORT_RUN, columns)
        for place in range(1, SHORT_RUN):
            table[:, :, place] += table[:, :, place - 1]
        before = torch.cat([so_far[:, None], table[:, :, -1].double()], dim=1).cumsum(1)
        so_far = before[:, -1]
        table += before[:, :-1, None].float()
        yield slice(low, low + many), table.view(2, -1, columns)


def _add_rows(row: np.ndarray, drop: np.ndarray, size: int, known: Tensor, found: Tensor) -> None:
    """Add what each row finds in the tables at its bin to the counts, rises and drops [3, R, C]."""
    order = np.argsort(row, kind="stable")
    run = row[order]
    cut = np.append(True, run[1:] != run[:-1])
    cut[::ROWS_PER_SUM] = True
    starts = np.flatnonzero(cut)
    at, offsets = torch.from_numpy(order // size), torch.from_numpy(starts)
    runs = torch.from_numpy(run[starts].astype(np.int64))
    drops = torch.from_numpy(drop[order].astype(np.float32))
    for place, (table, weights) in enumerate(((0, None), (1, None), (0, drops))):
        sums = embedding_bag(at, known[table], offsets, mode="sum", per_sample_weights=weights)
        found[place].index_add_(0, runs, sums)
