"""The distance of two kinds of vectors, and when it is reported."""

from __future__ import annotations

import json

import numpy as np
import pytest

from lossprism.explorer.core.batch import batch_of_vectors
from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.modality_gap import MIN_PAIRS, modality_gap
from lossprism.explorer.core.remarks import remarks, short
from lossprism.explorer.core.scenario import Data, Rules, Scenario
from lossprism.explorer.lab.compare.comparison_results import Side
from lossprism.explorer.lab.compare.loss_comparison import compare
from lossprism.explorer.locale import say
from lossprism.explorer.sources.pairs import Pairs
from lossprism.explorer.web.api.endpoint_functions import doctor_data
from lossprism.explorer.web.pages.compare import request_handlers as compare_page

OWN = f"clip.npz#{'0' * 32}"


def batch_of(images, texts, first=None, second=None):
    count = len(images)
    first = first or tuple(f"image {row}" for row in range(count))
    second = second or tuple(f"text {row}" for row in range(count))
    pairs = Pairs(first, second, (1.0,) * count)
    known = dict(zip((*first, *second), (*images, *texts), strict=True))
    vectors = np.stack([known[text] for text in pairs.sentences])
    return batch_of_vectors(pairs, vectors, Rules())


def two_kinds(count=12, apart=1.5, seed=0):
    images, texts = np.random.RandomState(seed).randn(2, count, 6)
    images[:, 0] += apart
    texts[:, 0] -= apart
    return images, texts


def centre(vectors):
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).mean(axis=0)


def test_it_is_the_distance_of_the_centres_of_unit_vectors():
    images, texts = two_kinds()
    by_hand = np.linalg.norm(centre(images) - centre(texts))
    assert modality_gap(batch_of(images, texts)) == pytest.approx(by_hand, rel=1e-5)
    # However long they are.
    assert modality_gap(batch_of(5 * images, texts)) == pytest.approx(by_hand, rel=1e-5)


def test_vectors_of_one_kind_have_none():
    images, texts = two_kinds(apart=0.0)
    assert np.linalg.norm(centre(images) - centre(texts)) > 0.1  # by chance
    assert modality_gap(batch_of(images, texts)) is None
    assert modality_gap(batch_of(*two_kinds(MIN_PAIRS - 1))) is None
    assert modality_gap(batch_of(*two_kinds(MIN_PAIRS))) is not None


def test_a_text_that_comes_again_counts_once():
    """Five captions of one image are no five images."""
    images, texts = two_kinds(MIN_PAIRS + 4)
    images[:6] = images[0]
    first = tuple(f"image {max(row, 5)}" for row in range(len(images)))
    assert modality_gap(batch_of(images, texts, first)) is None
    mixed = ("text 3", *(f"image {row}" for row in range(1, len(images))))
    images[0] = texts[3]
    assert modality_gap(batch_of(images, texts, mixed)) is None  # a text on both sides


@pytest.mark.parametrize(("encoder", "message"), [(OWN, True), ("all-MiniLM-L6-v2", False)])
def test_vectors_that_came_with_the_data_are_reported(encoder, message):
    batch = batch_of(*two_kinds())
    scenario = Scenario(Data(source="table", encoder=encoder), loss="info_nce")
    found = {one.key: one.values for one in remarks(explore(scenario, batch), most=99)}
    assert ("modality_gap" in found) is message
    if message:
        assert float(found["modality_gap"]["gap"]) == pytest.approx(modality_gap(batch), rel=0.01)


@pytest.mark.parametrize(("apart", "message"), [(1.5, True), (0.0, False)])
def test_doctor_and_compare_say_it_too(apart, message):
    images, texts = two_kinds(apart=apart)
    rows = [
        {"image": f"image {row}", "text": f"text {row}", "image_vec": [*image], "text_vec": [*text]}
        for row, (image, text) in enumerate(zip(images, texts, strict=True))
    ]
    batch = batch_of(images, texts)
    gap = modality_gap(batch)
    expected = say("en", "remark.modality_gap", gap=short(gap)) if message else None
    answer = doctor_data("info_nce", table=json.dumps(rows))
    assert answer["encoded"]["gap"] == expected
    scenario = Scenario(Data(source="table", encoder=OWN))
    found = compare(scenario, [Side("info_nce"), Side("nt_xent")], batch)
    sentence = compare_page._batch(found, "").gap
    assert (sentence and sentence.written()) == expected
