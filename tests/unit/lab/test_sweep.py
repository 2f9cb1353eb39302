"""A sweep is the exploration at many values of one parameter, and says where its rules hold."""

from __future__ import annotations

import dataclasses
import itertools
import math

import pytest

from explorer.core.batch import make_batch
from explorer.core.explore import explore
from explorer.core.parameters import numeric_parameters, spread
from explorer.core.remarks import suggested_scale
from explorer.core.scenario import Data, Rules, Scenario
from explorer.lab.sweep import ranges_within, sweep
from explorer.runtime.problem import Problem
from explorer.sources.random_batch import RandomBatch
from losses import LOSSES
from tests.scenes import data_for

RANDOM = Data(source="random", random=RandomBatch(pairs=16, dimension=8, seed=4))


def at(scenario, name, value):
    return explore(dataclasses.replace(scenario, parameters=((name, value),)))


@pytest.mark.parametrize("loss", [name for name in LOSSES if numeric_parameters(LOSSES[name])])
def test_every_point_is_the_exploration_there(loss):
    scenario = Scenario(data=data_for(loss, RANDOM), loss=loss)
    for parameter in numeric_parameters(LOSSES[loss]):
        found = sweep(scenario, parameter.name, points=5)
        assert found.values[0] == parameter.minimum
        assert found.values[-1] == parameter.maximum
        assert list(found.values) == sorted(set(found.values))
        for place in (0, 2, 4):
            one = at(scenario, parameter.name, found.values[place])
            assert found.loss[place] == pytest.approx(one.loss, nan_ok=True)
            assert found.gradient[place] == pytest.approx(one.gradient_norm, nan_ok=True)
            if found.active:
                assert found.active[place] == one.weights.active / max(one.weights.terms, 1)
                assert 0 <= found.active[place] <= 1


def test_the_other_parameters_stay():
    scenario = Scenario(data=RANDOM, loss="arcface", parameters=(("margin", 0.1),))
    found = sweep(scenario, "scale", points=3)
    here = explore(dataclasses.replace(scenario, parameters=(("margin", 0.1), ("scale", 256.0))))
    assert found.loss[-1] == pytest.approx(here.loss)


def test_the_first_parameter_is_swept_if_none_is_named():
    assert sweep(Scenario(data=RANDOM), points=2).parameter == "scale"
    assert sweep(Scenario(data=RANDOM, loss="info_nce"), points=2).parameter == "temperature"


def test_a_logarithmic_parameter_is_spread_by_ratios():
    scale = numeric_parameters(LOSSES["cosent"])[0]
    values = spread(scale, 5)
    ratios = [b / a for a, b in itertools.pairwise(values)]
    assert ratios == pytest.approx([10.0] * 4)
    margin = next(p for p in numeric_parameters(LOSSES["arcface"]) if p.name == "margin")
    gaps = [b - a for a, b in itertools.pairwise(spread(margin, 4))]
    assert gaps == pytest.approx([0.5] * 3)


def test_what_cannot_be_swept_is_said():
    with pytest.raises(Problem) as refused:
        sweep(Scenario(data=RANDOM, loss="info_nce"), "symmetric")
    assert refused.value.key == "problem.unknown_parameter"
    assert refused.value.values["known"] == "temperature, mask_above, hardness"
    with pytest.raises(Problem) as refused:
        sweep(Scenario(data=RANDOM, loss="softmax"))
    assert refused.value.key == "problem.no_parameter"


def test_the_two_rules_for_the_scale_contradict_each_other_on_a_real_batch():
    scenario = Scenario()  # the graded English pairs
    found = sweep(scenario)
    batch = make_batch(scenario.data, scenario.rules)
    assert found.advised == suggested_scale(batch)
    assert found.within
    assert max(high for _, high in found.within) < found.advised[0]
    # At both ends of what α/σ advises the norm is outside the band, at the ends of the band on it.
    for scale in found.advised:
        assert at(scenario, "scale", scale).gradient_norm > 10
    edge = at(scenario, "scale", found.within[-1][1]).gradient_norm
    assert edge == pytest.approx(10, rel=0.05)


def test_the_rule_for_the_scale_is_silent_elsewhere():
    assert sweep(Scenario(data=RANDOM, loss="arcface"), "scale", points=2).advised is None
    assert sweep(Scenario(data=RANDOM, loss="info_nce"), points=2).advised is None
    assert sweep(Scenario(data=RANDOM, loss="circle"), "scale", points=2).advised is None


def test_a_batch_that_makes_no_term_is_flat():
    scenario = Scenario(data=RANDOM, rules=Rules())
    batch = make_batch(scenario.data, scenario.rules)
    equal = dataclasses.replace(batch, labels=batch.labels * 0)
    found = sweep(scenario, batch=equal, points=3)
    assert found.loss == (0, 0, 0)
    assert found.active == (0, 0, 0)
    assert found.within == ()


@pytest.mark.parametrize(
    ("heights", "expected"),
    [
        ((1, 1, 1), [(0, 2)]),
        ((0.01, 0.01, 0.01), []),
        ((0.01, 1, 100), [(0.5, 1.5)]),
        ((100, 1, 100), [(0.5, 1.5)]),
        ((1, 1000, 1), [(0, 1 / 3), (5 / 3, 2)]),
        ((0, 1, math.inf), []),
        ((math.nan, 1, 1), [(1, 2)]),
    ],
)
def test_ranges_end_where_the_line_leaves_the_band(heights, expected):
    found = ranges_within((0.0, 1.0, 2.0), heights, (0.1, 10.0))
    assert [end for piece in found for end in piece] == pytest.approx(
        [end for piece in expected for end in piece]
    )
