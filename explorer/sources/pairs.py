"""Pairs of sentences with labels: what every source delivers and every batch starts from."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np


@dataclass(frozen=True, eq=False)
class Pairs:
    """N sentence pairs, each with the score a person (or a random draw) gave it.

    `labels` is that score. Usually the sentences are encoded later; a source that already knows
    more says so: `scores` holds a similarity for each pair (a printed example, a cross-encoder),
    `vectors` one row for each distinct sentence, in the order of `sentences`.
    """

    first: tuple[str, ...]
    second: tuple[str, ...]
    labels: tuple[float, ...]
    scores: tuple[float, ...] | None = None
    vectors: np.ndarray | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """The distinct sentences, in the order of first appearance: a₀, b₀, a₁, b₁ …"""
        order: dict[str, None] = {}
        for a, b in zip(self.first, self.second, strict=True):
            order[a] = order[b] = None
        return tuple(order)

    @cached_property
    def positions(self) -> tuple[np.ndarray, np.ndarray]:
        """Where the first and the second sentence of each pair stand in `sentences`."""
        place = {sentence: index for index, sentence in enumerate(self.sentences)}
        return (
            np.array([place[a] for a in self.first], dtype=np.int64),
            np.array([place[b] for b in self.second], dtype=np.int64),
        )
