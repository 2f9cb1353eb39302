"""Short trainings at several values: which values, and that everything else is the scenario's."""

from __future__ import annotations

import dataclasses
import os

import pytest

from lossprism.explorer.core.scenario import Data, Rules, Scenario
from lossprism.explorer.lab.training import data
from lossprism.explorer.lab.training.parameter_trial_plans import (
    MAX_PAIRS,
    MIN_RUNS,
    fitting,
    offer_of,
    offers,
    trial_values,
    trials,
    tried,
)
from lossprism.explorer.lab.training.plan import TrainingPlan
from lossprism.explorer.runtime.current_visitor import as_visitor
from lossprism.explorer.runtime.hosted_budgets import budget
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.visitor_key_signing import new_key
from lossprism.explorer.sources.pairs import Pairs
from lossprism.losses import LOSSES
from tests.unit.lab.training.conftest import corpus


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
    assert len(data.read(plans[0]).held_out) >= data.MIN_HELD_OUT_PAIRS


def test_texts_that_a_scenario_leaves_out_are_left_out_in_its_trials():
    for rules, twins in ((Rules(), "apart"), (Rules(twins="leave_out"), "leave_out")):
        plans = trials(Scenario(loss="info_nce", rules=rules))
        assert {plan.twins for plan in plans} == {twins}


@pytest.mark.parametrize("loss", LOSSES)
def test_every_value_lies_in_the_range_of_its_parameter(loss):
    for parameter in LOSSES[loss].parameters:
        if parameter.kind != "number":
            continue
        usual = parameter.on_value if parameter.default is None else parameter.default
        for now in (parameter.minimum, usual, parameter.maximum):
            values = trial_values(parameter, now)
            assert now == pytest.approx(min(values, key=lambda v: abs(v - now)), rel=1e-5)
            assert len(values) == len(set(values)) >= 3
            assert min(values) >= parameter.minimum
            assert max(values) <= parameter.maximum


def test_a_cross_encoder_is_tried_as_one():
    scenario = Scenario(data=Data(cross_encoder="a/cross-one"))
    assert {(plan.kind, plan.encoder) for plan in trials(scenario)} == {("cross", "a/cross-one")}


def test_a_plan_is_tried_as_it_stands_but_for_its_steps():
    plan = TrainingPlan(
        encoder="scratch",
        loss="info_nce",
        parameters=(("temperature", 0.1),),
        steps=500,
        seed=7,
        learning_rate=0.01,
    )
    made = tried(plan)
    assert [(dict(one.parameters)["temperature"], one.seed) for one in made] == [
        (value, seed) for value in (0.025, 0.05, 0.1, 0.2, 0.4) for seed in (7, 8, 9)
    ]
    same = {dataclasses.replace(one, seed=7, parameters=plan.parameters) for one in made}
    assert same == {dataclasses.replace(plan, steps=60)}
    assert [offer.parameter for offer in offers(plan)] == ["temperature", "hardness", "log_weight"]
    assert tried(dataclasses.replace(plan, steps=9))[0].steps == 9


def test_a_parameter_is_tried_once_it_is_on():
    off = TrainingPlan(loss="info_nce")
    on = dataclasses.replace(off, parameters=(("mask_above", 0.2),))
    assert "mask_above" not in [offer.parameter for offer in offers(off)]
    (offer,) = [one for one in offers(on) if one.parameter == "mask_above"]
    assert offer.values == (0.05, 0.1, 0.2, 0.4, 0.8)
    # By its name all the same, around the value at which it begins.
    named = {dict(plan.parameters)["mask_above"] for plan in tried(off, "mask_above")}
    assert named == {0.025, 0.05, 0.1, 0.2, 0.4}


@pytest.mark.parametrize(
    ("most", "kept"),
    [
        (0, ()),
        (1, ()),
        (2, (20.0, 80.0)),
        (3, (5.0, 20.0, 80.0)),
        (4, (5.0, 20.0, 40.0, 80.0)),
        (5, (5.0, 10.0, 20.0, 40.0, 80.0)),
    ],
)
def test_values_are_cached_up_to_the_limit(most, kept):
    assert fitting((5.0, 10.0, 20.0, 40.0, 80.0), 20.0, most) == kept
    room = 3 * most + 1
    offer = offer_of(Scenario(loss="cosent", parameters=(("scale", 20.0),)), room=room)
    assert (offer.values, offer.left_out, offer.room) == (kept, 5 - len(kept), room)
    assert len(trials(Scenario(), room=room)) == 3 * len(kept)


@pytest.fixture
def visited():
    with as_visitor(new_key()):
        yield


def test_a_space_queues_what_fits(runs, monkeypatch, visited):
    assert runs.remaining_runs() is None
    monkeypatch.setenv("SPACE_ID", "someone/space")
    assert runs.remaining_runs() == budget("runs_of_one") == 6
    plan = TrainingPlan(encoder="scratch", dimension=8)
    run = runs.prepare(plan, corpus())
    run.take_ticket(os.getpid())
    assert runs.remaining_runs() == 5
    with pytest.raises(Problem) as refused:
        runs.remaining_runs(least=MIN_RUNS)
    assert refused.value.key == "problem.training_shared_own"
    run.set_stage("stopped")
    assert len(tried(plan, room=runs.remaining_runs(MIN_RUNS))) == 6


def test_a_batch_of_a_file_is_tried_on_all_of_its_pairs_as_corrected():
    count = MAX_PAIRS + 100
    first, second = (tuple(f"{side} {i}" for i in range(count)) for side in "ab")
    whole = Pairs(first, second, tuple(float(i % 6) for i in range(count)))
    changes = (("a 0", "b 0", "5"), ("a 1", "b 1", ""))
    scenario = Scenario(
        data=Data(source="table", rows=whole.at(range(8)).rows, file="all.csv", corrections=changes)
    )
    part = whole.at(range(100))
    held = {plan.data for plan in trials(scenario, whole=part)}
    (found,) = held
    assert (len(found.rows), found.rows[0], found.name) == (99, ("a 0", "b 0", "5"), "all.csv")
    assert not [row for row in found.rows if row[0] == "a 1"]
    rows = trials(scenario, whole=whole)[0].data.rows
    assert MAX_PAIRS - 1 <= len(set(rows)) == len(rows) <= MAX_PAIRS
    assert {row[:2] for row in rows} < {row[:2] for row in whole.rows}
    assert len(trials(scenario)[0].data.rows) == 7  # what is shown, where nothing else is known


def test_what_cannot_be_tried_is_reported():
    with pytest.raises(Problem) as refused:
        trials(Scenario(data=Data(source="random")))
    assert refused.value.key == "problem.training_no_words"
    with pytest.raises(Problem) as refused:
        trials(Scenario(), "temperature")
    assert refused.value.key == "problem.unknown_parameter"
