"""Texts that several pairs of a batch have."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from lossprism.explorer.core.batch import Batch
from lossprism.explorer.core.models_of_scenario import has_words
from lossprism.explorer.core.scenario import Data

Side = Literal["first", "second"]


@dataclass(frozen=True)
class SharedText:
    """A sentence of a pair that another pair also has, and the first such pair."""

    pair: int
    side: Side
    other: int
    other_side: Side


def same_texts(batch: Batch, data: Data) -> list[SharedText]:
    """Return the sentences that several pairs have, in batch order; names of numbers do not count.

    Texts are compared as `sources.pairs.text_numbers` does. First sentences are compared among
    positive pairs only, since with other pairs they form a list. They are not compared at all if
    the batch consists of lists (most first sentences have several labels).
    """
    if not has_words(data):
        return []
    texts = batch.texts.cpu().numpy()
    first, second = (texts[place].tolist() for place in batch.pairs.positions)
    queries_compared = [] if _are_lists(first, batch.pairs.labels) else batch.positives.tolist()
    queries, everyone = set(queries_compared), range(len(batch))
    of_queries, of_first, of_second = (
        _first_two(side, pairs)
        for side, pairs in ((first, queries_compared), (first, everyone), (second, everyone))
    )
    shared = []
    for pair in everyone:
        of_first_here = of_queries if pair in queries else {}
        sides: tuple[tuple[Side, int, dict[int, list[int]]], ...] = (
            ("first", first[pair], of_first_here),
            ("second", second[pair], of_first),
        )
        for side, text, firsts in sides:
            holders: list[tuple[int, Side]] = [
                *((other, "first") for other in firsts.get(text, ()) if other != pair),
                *((other, "second") for other in of_second.get(text, ()) if other != pair),
            ]
            if holders:
                shared.append(SharedText(pair, side, *min(holders)))
    return shared


def _are_lists(first: Sequence[int], labels: Sequence[float]) -> bool:
    """Return whether most first sentences, numbered by text, have several labels."""
    labels_of: dict[int, set[float]] = {}
    for text, label in zip(first, labels, strict=True):
        labels_of.setdefault(text, set()).add(label)
    return 2 * sum(len(its) > 1 for its in labels_of.values()) > len(labels_of)


def _first_two(texts: Sequence[int], pairs: Iterable[int]) -> dict[int, list[int]]:
    """Return the first two of these pairs for each text on this side.

    Two suffice: for any pair, the first other one is among them.
    """
    pairs_of: dict[int, list[int]] = {}
    for pair in pairs:
        its = pairs_of.setdefault(texts[pair], [])
        if len(its) < 2:
            its.append(pair)
    return pairs_of
