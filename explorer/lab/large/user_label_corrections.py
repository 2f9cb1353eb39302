"""Pairs of a large batch with other labels, or left out: as a person corrected them."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from lossprism.explorer.lab.large.batch import LargeBatch
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.cells import read_score
from lossprism.explorer.sources.pairs import Correction


def changes_of(batch: LargeBatch, corrections: Iterable[Correction]) -> dict[int, float | None]:
    """The new label of each pair that is corrected, by its number in the source; None to leave it
    out. As on the Explore page a correction counts for every pair of its sentences, and of several
    the last one does.

    Raises Problem where a label is no number.
    """
    chosen = {
        (first, second): read_score(label, "corrections") if label.strip() else None
        for first, second, label in corrections
    }
    named = {first for first, _ in chosen}
    changes = {}
    for entry, first in enumerate(batch.first) if chosen else ():
        if first in named and (pair := (first, batch.second[entry])) in chosen:
            changes[entry] = chosen[pair]
    return changes


def corrected(batch: LargeBatch, corrections: Iterable[Correction]) -> LargeBatch:
    """The batch as it stands after all corrections; its pairs keep their numbers.

    Raises Problem where none is left.
    """
    changes = changes_of(batch, corrections)
    if not changes:
        return batch
    by_entry = np.full(len(batch.first), np.inf)
    for entry, label in changes.items():
        by_entry[entry] = np.nan if label is None else label
    now = by_entry[batch.entry]
    labels = np.where(np.isposinf(now), batch.labels, now)
    kept = np.flatnonzero(~np.isnan(labels))
    if not len(kept):
        raise Problem("no_pairs")
    kept = kept[np.lexsort((batch.scores[kept], labels[kept]))]
    sides = batch.first_vectors, batch.second_vectors
    first_vectors, second_vectors = (side if side is None else side[kept] for side in sides)
    return replace(
        batch,
        labels=labels[kept],
        scores=batch.scores[kept],
        entry=batch.entry[kept],
        first_vectors=first_vectors,
        second_vectors=second_vectors,
    )
