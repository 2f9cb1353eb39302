r"""Losses on ordered pairs whose terms split: e^(u_j + v_i), or (y_i − y_j) e^(u_j + v_i), over
y_j < y_i.

The pairs stand in the order of their labels. A block whose rows all come before its columns sums
to the product of a row sum and a column sum; the mask cuts it only where the last label of the
one is the first of the other. A block on the diagonal is joined from what comes before, within
and after its overlap. All of it is read off the segments that are kept, whatever the window.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lossprism.explorer.lab.large.segment_tree import GapSegments, Segments, SegmentTree
from lossprism.explorer.lab.large.window_blocks import Blocks, Window, log_sums

# The integral for a logarithm: the step of log t, the least t, the smallest part worth adding.
INTEGRATION_STEP = 0.7
INTEGRATION_START = 1e-3
INTEGRATION_END = 1e-8


@dataclass(frozen=True, eq=False)
class SeparableTerms:
    """Terms over pairs in the order of their labels, all [N], float64.

    `lower` is u, the row part, and `higher` is v, the column part; `lower_slope` and
    `higher_slope` are their derivatives by the score. `by_gap` weighs each term by y_i − y_j.
    """

    labels: np.ndarray
    lower: np.ndarray
    higher: np.ndarray
    lower_slope: np.ndarray
    higher_slope: np.ndarray
    by_gap: bool = False

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def row_totals(self) -> np.ndarray:
        """The logsumexp of each row's terms."""
        # Read backwards, with labels of the other sign, what stands above stands below.
        above = _below(-self.labels[::-1], self.higher[::-1], self.by_gap)[::-1]
        return self.lower + above

    @cached_property
    def column_totals(self) -> np.ndarray:
        """The logsumexp of each column's terms."""
        return self.higher + _below(self.labels, self.lower, self.by_gap)

    @cached_property
    def total(self) -> float:
        """The logsumexp of all terms."""
        return float(log_sums(self.column_totals, np.array([0]))[0][0])

    @property
    def loss(self) -> float:
        """log(1 + Σ of the terms)."""
        return float(np.logaddexp(0.0, self.total))

    def gradient(self) -> np.ndarray:
        """∂L/∂s by pair."""
        felt = self.lower_slope * np.exp(self.row_totals - self.loss)
        return felt + self.higher_slope * np.exp(self.column_totals - self.loss)

    def effective(self) -> float:
        """exp of the entropy of the weights: how many equal terms would be as spread out."""
        if np.isneginf(self.total):
            return 0.0
        mean = sum(
            float(np.exp(totals - self.total) @ part)
            for totals, part in ((self.row_totals, self.lower), (self.column_totals, self.higher))
        )
        if self.by_gap:
            mean += _mean_log_gap(self)
        return float(np.exp(self.total - mean))

    @cached_property
    def sums(self) -> SegmentTree[Segments] | SegmentTree[GapSegments]:
        """The logsumexp of the terms within any segment, and of its rows and columns."""
        parts = self.labels, self.lower, self.higher
        if self.by_gap:
            return SegmentTree(GapSegments.of(*parts), np.logaddexp)
        return SegmentTree(Segments.of(*parts), np.logaddexp)

    @cached_property
    def peaks(self) -> SegmentTree[Segments]:
        """The largest term within any segment, without its gap."""
        return SegmentTree(Segments.of(self.labels, self.lower, self.higher), np.maximum)

    @cached_property
    def _lower_counts(self) -> tuple[np.ndarray, np.ndarray]:
        """Number of pairs with a lower label than each pair, and their running sum from 0."""
        counts = np.searchsorted(self.labels, self.labels, "left")
        return counts, np.concatenate([[0], np.cumsum(counts)])

    def present(self) -> int:
        """Number of terms."""
        return int(self._lower_counts[1][-1])

    def counted(self, window: Window) -> np.ndarray:
        """Number of terms of each block."""
        counts, sums = self._lower_counts
        rows, columns = window.rows[:, None], window.columns[None, :]
        # Of column i the rows from `row` up to counts[i] take part; that number never falls.
        first = np.maximum(columns[:, :-1], np.searchsorted(counts, rows, "right"))
        first = np.minimum(first, columns[:, 1:])
        beyond = sums[columns[:, 1:]] - sums[first] - rows * (columns[:, 1:] - first)
        return beyond[:-1] - beyond[1:]

    def cells(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """The terms of these rows and columns, one by one; −inf where the mask has none."""
        gaps = self.labels[columns][None, :] - self.labels[rows][:, None]
        terms = self.lower[rows][:, None] + self.higher[columns][None, :]
        if self.by_gap:
            terms = terms + np.log(np.maximum(gaps, 0), where=gaps > 0, out=np.zeros_like(gaps))
        return np.where(gaps > 0, terms, -np.inf)


def _below(labels: np.ndarray, values: np.ndarray, by_gap: bool) -> np.ndarray:
    """log Σ e^values for each place over the places of lower labels, or log Σ gap · e^values."""
    starts = np.flatnonzero(np.diff(labels, prepend=np.nan) != 0)
    levels = np.logaddexp.accumulate(log_sums(values, starts)[0])  # up to and with each level
    lower = np.append(-np.inf, levels[:-1])
    if by_gap:
        # Each step of the labels counts once for everything that stands below it.
        steps = np.diff(labels[starts], prepend=labels[0])
        with np.errstate(divide="ignore"):
            lower = np.logaddexp.accumulate(np.log(steps) + lower)
    return np.repeat(lower, np.diff(np.append(starts, len(labels))))


def _mean_log_gap(terms: SeparableTerms) -> float:
    """The mean of log(y_i − y_j) over the weights, to 2e-6.

    log x = ∫ (e^−t − e^−xt) dt / t, and the mean of e^−xt is again a sum of terms that split. In
    steps of log t the trapezoidal rule is off by no more than 2 |Γ(2πi / INTEGRATION_STEP)|.
    """
    starts = np.flatnonzero(np.diff(terms.labels, prepend=np.nan) != 0)
    labels = terms.labels[starts]
    reach = labels[-1] - labels[0]
    lower, higher = (log_sums(part, starts)[0] for part in (terms.lower, terms.higher))

    def mean(t: float) -> float:
        shift = t * (labels - labels[0]) / reach
        below = _below(labels, lower + shift, by_gap=True)
        return float(np.exp(higher - shift + below - terms.total).sum())

    t, found = INTEGRATION_START, 0.0
    while True:
        left = mean(t)
        value = np.exp(-t) - left
        # Below the first step the integrand falls with t.
        found += value * (1 / (1 - np.exp(-INTEGRATION_STEP)) if t == INTEGRATION_START else 1)
        if t > 1 and left < INTEGRATION_END:
            return INTEGRATION_STEP * found + np.log(reach)
        t *= np.exp(INTEGRATION_STEP)


def split_blocks(terms: SeparableTerms, window: Window) -> Blocks:
    """The blocks of a window, each exact, in time that grows with the blocks."""
    total = terms.sums.blocks(window)
    return Blocks(
        window.rows,
        window.columns,
        total,
        np.exp(total - terms.total) if terms.total > -np.inf else np.zeros_like(total),
        largest_terms(terms, window),
        terms.counted(window),
        terms.by_gap,
    )


def largest_terms(terms: SeparableTerms, window: Window) -> np.ndarray:
    """The largest term of each block, or where terms are weighed by their gap, a bound of it."""
    largest = terms.peaks.blocks(window)
    if terms.by_gap:
        lowest, highest = terms.labels[window.rows[:-1]], terms.labels[window.columns[1:] - 1]
        reach = highest[None, :] - lowest[:, None]
        largest = largest + np.log(reach, where=reach > 0, out=np.zeros_like(reach))
    return largest
