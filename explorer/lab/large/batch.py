"""Up to a million scored pairs, in the order of the map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Literal, overload

import numpy as np
import torch
from torch.nn.functional import pad

from lossprism.explorer.core.label_disagreement import Contradictions, contradictions
from lossprism.explorer.lab.vector_normalisation import directions
from lossprism.explorer.locale import grouped, title_word
from lossprism.explorer.runtime.limits import LARGE_DRAWN_PAIRS, LARGE_IN_BATCH_PAIRS, LARGE_PAIRS
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.resource_checks import check_memory
from lossprism.explorer.sources import random_batch
from lossprism.explorer.sources.pairs import text_numbers
from lossprism.explorer.sources.random_batch import RandomBatch
from lossprism.losses import LOSSES
from lossprism.losses.labels import Ends, LabelRules, label_rules
from lossprism.losses.ranking.angle import angle_scores

# Rows that are raised to float64 together.
FLOAT64_ROWS_AT_ONCE = 2**12

# Inputs of a loss: a score of each pair, which is the cosine or AnglE's, or all vectors.
LossInput = Literal["cosines", "angles", "vectors"]


@dataclass(frozen=True, eq=False)
class LargeBatch:
    """N pairs in the order of their labels, and of their scores where labels are equal.

    `labels` and `scores` [N] are float64. `entry` [N] is the position of each pair in the source,
    counted from 0; `first` and `second` hold the sentences by that number. `first_vectors` and
    `second_vectors` are the unit vectors of the sentences, [N, D] float32 in the order of the map,
    where sentences can be each other's negatives. `threshold` and `label_range` are the rules of
    the labels as far as they were chosen or are known. `texts` numbers the first and the second
    sentences [N] in the order of the map, equal for equal texts, where the loss leaves out keys of
    the same text. `encoder` made the scores; "" where they came with the data. `rows` are the rows
    of the file, counted from 1, by pair of the source.
    """

    labels: np.ndarray
    scores: np.ndarray
    entry: np.ndarray
    first: Sequence[str]
    second: Sequence[str]
    first_vectors: np.ndarray | None = None
    second_vectors: np.ndarray | None = None
    threshold: float | None = None
    label_range: Ends | None = None
    texts: tuple[np.ndarray, np.ndarray] | None = None
    encoder: str = ""
    rows: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.labels)

    def under(self, threshold: float | None, label_range: Ends | None) -> LargeBatch:
        """The same pairs under these rules; what is None stays as it is."""
        new_threshold = threshold if threshold is not None else self.threshold
        ends = label_range or self.label_range
        if (new_threshold, ends) == (self.threshold, self.label_range):
            return self  # with its cached properties
        return replace(self, threshold=new_threshold, label_range=ends)

    @cached_property
    def rules(self) -> LabelRules:
        """The rules in force, those of the Explore page on all these labels."""
        return label_rules(self.labels.tolist(), self.threshold, self.label_range)

    @property
    def positive(self) -> np.ndarray:
        """Mask of the positive pairs, [N]."""
        return self.labels >= self.rules.threshold

    @cached_property
    def numbered(self) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of the first and of the second sentences, [N] each, equal for equal texts."""
        if self.texts is not None:
            return self.texts
        numbers = text_numbers(chain(self.first, self.second))
        first, second = np.split(numbers, [len(self.first)])
        return first[self.entry], second[self.entry]

    @cached_property
    def contradictions(self) -> Contradictions:
        """Agreement of scores and labels, pair by pair in the order of the map."""
        return contradictions(self.labels, self.scores)


class NumberedSentences(Sequence[str]):
    """The sentences of a random batch, "#1 a" … "#1000 a", each formatted when it is read."""

    def __init__(self, count: int, side: str) -> None:
        self._count, self._side = count, side

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self[at] for at in range(*place.indices(self._count))]
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
    order = _by_label_and_score(labels, scores)
    ranked = LargeBatch(labels[order], scores[order], order, first, second)
    if vectors is None:
        return ranked
    one, other = vectors
    return replace(
        ranked, first_vectors=directions(one[order]), second_vectors=directions(other[order])
    )


