"""Batches that hypothesis draws to break a claim."""

from __future__ import annotations

import torch
from hypothesis import strategies as st

from lossprism.explorer.lab.claims.batches import batch_of_scored_pairs, batch_of_sentence_vectors
from lossprism.explorer.lab.claims.claim import ClaimBatch

MOST_PAIRS, MOST_NUMBERS = 6, 4
# Shorter vectors have no direction to speak of.
LEAST_LENGTH = 0.1
coordinates = st.floats(-1, 1, allow_subnormal=False)
scales = st.floats(0.5, 100)


@st.composite
def batches(draw: st.DrawFn) -> ClaimBatch:
    """Draw pairs of sentences, some in several pairs, with 0/1 labels or grades."""
    count, width = draw(st.integers(2, MOST_PAIRS)), draw(st.integers(2, MOST_NUMBERS))
    sentences = draw(st.integers(3, 2 * count + 1))
    vector = st.lists(coordinates, min_size=width, max_size=width).filter(
        lambda one: sum(x * x for x in one) >= LEAST_LENGTH**2
    )
    vectors = draw(st.lists(vector, min_size=sentences, max_size=sentences))
    place = st.integers(0, sentences - 1)
    pair = st.tuples(place, place).filter(lambda one: one[0] != one[1])
    pairs = draw(st.lists(pair, min_size=count, max_size=count))
    grades = draw(st.sampled_from([1, 4]))
    labels = draw(st.lists(st.integers(0, grades), min_size=count, max_size=count))
    return batch_of_sentence_vectors(torch.tensor(vectors), pairs, labels, scale=draw(scales))


@st.composite
def scored(draw: st.DrawFn) -> ClaimBatch:
    """Draw pairs of which the scores alone are known, many of them equal."""
    count = draw(st.integers(2, MOST_PAIRS))
    score = st.one_of(st.sampled_from([-1.0, 0.0, 0.5, 1.0]), coordinates)
    scores = draw(st.lists(score, min_size=count, max_size=count))
    labels = draw(st.lists(st.integers(0, 2), min_size=count, max_size=count))
    return batch_of_scored_pairs(scores, labels, draw(scales))
