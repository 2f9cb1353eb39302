"""Where label and score disagree, held to the definition over all comparisons."""

from __future__ import annotations

import numpy as np
import pytest

from lossprism.explorer.core import label_disagreement as module
from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.label_disagreement import (
    SUSPECT_FACTOR,
    SUSPECT_RATE,
    contradictions,
    disagreement,
    disagrees,
)
from lossprism.explorer.core.rank_correlation import spearman
from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.sources.random_batch import RandomBatch


def drawn(count: int, grades: int | None, ties: bool, seed: int = 0, noise: float = 1.0):
    source = np.random.default_rng(seed)
    truth = source.normal(size=count)
    scores = 0.7 * (truth + noise * source.normal(size=count))
    labels = truth if grades is None else np.round(np.clip(grades / 2 + truth, 0, grades))
    return labels, np.round(scores, 1) if ties else scores


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("grades", [None, 1, 5, 63, 64])
@pytest.mark.parametrize("count", [1, 2, 3, 37, 512])
def test_contradictions_are_those_of_all_comparisons(count, grades, ties):
    labels, scores = drawn(count, grades, ties, seed=count)
    found = contradictions(labels, scores)
    ordered = labels[:, None] < labels[None, :]
    violated = ordered & (scores[:, None] > scores[None, :])
    wrong, against = (cells.sum(0) + cells.sum(1) for cells in (violated, ordered))
    assert np.array_equal(found.wrong, wrong)
    assert np.array_equal(found.against, against)
    assert (found.ordered, found.violated) == (ordered.sum(), violated.sum())
    rates = wrong / np.maximum(against, 1)
    least = max(SUSPECT_FACTOR * wrong.sum() / max(against.sum(), 1), SUSPECT_RATE)
    listed = np.flatnonzero((rates >= least) & (found.fitting != labels))
    assert set(found.suspects) == set(listed)
    assert (np.diff(rates[found.suspects]) <= 0).all()


def test_the_fitting_label_stands_at_the_rank_of_the_score():
    labels, scores = np.array([5.0, 1.0, 3.0, 3.0]), np.array([0.1, 0.9, 0.4, 0.4])
    found = contradictions(labels, scores)
    assert found.fitting.tolist() == [1, 5, 3, 3]
    # Of one score, each pair fits best with its own label.
    assert contradictions(labels, np.zeros(4)).fitting.tolist() == labels.tolist()


def test_what_rounding_parts_is_one_score():
    """Pairs of one text written twice: their cosines are 1 but for the last digits."""
    labels, scores = drawn(400, 1, ties=False, seed=2)
    scores /= abs(scores).max()
    scores[:80] = 1
    noise = 6e-8 * np.random.default_rng(0).normal(size=len(scores))
    exact, rounded = contradictions(labels, scores), contradictions(labels, scores + noise)
    assert exact.violated == rounded.violated
    assert exact.suspects.tolist() == rounded.suspects.tolist()
    assert exact.fitting.tolist() == rounded.fitting.tolist()
    assert spearman(labels, scores) == spearman(labels, scores + noise)
    # As small as they may be, scores that lie apart do.
    assert contradictions(labels, 1e-9 * scores).violated == exact.violated


def test_explore_says_what_the_arrays_say():
    data = Data(source="random", random=RandomBatch(pairs=512, dimension=8, seed=3, grades=6))
    found = explore(Scenario(data=data))
    labels = np.array(found.batch.pairs.labels)
    scores = found.batch.scores.double().numpy()
    message = contradictions(labels, scores)
    assert [one.pair for one in found.suspects] == message.suspects.tolist()
    assert [one.rate for one in found.suspects] == pytest.approx(
        message.rates[message.suspects].tolist(), abs=1e-12
    )
    assert found.order.spearman == pytest.approx(spearman(labels, scores), abs=1e-12)
    assert found.disagreement == disagreement(message, found.order.spearman)


