"""Up to a million scored pairs, in the order of the map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from explorer.problem import Problem
from explorer.sources import random_batch
from explorer.sources.random_batch import RandomBatch

# Losses whose terms split take so many pairs; the others' matrices are streamed cell by cell.
MOST_PAIRS = 2**20
MOST_STREAMED = 2**15
# Two sentences a pair.
MOST_IN_BATCH = 2**14


@dataclass(frozen=True, eq=False)
class LargeBatch:
    """N pairs in the order of their labels, and of their scores where labels are equal.

    `labels` and `scores` [N] are float64. `entry` [N] says which pair of the source, counted
    from 0, stands at each place; `first` and `second` hold the sentences by that number. The unit
    vectors of the sentences, [N, D] float32 in the order of the map, are there where sentences
    can be each other's negatives.
    """

    labels: np.ndarray
    scores: np.ndarray
    entry: np.ndarray
    first: Sequence[str]
    second: Sequence[str]
    first_vectors: np.ndarray | None = None
    second_vectors: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.labels)

    def nbytes(self) -> int:
        """What the arrays take."""
        arrays = (self.labels, self.scores, self.entry, self.first_vectors, self.second_vectors)
        return sum(array.nbytes for array in arrays if array is not None)

    def place_of(self, entry: int) -> int:
        """Where the pair of the source stands in the map."""
        return int(np.flatnonzero(self.entry == entry)[0])


class Numbered(Sequence[str]):
    """The sentences of a random batch, "#1 a", "#2 a" …, written when one is read."""

    def __init__(self, count: int, side: str) -> None:
        self._count, self._side = count, side

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, place: int) -> str:
        if not 0 <= place < self._count:
            raise IndexError(place)
        return f"#{place + 1} {self._side}"


def in_order(
    labels: np.ndarray,
    scores: np.ndarray,
    first: Sequence[str],
    second: Sequence[str],
    vectors: tuple[np.ndarray, np.ndarray] | None = None,
) -> LargeBatch:
    """The batch of these pairs; `vectors` are those of the first and of the second sentences."""
    labels, scores = (np.ascontiguousarray(values, dtype=np.float64) for values in (labels, scores))
    order = np.lexsort((scores, labels))
    ranked = [None, None] if vectors is None else [_unit(side[order]) for side in vectors]
    return LargeBatch(labels[order], scores[order], order, first, second, *ranked)


def drawn(settings: RandomBatch, *, with_vectors: bool) -> LargeBatch:
    """A random batch: labels and similarities drawn directly, or with vectors that have them."""
    count = settings.pairs
    if with_vectors:
        pairs = random_batch.draw(settings, most=MOST_IN_BATCH)
        sides = pairs.vectors[0::2], pairs.vectors[1::2]
        scores = np.einsum("nd,nd->n", *sides, dtype=np.float64)
        return in_order(np.array(pairs.labels), scores, pairs.first, pairs.second, sides)
    plan = random_batch.plan(settings, most=MOST_PAIRS)
    names = Numbered(count, "a"), Numbered(count, "b")
    return in_order(plan.labels, plan.cosines, *names)


def must_fit(count: int, most: int, loss: str) -> None:
    """Refuse more pairs than the loss takes, saying how many that is."""
    if count > most:
        raise Problem("large_too_many", loss=loss, count=f"{count:,}", most=f"{most:,}")


def _unit(rows: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.maximum(lengths, 1e-12)).astype(np.float32, copy=False)
