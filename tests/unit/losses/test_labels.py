"""One rule for what labels mean: its laws, and what it makes of real files."""

from __future__ import annotations

import csv
import random
from pathlib import Path

import numpy as np
import pytest
import torch

from lossprism.losses.labels import (
    COMMON_RANGES,
    COSINES,
    UNIT,
    cosine_labels,
    holds,
    label_range_of,
    label_rules,
    middle,
    unit_labels,
)

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"


def positives(labels, **given):
    rules = label_rules(labels, **given)
    return [label >= rules.threshold for label in labels]


@pytest.mark.parametrize(
    ("labels", "ends", "threshold"),
    [
        ([0, 1], (0, 1), 0.5),
        ([0.8, 0.9], (0, 1), 0.5),  # a part of a scale everyone knows
        ([0.3, -0.1], (-1, 1), 0),
        ([1, 2, 3, 4, 5], (1, 5), 3),
        ([0, 1, 2, 3, 4, 5], (0, 5), 2.5),
        ([1, 2], (1, 2), 1.5),
        ([0, 2], (0, 2), 1),
        ([-2, 2], (-2, 2), 0),
        ([2, 3, 5], (1, 5), 3),  # nobody gave the lowest grade
        ([2, 9, 10], (0, 10), 5),
        ([1, 10], (1, 10), 5.5),
        ([4, 5], (4, 5), 4.5),  # on 1 to 5 all would be positive
        ([1.0, 3.6, 5.0], (1, 5), 3),
        ([0.0, 2.6, 4.0], (0, 4), 2),  # both ends are reached
        ([1.2, 3.6, 4.6], (1, 5), 3),
        ([0.2, 4.8], (0, 5), 2.5),
        ([0.4, 7.5], (0, 10), 5),
        ([12.5, 80.1], (0, 100), 50),
        ([12.5, 49.1], (12.5, 49.1), 30.8),  # on 0 to 100 no pair would be positive
        ([-3.5, 2.2], (-3.5, 2.2), -0.65),
    ],
)
def test_the_ends_of_a_scale_and_its_middle(labels, ends, threshold):
    assert label_rules(labels) == (threshold, ends)


@pytest.mark.parametrize("label", [1, 0.6, 5, 37.5, 0, -1, -0.5, -3])
def test_a_single_label_is_positive_above_0(label):
    assert positives([label, label]) == [label > 0] * 2


def test_what_is_given_wins():
    assert label_rules([1, 5], threshold=4.0) == (4.0, (1.0, 5.0))
    assert label_rules([1, 5], label_range=(0.0, 5.0)) == (2.5, (0.0, 5.0))
    assert label_rules([], 1.0, (0.0, 5.0)) == (1.0, (0.0, 5.0))
    with pytest.raises(ValueError, match="empty"):
        label_rules([])


def drawn(seed):
    draw = random.Random(seed)
    low, high = draw.choice([(0, 1), (-1, 1), (1, 5), (0, 5), (0, 10), (1, 7), (-3, 3)])
    step = draw.choice([1, 0.2, 0.25, 0.1])
    grades = [round(low + step * k, 6) for k in range(round((high - low) / step) + 1)]
    return [low, high, *draw.choices(grades, k=40)]


@pytest.mark.parametrize("seed", range(60))
def test_laws(seed):
    labels = drawn(seed)
    threshold, ends = label_rules(labels)
    low, high = min(labels), max(labels)
    assert holds(ends, low, high)
    assert threshold == pytest.approx((low + high) / 2)  # the middle, which is half of the largest
    assert (threshold == high / 2) == (low == 0)  # only where the least is 0
    assert positives(labels)[labels.index(high)]
    assert not positives(labels)[labels.index(low)]
    by_label = [positive for _, positive in sorted(zip(labels, positives(labels), strict=True))]
    assert by_label == sorted(by_label)  # never negative above a positive
    assert label_rules(labels[::-1] + labels) == (threshold, ends)  # neither order nor number


