"""The logistic loss on more pairs than can be compared one with one.

Its terms do not split, but they depend smoothly on a difference of scores. So every score is
replaced by the nodes of a grid near it, the pairs of a block become one number a node, and a block
costs nodes × nodes whatever its cells. A single term is off by less than `MAX_RELATIVE_ERROR` of
itself, so no sum of them is off by more.

The pairs stand in the order of their labels, in chunks that no label is shared by, unless both
have it alone: between two chunks the mask is then all or nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import embedding_bag

from lossprism.explorer.lab.large.block_summed_matrix_interface import BlockSummableTerms
from lossprism.explorer.lab.large.heaviest_terms import Heaviest, heaviest_terms
from lossprism.explorer.lab.large.pair_order_terms_by_row_and_column import (
    SeparableTerms,
    largest_terms,
)
from lossprism.explorer.lab.large.scores_replaced_by_grid_nodes import (
    Nodes,
    log_weights,
    of_differences_,
)
from lossprism.explorer.lab.large.tile_survey import Progress
from lossprism.explorer.lab.large.window_blocks import Blocks, Window, listed
from lossprism.losses.kernels.cell_terms import logistic_weights_

# How far apart scaled scores may lie: beyond, there would be too many nodes.
MAX_SPREAD = 150.0
# Pairs of the shortest chunks, and numbers stored for all of them.
MIN_CHUNK, MAX_STORED_NUMBERS = 32, 2**23
# Cells that are computed together, and the largest window that needs no nodes.
CELLS_AT_ONCE, SMALL_WINDOW_CELLS = 2**18, 2**20
# The scaled difference that stands where there is no term: e to it is 0.
ABSENT_DIFFERENCE = -1e4

Intervals = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class Findings:
    """Findings of one pass through the matrix.

    The weights within each chunk, the sum of all weights, that of all terms, and the entropy of the
    weights before they are normalised.
    """

    within: np.ndarray
    weight: float
    added: float
    entropy: float

    @property
    def effective(self) -> float:
        """exp of the entropy of the weights."""
        if self.weight <= 0:
            return 0.0
        return float(np.exp(np.log(self.weight) + self.entropy / self.weight))

    @property
    def effective_error(self) -> float:
        return 0.0


@dataclass(frozen=True, eq=False)
class LogisticTerms(BlockSummableTerms[Findings]):
    """Terms log(1 + e^(x_j − x_i)) over y_j < y_i, x = λ s, in the order of the labels [N].

    The loss is their sum, or with `mean` their mean. The weight of a term is σ(x_j − x_i).
    """

    labels: np.ndarray
    scaled: np.ndarray
    scale: float
    mean: bool

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def nodes(self) -> Nodes:
        """The nodes of the scaled scores."""
        return Nodes(self.scaled)

    @cached_property
    def differences(self) -> SeparableTerms:
        """x_j − x_i as terms that split: in their order stand the weights."""
        slope = np.full(len(self.labels), self.scale)
        return SeparableTerms(self.labels, self.scaled, -self.scaled, slope, -slope)

    # ---- Chunks --------------------------------------------------------------------------------

    @cached_property
    def _size(self) -> int:
        """Pairs of a chunk, as a rule."""
        size = MIN_CHUNK
        while len(self.labels) / size * len(self.nodes) > MAX_STORED_NUMBERS:
            size *= 2
        return size

    @cached_property
    def _chunks(self) -> np.ndarray:
        """Starts of the chunks, and the end of the last one."""
        size = self._size
        levels = np.flatnonzero(np.diff(self.labels, prepend=np.nan) != 0)
        levels = np.append(levels, len(self.labels))
        # A long level by itself, in pieces; short ones together.
        pieces = np.maximum(1, -(-np.diff(levels) // size))
        nth = np.arange(pieces.sum()) - np.repeat(np.cumsum(pieces) - pieces, pieces)
        cuts = np.repeat(levels[:-1], pieces) + nth * size
        long = np.repeat(pieces > 1, pieces)
        begins = np.append(True, (np.diff(cuts // size) != 0) | long[:-1] | long[1:])
        return np.append(cuts[begins], len(self.labels))

    @cached_property
    def _moments(self) -> np.ndarray:
        """Sums of each chunk at the nodes."""
        moments = np.empty((len(self._chunks) - 1, len(self.nodes)))
        for some, places, owner in self._in_turn():
            moments[some] = self.nodes.spread(places, owner, some.stop - some.start)
        return moments

    def _in_turn(self) -> Iterator[tuple[slice, slice, np.ndarray]]:
        """Chunks, some at a time, their pairs, and the chunk of each pair among them."""
        count, many = len(self._chunks) - 1, max(1, CELLS_AT_ONCE // len(self.nodes))
        for start in range(0, count, many):
            some = slice(start, min(start + many, count))
            cuts = self._chunks[some.start : some.stop + 1]
            owner = np.repeat(np.arange(len(cuts) - 1), np.diff(cuts))
            yield some, slice(cuts[0], cuts[-1]), owner

    @cached_property
    def _node_weights(self) -> np.ndarray:
        """Weight of a column at each node with each chunk of rows."""
        return self._moments @ self.nodes.weights

    @cached_property
    def _ends(self) -> tuple[np.ndarray, np.ndarray]:
        """The first and the last label of each chunk."""
        return self.labels[self._chunks[:-1]], self.labels[self._chunks[1:] - 1]

    def _stretches(self, starts: np.ndarray, stops: np.ndarray) -> Tensor:
        """Differences within short stretches, [stretches, rows, columns]; ABSENT_DIFFERENCE
        where there is none."""
        places = starts[:, None] + np.arange((stops - starts).max(initial=1))
        outside = torch.from_numpy(places >= stops[:, None])
        places = np.minimum(places, len(self.labels) - 1)
        labels, scaled = (torch.from_numpy(v[places]) for v in (self.labels, self.scaled))
        differences = scaled[:, :, None] - scaled[:, None, :]
        differences.masked_fill_(labels[:, :, None] >= labels[:, None, :], ABSENT_DIFFERENCE)
        return differences.masked_fill_(outside[:, None, :], ABSENT_DIFFERENCE)

    # ---- All terms, once -----------------------------------------------------------------------

    def survey(self, progress: Progress) -> Findings:
        """Go through the whole matrix. `progress` hears of pairs done and may raise to stop."""
        within = np.zeros(len(self._moments))
        sums = torch.zeros(3, dtype=torch.float64)  # of weights, terms and their entropy
        for mixed, differences in self._mixed():
            progress(int(self._chunks[mixed[0]]), len(self))
            values = of_differences_(differences)
            within[mixed] = values[0].sum(dim=(1, 2)).numpy()
            sums += torch.stack([each.sum() for each in values])
        # How many pairs of pairs of two chunks there are at each two nodes.
        pairs = torch.zeros(len(self.nodes), len(self.nodes), dtype=sums.dtype)
        after = self._from(self._moments)
        for some, _, _ in self._in_turn():
            pairs.addmm_(torch.from_numpy(self._moments[some]).T, after[self._higher[some]])
        nodes = torch.from_numpy(self.nodes.places)
        values = of_differences_(nodes[:, None] - nodes)
        sums += torch.stack([(pairs * each).sum() for each in values])
        progress(len(self), len(self))
        return Findings(within, *sums.tolist())

    def _mixed(self) -> Iterator[tuple[np.ndarray, Tensor]]:
        """Chunks that have several labels, some at a time, and the differences within them."""
        first, last = self._ends
        mixed, largest = np.flatnonzero(first < last), int(np.diff(self._chunks).max())
        for some in np.array_split(mixed, -(-len(mixed) * largest**2 // CELLS_AT_ONCE) or 1):
            if len(some):
                yield some, self._stretches(self._chunks[some], self._chunks[some + 1])

    @staticmethod
    def _from(moments: np.ndarray) -> Tensor:
        """Sums of each chunk and all after it, and nothing."""
        sums = np.zeros((len(moments) + 1, moments.shape[1]))
        np.cumsum(moments[::-1], axis=0, out=sums[-2::-1])
        return torch.from_numpy(sums)

    @cached_property
    def _higher(self) -> np.ndarray:
        """First chunk with higher labels than each chunk."""
        first, last = self._ends
        return np.searchsorted(first, last, "right")

    @cached_property
    def _pair_weights(self) -> np.ndarray:
        """The weight of each pair's row less that of its column, [N]."""
        first, last = self._ends
        lower = len(first) - np.searchsorted(last, first, "left")  # counted from the end
        after, before = self._from(self._moments), self._from(self._moments[::-1])
        weights, pair_weights = torch.from_numpy(self.nodes.weights), np.empty(len(self))
        for some, places, owner in self._in_turn():
            felt = after[self._higher[some]] @ weights.T - before[lower[some]] @ weights
            pair_weights[places] = self.nodes.read(felt.numpy(), places, owner)
        for mixed, differences in self._mixed():
            cells = logistic_weights_(differences)
            at = self._chunks[mixed, None] + np.arange(cells.shape[1])
            inside = at < self._chunks[mixed + 1, None]
            pair_weights[at[inside]] += (cells.sum(dim=2) - cells.sum(dim=1)).numpy()[inside]
        return pair_weights

    # ---- Blocks --------------------------------------------------------------------------------

    def blocks(self, window: Window, findings: Findings) -> Blocks:
        """The blocks of a window."""
        rows, columns = window.rows, window.columns
        weights = (
            self._summed(window)
            if window.cells <= SMALL_WINDOW_CELLS
            else self._blocks(window, findings)
        )
        total = np.log(weights, where=weights > 0, out=np.full_like(weights, -np.inf))
        largest = largest_terms(self.differences, window)
        return Blocks(
            rows,
            columns,
            total,
            weights / max(findings.weight, 1e-300),
            log_weights(largest),
            self.differences.counted(window),
        )

    def _summed(self, window: Window) -> np.ndarray:
        """The weights of the blocks, cell by cell."""
        rows, columns = window.rows, window.columns
        differences = self.differences.cells(
            np.arange(window.top, window.bottom), np.arange(window.left, window.right)
        )
        weights = logistic_weights_(torch.from_numpy(differences)).numpy()
        by_row = np.add.reduceat(weights, rows[:-1] - rows[0], axis=0)
        return np.add.reduceat(by_row, columns[:-1] - columns[0], axis=1)

    def _blocks(self, window: Window, findings: Findings) -> np.ndarray:
        """The weights of the blocks, over their nodes."""
        tops, bottoms = window.rows[:-1], window.rows[1:]
        lefts, rights = window.columns[:-1], window.columns[1:]
        tied = self.labels[bottoms - 1][:, None] == self.labels[lefts]
        rest, last = self._of_rows(tops, bottoms, tied.any(axis=1))
        first, others = self._of_columns(lefts, rights)
        weights = rest @ first.T + (rest + last) @ others.T + np.where(tied, 0, last @ first.T)
        later = bottoms[:, None] <= lefts
        weights[~later] = 0
        crossed = np.nonzero((tops[:, None] < rights) & ~later)
        top, bottom = tops[crossed[0]], bottoms[crossed[0]]
        left, right = lefts[crossed[1]], rights[crossed[1]]
        start, stop = np.maximum(top, left), np.minimum(bottom, right)
        weights[crossed] = (
            self._across((top, start), (start, right))
            + self._across((start, stop), (stop, right))
            + self._inside(start, stop, findings)
        )
        return weights

    def _across(self, rows: Intervals, columns: Intervals) -> np.ndarray:
        """The weights of each run of rows with a run of columns that come later."""
        ends = self.labels[np.maximum(rows[1], 1) - 1]
        begins = self.labels[np.minimum(columns[0], len(self.labels) - 1)]
        rest, last = self._of_rows(*rows, ends == begins)
        first, others = self._of_columns(*columns)
        return (rest * first).sum(axis=1) + ((rest + last) * others).sum(axis=1)

    def _of_rows(
        self, starts: np.ndarray, stops: np.ndarray, tied: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Weight of a column at each node with the rows of runs: without those of the last label,
        and with those alone. The two are separate where a column is `tied` to them."""
        ends = self.labels[np.maximum(stops, 1) - 1]
        cut = np.clip(np.searchsorted(self.labels, ends, "left"), starts, stops)
        cut = np.where(tied, cut, stops)
        return self._node_weights_of(starts, cut), self._node_weights_of(cut, stops)

    def _node_weights_of(self, starts: np.ndarray, stops: np.ndarray) -> np.ndarray:
        """Weight of a column at each node with runs of rows."""
        felt = np.zeros((len(starts), len(self.nodes)))
        some = starts < stops
        felt[some] = self._runs(starts[some], stops[some]) @ self.nodes.weights
        return felt

    def _of_columns(self, starts: np.ndarray, stops: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Sums of the columns of runs at the nodes: those of the first label, and the others."""
        begins = self.labels[np.minimum(starts, len(self.labels) - 1)]
        cut = np.clip(np.searchsorted(self.labels, begins, "right"), starts, stops)
        return self._runs(starts, cut), self._runs(cut, stops)

    def _runs(self, starts: np.ndarray, stops: np.ndarray) -> np.ndarray:
        """Sums of runs of pairs at the nodes."""
        low, high, heads, tails = self._in_chunks(starts, stops)
        sums = embedding_bag(
            torch.from_numpy(listed(low, high)),
            torch.from_numpy(self._moments),
            torch.from_numpy(np.append(0, (high - low).cumsum())),
            mode="sum",
            include_last_offset=True,
        ).numpy()
        return sums + self._of_pairs(*heads) + self._of_pairs(*tails)

    def _of_pairs(self, starts: np.ndarray, stops: np.ndarray) -> np.ndarray:
        """Sums of short runs at the nodes, pair by pair."""
        owner = np.repeat(np.arange(len(starts)), stops - starts)
        return self.nodes.spread(listed(starts, stops), owner, len(starts))

    def _in_chunks(
        self, starts: np.ndarray, stops: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, Intervals, Intervals]:
        """The whole chunks from `low` up to `high` of each run, and what is before and after."""
        low = np.searchsorted(self._chunks, starts, "left")
        high = np.searchsorted(self._chunks, stops, "right") - 1
        within = low > high
        heads = starts, np.where(within, stops, self._chunks[low])
        tails = np.where(within, stops, self._chunks[high]), stops
        return low, np.maximum(low, high), heads, tails

    def _inside(self, starts: np.ndarray, stops: np.ndarray, findings: Findings) -> np.ndarray:
        """The weights of runs of pairs within themselves."""
        low, high, heads, tails = self._in_chunks(starts, stops)
        weights = self._cell_by_cell(*heads) + self._cell_by_cell(*tails)
        counts = high - low
        room = (counts.max(initial=0) + 2) * len(self.nodes)
        for some in np.array_split(
            np.arange(len(starts)), -(-len(starts) * room // CELLS_AT_ONCE) or 1
        ):
            known = listed(low[some], high[some])
            nth = listed(np.zeros_like(counts[some]), counts[some])
            place = np.repeat(np.arange(len(some)), counts[some]), nth + 1
            shape = len(some), counts[some].max(initial=0) + 2
            moments, felt = np.zeros((2, *shape, len(self.nodes)))
            first, last = np.zeros((2, *shape))
            moments[place], felt[place] = self._moments[known], self._node_weights[known]
            first[place], last[place] = (labels[known] for labels in self._ends)
            for at, (begin, end) in ((0, heads), (-1, tails)):
                moments[:, at] = self._of_pairs(begin[some], end[some])
                felt[:, at] = moments[:, at] @ self.nodes.weights
                first[:, at] = self.labels[np.minimum(begin[some], len(self.labels) - 1)]
                last[:, at] = self.labels[np.maximum(end[some], 1) - 1]
            # Every part with every later one; what is empty weighs nothing.
            there = last[:, :, None] < first[:, None, :]
            across = torch.from_numpy(felt) @ torch.from_numpy(moments).mT
            weights[some] += (across.numpy() * there).sum(axis=(1, 2))
            weights[some] += np.bincount(place[0], findings.within[known], len(some))
        return weights

    def _cell_by_cell(self, starts: np.ndarray, stops: np.ndarray) -> np.ndarray:
        """The weights of short runs within themselves."""
        weights = np.zeros(len(starts))
        mixed = np.flatnonzero(stops - starts > 1)
        widest = int((stops - starts).max(initial=1))
        for some in np.array_split(mixed, -(-len(mixed) * widest**2 // CELLS_AT_ONCE) or 1):
            differences = self._stretches(starts[some], stops[some])
            weights[some] = logistic_weights_(differences).sum(dim=(1, 2)).numpy()
        return weights

    # ---- Requests of the page --------------------------------------------------------------------

    @property
    def known(self) -> tuple[bool, bool]:
        return True, "_pair_weights" in vars(self)

    def present(self, findings: Findings) -> int:
        """Number of terms."""
        return self.differences.present()

    def loss(self, findings: Findings) -> float:
        return findings.added / self._divisor

    def gradient(self, findings: Findings) -> np.ndarray:
        """∂L/∂s by pair."""
        return self.scale * self._pair_weights / self._divisor

    def heaviest(self, findings: Findings) -> Heaviest:
        top = heaviest_terms(self.differences)
        logs = log_weights(top.values)
        return Heaviest(top.rows, top.columns, logs, np.exp(logs) / max(findings.weight, 1e-300))

    @property
    def _divisor(self) -> int:
        return max(self.differences.present(), 1) if self.mean else 1
