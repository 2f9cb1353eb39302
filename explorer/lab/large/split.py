r"""Losses on ordered pairs whose terms split: e^(u_j + v_i), or (y_i − y_j) e^(u_j + v_i), over
y_j < y_i.

The pairs stand in the order of their labels. A rectangle that the mask leaves whole sums to the
product of a row sum and a column sum. The mask cuts only rectangles whose rows and columns share
a label; those fall apart into whole ones at the bounds of that label, and into pieces along the
diagonal that prefix sums over their levels resolve. Everything is in logarithms: nothing
overflows, and nothing small is lost beside something large. No difference is ever taken of sums,
so nothing cancels: gaps add up from step to step of the labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from explorer.lab.large.blocks import Blocks, Window, gathered, gathered_logs, log_sums

# Places along the diagonal that are worked on together: as many as stay in a processor's cache.
AT_ONCE = 2**16


@dataclass(frozen=True, eq=False)
class Split:
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
        """∂L/∂s of each pair."""
        felt = self.lower_slope * np.exp(self.row_totals - self.loss)
        return felt + self.higher_slope * np.exp(self.column_totals - self.loss)

    def effective(self) -> float | None:
        """exp of the entropy of the weights; None where a term is no sum of two parts."""
        if self.by_gap or np.isneginf(self.total):
            return None if self.by_gap else 0.0
        mean = sum(
            float(np.exp(totals - self.total) @ part)
            for totals, part in (
                (self.row_totals, self.lower),
                (self.column_totals, self.higher),
            )
        )
        return float(np.exp(self.total - mean))

    def present(self) -> int:
        """How many terms there are."""
        return int(np.searchsorted(self.labels, self.labels, "left").sum())

    def cells(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """The terms of these rows and columns, one by one; −inf where the mask has none."""
        gaps = self.labels[columns][None, :] - self.labels[rows][:, None]
        terms = self.lower[rows][:, None] + self.higher[columns][None, :]
        if self.by_gap:
            terms = terms + np.log(np.maximum(gaps, 0), where=gaps > 0, out=np.zeros_like(gaps))
        return np.where(gaps > 0, terms, -np.inf)


def _below(labels: np.ndarray, values: np.ndarray, by_gap: bool) -> np.ndarray:
    """For each place the log Σ e^values over the places of lower labels, or Σ gap · e^values."""
    starts = np.flatnonzero(np.diff(labels, prepend=np.nan) != 0)
    levels = np.logaddexp.accumulate(log_sums(values, starts)[0])  # up to and with each level
    lower = np.append(-np.inf, levels[:-1])
    if by_gap:
        # Each step of the labels counts once for everything that stands below it.
        steps = np.diff(labels[starts], prepend=labels[0])
        with np.errstate(divide="ignore"):
            lower = np.logaddexp.accumulate(np.log(steps) + lower)
    return np.repeat(lower, np.diff(np.append(starts, len(labels))))


def split_blocks(terms: Split, window: Window) -> Blocks:
    """The blocks of a window, each exact, in time that grows with its rows and columns."""
    rows, columns = window.rows, window.columns
    cuts = _cuts(terms.labels, np.union1d(rows, columns))
    row_cuts = cuts[(cuts >= window.top) & (cuts <= window.bottom)]
    column_cuts = cuts[(cuts >= window.left) & (cuts <= window.right)]
    total, largest, present = _pieces(terms, row_cuts, column_cuts)
    row_firsts = np.searchsorted(row_cuts, rows[:-1])
    column_firsts = np.searchsorted(column_cuts, columns[:-1])

    blocks = gathered_logs(total, row_firsts, column_firsts)
    return Blocks(
        rows,
        columns,
        blocks,
        np.exp(blocks - terms.total) if terms.total > -np.inf else np.zeros_like(blocks),
        gathered(np.maximum, largest, row_firsts, column_firsts),
        gathered(np.add, present, row_firsts, column_firsts),
        terms.by_gap,
    )


def _cuts(labels: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """The edges, and where the levels begin and end that an edge goes through.

    Between two different pieces the mask is then all or nothing.
    """
    inner = edges[(edges > 0) & (edges < len(labels))]
    through = labels[inner][labels[inner - 1] == labels[inner]]
    bounds = [np.searchsorted(labels, through, side) for side in ("left", "right")]
    return np.unique(np.concatenate([edges, *bounds]))


def _pieces(
    terms: Split, rows: np.ndarray, columns: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Logsumexp, largest term (or its bound) and number of terms of each pair of pieces."""
    labels = terms.labels
    lower = slice(rows[0], rows[-1])
    higher = slice(columns[0], columns[-1])
    u, u_most = log_sums(terms.lower[lower], rows[:-1] - rows[0])
    v, v_most = log_sums(terms.higher[higher], columns[:-1] - columns[0])
    lowest, highest = labels[rows[:-1]], labels[rows[1:] - 1]
    least, most = labels[columns[:-1]], labels[columns[1:] - 1]
    gap = least[None, :] - highest[:, None]
    whole = (rows[1:, None] <= columns[None, :-1]) & (gap > 0)
    total = u[:, None] + v[None, :]
    largest = u_most[:, None] + v_most[None, :]
    if terms.by_gap:
        # y_i − y_j = (y_i − least) + gap + (highest − y_j), none of them negative.
        u_gap = _with_distance(terms.lower[lower], labels[lower], highest, rows, -1)
        v_gap = _with_distance(terms.higher[higher], labels[higher], least, columns, 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            total = np.logaddexp(
                np.logaddexp(u[:, None] + v_gap[None, :], u_gap[:, None] + v[None, :]),
                total + np.log(gap, where=whole, out=np.full_like(gap, -np.inf)),
            )
            reach = most[None, :] - lowest[:, None]
            largest = largest + np.log(reach, where=whole, out=np.zeros_like(reach))
    total = np.where(whole, total, -np.inf)
    largest = np.where(whole, largest, -np.inf)
    present = np.where(whole, np.diff(rows)[:, None] * np.diff(columns)[None, :], 0)
    shared, row_at, column_at = np.intersect1d(rows[:-1], columns[:-1], return_indices=True)
    stops = rows[row_at + 1]
    cut = np.flatnonzero(labels[shared] < labels[stops - 1])  # within one level nothing is left
    longest = (stops - shared)[cut].max(initial=1)
    for some in np.array_split(cut, max(1, len(cut) * longest // AT_ONCE)):
        if len(some):
            places = row_at[some], column_at[some]
            found = _diagonals(terms, shared[some], stops[some])
            total[places], largest[places], present[places] = found
    return total, largest, present


def _with_distance(
    values: np.ndarray, labels: np.ndarray, origin: np.ndarray, cuts: np.ndarray, sign: int
) -> np.ndarray:
    """log Σ |label − origin| e^value of each piece, `origin` being a label at its end."""
    distance = sign * (labels - np.repeat(origin, np.diff(cuts)))
    with np.errstate(divide="ignore"):
        return log_sums(values + np.log(distance), cuts[:-1] - cuts[0])[0]


def _diagonals(
    terms: Split, starts: np.ndarray, stops: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same of pieces against themselves, a row for each, level by level along it."""
    along = np.arange((stops - starts).max())
    index = starts[:, None] + along
    inside = index < stops[:, None]
    index = np.minimum(index, stops[:, None] - 1)
    labels = terms.labels[index]
    lower = np.where(inside, terms.lower[index], -np.inf)
    higher = np.where(inside, terms.higher[index], -np.inf)
    steps = np.diff(labels, axis=1, prepend=labels[:, :1])
    level = np.maximum.accumulate(np.where(steps > 0, along, 0), axis=1)  # where it begins

    def before(running: np.ndarray) -> np.ndarray:
        """What has been gathered before each place's own level."""
        found = np.take_along_axis(running, np.maximum(level - 1, 0), axis=1)
        return np.where(level > 0, found, -np.inf)

    below = before(np.logaddexp.accumulate(lower, axis=1))
    largest = (higher + before(np.maximum.accumulate(lower, axis=1))).max(axis=1)
    if terms.by_gap:
        with np.errstate(divide="ignore"):
            below = np.logaddexp.accumulate(np.log(steps) + below, axis=1)
        largest = largest + np.log(labels[:, -1] - labels[:, 0])
    columns = higher + below
    most = columns.max(axis=1)
    total = np.log(np.exp(columns - most[:, None]).sum(axis=1)) + most
    return total, largest, np.where(inside, level, 0).sum(axis=1)