@pytest.mark.parametrize("step", [1, 0.2, 0.5])
def test_the_same_positives_on_another_scale(step):
    zero_to_five = [k * step for k in range(round(5 / step) + 1)]
    one_to_five = [1 + k * step for k in range(round(4 / step) + 1)]
    assert positives([label / 5 for label in zero_to_five]) == positives(zero_to_five)
    assert positives([label - 1 for label in one_to_five]) == positives(one_to_five)
    assert positives([(label - 1) / 4 for label in one_to_five]) == positives(one_to_five)
    assert positives([2 * label - 6 for label in one_to_five]) == positives(one_to_five)


def test_rounding_moves_nothing():
    single = np.float32([1.1, 2.3, 4.9999995, 1.0000001]).tolist()
    assert label_range_of(single) == (1, 5)
    assert label_range_of([0.0, 1.0000001]) == UNIT
    assert label_range_of([-1.0000001, 0.3]) == COSINES
    assert label_range_of([0.1 * 3, 0.1 * 30]) == (0, 5)
    assert middle((0.1, 7.3)) == 3.7
    assert middle((1e300, 1.5e308)) == pytest.approx(7.5e307)


def test_a_part_of_the_data_need_not_reach_the_ends():
    assert label_range_of([1, 2, 4], part=True) == (1, 5)
    assert label_range_of([0, 3], part=True) == (0, 5)
    assert label_range_of([5, 5], part=True) == (1, 5)
    assert label_range_of([12, 14], part=True) == (0, 100)
    assert label_range_of([0, 1], part=True) == UNIT
    assert label_range_of([-2, 3], part=True) == (-2, 3)
    for ends in COMMON_RANGES:  # what was read as a part of a scale holds for all of its labels
        assert label_range_of([*ends], part=True) == ends


def test_regression_reaches_from_end_to_end():
    labels = torch.tensor([1.0, 3.0, 5.0])
    assert unit_labels(labels, (1.0, 5.0)).tolist() == [0, 0.5, 1]
    assert cosine_labels(labels, (1.0, 5.0)).tolist() == [0, 0.5, 1]
    kept = torch.tensor([0.0, 0.1, 1.0])
    assert torch.equal(unit_labels(kept, UNIT), kept)
    cosines = torch.tensor([-1.0, -0.3, 0.7])
    assert torch.equal(cosine_labels(cosines, COSINES), cosines)
    assert unit_labels(cosines, COSINES).tolist() == pytest.approx([0, 0.35, 0.85])


def scores_in(name):
    path = DATA / name
    if not path.is_file():
        pytest.skip(f"{path} is absent: data of other licences are not in the repository")
    with path.open(encoding="utf-8") as file:
        return [float(row["score"]) for row in csv.DictReader(file, delimiter="\t", quoting=3)]


@pytest.mark.parametrize("part", ["train", "dev", "test"])
def test_sts_b_is_read_as_0_to_5(part):
    labels = scores_in(f"stsb_en_ccbysa_{part}.tsv")
    assert label_rules(labels) == (2.5, (0.0, 5.0))
    assert positives([label / 5 for label in labels]) == positives(labels)
    draw = random.Random(0)
    read = [label_range_of(draw.sample(labels, 64), part=True) for _ in range(100)]
    assert read.count((0.0, 5.0)) >= 99


def test_sts_b_moved_to_the_scale_of_sick_and_back():
    """SICK grades relatedness from 1 to 5, with fractions."""
    sick = [1 + 0.8 * label for label in scores_in("stsb_en_ccbysa_train.tsv")]
    assert label_rules(sick) == (3.0, (1.0, 5.0))
    assert positives([label - 1 for label in sick]) == positives(sick)


@pytest.mark.parametrize("part", ["dev", "test"])
def test_paws_is_read_as_0_and_1(part):
    labels = scores_in(f"pawsx_zh_{part}.tsv")
    assert label_rules(labels) == (0.5, UNIT)
    assert positives(labels) == [label == 1 for label in labels]
