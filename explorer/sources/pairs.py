"""Pairs of sentences with labels: what every source delivers and every batch starts from."""

from __future__ import annotations

import dataclasses
import itertools
import math
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from lossprism.explorer.runtime.number_format import typed
from lossprism.explorer.sources.cells import read_score
from lossprism.explorer.sources.label_words_to_scores import ENTAILMENT, INFERENCE_WORDS

# The label of a pair that comes without one, and of the other pairs of its anchor.
POSITIVE, NEGATIVE = 1.0, 0.0

# A pair by its two sentences, and its label as text, "" to leave it out.
Correction = tuple[str, str, str]


@dataclass(frozen=True, eq=False)
class Pairs:
    """N sentence pairs, each with the score of a person (or of a random draw).

    `labels` is that score. Usually the sentences are encoded later; a source may bring more:
    `scores` holds a similarity for each pair (a printed example, a cross-encoder), `vectors` one
    row for each distinct sentence, in the order of `sentences`. `places` are those of the pairs in
    their source, where some were left out (`corrected`). `label_range` are the ends of the scale of
    all labels that these were drawn from, where they are known. Pairs without labels are not
    `labelled`: all are positives, and each label is POSITIVE. Labels of natural language
    `inference` are kinds, in the numbers of `label_words_to_scores.WORD_SCORES`. `teacher` is
    another model's score, on any scale of its own, NaN for none; `guide` has a second encoder's
    vectors of the distinct sentences, where the source has them, NaN for a sentence without one,
    and `teacher_vectors` a teacher's. `in_rows` are the rows of the file that the pairs come from,
    where some hold several (a triplet, a list of candidates); those of one row follow one another.
    """

    first: tuple[str, ...]
    second: tuple[str, ...]
    labels: tuple[float, ...]
    scores: tuple[float, ...] | None = None
    vectors: np.ndarray | None = field(default=None, repr=False)
    places: tuple[int, ...] | None = None
    label_range: tuple[float, float] | None = None
    labelled: bool = True
    teacher: tuple[float, ...] | None = None
    guide: np.ndarray | None = field(default=None, repr=False)
    teacher_vectors: np.ndarray | None = field(default=None, repr=False)
    inference: bool = False
    in_rows: tuple[int, ...] | None = None

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def rows(self) -> tuple[tuple[str, str, str], ...]:
        """The rows as typed: a pair without a label has none there either, a kind its word."""
        kinds = INFERENCE_WORDS if self.inference else {}
        labels = (
            kinds.get(label) or typed(label) if self.labelled else "" for label in self.labels
        )
        return tuple(zip(self.first, self.second, labels, strict=True))

    @property
    def threshold(self) -> float | None:
        """Label from which on a pair is positive, where their kind determines it: for inference
        entailment alone. None where it is the middle of their scale."""
        return ENTAILMENT if self.inference else None

    @property
    def taught_rows(self) -> tuple[tuple[str, str, str], ...]:
        """The teacher's scores, by the two sentences of each pair, as typed."""
        scored = zip(self.first, self.second, self.teacher or (), strict=bool(self.teacher))
        return tuple((a, b, typed(score)) for a, b, score in scored if not math.isnan(score))

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """The distinct sentences, in the order of first appearance: a₀, b₀, a₁, b₁ …"""
        return distinct(self.first, self.second)

    @cached_property
    def positions(self) -> tuple[np.ndarray, np.ndarray]:
        """Positions of the first and the second sentence of each pair in `sentences`."""
        place = {sentence: index for index, sentence in enumerate(self.sentences)}
        return (
            np.array([place[a] for a in self.first], dtype=np.int64),
            np.array([place[b] for b in self.second], dtype=np.int64),
        )

    def at(self, places: Sequence[int]) -> Pairs:
        """The pairs at these places, as pairs of their own."""
        of_pairs = ("first", "second", "labels", "scores", "teacher", "in_rows")
        known = ((name, getattr(self, name)) for name in of_pairs)
        some = {name: one and tuple(one[place] for place in places) for name, one in known}
        part = dataclasses.replace(self, places=None, **some)
        row = {sentence: index for index, sentence in enumerate(self.sentences)}
        rows = [row[text] for text in part.sentences]
        vectors, guide, taught_vectors = (
            None if every is None else every[rows]
            for every in (self.vectors, self.guide, self.teacher_vectors)
        )
        return dataclasses.replace(
            part, vectors=vectors, guide=guide, teacher_vectors=taught_vectors
        )


def distinct(first: Sequence[str], second: Sequence[str]) -> tuple[str, ...]:
    """The distinct sentences of pairs, in the order of first appearance: a₀, b₀, a₁, b₁ …"""
    return tuple(dict.fromkeys(itertools.chain.from_iterable(zip(first, second, strict=True))))


def text_numbers(sentences: Iterable[str]) -> np.ndarray:
    """The sentences numbered by their text, int64 [S]: equal numbers are equal texts.

    Texts are compared as Unicode's NFC, trimmed, each run of blanks as one; upper and lower case
    differ.
    """
    numbers: dict[str, int] = {}
    texts = (" ".join(unicodedata.normalize("NFC", one).split()) for one in sentences)
    return np.array([numbers.setdefault(text, len(numbers)) for text in texts], dtype=np.int64)


def scores_or_none(teacher: Iterable[float]) -> tuple[float, ...] | None:
    """Return a teacher's scores of each pair, NaN for none; None without any."""
    scores = tuple(teacher)
    return None if all(map(math.isnan, scores)) else scores


def taught(pairs: Pairs, teacher: Iterable[Correction]) -> Pairs:
    """The pairs with what a teacher gave them, (sentence, sentence, score as text) each; a pair
    that it says nothing of has NaN, and where it says nothing of any there is no teacher.

    Raises:
        Problem: where a score is no number.
    """
    known = {(a, b): read_score(score, "teacher") for a, b, score in teacher}
    scores = (known.get(pair, math.nan) for pair in zip(pairs.first, pairs.second, strict=True))
    return dataclasses.replace(pairs, teacher=scores_or_none(scores))


def corrected(pairs: Pairs, corrections: Iterable[Correction]) -> Pairs:
    """Return the pairs with corrected labels, and without those that were left out.

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
    part = pairs.at(kept)
    remaining = zip(part.first, part.second, part.labels, strict=True)
    return dataclasses.replace(
        part,
        labels=tuple(labels.get((first, second), label) for first, second, label in remaining),
        places=tuple(kept) if len(kept) < len(pairs) else None,
        labelled=pairs.labelled or bool(labels),
    )
