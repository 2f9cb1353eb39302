"""Layout of an exploration's steps: rows, columns, axes and order."""

import functools
from dataclasses import dataclass, field

import torch
from torch import Tensor

from lossprism.explorer.core.batch import Batch
from lossprism.explorer.core.explore import Exploration
from lossprism.explorer.core.trace import Step
from lossprism.explorer.runtime.limits import KEPT_BATCHES, SHOWN_ROWS

# Axes whose places are pairs, and those that a pair gives its name to.
PAIRED = ("pair", "level_pair", "list_candidate", "candidate")
NAMED_BY_PAIR = (*PAIRED, "query", "key", "view")
# What stands in rows where a step has several matrices, by what they are and their rows.
ROWS_OF_SEVERAL = ("level_pair", "list_candidate")
# Axes whose places have no label and no similarity to be sorted by.
UNSORTED = ("", "index", "dimension", "level", "class", "list", "candidate", "list_candidate")


@dataclass(frozen=True, eq=False)
class Grid:
    """A step's value laid out in rows and columns, and the items of its axes."""

    value: Tensor
    rows: str
    columns: str

    @property
    def shape(self) -> tuple[int, int]:
        rows, columns = self.value.shape
        return rows, columns


@dataclass(frozen=True, eq=False)
class _CachedLayout:
    """Cached layout by axis and length: the permutation of its places, the pair and the sentence
    behind each, and these as lists."""

    permutations: dict[tuple[str, int], Tensor | None] = field(default_factory=dict)
    items: dict[tuple[str, int], tuple[Tensor, Tensor]] = field(default_factory=dict)
    listed: dict[tuple[str, int], tuple[list[int], list[int]]] = field(default_factory=dict)


@functools.lru_cache(maxsize=KEPT_BATCHES)
def _cached_layout(batch: Batch, order: str) -> _CachedLayout:
    """Return the cache of a batch in this order, for its next picture."""
    return _CachedLayout()


class Layout:
    """Rows, columns, axes and display order of the steps of one exploration."""

    def __init__(self, exploration: Exploration) -> None:
        self.exploration = exploration
        self.batch = exploration.batch
        self.order = exploration.scenario.view.order
        self._axes: dict[tuple[str, torch.Size], tuple[str, ...]] = {}
        self._own, self._of_batch = _CachedLayout(), _cached_layout(self.batch, self.order)

    def _cache_of(self, axis: str) -> _CachedLayout:
        """Return the layout of this axis; a step tells whose triplets it has."""
        return self._own if axis == "triplet" else self._of_batch

    def grid(self, step: Step) -> Grid:
        """Return a step as a matrix: a vector is one row, leading dimensions are stacked."""
        value = step.value
        axes = self.axes(step)
        if value.ndim < 2:
            return Grid(value.reshape(1, -1), "", axes[0] if axes else "")
        rows = axes[-2]
        if value.ndim > 2:
            stacked = "_".join(axes[-3:-1])
            rows = stacked if stacked in ROWS_OF_SEVERAL else "level_pair"
        return Grid(value.reshape(-1, value.shape[-1]), rows, axes[-1])

    def axes(self, step: Step) -> tuple[str, ...]:
        """Return the axis names that the loss's symbol declares, else guess them from the
        lengths."""
        key = (step.name, step.value.shape)
        if key not in self._axes:
            self._axes[key] = self._named(step)
        return self._axes[key]

    def _named(self, step: Step) -> tuple[str, ...]:
        symbol = self.exploration.spec.symbols.get(step.name)
        if symbol and len(symbol.axes) == step.value.ndim:
            return symbol.axes
        known = {
            len(self.batch): "pair",
            len(self.batch.classes): "sentence",
            len(self.batch.positives): "query",
        }
        return tuple(known.get(length, "index") for length in step.value.shape)

    def items(self, axis: str, length: int) -> tuple[Tensor, Tensor]:
        """Return pair and sentence behind each row or column, −1 for none; on the CPU."""
        key, known = (axis, length), self._cache_of(axis).items
        if key not in known:
            pairs, sentences = self._behind(axis, length)
            known[key] = pairs.cpu(), sentences.cpu()
        return known[key]

    def _plain_items(self, axis: str, length: int) -> tuple[list[int], list[int]]:
        """Return the items as lists, for single places: reading each off a tensor takes
        microseconds."""
        key, known = (axis, length), self._cache_of(axis).listed
        if key not in known:
            pairs, sentences = self.items(axis, length)
            known[key] = pairs.tolist(), sentences.tolist()
        return known[key]

    def _behind(self, axis: str, length: int) -> tuple[Tensor, Tensor]:
        if axis == "level_pair":
            pairs = torch.arange(len(self.batch)).repeat(length // len(self.batch))
            return pairs, torch.full((length,), -1)
        if axis == "triplet":
            anchor = self.exploration.trace.last("anchor")
            if anchor is not None and len(anchor.value) == length:
                return self.batch._first_pair_of[anchor.value], anchor.value
        places = self.batch.axis(axis, length)
        return places or (torch.full((length,), -1), torch.full((length,), -1))

    def behind(self, step: Step, cell: tuple[int, ...], dimension: int) -> tuple[int, int]:
        """Return pair and sentence behind a cell along one of its dimensions, −1 for none."""
        axes, place = self.axes(step), cell[dimension]
        if axes[dimension] == "candidate" and axes[0] in ("list", "row"):
            of_lists = self.batch.lists if axes[0] == "list" else self.batch.margins[1]
            return int(of_lists[cell[0], place]), -1
        axis, length = axes[dimension], step.value.shape[dimension]
        if length <= SHOWN_ROWS:
            pairs, sentences = self._plain_items(axis, length)
        else:
            pairs, sentences = self.items(axis, length)
        return (int(pairs[place]), int(sentences[place])) if place < len(pairs) else (-1, -1)

    def permutation(self, axis: str, length: int) -> Tensor | None:
        """Return the item at each place; None for entry order."""
        key, known = (axis, length), self._cache_of(axis).permutations
        if key not in known:
            known[key] = self._sorted(axis, length)
        return known[key]

    def _sorted(self, axis: str, length: int) -> Tensor | None:
        if self.order == "entry" or axis in UNSORTED:
            return None
        if axis == "level_pair":  # each level by itself
            within = self._sorted("pair", len(self.batch))
            if within is None:
                return None
            starts = torch.arange(0, length, len(self.batch), device=within.device)
            return (starts[:, None] + within).flatten()
        pairs = self.items(axis, length)[0].to(self.batch.labels.device)
        if bool((pairs < 0).any()):
            return None
        by = self.batch.labels if self.order == "label" else self.batch.scores
        # Ties by label are broken by score, so that the eye finds the violations at the seams.
        first = self.batch.scores[pairs].argsort(stable=True)
        return first[by[pairs][first].argsort(stable=True)]

    def arranged(self, grid: Grid, matrix: Tensor) -> Tensor:
        rows = self.permutation(grid.rows, matrix.shape[0])
        columns = self.permutation(grid.columns, matrix.shape[1])
        matrix = matrix if rows is None else matrix.index_select(0, rows)
        # Three times as fast as `index_select` along the rows of a matrix of float64.
        return matrix if columns is None else matrix.gather(1, columns.expand(len(matrix), -1))
