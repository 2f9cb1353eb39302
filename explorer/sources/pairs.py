"""Pairs of sentences with labels: what every source delivers and every batch starts from."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from explorer.runtime.problem import Problem
from explorer.sources.cells import read_score
from losses.labels import Ends, holds


@dataclass(frozen=True, eq=False)
class Pairs:
    """N sentence pairs, each with the score a person (or a random draw) gave it.

    `labels` is that score. Usually the sentences are encoded later; a source that already knows
    more says so: `scores` holds a similarity for each pair (a printed example, a cross-encoder),
    `vectors` one row for each distinct sentence, in the order of `sentences`. `places` are those
    of the pairs in their source, where some were left out (`corrected`). `label_range` are the
    ends of the scale of all labels that these were drawn from, where they are known.
    """

    first: tuple[str, ...]
    second: tuple[str, ...]
    labels: tuple[float, ...]
    scores: tuple[float, ...] | None = None
    vectors: np.ndarray | None = field(default=None, repr=False)
    places: tuple[int, ...] | None = None
    label_range: Ends | None = None

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


def corrected(pairs: Pairs, corrections: Iterable[tuple[str, str, str]]) -> Pairs:
    """The pairs with other labels, and without those that were left out.

    Each correction names a pair by its two sentences and gives its label as text, "" to leave it
    out; it counts for every pair of them, and of several the last one does.

    Raises:
        Problem: where a label is no number.
    """
    chosen = {(first, second): label for first, second, label in corrections}
    labels = {
        pair: read_score(label, "corrections") for pair, label in chosen.items() if label.strip()
    }
    kept = [
        place
        for place, pair in enumerate(zip(pairs.first, pairs.second, strict=True))
        if pair not in chosen or pair in labels
    ]
    first, second = (tuple(side[place] for place in kept) for side in (pairs.first, pairs.second))
    found = Pairs(
        first,
        second,
        tuple(labels.get((pairs.first[at], pairs.second[at]), pairs.labels[at]) for at in kept),
        None if pairs.scores is None else tuple(pairs.scores[place] for place in kept),
        places=tuple(kept) if len(kept) < len(pairs) else None,
        label_range=pairs.label_range,
    )
    if pairs.vectors is None:
        return found
    row = {sentence: place for place, sentence in enumerate(pairs.sentences)}
    return dataclasses.replace(
        found, vectors=pairs.vectors[[row[text] for text in found.sentences]]
    )


def beyond_scale(labels: Sequence[float], label_range: Ends) -> Problem | None:
    """What is wrong with a label [N] that lies outside the scale; None where all lie on it."""
    for label in (min(labels), max(labels)):
        if not holds(label_range, label, label):
            low, high = (f"{end:g}" for end in label_range)
            return Problem("labels_beyond", label=f"{label:g}", low=low, high=high)
    return None
