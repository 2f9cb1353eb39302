"""Pairs of sentences with labels: what every source delivers and every batch starts from."""

from __future__ import annotations

import dataclasses
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from explorer.sources.cells import read_score


@dataclass(frozen=True, eq=False)
class Pairs:
    """N sentence pairs, each with the score a person (or a random draw) gave it.

    `labels` is that score. Usually the sentences are encoded later; a source that already knows
    more says so: `scores` holds a similarity for each pair (a printed example, a cross-encoder),
    `vectors` one row for each distinct sentence, in the order of `sentences`. `places` are those
    of the pairs in their source, where some were left out (`corrected`).
    """

    first: tuple[str, ...]
    second: tuple[str, ...]
    labels: tuple[float, ...]
    scores: tuple[float, ...] | None = None
    vectors: np.ndarray | None = field(default=None, repr=False)
    places: tuple[int, ...] | None = None

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


def text_numbers(sentences: Iterable[str]) -> np.ndarray:
    """The sentences numbered by their text, int64 [S]: equal numbers are equal texts.

    Texts are compared as Unicode's NFC, trimmed, each run of blanks as one; upper and lower case
    differ.
    """
    numbers: dict[str, int] = {}
    texts = (" ".join(unicodedata.normalize("NFC", one).split()) for one in sentences)
    return np.array([numbers.setdefault(text, len(numbers)) for text in texts], dtype=np.int64)


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
    )
    if pairs.vectors is None:
        return found
    row = {sentence: place for place, sentence in enumerate(pairs.sentences)}
    return dataclasses.replace(
        found, vectors=pairs.vectors[[row[text] for text in found.sentences]]
    )
