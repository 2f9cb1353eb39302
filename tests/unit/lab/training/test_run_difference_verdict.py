"""Differences of runs: the interval covers seeds and pairs, and what would be needed is enough."""

from __future__ import annotations

import numpy as np
import pytest

from lossprism.explorer.lab.training.metric_uncertainty import (
    Measured,
    independent_pairs,
    repeats,
    spearman,
)
from lossprism.explorer.lab.training.run_comparison import rounded, signed_ends
from lossprism.explorer.lab.training.run_difference_verdict import (
    LEAST_SEEDS,
    by_chance,
    difference,
    gain,
    judged,
)

PAIRS = [(f"a{i}", f"b{i}") for i in range(400)]


def by_seed(draw, values, spread=1.0):
    return {
        seed: Measured(value, spread * draw.normal(size=len(PAIRS)))
        for seed, value in enumerate(values)
    }


def test_more_spread_over_seeds_or_over_pairs_widens_the_interval():
    draw = np.random.default_rng(0)
    a = by_seed(draw, [0.50, 0.51, 0.49])

    def width(values, spread):
        found = difference(a, by_seed(np.random.default_rng(1), values, spread), PAIRS)
        return found.high - found.low

    usual = width([0.60, 0.61, 0.59], 1.0)
    assert width([0.65, 0.61, 0.55], 1.0) > usual
    assert width([0.60, 0.61, 0.59], 4.0) > usual


def test_fewer_seeds_than_needed_cover_pairs_alone():
    draw = np.random.default_rng(0)
    a, b = by_seed(draw, [0.5, 0.7]), by_seed(draw, [0.6, 0.6])
    found = difference(a, b, PAIRS)
    assert (found.covers, len(found.seeds)) == ("pairs", 2)
    assert difference(a, by_seed(draw, [0.5, 0.7, 0.6]), PAIRS).seeds == (0, 1)
    assert difference({0: a[0]}, {1: b[1]}, PAIRS) is None
    assert LEAST_SEEDS == 3


def test_the_pairs_that_are_needed_would_do():
    """With so many pairs of the same kind and the same seeds the interval leaves 0 out."""
    draw = np.random.default_rng(0)
    values = [0.5, 0.5001, 0.4999]
    a, b = by_seed(draw, values), by_seed(draw, [v + 0.03 for v in values])
    found = difference(a, b, PAIRS)
    assert not found.is_significant
    assert found.pairs_needed > len(PAIRS)
    times = -(-found.pairs_needed // len(PAIRS))

    def more(group):
        return {s: Measured(one.value, np.tile(one.influence, times)) for s, one in group.items()}

    many = [(f"{a}{i}", f"{b}{i}") for i in range(times) for a, b in PAIRS]
    assert difference(more(a), more(b), many).is_significant
    fewer = many[: int(len(many) * 0.6)]
    less = [
        {s: Measured(one.value, one.influence[: len(fewer)]) for s, one in more(group).items()}
        for group in (a, b)
    ]
    assert not difference(*less, fewer).is_significant


def test_if_seeds_are_missing_no_pairs_are_requested():
    draw = np.random.default_rng(0)
    a, b = by_seed(draw, [0.5, 0.6, 0.4]), by_seed(draw, [0.5, 0.4, 0.62])
    assert difference(a, b, PAIRS).pairs_needed is None


def test_one_beside_many_must_be_further_ahead():
    draw = np.random.default_rng(3)
    groups = [by_seed(draw, [0.5, 0.51, 0.49]) for _ in range(5)]
    alone = difference(groups[0], groups[1], PAIRS, groups[:2])
    beside = difference(groups[0], groups[1], PAIRS, groups)
    assert beside.high - beside.low > alone.high - alone.low


def test_the_best_comes_first():
    draw = np.random.default_rng(0)
    groups = [by_seed(draw, [v, v + 0.01, v - 0.01]) for v in (0.2, 0.8, 0.5)]
    found = judged(groups, PAIRS)
    assert found.order == (1, 2, 0)
    assert [one.difference for one in found.beside] == pytest.approx([0.3, 0.6])


def test_a_gain_has_its_two_ends():
    draw = np.random.default_rng(0)
    found = gain(by_seed(draw, [0.2, 0.3, 0.4]), by_seed(draw, [0.5, 0.6, 0.7]), PAIRS)
    assert (found.before, found.after) == pytest.approx((0.3, 0.6))
    assert found.difference == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("ends", "message"),
    [
        ((0.0174, -0.0003, 0.0351), ["+0.0174", "−0.0003", "+0.0351"]),  # on which side of 0
        ((0.009, 0.0002, 0.018), ["+0.0090", "+0.0002", "+0.0180"]),
        ((0.0634, 0.0147, 0.1121), ["+0.063", "+0.015", "+0.112"]),
        ((0.0003, 0.00012, 0.00048), ["+0.0003", "+0.0001", "+0.0005"]),
        ((0.0, -0.04, 0.04), ["0.000", "−0.040", "+0.040"]),
        ((0.0, 0.0, 0.0), ["0.000", "0.000", "0.000"]),
        ((1e-9, 0.0, 2e-9), ["0.000", "0.000", "0.000"]),
    ],
)
def test_an_end_beside_0_has_its_sign(ends, message):
    assert list(signed_ends(*ends).values()) == message


