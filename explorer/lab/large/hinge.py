"""The hinge on more pairs than can be compared one with one.

A term (y_i − y_j) [s_j − s_i + m]₊ is linear where it is not 0, and its weight is the gap of the
labels. So a block needs no cells: it needs to know how many scores of its rows lie above each
s_i − m, and the sum of their labels (`hinge_term_counts`). The pairs stand in the
order of their labels.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

from lossprism.explorer.lab.large.block_summed_matrix_interface import BlockSummableTerms
from lossprism.explorer.lab.large.heaviest_terms import MAX_TERMS, Heaviest
from lossprism.explorer.lab.large.hinge_term_counts import Inversions
from lossprism.explorer.lab.large.tile_survey import Progress
from lossprism.explorer.lab.large.window_blocks import MAX_BLOCKS, Blocks, Window, edges
from lossprism.losses import pairwise_hinge

# Chunks of the whole matrix whose sums are stored.
MAX_CHUNKS = 2**10
# The largest window whose cells are compared one by one.
SMALL_WINDOW_CELLS = 2**20


@dataclass(frozen=True, eq=False)
class Chunked:
    """Number and weight of the terms of each chunk of rows with each chunk of columns, and two
    bounds of the entropy of all weights.

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
        """Largest relative error of `effective`."""
        least, largest = self.entropy
        return float(np.tanh((largest - least) / 2))

    def widened(self, start: int, stop: int) -> tuple[np.ndarray, slice]:
        """Starts of blocks of whole chunks that cover these places, and the end; the chunks."""
        first, last = start // self.size, -(-stop // self.size)
        return self.cuts[edges(first, last)], slice(first, last)


def _entropy(
    count: np.ndarray, weight: np.ndarray, least: np.ndarray, largest: np.ndarray
) -> tuple[float, float]:
    """Two bounds of the entropy of the weights, from sums over parts in which each weight lies
    between `least` and `largest`.

    g log g is convex: its sum lies between that of equal weights and that of weights at either end.
    The two are near where there are many chunks.
    """
    total = weight.sum()
    if total <= 0:
        return 0.0, 0.0
    count, weight, least, largest = (part[count > 0] for part in (count, weight, least, largest))
    mean = weight / count
    differ = largest > least
    share = np.divide(mean - least, largest - least, where=differ, out=np.zeros_like(mean))
    equal, at_least, at_largest = (
        x * np.log(np.maximum(x, 1e-300)) for x in (mean, least, largest)
    )
    at_ends = np.where(differ, at_least + share * (at_largest - at_least), equal)
    least_spread, largest_spread = (
        float(np.log(total) - (count * x).sum() / total) for x in (at_ends, equal)
    )
    return least_spread, largest_spread


