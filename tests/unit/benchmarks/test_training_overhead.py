"""The benchmark of training says how sure it is of a ratio."""

import random

import pytest

from benchmarks.training_overhead import ratio


def test_repetitions_that_agree_leave_no_doubt():
    assert ratio([2.0, 4.0, 6.0], [1.0, 2.0, 3.0]) == pytest.approx((2, 2, 2))


def test_the_other_way_round_is_one_over_it():
    one, other = [1.0, 1.2, 0.9, 1.1, 1.0], [1.0, 1.0, 1.1, 1.3, 0.9]
    middle, low, high = ratio(one, other)
    assert ratio(other, one) == pytest.approx((1 / middle, 1 / high, 1 / low))


def test_the_interval_holds_the_truth_as_often_as_it_says():
    draw, held, times = random.Random(1), 0, 1000
    for _ in range(times):
        slow = [draw.lognormvariate(0, 0.5) for _ in range(60)]  # the machine, in each turn
        sides = [
            [s * pace * draw.lognormvariate(0, draw.choice((0.05, 0.5))) for s in slow]
            for pace in (0.98, 1.0)
        ]
        _, low, high = ratio(*sides)
        held += low <= 0.98 <= high
    assert 0.93 < held / times < 0.98


def test_a_turn_that_took_long_counts_as_one():
    draw = random.Random(2)
    one, other = ([draw.lognormvariate(0, 0.05) for _ in range(20)] for _ in range(2))
    longest = max(range(20), key=lambda turn: one[turn] / other[turn])
    expected = ratio(one, other)
    one[longest] *= 100
    assert ratio(one, other) == expected