def _by_label_and_score(labels: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Sort as np.lexsort does, in half of its time; pairs that are equal in both have any order."""
    by_label, by_score = labels.argsort(), scores.argsort()
    level, rank = np.empty((2, len(labels)), dtype=np.int64)
    level[by_label] = np.diff(labels[by_label], prepend=labels[by_label[:1]]).astype(bool).cumsum()
    rank[by_score] = np.arange(len(labels))
    return by_score[np.sort(level * len(labels) + rank) % len(labels)]


def with_texts(batch: LargeBatch) -> LargeBatch:
    """Return the same pairs with the loss leaving out keys of the same text."""
    return replace(batch, texts=batch.numbered)


def drawn(settings: RandomBatch, loss_input: LossInput = "cosines") -> LargeBatch:
    """Draw a random batch: labels and similarities directly, or vectors that have them."""
    count = settings.pairs
    names = NumberedSentences(count, "a"), NumberedSentences(count, "b")
    if loss_input == "cosines":
        plan = random_batch.composed(settings, most=LARGE_PAIRS)
        batch = in_order(plan.labels, plan.cosines, *names)
        return batch.under(None, plan.label_range)
    limit = LARGE_IN_BATCH_PAIRS if loss_input == "vectors" else LARGE_DRAWN_PAIRS
    pairs = random_batch.draw(settings, most=limit, with_teacher=False)
    assert pairs.vectors is not None, "random pairs are drawn with vectors"
    sides = pairs.vectors[0::2], pairs.vectors[1::2]
    batch = scored(np.array(pairs.labels), *names, *sides, loss_input)
    return batch.under(None, pairs.label_range)


def scored(
    labels: np.ndarray,
    first: Sequence[str],
    second: Sequence[str],
    first_vectors: np.ndarray,
    second_vectors: np.ndarray,
    loss_input: LossInput,
) -> LargeBatch:
    """Return the batch of pairs with these vectors [N, D], which are kept if the loss compares
    them."""
    sides = first_vectors, second_vectors
    scores = (angles if loss_input == "angles" else cosines)(*sides)
    return in_order(labels, scores, first, second, sides if loss_input == "vectors" else None)


def cosines(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The cosine of each pair of rows, float64."""
    return np.einsum("nd,nd->n", directions(first), directions(second), dtype=np.float64)


def angles(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The score of each pair of rows under AnglE (`losses.angle`), float64.

    Of an odd width the imaginary half has one zero more, as on the Explore page.
    """
    odd = first.shape[1] % 2
    scores = [
        angle_scores(
            *(
                pad(torch.from_numpy(side[some : some + FLOAT64_ROWS_AT_ONCE]).double(), (0, odd))
                for side in (first, second)
            )
        ).numpy()
        for some in range(0, len(first), FLOAT64_ROWS_AT_ONCE)
    ]
    return np.concatenate(scores) if scores else np.zeros(0)


# Memory of an open batch at most, in bytes a pair: measured at the largest batches of every loss
# (192 … 382 without vectors, 2,556 and 19,831 with those of 64 and 384 dimensions), and beside its
# pairs; of vectors that are drawn in bytes for each of their numbers, which are the pairs' own.
BYTES_PER_PAIR: Mapping[LossInput, int] = {"cosines": 400, "angles": 2_600, "vectors": 20_000}
MIB_BESIDE_PAIRS = 280
BYTES_PER_DRAWN_NUMBER = 80


def check_fits(
    count: int, limit: int, loss: str, loss_input: LossInput = "cosines", drawn_in: int = 0
) -> None:
    """Refuse more pairs than `limit`, or than a hosted page has memory for, and name the number.

    `drawn_in` is the dimension of vectors that are drawn, 0 where none are.
    """
    if count > limit:
        of = "_sentences" if limit == LARGE_IN_BATCH_PAIRS else ""
        title = title_word(LOSSES[loss])
        raise Problem(
            f"large_too_many{of}", about="size", loss=title, count=count, most=grouped(limit)
        )
    check_memory(count, bytes_per_pair(loss_input, drawn_in), MIB_BESIDE_PAIRS)


def bytes_per_pair(loss_input: LossInput, drawn_in: int = 0) -> int:
    """Bytes that a pair takes at most, beside MIB_BESIDE_PAIRS for all of them."""
    return (
        BYTES_PER_DRAWN_NUMBER * drawn_in
        if drawn_in and loss_input != "cosines"
        else BYTES_PER_PAIR[loss_input]
    )
