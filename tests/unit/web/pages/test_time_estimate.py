"""The time of a training, by trial steps that are timed here."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from lossprism.explorer.lab.training import cosent_experiment_plans, data
from lossprism.explorer.lab.training.trainer_rows import examples
from lossprism.explorer.runtime import jobs
from lossprism.explorer.runtime.limits import PACES
from lossprism.explorer.runtime.memory_cache import Cache
from lossprism.explorer.web.pages.finetune import plan_check, request_plan, time_estimate
from tests.unit.web.pages.finetune_plans import FIRST, check


@pytest.fixture
def machine(monkeypatch):
    """A machine on which no run is under way, and how often its trial steps were timed."""
    state = SimpleNamespace(busy=False, trials=[])

    def timed(plan, device, is_needed):
        state.trials.append(plan)
        return dict.fromkeys(time_estimate.PACE_FIELDS, 0.5) if is_needed() else None

    monkeypatch.setattr(time_estimate, "estimate", timed)
    monkeypatch.setattr(time_estimate, "_paces", Cache(PACES))
    fake = SimpleNamespace(busy=lambda: state.busy, device="cpu", remaining_runs=lambda: None)
    for module in (time_estimate, plan_check):
        monkeypatch.setattr(module, "runs", lambda: fake)
    return state


def test_trial_steps_are_timed_once_for_all_who_ask(machine):
    first = time_estimate.estimate_pace({"plan": FIRST})
    assert first.seconds_per_step == 0.5
    assert time_estimate.estimate_pace({"plan": {**FIRST, "steps": 7, "seed": 3}}) == first
    assert time_estimate.estimate_pace({"plan": {**FIRST, "parameters": {"scale": 9}}}) == first
    assert len(machine.trials) == 1
    time_estimate.estimate_pace({"plan": {**FIRST, "batch_size": 64}})
    assert len(machine.trials) == 2
    mining = {**FIRST, "loss": "triplet", "parameters": {"mining": "hard"}}
    time_estimate.estimate_pace({"plan": mining})
    time_estimate.estimate_pace({"plan": {**mining, "parameters": {"mining": "all"}}})
    assert len(machine.trials) == 4


def test_the_time_of_the_experiment_of_the_source_is_that_of_its_runs(machine):
    plan = request_plan.read_plan({**FIRST, "epochs": 2, "steps": 0})
    runs = cosent_experiment_plans.experiment(plan)
    found = check({"plan": {**FIRST, "epochs": 2, "steps": 0}})["repetition"]
    count = examples(runs[0], data.read(plan).material)
    assert (found["count"], found["steps"]) == (len(runs), runs[0].steps_for(count))
    assert found["refused"] is None
    time_estimate.estimate_pace({"plan": FIRST, "repetition": True})
    (tried,) = machine.trials
    assert (tried.kind, tried.encoder, tried.loss) == ("cross", runs[0].encoder, runs[0].loss)
    assert (len(time_estimate._paces), found["pace"] in time_estimate._paces) == (1, True)


def test_only_the_last_times_are_kept(machine, monkeypatch):
    monkeypatch.setattr(time_estimate, "_paces", Cache(2))
    for size in (8, 16, 32):
        time_estimate.estimate_pace({"plan": {**FIRST, "batch_size": size}})
    time_estimate.estimate_pace({"plan": {**FIRST, "batch_size": 32}})
    assert (len(time_estimate._paces), len(machine.trials)) == (2, 3)
    time_estimate.estimate_pace({"plan": {**FIRST, "batch_size": 8}})
    assert len(machine.trials) == 4


def test_nothing_is_timed_beside_a_run_or_another_trial(machine):
    machine.busy = True
    assert time_estimate.estimate_pace({"plan": FIRST}) == time_estimate.Pace()
    machine.busy = False
    with time_estimate._trial:
        assert time_estimate.estimate_pace({"plan": FIRST}) == time_estimate.Pace()
    assert machine.trials == []


def test_a_trial_gives_way_to_a_run_and_to_a_changed_plan(machine):
    assert time_estimate._no_run_trains()
    machine.busy = True
    assert not time_estimate._no_run_trains()
    with jobs.job("mine"):
        jobs.cancel("mine")
        with pytest.raises(jobs.Cancelled):
            time_estimate._no_run_trains()