@dataclass(frozen=True, eq=False)
class HingeTerms(BlockSummableTerms[Chunked]):
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
    def _runs(self) -> Inversions:
        return Inversions(self.labels, self.scores, self.thresholds)

    def cells(self, rows: slice, columns: slice) -> np.ndarray:
        """The weights of these rows and columns, one by one; 0 where there is no term."""
        gaps = np.maximum(self.labels[None, columns] - self.labels[rows, None], 0)
        return gaps * (self.scores[rows, None] > self.thresholds[None, columns])

    # ---- All terms, once -----------------------------------------------------------------------

    def survey(self, progress: Progress) -> Chunked:
        """Go through the whole matrix. `progress` hears of pairs done and may raise to stop."""
        size = 1 << max(0, -(-len(self) // MAX_CHUNKS) - 1).bit_length()
        cuts = np.append(np.arange(0, len(self), size), len(self))
        count, weight = self._runs.between(cuts, cuts, progress)
        firsts, lasts = self.labels[cuts[:-1]], self.labels[cuts[1:] - 1]
        least = np.maximum(firsts - lasts[:, None], 0)
        bounds = _entropy(count, weight, least, lasts - firsts[:, None])
        return Chunked(size, cuts, count, weight, bounds)

    # ---- Blocks --------------------------------------------------------------------------------

    def blocks(self, window: Window, findings: Chunked) -> Blocks:
        """The blocks of a window; one of too many cells begins and ends with a chunk."""
        rows, columns, bounded = window.rows, window.columns, True
        if window.cells <= SMALL_WINDOW_CELLS:
            weight = self.cells(slice(window.top, window.bottom), slice(window.left, window.right))
            starts = rows[:-1] - rows[0], columns[:-1] - columns[0]
            count, bounded = weight > 0, False
            largest = np.maximum.reduceat(np.maximum.reduceat(weight, starts[0], 0), starts[1], 1)
        else:
            smaller_than_chunks = window.cells <= (findings.size * MAX_BLOCKS) ** 2
            if smaller_than_chunks:
                cuts = np.union1d(rows, columns)
                row_cuts = cuts[(cuts >= window.top) & (cuts <= window.bottom)]
                column_cuts = cuts[(cuts >= window.left) & (cuts <= window.right)]
                count, weight = self._runs.between(row_cuts, column_cuts)
            else:
                rows, row_chunks = findings.widened(window.top, window.bottom)
                columns, column_chunks = findings.widened(window.left, window.right)
                row_cuts, column_cuts = findings.cuts[row_chunks], findings.cuts[column_chunks]
                count = findings.count[row_chunks, column_chunks]
                weight = findings.weight[row_chunks, column_chunks]
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
        share = weight / max(findings.total, 1e-300)
        return Blocks(rows, columns, total, share, largest, count, bounded)

    # ---- Requests of the page --------------------------------------------------------------------

    def present(self, findings: Chunked) -> int:
        """Number of terms."""
        return int(findings.count.sum())

    def loss(self, findings: Chunked) -> float:
        return self._value_and_gradient[0]

    def gradient(self, findings: Chunked) -> np.ndarray:
        """∂L/∂s by pair."""
        return self._value_and_gradient[1]

    @cached_property
    def _value_and_gradient(self) -> tuple[float, np.ndarray]:
        scores = torch.from_numpy(self.scores).requires_grad_()
        labels = torch.from_numpy(self.labels)
        value = pairwise_hinge(scores, labels, margin=self.margin, eps=self.eps)
        (gradient,) = torch.autograd.grad(value, scores)
        return float(value.detach()), gradient.numpy()

    @property
    def known(self) -> tuple[bool, bool]:
        known = "_value_and_gradient" in vars(self)
        return known, known

    def heaviest(self, findings: Chunked) -> Heaviest:
        """Return the terms of the largest gaps.

        Only the rows with the largest best gaps are needed, as in `heaviest_terms`.
        """
        thresholds = self.thresholds[self._runs.by_score]
        highest = np.append(-np.inf, np.maximum.accumulate(self.labels[self._runs.by_score]))
        best = highest[np.searchsorted(thresholds, self.scores, "left")] - self.labels
        rows = np.argsort(-best, kind="stable")[:MAX_TERMS]
        rows = rows[best[rows] > 0]
        # No column with a lower label is among the heaviest.
        least = best[rows[-1]] if len(rows) == MAX_TERMS else 0.0
        starts = np.searchsorted(self.labels, (self.labels[rows] + least) - abs(least) * 1e-9)
        gaps = [
            self.cells(slice(row, row + 1), slice(start, None))[0]
            for row, start in zip(rows, starts, strict=True)
        ]
        taken = [np.argsort(-gap, kind="stable")[:MAX_TERMS] for gap in gaps]
        of_row = np.repeat(rows, [len(places) for places in taken])
        columns = np.concatenate([[], *map(np.add, starts, taken)]).astype(np.int64)
        values = np.concatenate([[], *map(np.take, gaps, taken)])
        top = np.lexsort((columns, of_row, -values))[:MAX_TERMS]
        top = top[values[top] > 0]
        shares = values[top] / max(findings.total, 1e-300)
        return Heaviest(of_row[top], columns[top], np.log(values[top]), shares)
