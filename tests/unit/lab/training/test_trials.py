"""Short trainings at several values: which values, and that everything else is the scene's."""

from __future__ import annotations

import dataclasses

import pytest

from explorer.core.scenario import Data, Rules, Scenario
from explorer.lab.training import data
from explorer.lab.training.trials import trial_values, trials
from explorer.runtime.problem import Problem
from losses import LOSSES


def test_the_plans_differ_in_the_value_and_the_seed_alone():
    scenario = Scenario(loss="cosent", parameters=(("scale", 30.0),), rules=Rules(2.0, (0.0, 8.0)))
    plans = trials(scenario)
    values = [7.5, 15.0, 30.0, 60.0, 120.0]
    assert [(dict(p.parameters)["scale"], p.seed) for p in plans] == [
        (value, seed) for value in values for seed in (0, 1, 2)
    ]
    alike = {dataclasses.replace(plan, seed=0, parameters=()) for plan in plans}
    assert len(alike) == 1
    assert (plans[0].threshold, plans[0].label_range) == (2.0, (0, 8))
    assert len(data.read(plans[0]).held_out) >= data.LEAST_HELD_OUT


@pytest.mark.parametrize("loss", LOSSES)
def test_every_value_lies_in_the_range_of_its_parameter(loss):
    for parameter in LOSSES[loss].parameters:
        if parameter.kind != "number":
            continue
        for now in (parameter.minimum, parameter.default, parameter.maximum):
            values = trial_values(parameter, now)
            assert now == pytest.approx(min(values, key=lambda v: abs(v - now)), rel=1e-5)
            assert len(values) == len(set(values)) >= 3
            assert min(values) >= parameter.minimum
            assert max(values) <= parameter.maximum


def test_a_cross_encoder_is_tried_as_one():
    scenario = Scenario(data=Data(cross_encoder="a/cross-one"))
    assert {(plan.kind, plan.encoder) for plan in trials(scenario)} == {("cross", "a/cross-one")}


def test_what_cannot_be_tried_is_said():
    with pytest.raises(Problem) as refused:
        trials(Scenario(data=Data(source="random")))
    assert refused.value.key == "problem.training_no_words"
    with pytest.raises(Problem) as refused:
        trials(Scenario(), "temperature")
    assert refused.value.key == "problem.unknown_parameter"
