"""The figures of held-out pairs, against libraries and against counting."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
import torch
from scipy.stats import pearsonr, spearmanr

from lossprism.explorer.lab.training.held_out_metrics import (
    HeldOut,
    area_under_curve,
    bands_of,
    best_accuracy,
    correlations,
    geometry,
    live_sample,
)


@pytest.mark.parametrize("seed", range(10))
def test_accuracy_and_area_by_counting(seed):
    draw = np.random.default_rng(seed)
    scores = draw.integers(0, 8, 20) / 8  # with ties
    labels = draw.integers(0, 2, 20).astype(float)
    labels[:2] = 0, 1
    accuracy, bound = best_accuracy(scores, labels)
    assert accuracy == np.mean((scores > bound) == (labels == 1)) or accuracy == np.mean(
        (scores >= bound) == (labels == 1)
    )
    tried = [np.mean((scores >= t) == (labels == 1)) for t in [*scores, 2]]
    assert accuracy == pytest.approx(max(tried))
    pairs = itertools.product(scores[labels == 1], scores[labels == 0])
    counted = np.mean([(a > b) + 0.5 * (a == b) for a, b in pairs])
    assert area_under_curve(scores, labels) == pytest.approx(counted)


@pytest.mark.parametrize("seed", range(5))
def test_correlations_are_those_of_scipy(seed):
    draw = np.random.default_rng(seed)
    scores = draw.random(40).astype(np.float32)
    labels = draw.integers(0, 6, 40).astype(float)
    found = correlations(scores, labels)
    assert found["spearman"] == pytest.approx(spearmanr(scores, labels).statistic)
    assert found["pearson"] == pytest.approx(pearsonr(scores, labels).statistic)


def held_out(pairs, threshold=0.5):
    return HeldOut.of(pairs, bands_of([label for *_, label in pairs]), threshold)


def test_geometry_at_its_reference_values():
    pairs = [("a", "b", 1.0), ("c", "d", 1.0)]
    alike = geometry(torch.tensor([[1.0, 0.0]] * 4), held_out(pairs))
    assert alike["mean_cosine"] == pytest.approx(1)
    assert alike["effective_rank"] == pytest.approx(1)
    assert alike["uniformity"] == pytest.approx(0)
    assert alike["alignment"] == 0
    apart = geometry(torch.eye(4), held_out(pairs))
    assert apart["mean_cosine"] == 0
    assert apart["effective_rank"] == pytest.approx(4)
    assert apart["uniformity"] == pytest.approx(-4)  # every squared distance is 2
    assert apart["alignment"] == pytest.approx(2)


def test_bands_hold_every_label_once():
    labels = [draw * 5 for draw in np.random.default_rng(0).random(200)]
    bands = bands_of(labels)
    assert all(sum(low <= label <= high for low, high in bands) == 1 for label in labels)
    assert bands_of([0, 1, 1, 0]) == ((0, 0), (1, 1))


def test_no_sentence_stands_twice_in_the_probe_batch():
    draw = random.Random(0)
    pairs = [(f"a{draw.randrange(60)}", f"b{i}", float(i % 2)) for i in range(300)]
    chosen, probe = live_sample(pairs)
    assert 120 < len(chosen) <= 128
    for first in {pair[0] for pair in chosen}:  # a list is measured whole or not at all
        assert {p for p in pairs if p[0] == first} == {p for p in chosen if p[0] == first}
    assert 0 < probe <= 64
    sentences = [text for pair in chosen[:probe] for text in pair[:2]]
    assert len(set(sentences)) == len(sentences)
    assert set(chosen) <= set(pairs)


def test_pairs_of_one_sentence_with_itself_still_make_a_probe_batch():
    chosen, probe = live_sample([("a", "a", 1.0), ("a", "a", 0.0)])
    assert len(chosen) == 2
    assert probe == 1


def test_vectors_that_are_no_numbers_have_no_figures():
    class Broken:
        def encode(self, sentences, **_):
            return torch.full((len(sentences), 3), torch.nan)

    figures, scores, _ = held_out([("a", "b", 0.0), ("c", "d", 1.0)]).figures(Broken())
    assert np.isnan(scores).all()
    assert figures["effective_rank"] is None
    assert figures["spearman"] is None
    assert figures["histogram"] is None


def test_the_probe_batch_of_a_loss_on_lists_is_lists():
    pairs = [(f"a{i // 3}", f"b{i}", float(i % 3)) for i in range(240)]
    pairs += [(f"lone {i}", f"c{i}", 1.0) for i in range(40)]
    chosen, probe = live_sample(pairs, in_lists=True)
    assert {*chosen} == {*live_sample(pairs)[0]}  # measured by the same pairs as any other loss
    assert 60 < probe <= 64
    listed = [pair[0] for pair in chosen[:probe]]
    assert {listed.count(first) for first in listed} == {3}
    alone = [(f"a{i}", f"b{i}", 1.0) for i in range(9)]
    assert live_sample(alone, in_lists=True) == live_sample(alone)
