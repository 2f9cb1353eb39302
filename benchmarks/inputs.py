"""Inputs of measured losses: tensors of a size, drawn from one seed."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property

import torch
from torch import Tensor

WIDTH = 384
CLASSES = 8
CANDIDATES = 64  # of a list
Inputs = Callable[[int], tuple[Tensor, ...]]


def scored(labels: Callable[[int], Tensor]) -> Inputs:
    return lambda count: (torch.rand(count) * 2 - 1, labels(count))


def grades(count: int, number: int = 51) -> Tensor:
    return torch.randint(0, number, (count,)) / (number - 1)


def vectors(count: int, width: int = WIDTH, dtype: torch.dtype = torch.float32) -> tuple:
    """Keys near their queries, as in training."""
    queries = torch.randn(count, width)
    return queries.to(dtype), (queries + torch.randn(count, width)).to(dtype)


def short(count: int) -> tuple[Tensor, ...]:
    """Keys near their queries, whose products are of some units: of longer ones a softmax has one
    term, and no gradient to compare."""
    queries, keys = vectors(count)
    return queries / WIDTH**0.25, keys / WIDTH**0.25 / 4


def separated_pairs(count: int) -> tuple[Tensor, ...]:
    """Draw scores of a trained model: at a low temperature others hardly count, except for one pair
    in eight, whose key is near another's query."""
    queries = torch.randn(count, WIDTH)
    meant = queries.clone()
    meant[::8] = queries[1::8]
    return queries, meant + 0.3 * torch.randn(count, WIDTH)


def graded_vectors(count: int) -> tuple[Tensor, ...]:
    return *vectors(count), grades(count, 6)


def guided(count: int) -> tuple[Tensor, ...]:
    """Two sides, farther apart than elsewhere, and the same by a second encoder."""
    queries = torch.randn(count, WIDTH)
    keys = queries + 2 * torch.randn(count, WIDTH)
    return queries, keys, *(one + torch.randn(count, WIDTH) / 2 for one in (queries, keys))


def triples(count: int) -> tuple[Tensor, ...]:
    return *vectors(count), torch.randn(count, WIDTH)


def binary_vectors(count: int) -> tuple[Tensor, ...]:
    return *vectors(count), (torch.rand(count) < 0.5).float()


def classed(count: int, per_class: int = 0) -> tuple[Tensor, ...]:
    number = count // per_class if per_class else CLASSES
    classes = torch.arange(count) % number
    return torch.randn(number, WIDTH)[classes] + 2 * torch.randn(count, WIDTH), classes


def prototyped(number: int, count: int = 512) -> tuple[Tensor, ...]:
    """`number` classes, of which a batch of `count` shows some."""
    prototypes = torch.randn(number, WIDTH) / math.sqrt(WIDTH)
    classes = torch.randint(0, number, (count,))
    return torch.randn(count, WIDTH), classes, prototypes


class Drawn:
    """A batch of `count` rows at random, by the names of
    `losses.inputs_that_losses_may_read.READABLE`."""

    def __init__(self, count: int) -> None:
        self.count = count

    @cached_property
    def _pairs(self) -> tuple[Tensor, Tensor]:
        first, second = vectors(self.count)
        return first, second

    @cached_property
    def _classed(self) -> tuple[Tensor, Tensor]:
        embeddings, classes = classed(self.count)
        return embeddings, classes

    @property
    def scores(self) -> Tensor:
        return torch.rand(self.count) * 2 - 1

    @property
    def level_scores(self) -> Tensor:
        return torch.rand(3, self.count) * 2 - 1

    @property
    def labels(self) -> Tensor:
        return grades(self.count)

    unit_labels = cosine_labels = labels

    @property
    def binary_labels(self) -> Tensor:
        return (torch.rand(self.count) < 0.5).float()

    @property
    def pair_logits(self) -> Tensor:
        return torch.randn(self.count, 2)

    @property
    def pair_classes(self) -> Tensor:
        return self.binary_labels.long()

    @property
    def first(self) -> Tensor:
        return self._pairs[0]

    @property
    def second(self) -> Tensor:
        return self._pairs[1]

    queries, keys = first, second

    @property
    def negatives(self) -> Tensor:
        return torch.randn(self.count, WIDTH)

    @property
    def guide_queries(self) -> Tensor:
        return self._pairs[0] + torch.randn(self.count, WIDTH) / 2

    @property
    def guide_keys(self) -> Tensor:
        return self._pairs[1] + torch.randn(self.count, WIDTH) / 2

    @property
    def targets(self) -> Tensor:
        return torch.randn(self.count, self.count).softmax(dim=1)

    @property
    def embeddings(self) -> Tensor:
        return self._classed[0]

    @property
    def teacher_embeddings(self) -> Tensor:
        return self.embeddings + torch.randn(self.count, WIDTH) / 2

    @property
    def classes(self) -> Tensor:
        return self._classed[1]

    paired_classes = classes

    @property
    def list_scores(self) -> Tensor:
        return torch.randn(self.count, CANDIDATES)

    @property
    def list_labels(self) -> Tensor:
        return torch.randint(0, 5, (self.count, CANDIDATES))

    @property
    def list_mask(self) -> Tensor:
        return torch.ones(self.count, CANDIDATES, dtype=torch.bool)

    @property
    def list_teacher(self) -> Tensor:
        return 3 * torch.randn(self.count, CANDIDATES)

    @property
    def margin_positives(self) -> Tensor:
        return torch.randn(self.count)

    margin_negatives, teacher_margins, margin_mask = list_scores, list_teacher, list_mask
    triplet_anchors = triplet_positives = triplet_negatives = negatives

    @property
    def prototypes(self) -> Tensor:
        return torch.randn(CLASSES, WIDTH) / math.sqrt(WIDTH)


def graded(count: int) -> tuple[Tensor, ...]:
    """Lists of CANDIDATES, all there: what the peers take has no mask."""
    batch = Drawn(count)
    return batch.list_scores, batch.list_labels


def in_order(count: int) -> tuple[Tensor, ...]:
    """Without ties, of which each library makes what it likes."""
    return Drawn(count).list_scores, torch.rand(count, CANDIDATES).argsort(dim=1)


def distilled(count: int) -> tuple[Tensor, ...]:
    batch = Drawn(count)
    return batch.list_scores, batch.list_teacher


def margins(count: int) -> tuple[Tensor, ...]:
    batch = Drawn(count)
    return batch.margin_positives, batch.list_scores, batch.list_teacher
