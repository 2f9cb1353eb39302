"""The wrong labels and hidden positives of the examples that are shipped, as they are recorded."""

from dataclasses import dataclass
from typing import Literal

from lossprism.explorer.core.batch import source_pairs
from lossprism.explorer.core.scenario import Data
from lossprism.explorer.sources.pairs import Pairs
from lossprism.explorer.sources.textbook import EXAMPLES


@dataclass(frozen=True)
class KnownFault:
    """A known fault of an example's pair: a wrong label, or a second sentence that would also be
    right for the first sentence of the pair `other`, without a label that says so."""

    pair: int
    kind: Literal["mislabelled", "hidden"]
    other: int | None = None


def known_faults(pairs: Pairs, data: Data) -> list[KnownFault]:
    """Return the known faults of a textbook example, at the places that the remaining pairs have.

    A corrected label is no longer the example's; a hidden positive needs the pair that it would
    also be right for.
    """
    if data.source != "example":
        return []
    example, whole = EXAMPLES[data.example], source_pairs(data)
    places = range(len(pairs)) if pairs.places is None else pairs.places
    at = {place: pair for pair, place in enumerate(places)}
    wrong = (
        KnownFault(at[place], "mislabelled")
        for place in example.mislabelled
        if place in at and pairs.labels[at[place]] == whole.labels[place]
    )
    hidden = (
        KnownFault(at[place], "hidden", at[other])
        for place, other in example.hidden
        if place in at and other in at
    )
    return sorted((*wrong, *hidden), key=lambda one: one.pair)
