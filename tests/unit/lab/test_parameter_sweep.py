"""A sweep is the exploration at many values of one parameter, and says where its rules hold."""

from __future__ import annotations

import dataclasses
import itertools
import math

import pytest

from lossprism.explorer.core.batch import make_batch
from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.parameter_values import numeric_parameters, spread
from lossprism.explorer.core.remarks import suggested_scale
from lossprism.explorer.core.resolved_scenario import resolve
from lossprism.explorer.core.scenario import Data, Rules, Scenario
from lossprism.explorer.lab import single_pass_sweep
from lossprism.explorer.lab.parameter_sweep import curves, ranges_within, sweep
from lossprism.explorer.lab.single_pass_sweep import passed_points, point_of, single_points
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.random_batch import RandomBatch
from lossprism.explorer.sources.textbook import EXAMPLES
from lossprism.losses import LOSSES
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


def test_a_further_value_can_be_requested():
    here = dataclasses.replace(Scenario(data=RANDOM), parameters=(("scale", 17.77),))
    without, found = (curves(here, points=9, also=one) for one in ((), (17.77, 1e6, "x")))
    assert set(found.values) - set(without.values) == {17.77}
    assert found.values == tuple(sorted(found.values))
    assert found.loss[found.values.index(17.77)] == pytest.approx(explore(here).loss, rel=1e-10)


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


def test_what_cannot_be_swept_is_reported():
    with pytest.raises(Problem) as refused:
        sweep(Scenario(data=RANDOM, loss="info_nce"), "symmetric")
    assert refused.value.key == "problem.unknown_parameter"
    assert refused.value.values["known"] == "temperature, mask_above, hardness, log_weight"
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


# ---- All values in one pass


def every_curve():
    """Each parameter of each definition, that of another library too."""
    for name, spec in LOSSES.items():
        for convention in ("", *(one.name for one in spec.conventions if one.definition)):
            for parameter in numeric_parameters(spec.under(convention)):
                yield name, convention, parameter.name


@pytest.mark.parametrize(("loss", "convention", "parameter"), every_curve())
def test_one_pass_is_the_single_runs(loss, convention, parameter):
    scenario = Scenario(data_for(loss, RANDOM, convention), loss=loss, convention=convention)
    batch = make_batch(scenario.data, scenario.rules)
    spec = LOSSES[loss].under(convention)
    facts = next(p for p in numeric_parameters(spec) if p.name == parameter)
    values = [float(round(one)) if facts.whole else one for one in spread(facts, 6)]
    requested = resolve(scenario), batch, parameter, values
    found = passed_points(*requested) or single_points(*requested)
    for place in (1, 4):  # not those that the pass was checked at
        single = point_of(explore(resolve(scenario).at(**{parameter: values[place]}), batch))
        for mine, theirs in zip(
            dataclasses.astuple(found[place]), dataclasses.astuple(single), strict=True
        ):
            assert (mine is None) == (theirs is None)
            if mine is not None:
                assert mine == pytest.approx(theirs, rel=1e-10, abs=1e-14, nan_ok=True)


@pytest.mark.parametrize("loss", ["cosent", "angle", "info_nce", "nt_xent", "supcon", "siglip"])
def test_a_definition_is_run_once_for_all_values(loss, monkeypatch):
    runs = []
    monkeypatch.setattr(
        single_pass_sweep, "explore", lambda *given: runs.append(1) or explore(*given)
    )
    found = curves(Scenario(data=RANDOM, loss=loss), points=200, logarithmic=True)
    assert found.in_one_pass
    assert len(found.values) > 100
    assert len(runs) == 3  # what the pass is checked by


def test_what_cannot_run_at_once_is_reported_and_run_one_by_one():
    found = curves(Scenario(data=RANDOM, loss="arcface"), "margin", points=5)
    assert not found.in_one_pass  # cos m is made of a Python number
    one = at(Scenario(data=RANDOM, loss="arcface"), "margin", found.values[2])
    assert found.loss[2] == one.loss
    few = curves(Scenario(data=RANDOM, loss="arcface"), "margin", points=9, singly=5)
    assert few == found


