"""The map of a file: each text once, its pairs with the gradients of the loss."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.lab.large import batch as large
from lossprism.explorer.lab.large.large_batch_session import open_batch
from lossprism.explorer.lab.map import sentence_map
from lossprism.explorer.lab.map.sentence_map import map_of_large_batch, map_of_scenario
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.encoders import EMBEDDED
from lossprism.explorer.sources.textbook import load_example
from lossprism.explorer.web.pages.sentence_map.request_handlers import SERVED

pytestmark = pytest.mark.encoder


def opened(encoder: str = EMBEDDED):
    example = load_example("graded_english")
    found = explore(Scenario())
    scores = found.batch.plain_scores
    pairs = large.in_order(
        np.array(example.labels), np.array(scores), list(example.first), list(example.second)
    )
    pairs = pairs.under(None, None)
    pairs = dataclasses.replace(pairs, encoder=encoder)
    return open_batch(pairs, "cosent", {"scale": 20.0}, lambda *_: None)


def test_it_is_the_map_of_the_same_batch_on_explore() -> None:
    found, small = map_of_large_batch(opened(), "pca"), map_of_scenario(Scenario(), "pca")
    assert set(found.sentences) == set(small.sentences)

    def by_pair(drawn):
        (frame,) = drawn.frames
        return {
            (drawn.sentences[one], drawn.sentences[other]): (
                *frame.points[one],
                *frame.points[other],
                gradient,
            )
            for one, other, gradient in zip(drawn.first, drawn.second, frame.gradient, strict=True)
        }

    here, there = by_pair(found), by_pair(small)
    assert here.keys() == there.keys()
    for pair, values in here.items():
        assert values == pytest.approx(there[pair], abs=1e-5)
    assert found.projection.shares == pytest.approx(small.projection.shares, rel=1e-5)


def test_pairs_without_an_encoder_and_too_many_sentences_are_refused(monkeypatch) -> None:
    with pytest.raises(Problem) as alone:
        map_of_large_batch(opened(encoder=""), "pca")
    assert alone.value.key == "problem.map_without_encoder"
    monkeypatch.setattr(sentence_map, "MAX_SENTENCES", 10)
    with pytest.raises(Problem, match="at most 10"):
        map_of_large_batch(opened(), "pca")


@pytest.mark.parametrize("large", ["{", "[1]", "7", "[" * 100_000, '{"source": 3}', "{}"])
def test_a_link_that_cannot_be_read_is_refused(large: str) -> None:
    (requested,) = (one for one in SERVED if one.__name__ == "map")
    answer = requested({"large": large, "method": "pca"})
    assert answer.error.key.startswith("problem.")


def test_pairs_that_the_batch_has_not_are_refused_on_explore() -> None:
    (requested,) = (one for one in SERVED if one.__name__ == "on_explore")
    answer = requested({"example": "graded_english", "scene": "", "pairs": [0, 999]})
    assert answer.error.values["value"] == "999"
