"""Sentences on what unit vectors and cosines cannot be: drawn beyond it, and within."""

from __future__ import annotations

import dataclasses

import numpy as np

from lossprism.explorer.core.batch import batch_of_vectors
from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.remarks import remarks
from lossprism.explorer.core.scenario import Data, Rules, Scenario
from lossprism.explorer.sources.pairs import Pairs
from tests.judgements import SentencesOf, Source
from tests.judgements.batches import hold, of_vectors, remarks_on


def with_margin(convention: str, margin: float) -> SentencesOf:
    def sentences_of(draw: Source) -> set[str]:
        vectors = draw.normal(size=(48, 8))
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        batch = of_vectors(vectors, np.arange(24.0) % 2)
        scenario = Scenario(data=Data(source="random"), loss="triplet", convention=convention)
        scenario = dataclasses.replace(scenario, parameters=(("margin", margin),))
        return {one.key for one in remarks(explore(scenario, batch), most=99)}

    return sentences_of


def taught(size: float) -> SentencesOf:
    """A positive and another for each query, which the teacher has so far apart at most."""

    def sentences_of(draw: Source) -> set[str]:
        first = tuple(f"a{i // 2}" for i in range(24))
        second = tuple(f"b{i}" for i in range(24))
        labels = tuple(float(1 - i % 2) for i in range(24))
        teacher = tuple(float(y * size * draw.uniform(0.9, 1)) for y in labels)
        pairs = Pairs(first, second, labels, teacher=teacher)
        return remarks_on(batch_of_vectors(pairs, draw.normal(size=(36, 8)), Rules()), "margin_mse")

    return sentences_of


BATCH_ALL = "sentence-transformers 6.2 BatchAll"
hold(
    "margin_beyond",
    ("unit vectors, triplets with a margin of 5", with_margin(BATCH_ALL, 5.0)),
    ("the same, a margin of 1.9", with_margin(BATCH_ALL, 1.9)),
)
hold(
    "teacher_beyond",
    ("a teacher with margins of 14", taught(14.0)),
    ("a teacher with margins of 1.8", taught(1.8)),
)
