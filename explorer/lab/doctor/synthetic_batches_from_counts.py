"""Batches known by their counts alone: numbers of positive pairs, of other pairs, of classes.

Reference values depend on nothing else. A loss reads the same inputs of such a batch as of the
scenario with its rows."""

import functools
from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor

from lossprism.explorer.core.batch import Batch
from lossprism.explorer.core.scenario import Rules
from lossprism.explorer.runtime.limits import EXPLORED_PAIRS
from lossprism.explorer.sources.pairs import Pairs

Row = tuple[str, str, str]
# Orthogonal vectors of more sentences would be a matrix that takes longer than the loss.
MAX_ORTHOGONAL_SENTENCES = 512
POSITIVE_SHARE = 0.5  # of the largest label, from which on a pair is positive
MAX_CACHED_SENTENCES = 128  # of a batch whose inputs are cached: a few kilobytes each


class Layout(NamedTuple):
    """Counts of a batch: `positives` pairs with label `grade`, and `negatives` pairs with label 0.

    Each pair has two sentences of its own, so that positive pairs are classes of two sentences.
    With `per_class` above 2, `positives` counts classes, each a chain of pairs. With `one_query`,
    all pairs share their first sentence: a list of candidates. `dimensions` is the length of equal
    vectors. With `graded`, labels fall from `grade` to 0 in even steps.
    """

    positives: int
    negatives: int = 0
    per_class: int = 2
    one_query: bool = False
    dimensions: int = 2
    graded: bool = False
    grade: float = 1.0

    @property
    def pairs(self) -> int:
        return self.positives * (self.per_class - 1) + self.negatives

    @property
    def sentences(self) -> int:
        if self.one_query:
            return 1 + self.pairs
        return self.positives * self.per_class + 2 * self.negatives

    @property
    def shown(self) -> bool:
        """True if Explore can show the batch."""
        return 0 < self.pairs <= EXPLORED_PAIRS

    def rows(self) -> tuple[Row, ...]:
        """Return the pairs with made-up texts and their labels, 1 or 0."""
        first, second = (side.tolist() for side in _sides(self))
        labels = ["1"] * (self.pairs - self.negatives) + ["0"] * self.negatives
        return tuple(
            (f"s{one + 1}", f"s{other + 1}", label)
            for one, other, label in zip(first, second, labels, strict=True)
        )


def inputs_of(layout: Layout, reads: Mapping[str, str], orthogonal: bool) -> dict[str, Tensor]:
    """Return the inputs of a loss on the batch, in float64: of equal vectors, or of `orthogonal`
    ones, with a similarity of 1 or 0 of every pair.

    Raises Problem where the batch lacks something, such as a positive pair.
    """
    # Without a list, no negative has the query of a positive pair.
    unowned = {"negative_owners"} if not layout.one_query else set()
    is_small = layout.sentences <= MAX_CACHED_SENTENCES
    read = _cached_input if is_small else _input
    inputs = {
        name: read(layout, what, orthogonal) for name, what in reads.items() if what not in unowned
    }
    return {name: value for name, value in inputs.items() if value is not None}


def _input(layout: Layout, what: str, orthogonal: bool) -> Tensor | None:
    batch = _batch(layout, orthogonal)
    if what == "prototypes" and not orthogonal:  # a mean of equal vectors is one of them
        return batch.needed_vectors[: int(batch.classes.max()) + 1]
    return batch.read(what, batch.vectors, batch.scores)


_cached_input = functools.lru_cache(maxsize=4096)(_input)


@functools.lru_cache(maxsize=64)
def _batch(layout: Layout, orthogonal: bool) -> Batch:
    first, second = _sides(layout)
    count, sentences = layout.pairs, layout.sentences
    labels = torch.zeros(count, dtype=torch.float64)
    labels[: count - layout.negatives] = layout.grade
    if layout.graded:
        labels = torch.linspace(layout.grade, 0, count, dtype=torch.float64)
    names = ("",) * count
    if orthogonal:
        vectors = _right_angles(sentences)
    else:
        vectors = torch.eye(1, layout.dimensions, dtype=torch.float64).expand(sentences, -1)
    return Batch(
        pairs=Pairs(names, names, tuple(labels.tolist())),
        vectors=vectors,
        given=torch.full((count,), 0.0 if orthogonal else 1.0, dtype=torch.float64),
        labels=labels,
        first=first,
        second=second,
        threshold=POSITIVE_SHARE * layout.grade,
        label_range=(0.0, layout.grade),
        positive=labels >= POSITIVE_SHARE * layout.grade,
        classes=_classes(layout),
        rules=Rules(),
        teacher=torch.linspace(-1, 1, count, dtype=torch.float64),
        teacher_vectors=_distinct_vectors(sentences, vectors.shape[1]),
    )


@functools.lru_cache(maxsize=16)
def _right_angles(count: int) -> Tensor:
    """Return as many orthogonal vectors, [S, S]: a megabyte or two, for all batches of this
    size."""
    return torch.eye(count, dtype=torch.float64)


def _distinct_vectors(rows: int, width: int) -> Tensor:
    """Return vectors of an unknown teacher, no two of them equal."""
    return torch.linspace(-1, 1, rows, dtype=torch.float64)[:, None].expand(rows, width)


def _sides(layout: Layout) -> tuple[Tensor, Tensor]:
    """Return the numbers of the first and the second sentence of each pair [N], in order of
    appearance."""
    count = layout.pairs
    if layout.one_query:
        return torch.zeros(count, dtype=torch.int64), torch.arange(1, count + 1)
    steps, classes = layout.per_class - 1, layout.positives
    starts = torch.arange(classes)[:, None] * layout.per_class
    chained = (starts + torch.arange(steps)).flatten()
    others = classes * layout.per_class + 2 * torch.arange(layout.negatives)
    first = torch.cat((chained, others))
    return first, first + 1


def _classes(layout: Layout) -> Tensor:
    """Return the class of each sentence [S]; a positive pair is in one class."""
    if layout.one_query:
        joined = torch.zeros(1 + layout.positives, dtype=torch.int64)
        return torch.cat((joined, torch.arange(1, layout.negatives + 1)))
    joined = torch.arange(layout.positives).repeat_interleave(layout.per_class)
    return torch.cat((joined, layout.positives + torch.arange(2 * layout.negatives)))