@pytest.mark.thorough
@pytest.mark.parametrize("grades", [None, 5])
def test_few_draws_of_many_pairs_say_what_many_draws_say(monkeypatch, grades):
    labels, scores = drawn(20_000, grades, ties=False)
    correlation = spearman(labels, scores)
    pairs = contradictions(labels, scores)
    few = disagreement(pairs, correlation)
    monkeypatch.setattr(module, "MANY", 2**15)
    many = disagreement(pairs, correlation)
    assert few.expected == pytest.approx(many.expected, rel=0.02)
    assert few.low < many.expected < few.high
    reach, usual = few.high - few.low, many.high - many.low
    assert 0.5 * usual < reach < 3 * usual
    # These pairs have no wrong label.
    assert few.low <= len(pairs.suspects) <= few.high


@pytest.mark.thorough
@pytest.mark.parametrize("grades", [None, 1, 5])
def test_planted_labels_come_first_of_thirty_thousand(grades):
    labels, scores = drawn(30_000, grades, ties=False, noise=0.33)
    planted = np.random.default_rng(1).permutation(len(labels))[:300]
    labels[planted] = labels.min() + labels.max() - labels[planted]
    found = contradictions(labels, scores)
    assert np.isin(found.suspects[:100], planted).mean() > 0.9
    # Faults that far out lower the correlation by more than they are many.
    usual = disagreement(contradictions(labels, scores), spearman(labels, scores))
    assert len(found.suspects) < usual.expected


def test_another_batch_is_between_the_reported_ends():
    inside = []
    for seed in range(100):
        labels, scores = drawn(200, 5, ties=False, seed=seed, noise=0.8)
        usual = disagreement(contradictions(labels, scores), spearman(labels, scores))
        listed = len(contradictions(labels, scores).suspects)
        inside.append(usual.low <= listed <= usual.high)
    assert np.mean(inside) >= 0.95


@pytest.mark.parametrize("mean", [0.0, 0.2, 2.0])
def test_draws_of_small_counts_leave_memory_for_the_next(mean):
    """Eight draws that are all 0 do not say that the next one is."""
    draw, above = np.random.default_rng(0), 0
    for _ in range(1000):
        *seen, fresh = draw.poisson(mean, module.DRAWS_OF_MANY + 1).astype(float)
        above += fresh > module._range_of(np.array(seen))[1]
    assert above <= 20


def test_strong_suspects_are_the_first_of_the_list():
    labels, scores = drawn(400, 5, ties=False, noise=0.3)
    labels[:8] = 5 - labels[:8]
    found = contradictions(labels, scores)
    assert found.strong.tolist() == found.suspects[: len(found.strong)].tolist()
    assert (found.rates[found.strong] >= module.STRONG_RATE).all()
    assert 0 < len(found.strong) < len(found.suspects)


@pytest.mark.parametrize("share", [0.0, 0.03, 0.1])
def test_labels_of_two_kinds_are_listed_and_not_judged(share):
    """Of these as many as of graded labels would have to be wrong to be found in 4 of 5 cases."""
    labels, scores = drawn(1000, 1, ties=False, noise=0.3)
    assert len(np.unique(labels)) == 2
    wrong = np.random.default_rng(2).permutation(1000)[: int(share * 1000)]
    labels[wrong] = 1 - labels[wrong]
    found = contradictions(labels, scores)
    usual = disagreement(found, spearman(labels, scores))
    assert not disagrees(len(found.strong), usual)
    assert usual.low <= usual.expected <= usual.high
    if share:
        assert np.isin(found.suspects[: len(wrong) // 2], wrong).mean() > 0.8


def test_what_listens_may_stop_the_draws():
    def stop(done, total):
        if done:
            raise KeyboardInterrupt

    pairs = contradictions(*drawn(2**17, 1, ties=False))
    with pytest.raises(KeyboardInterrupt):
        disagreement(pairs, 0.5, stop)


def test_without_a_correlation_nothing_is_expected():
    labels, scores = drawn(50, 5, ties=False)
    pairs = contradictions(labels, scores)
    assert disagreement(pairs, -0.1) is None
    assert disagreement(pairs, spearman(np.ones(50), scores)) is None
