"""A drawn batch has exactly the properties that were asked for, and is the same everywhere."""

from dataclasses import replace

import numpy as np
import pytest

from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.random_batch import (
    LABELS,
    RANGES,
    RandomBatch,
    composed,
    draw,
)


def cosines(pairs):
    vectors = pairs.vectors.astype(np.float64)
    first, second = pairs.positions
    return (vectors[first] * vectors[second]).sum(axis=1)


def ranks(values):
    """Average ranks, so that ties count half."""
    values = np.asarray(values)
    return (values[:, None] > values).sum(1) + (values[:, None] == values).sum(1) / 2


def spearman(a, b):
    return np.corrcoef(ranks(a), ranks(b))[0, 1]


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize(("count", "dimension"), [(2, 2), (64, 32), (512, 1024)])
def test_vectors_are_unit_and_have_the_planned_cosine(labels, count, dimension):
    settings = RandomBatch(pairs=count, dimension=dimension, labels=labels)
    pairs = draw(settings)
    assert pairs.vectors.shape == (2 * count, dimension)
    assert pairs.vectors.dtype == np.float32
    assert len(pairs.sentences) == 2 * count
    np.testing.assert_allclose(np.linalg.norm(pairs.vectors, axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(cosines(pairs), composed(settings).cosines, atol=1e-6)


@pytest.mark.parametrize("labels", LABELS)
def test_same_seed_same_batch_and_another_seed_another(labels):
    settings = RandomBatch(labels=labels, seed=5)
    once, again, other = draw(settings), draw(settings), draw(replace(settings, seed=6))
    assert once.labels == again.labels
    assert np.array_equal(once.vectors, again.vectors)
    assert not np.array_equal(once.vectors, other.vectors)
    assert once.labels != other.labels


def test_the_default_batch_is_the_one_it_always_was():
    pairs = draw(RandomBatch())
    assert pairs.labels[:12] == (3.0, 3.0, 1.0, 4.0, 1.0, 1.0, 2.0, 0.0, 2.0, 2.0, 4.0, 0.0)
    np.testing.assert_allclose(
        pairs.vectors[1, :4], [0.150352, -0.1337759, 0.1202295, 0.1377163], atol=2e-7
    )
    np.testing.assert_allclose(
        pairs.vectors[-1, -4:], [0.2860536, -0.1632018, -0.1714291, 0.0931358], atol=2e-7
    )


def test_full_agreement_orders_perfectly_and_none_not_at_all():
    clean = RandomBatch(
        pairs=512, labels="continuous", mislabelled=0, hard_negatives=0, agreement=1
    )
    assert spearman(cosines(draw(clean)), draw(clean).labels) > 0.9999
    values = [
        spearman(cosines(draw(drawn)), draw(drawn).labels)
        for drawn in (replace(clean, agreement=share) for share in (0.0, 0.3, 0.6, 0.9))
    ]
    assert abs(values[0]) < 0.15
    assert values == sorted(values)


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("share", [0.0, 0.05, 0.25, 0.5])
def test_mislabelled_pairs_have_the_requested_number_and_are_clearly_wrong(labels, share):
    settings = RandomBatch(pairs=100, labels=labels, mislabelled=share, hard_negatives=0)
    wrong = composed(settings).mislabelled
    assert len(wrong) == round(share * 100)
    true = np.array(composed(replace(settings, mislabelled=0)).labels)
    given = np.array(draw(settings).labels)
    assert set(np.flatnonzero(true != given)) == set(wrong)
    scale = true.max() - true.min()
    assert all(abs(true[i] - given[i]) >= 0.4 * scale for i in wrong)


@pytest.mark.parametrize("tilt", [-0.9, -0.5, 0.0, 0.5, 0.9])
def test_imbalance_is_the_share_of_high_labels(tilt):
    settings = RandomBatch(pairs=200, imbalance=tilt, mislabelled=0)
    binary = draw(replace(settings, labels="binary")).labels
    assert sum(binary) == pytest.approx(200 * (1 + tilt) / 2, abs=1)
    continuous = draw(replace(settings, labels="continuous")).labels
    # The mean of the density 1 + t(2q − 1) on 0 … 1.
    assert np.mean(continuous) == pytest.approx(1 / 2 + tilt / 6, abs=0.005)
    graded = draw(replace(settings, labels="graded", grades=5)).labels
    assert set(graded) == {0, 1, 2, 3, 4}


def test_hard_negatives_have_low_labels_and_high_cosines():
    settings = RandomBatch(pairs=200, agreement=1, mislabelled=0, hard_negatives=0.3)
    planned = composed(settings)
    hard = list(planned.hard_negatives)
    lower = np.flatnonzero(planned.labels < 2)
    assert len(hard) == round(0.3 * len(lower))
    assert set(hard) <= set(lower)
    upper = planned.labels > 2
    assert planned.cosines[hard].min() >= planned.cosines[upper].min()
    easy = np.setdiff1d(lower, hard)
    assert planned.cosines[easy].max() < planned.cosines[upper].min()


@pytest.mark.parametrize("tilt", [-0.9, 0.9])
@pytest.mark.parametrize("grades", [2, 3, 20])
def test_the_smallest_batch_still_has_two_labels(tilt, grades):
    assert len(set(draw(RandomBatch(pairs=2, grades=grades, imbalance=tilt)).labels)) == 2


@pytest.mark.parametrize("field", RANGES)
def test_values_out_of_range_are_refused_by_name(field):
    lowest, highest = RANGES[field]
    for value in (lowest - 1, highest + 1, float("nan"), "3", None, True):
        with pytest.raises(Problem) as caught:
            draw(RandomBatch(**{field: value}))
        assert caught.value.key == f"problem.random_{field}"
        assert str(highest) in str(caught.value)
    if isinstance(highest, int):
        with pytest.raises(Problem):
            draw(RandomBatch(**{field: 2.5}))
    for value in (lowest, highest):
        drawn = draw(RandomBatch(**{field: value}))
        assert np.isfinite(drawn.vectors).all()


def test_unknown_labels_are_refused():
    with pytest.raises(Problem, match="continuous"):
        draw(RandomBatch(labels="stars"))
