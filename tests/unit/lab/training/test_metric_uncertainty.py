"""The influence of each pair, against leaving the pair out; the variance, against drawing anew."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from lossprism.explorer.lab.training.held_out_metrics import (
    area_under_curve,
    best_accuracy,
    correlations,
)
from lossprism.explorer.lab.training.metric_uncertainty import (
    FIGURES,
    accuracy_at_1,
    sampling_variance,
    witnesses,
)

COUNT = 400
KINDS = {
    "continuous": lambda truth: truth,
    "graded": lambda truth: np.round(np.clip(2.5 + 1.2 * truth, 0, 5)),
    "binary": lambda truth: (truth > 0.5).astype(float),
}


def batch(kind, count=COUNT, seed=0):
    draw = np.random.default_rng(seed)
    truth = draw.normal(size=count)
    scores = np.round(0.7 * truth + 0.7 * draw.normal(size=count), 1)  # with ties
    return scores, KINDS[kind](truth)


BINARY_ONLY = ("accuracy", "auc")
CASES = [
    (name, kind)
    for name in FIGURES
    for kind in KINDS
    if kind == "binary" or name not in BINARY_ONLY
]


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_a_pair_moves_the_figure_as_leaving_it_out_does(name, kind):
    scores, labels = batch(kind)
    found = FIGURES[name](scores, labels)
    without = np.array(
        [FIGURES[name](np.delete(scores, i), np.delete(labels, i)).value for i in range(COUNT)]
    )
    left_out = (COUNT - 1) * (found.value - without)
    assert np.corrcoef(left_out, found.influence)[0, 1] > 0.999
    assert left_out.std() == pytest.approx(found.influence.std(), rel=0.02)
    assert found.influence.mean() == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_the_figures_are_those_of_the_table(kind):
    scores, labels = batch(kind)
    for name, value in correlations(scores, labels).items():
        assert FIGURES[name](scores, labels).value == pytest.approx(value)
    assert FIGURES["spearman"](scores, labels).value == pytest.approx(
        stats.spearmanr(scores, labels)[0]
    )
    if kind == "binary":
        assert FIGURES["accuracy"](scores, labels).value == best_accuracy(scores, labels)[0]
        assert FIGURES["auc"](scores, labels).value == area_under_curve(scores, labels)
    else:
        assert FIGURES["accuracy"](scores, labels) is FIGURES["auc"](scores, labels) is None


@pytest.mark.parametrize("name", ["spearman", "pearson"])
def test_equal_scores_or_labels_have_no_figure(name):
    flat, other = np.ones(9), np.arange(9.0)
    assert FIGURES[name](flat, other) is FIGURES[name](other, flat) is None


@pytest.mark.parametrize("name", FIGURES)
def test_the_variance_is_that_of_other_draws(name):
    values, expected = [], []
    for seed in range(300):
        scores, labels = batch("binary", 200, seed)
        found = FIGURES[name](scores, labels)
        values.append(found.value)
        pairs = [(f"a{i}", f"b{i}") for i in range(200)]
        expected.append(sampling_variance(found.influence, pairs))
    assert np.mean(expected) == pytest.approx(np.var(values), rel=0.2)


def test_pairs_that_share_a_sentence_count_together():
    """Every sentence in four pairs, with an influence of its own: four times the variance."""
    draw = np.random.default_rng(1)
    own = np.repeat(draw.normal(size=500), 4)
    influence = own - own.mean()
    shared = [(f"a{i // 4}", f"b{i}") for i in range(2000)]
    alone = [(f"a{i}", f"b{i}") for i in range(2000)]
    ratio = sampling_variance(influence, shared) / sampling_variance(influence, alone)
    assert ratio == pytest.approx(4, rel=1e-6)
    # The same pair twice shares both its sentences, and counts once.
    doubled = [("a", "b")] * 2 + alone[2:]
    by_hand = (np.square(influence).sum() + 2 * influence[0] * influence[1]) / (2000 * 1999)
    assert sampling_variance(influence, doubled) == pytest.approx(max(by_hand, 0))
    # A pair of a sentence with itself is one pair.
    same = [("a", "a"), *alone[1:]]
    assert sampling_variance(influence, same) == pytest.approx(sampling_variance(influence, alone))


APART = [(f"a{i}", f"b{i}") for i in range(4)]


def test_how_many_pairs_carry_the_uncertainty():
    assert witnesses(np.array([1.0, -1.0, 1.0, -1.0]), APART) == 4
    assert witnesses(np.array([5.0, 0.0, 0.0, 0.0]), APART) == 1
    assert witnesses(np.zeros(4), APART) == 0


def test_a_query_with_all_of_its_candidates_is_one_witness():
    queries, candidates = 5, 40
    pairs = [(f"q{q}", f"d{q}.{d}") for q in range(queries) for d in range(candidates)]
    of_queries = np.repeat([1.0, -1.0, 1.0, 1.0, -1.0], candidates)
    assert witnesses(of_queries, pairs) == pytest.approx(queries, rel=0.1)
    # What the candidates of each query move cancels out here, and they are no more for that.
    cancelled = np.tile([1.0, -1.0], queries * candidates // 2)
    assert witnesses(cancelled, pairs) == pytest.approx(queries, rel=0.1)


def test_one_query_moves_the_share_of_those_found_by_its_own():
    """What Fine-tune says of few queries."""
    places = np.array([1, 1, 3, 2, 1])
    moved = places.copy()
    moved[2] = 1
    apart = accuracy_at_1(moved).value - accuracy_at_1(places).value
    assert apart == pytest.approx(1 / len(places))
