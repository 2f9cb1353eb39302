"""What is marked at single pairs of a batch: a text that another pair holds too, and what an
example holds on purpose."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from explorer.core.batch import Batch, source_pairs
from explorer.core.models import has_words
from explorer.core.scenario import Data
from explorer.sources.pairs import Pairs
from explorer.sources.textbook import EXAMPLES

Side = Literal["first", "second"]


@dataclass(frozen=True)
class SharedText:
    """A sentence of a pair that another pair holds too, and the first one that does."""

    pair: int
    side: Side
    other: int
    other_side: Side


@dataclass(frozen=True)
class Planted:
    """What an example holds on purpose at a pair: a wrong label, or a second sentence that would
    also be right for the first one of the pair `other`, of which no label knows."""

    pair: int
    kind: Literal["mislabelled", "hidden"]
    other: int | None = None


def same_texts(batch: Batch, data: Data) -> list[SharedText]:
    """The sentences that stand in several pairs, in the order of the batch; texts are compared as
    `sources.pairs.text_numbers` does. Names of numbers are no texts.

    First sentences are held against each other between positive pairs alone: with a pair that is
    none they make a list. Of lists (most first sentences have several labels) they are not: there
    each stands in many pairs by design.
    """
    if not has_words(data):
        return []
    texts = batch.texts.cpu().numpy()
    first, second = (texts[place].tolist() for place in batch.pairs.positions)
    asking = [] if _are_lists(first, batch.pairs.labels) else batch.positives.tolist()
    queries, everyone = set(asking), range(len(batch))
    of_queries, of_first, of_second = (
        _first_two(side, pairs)
        for side, pairs in ((first, asking), (first, everyone), (second, everyone))
    )
    found = []
    for pair in everyone:
        beside = of_queries if pair in queries else {}
        sides: tuple[tuple[Side, int, dict[int, list[int]]], ...] = (
            ("first", first[pair], beside),
            ("second", second[pair], of_first),
        )
        for side, text, firsts in sides:
            holders: list[tuple[int, Side]] = [
                *((other, "first") for other in firsts.get(text, ()) if other != pair),
                *((other, "second") for other in of_second.get(text, ()) if other != pair),
            ]
            if holders:
                found.append(SharedText(pair, side, *min(holders)))
    return found


def _are_lists(first: Sequence[int], labels: Sequence[float]) -> bool:
    """Whether most first sentences, by the numbers of their texts, have several labels."""
    given: dict[int, set[float]] = {}
    for text, label in zip(first, labels, strict=True):
        given.setdefault(text, set()).add(label)
    return 2 * sum(len(its) > 1 for its in given.values()) > len(given)


def _first_two(texts: Sequence[int], pairs: Iterable[int]) -> dict[int, list[int]]:
    """Of each text the first two of these pairs that have it on this side: of any pair, the first
    other one is among them."""
    held: dict[int, list[int]] = {}
    for pair in pairs:
        its = held.setdefault(texts[pair], [])
        if len(its) < 2:
            its.append(pair)
    return held


def planted(pairs: Pairs, data: Data) -> list[Planted]:
    """What a textbook example knows of its pairs beyond their labels, at the places that they have
    where some were left out. A label that was corrected is the example's no more; nor is a hidden
    positive one without the pair that it would also be right for."""
    if data.source != "example":
        return []
    example, whole = EXAMPLES[data.example], source_pairs(data)
    places = range(len(pairs)) if pairs.places is None else pairs.places
    at = {place: pair for pair, place in enumerate(places)}
    wrong = (
        Planted(at[place], "mislabelled")
        for place in example.mislabelled
        if place in at and pairs.labels[at[place]] == whole.labels[place]
    )
    hidden = (
        Planted(at[place], "hidden", at[other])
        for place, other in example.hidden
        if place in at and other in at
    )
    return sorted((*wrong, *hidden), key=lambda one: one.pair)


def said_by_teacher(pairs: Pairs) -> list[float | None] | None:
    """What a teacher gave each pair; None for a pair that it says nothing of, and in place of the
    list where there is no teacher."""
    if pairs.teacher is None:
        return None
    return [None if math.isnan(score) else score for score in pairs.teacher]
