"""An encoder's findings about texts with classes: texts nearer to another class than to their own,
and classes that it confuses."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lossprism.explorer.lab.doctor.data_report import row_line
from lossprism.explorer.lab.doctor.pair_dataset_checks_by_encoder import (
    MAX_SHOWN_PAIRS,
    ROWS_AT_ONCE,
    encoded_texts,
    full_name,
    sampled_places,
)
from lossprism.explorer.lab.doctor.texts_with_classes_reader import ClassTable
from lossprism.explorer.locale import say
from lossprism.explorer.runtime.jobs import Report
from lossprism.explorer.runtime.number_format import display_number, percent
from lossprism.explorer.runtime.response_parent_classes import Whole
from lossprism.explorer.sources.encoders import locate


@dataclass(frozen=True, eq=False)
class EncodedClassTexts:
    """Cosines of M sampled texts, at these `places`, with the nearest other text of their `own`
    class and of an `other` class [M], −1 where there is none; `nearest_other` is the place of the
    latter [M]."""

    encoder: str
    table: ClassTable
    places: np.ndarray
    own: np.ndarray
    other: np.ndarray
    nearest_other: np.ndarray

    @property
    def comparable(self) -> np.ndarray:
        """Mask of the texts with another text of their class, and one of another class [M]."""
        return (self.own > -1) & (self.other > -1)

    @property
    def ranked(self) -> np.ndarray:
        """Indices among the M texts of those nearer to another class than to their own, the largest
        difference first."""
        strays = np.flatnonzero(self.comparable & (self.other > self.own))
        return strays[np.argsort((self.own - self.other)[strays], kind="stable")]

    @property
    def mixed(self) -> list[tuple[str, str, int]]:
        """Pairs of classes with the number of texts of the first that are nearer to the second, the
        largest number first."""
        of, names = self.table.of, self.table.names
        pairs = Counter(
            (int(of[self.places[at]]), int(of[self.nearest_other[at]])) for at in self.ranked
        )
        return [(names[own], names[other], count) for (own, other), count in pairs.most_common()]


def encode_class_table(
    table: ClassTable, encoder: str, max_texts: int, report: Report
) -> EncodedClassTexts:
    """Encode at most `max_texts` texts, sampled with a fixed seed, and compare all with all.

    Duplicates are not neighbours of a text. Raises Problem for an unknown encoder.
    """
    name = full_name(encoder)
    places = sampled_places(len(table), max_texts)
    texts = [table.texts[int(place)] for place in places]
    _, vectors, _ = encoded_texts(texts, texts, locate(name), report)
    of, numbers = table.of[places], table.numbers[places]
    own, other, nearest = [], [], []
    for start in range(0, len(places), ROWS_AT_ONCE):
        report("comparing", start, len(places))
        rows = slice(start, start + ROWS_AT_ONCE)
        cosines = vectors[rows] @ vectors.T
        cosines[numbers[rows, None] == numbers] = -1
        is_own = of[rows, None] == of
        own.append(np.where(is_own, cosines, -1).max(1))
        others = np.where(is_own, -1, cosines)
        other.append(others.max(1))
        nearest.append(places[others.argmax(1)])
    return EncodedClassTexts(name, table, places, *map(np.concatenate, (own, other, nearest)))


@dataclass(frozen=True)
class MixedClasses(Whole):
    """Number of texts of the `own` class that are nearer to a text of the other."""

    own: str
    other: str
    count: int


@dataclass(frozen=True)
class StrayText(Whole):
    """A text of a table of classes that is nearer to a text of another class."""

    row: int
    own: str
    other: str
    nearest_row: int
    own_cosine: float
    other_cosine: float


@dataclass(frozen=True)
class EncodedClasses(Whole):
    """An encoder's figures of texts with classes."""

    encoder: str
    texts: int
    agreeing: float | None
    mixed: list[MixedClasses]
    ranked: list[StrayText]


def encoded_classes(seen: EncodedClassTexts) -> EncodedClasses:
    """Return the share of texts whose nearest other text has their class (None if none can be
    compared), the confused classes, and the texts to look at first, by their rows in the table."""
    table, comparable = seen.table, int(seen.comparable.sum())
    return EncodedClasses(
        seen.encoder,
        len(seen.places),
        1 - len(seen.ranked) / comparable if comparable else None,
        [MixedClasses(*one) for one in seen.mixed],
        [
            StrayText(
                table.row(int(seen.places[at]) + 1),
                table.names[table.of[seen.places[at]]],
                table.names[table.of[seen.nearest_other[at]]],
                table.row(int(seen.nearest_other[at]) + 1),
                float(seen.own[at]),
                float(seen.other[at]),
            )
            for at in seen.ranked.tolist()
        ],
    )


def seen_classes_lines(seen: EncodedClassTexts, language: str) -> Iterator[str]:
    """Yield the report of the encoder's classes for the terminal."""
    found, table = encoded_classes(seen), seen.table
    if found.agreeing is None:
        yield f"\n{say(language, 'doctor.class.encoded_none', encoder=seen.encoder)}"
        return
    whole = {"encoder": seen.encoder, "count": found.texts, "total": len(table)}
    whole["share"] = percent(found.agreeing)
    yield f"\n{say(language, 'doctor.class.encoded', **whole)}"
    for name, other, count in seen.mixed[:MAX_SHOWN_PAIRS]:
        yield f"   {say(language, 'doctor.class.mixed', name=name, other=other, count=count)}"
    if found.ranked:
        yield say(language, "doctor.class.strays", count=len(found.ranked))
    for at, one in zip(seen.ranked[:MAX_SHOWN_PAIRS].tolist(), found.ranked, strict=False):
        cosines = (display_number(cosine, 2) for cosine in (one.own_cosine, one.other_cosine))
        text = table.texts[int(seen.places[at])]
        yield f"   {row_line(one.row, (text, one.own, one.other, *cosines), language)}"
