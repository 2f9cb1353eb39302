"""Batches known by their counts alone: so many positive pairs, so many others, so many classes.

A loss's value at collapse, at its start and at best depends on nothing else. What a loss reads of
such a batch is what it reads of the scene of the same rows.
"""

from __future__ import annotations

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
# A vector of its own for each of more sentences would be a matrix that takes longer than the loss.
MAX_ORTHOGONAL_SENTENCES = 512
HALF = 0.5
# Inputs of a batch of at most so many sentences are cached, a few kilobytes each.
MAX_KEPT = 128


class Layout(NamedTuple):
    """A batch of so many positive pairs and so many other ones.

    Each pair has two sentences of its own, so that its positive pairs are as many classes of two;
    with `per_class` above 2 each class is a chain of as many sentences, and `positives` counts
    classes. `grade` is the label of a positive pair, which a loss may take as it is. Of `one_query`
    all pairs share their first sentence: a list of candidates. Where all vectors are alike they
    have so many `dimensions`. `graded` has all labels differ, in even steps down to 0, in place of
    those of both kinds of pairs.
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
        """True if its scenario can be opened."""
        return 0 < self.pairs <= EXPLORED_PAIRS

    def rows(self) -> tuple[Row, ...]:
        """The pairs as they would be typed, positives with 1 and the others with 0."""
        first, second = (side.tolist() for side in _sides(self))
        labels = ["1"] * (self.pairs - self.negatives) + ["0"] * self.negatives
        return tuple(
            (f"s{one + 1}", f"s{other + 1}", label)
            for one, other, label in zip(first, second, labels, strict=True)
        )


def inputs_of(layout: Layout, reads: Mapping[str, str], orthogonal: bool) -> dict[str, Tensor]:
    """Inputs of a loss on the batch, in float64: of vectors that are all alike, or all at right
    angles (`orthogonal`), with the similarity 1 or 0 of every pair.

    Raises Problem where the batch lacks something, such as a positive pair.
    """
    # No other pair has the first sentence of a positive one, or it is a list, where all have.
    unowned = {"negative_owners"} if not layout.one_query else set()
    is_small = layout.sentences <= MAX_KEPT
    read = _cached_reading if is_small else _reading
    found = {
        name: read(layout, what, orthogonal) for name, what in reads.items() if what not in unowned
    }
    return {name: value for name, value in found.items() if value is not None}


def _reading(layout: Layout, what: str, orthogonal: bool) -> Tensor | None:
    batch = _batch(layout, orthogonal)
    if (
        what == "prototypes" and not orthogonal
    ):  # the means of equal vectors, without adding them up
        return batch.needed_vectors[: int(batch.classes.max()) + 1]
    return batch.read(what, batch.vectors, batch.scores)


_cached_reading = functools.lru_cache(maxsize=4096)(_reading)


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
        vectors = torch.eye(sentences, dtype=torch.float64)
    else:
        vectors = torch.eye(1, layout.dimensions, dtype=torch.float64).expand(sentences, -1)
    return Batch(
        pairs=Pairs(names, names, tuple(labels.tolist())),
        vectors=vectors,
        given=torch.full((count,), 0.0 if orthogonal else 1.0, dtype=torch.float64),
        labels=labels,
        first=first,
        second=second,
        threshold=HALF * layout.grade,
        label_range=(0.0, layout.grade),
        positive=labels >= HALF * layout.grade,
        classes=_classes(layout),
        rules=Rules(),
        teacher=torch.linspace(-1, 1, count, dtype=torch.float64),
        teacher_vectors=_whatever(sentences, vectors.shape[1]),
    )


def _whatever(rows: int, width: int) -> Tensor:
    """Vectors of an unknown teacher: no two alike."""
    return torch.linspace(-1, 1, rows, dtype=torch.float64)[:, None].expand(rows, width)


def _sides(layout: Layout) -> tuple[Tensor, Tensor]:
    """Numbers of the first and the second sentence of each pair; numbered as they appear."""
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
    """The class of each sentence: positive pairs join theirs."""
    if layout.one_query:
        joined = torch.zeros(1 + layout.positives, dtype=torch.int64)
        return torch.cat((joined, torch.arange(1, layout.negatives + 1)))
    joined = torch.arange(layout.positives).repeat_interleave(layout.per_class)
    return torch.cat((joined, layout.positives + torch.arange(2 * layout.negatives)))