def test_an_estimate_has_two_digits():
    assert [rounded(n) for n in (7, 43, 512, 12_345)] == ["7", "43", "520", "13\u202f000"]


def test_three_queries_with_many_candidates_are_three_witnesses():
    """Two models that order the candidates of each query well or badly, neither better on the
    whole: whoever counted their 180 pairs would call one better in 16 draws of 100."""
    draw, queries, candidates = np.random.default_rng(0), 3, 60
    of = np.repeat(np.arange(queries), candidates)
    pairs = [(f"q{query}", f"d{place}") for place, query in enumerate(of)]

    def model(labels):
        slope, height = 1 + 0.6 * draw.normal(size=queries), 0.6 * draw.normal(size=queries)
        scores = slope[of] * labels + height[of] + draw.normal(size=len(of))
        return {0: spearman(scores, labels)}

    count = 0
    for _ in range(200):
        labels = draw.normal(size=len(of))
        found = gain(model(labels), model(labels), pairs)
        assert -2 <= found.low <= found.high <= 2
        count += found.is_significant
    assert count <= 0.05 * 200


def test_a_pair_that_stands_there_55_times_is_one_witness():
    """Two models that are equally good on the whole, one of which happens to rank that pair well:
    whoever counted its rows would call one better in many a draw."""
    draw = np.random.default_rng(0)
    fresh = [(f"a{i}", f"b{i}") for i in range(246)]
    of = np.concatenate([np.arange(246), np.zeros(54, dtype=int)])
    pairs = [fresh[place][:: -1 if row > 270 else 1] for row, place in enumerate(of)]
    apart = [(f"a{row}", f"b{row}") for row in range(300)]
    count = naive = 0
    for _ in range(200):
        truth, labels = draw.normal(size=246), draw.normal(size=246)
        labels += truth
        one, other = ({0: spearman((truth + draw.normal(size=246))[of], labels[of])} for _ in "ab")
        count += gain(one, other, pairs).is_significant
        naive += gain(one, other, apart).is_significant
    assert count <= 0.05 * 200 < naive


def test_repetitions_are_counted_where_they_widen_an_interval():
    fresh = [(f"a{i}", f"b{i}") for i in range(845)]
    assert repeats([*fresh, *[("b0", "a0")] * 54, ("x", "x")]) == 54
    assert repeats([*fresh, *fresh]) == 845
    assert repeats([*fresh, *fresh[:3], ("x", "x"), ("x", "x")]) == 0
    assert repeats([(f"q{i // 30}", f"d{i}") for i in range(900)]) == 0
    assert repeats([]) == 0


def test_scores_that_say_nothing_stay_within_a_reach_that_grows_as_pairs_go_together():
    alone = [(f"a{i}", f"b{i}") for i in range(20)]
    lists = [(f"q{i // 4}", f"d{i}") for i in range(20)]
    one = [("a", "b")] * 20
    assert independent_pairs(alone) == 20
    assert independent_pairs(lists) == 5
    assert independent_pairs(one) == 1
    assert independent_pairs([("x", "x"), ("y", "z")]) == 2
    assert by_chance(alone) < by_chance(lists) < by_chance(one) == 1
    assert by_chance(alone[:2]) is None