def test_a_pass_that_reports_something_else_is_refused(monkeypatch):
    def off(*given):
        found = to_points(*given)
        return [dataclasses.replace(p, loss=p.loss * (1 + 1e-6)) for p in found]

    to_points = single_pass_sweep._in_one_pass
    monkeypatch.setattr(single_pass_sweep, "_in_one_pass", off)
    found = curves(Scenario(data=RANDOM), points=5)
    assert not found.in_one_pass
    assert found.loss[3] == at(Scenario(data=RANDOM), "scale", found.values[3]).loss


def test_the_share_of_the_wrong_labels_grows_with_the_scale():
    """Lesson 1: two of the graded English pairs have a wrong label, and a third one looks so."""
    found = curves(Scenario(), points=5, logarithmic=True, ends=(1.0, 100.0))
    for value, share in zip(found.values, found.suspects, strict=True):
        e = at(Scenario(), "scale", value)
        felt = e.pair_gradient.abs() / e.pair_gradient.abs().sum()
        assert share == pytest.approx(float(felt[[one.pair for one in e.suspects]].sum()))
    wrong = list(EXAMPLES["graded_english"].mislabelled)
    shares = []
    for scale in (1.0, 5.0, 20.0, 100.0):
        felt = at(Scenario(), "scale", scale).pair_gradient.abs()
        shares.append(round(float(felt[wrong].sum() / felt.sum()), 2))
    assert shares == [0.25, 0.61, 0.87, 1.0]
    assert list(found.suspects) == sorted(found.suspects)
    assert found.effective[0] > 100 > 2 > found.effective[-1]
    assert all(0.1 <= share <= 1 for share in found.hardest)


@pytest.mark.parametrize("loss", ["cosent", "weighted_cosent", "angle"])
def test_loss_over_scale_runs_into_its_limit_within_the_band(loss):
    """S1 eq. 39: L/λ tends to the largest violation, and the gap is at most ln(1 + Σ w)/λ."""
    found = curves(Scenario(loss=loss), points=60)
    assert all(
        low - 1e-12 <= height <= high + 1e-12
        for height, (low, high) in zip(found.over_scale, found.band, strict=True)
    )
    assert found.over_scale[-1] == pytest.approx(found.limit, abs=0.005)
    if loss == "cosent":
        assert found.limit == pytest.approx(0.940, abs=5e-4)


def test_a_loss_of_sums_has_no_such_limit():
    found = curves(Scenario(data=RANDOM, loss="pairwise_logistic"), points=3)
    assert found.limit is None
    assert found.band is None
    assert found.over_scale == pytest.approx(
        [loss / value for loss, value in zip(found.loss, found.values, strict=True)]
    )


def test_values_may_be_spread_otherwise_and_over_a_part():
    scenario = Scenario(data=RANDOM)
    found = curves(scenario, points=5, logarithmic=False, ends=(10.0, 50.0))
    assert found.values == (10, 20, 30, 40, 50)
    margin = Scenario(data=RANDOM, loss="pairwise_hinge")
    assert curves(margin, "margin", points=3, logarithmic=True, ends=(0.01, 1)).values == (
        0.01,
        0.1,
        1.0,
    )


@pytest.mark.parametrize(
    ("requested", "key"),
    [
        ({"points": 201}, "sweep_points"),
        ({"points": 1}, "sweep_points"),
        ({"ends": (5.0, 5.0)}, "sweep_ends"),
        ({"ends": (0.0, 5.0)}, "sweep_ends"),
        ({"ends": (1.0, 5000.0)}, "sweep_ends"),
    ],
)
def test_values_that_cannot_be_are_refused(requested, key):
    with pytest.raises(Problem) as refused:
        curves(Scenario(data=RANDOM), **requested)
    assert refused.value.key == f"problem.{key}"


def test_equal_ratios_need_a_start_above_0():
    with pytest.raises(Problem) as refused:
        curves(Scenario(data=RANDOM, loss="pairwise_hinge"), logarithmic=True)
    assert refused.value.key == "problem.sweep_logarithmic"
