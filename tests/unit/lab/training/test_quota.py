"""A Space that is shared stays usable for all; at home nothing is bounded."""

from __future__ import annotations

import contextlib
import dataclasses
import os

import pytest

from lossprism.explorer.lab.training import quota, run_comparison
from lossprism.explorer.lab.training.data import Corpus
from lossprism.explorer.lab.training.plan import SCRATCH, TrainingData, TrainingPlan
from lossprism.explorer.lab.training.run_folder import all_runs
from lossprism.explorer.lab.training.training_run import train
from lossprism.explorer.runtime.current_visitor import as_visitor
from lossprism.explorer.runtime.hosted_budgets import budget
from lossprism.explorer.runtime.problem import Problem
from tests.unit.lab.training.conftest import corpus

PLAN = TrainingPlan(encoder=SCRATCH, dimension=8, steps=5, batch_size=8, evaluations=1)
MANY = Corpus(tuple((f"a {i}", f"b {i}", float(i % 2)) for i in range(10_001)), corpus().held_out)

TOO_MUCH = {
    "training_shared_pairs": ({}, MANY),
    "training_shared_batch": ({"batch_size": 129}, corpus()),
    "training_shared_length": ({"steps": 6251}, corpus()),
    "training_shared_encoder": ({"vocabulary": 50_000, "dimension": 101}, corpus()),
}


@pytest.fixture
def space(monkeypatch):
    monkeypatch.setenv("SPACE_ID", "someone/space")


@pytest.fixture
def ask_as():
    """Be the visitor of this number from now on."""
    with contextlib.ExitStack() as stack:
        yield lambda number: stack.enter_context(as_visitor(f"{number:064x}"))


@pytest.mark.parametrize("key", TOO_MUCH)
def test_a_run_that_is_too_large_is_refused_before_it_starts(key, runs, space, ask_as):
    ask_as(1)
    chosen, pairs = TOO_MUCH[key]
    with pytest.raises(Problem) as caught:
        runs.start(dataclasses.replace(PLAN, **chosen), pairs)
    assert caught.value.key == f"problem.{key}"
    assert runs.listed() == []


def test_the_length_that_is_named_is_accepted(space):
    reason = quota.refusal(dataclasses.replace(PLAN, steps=10**6), corpus())
    fits = reason.values["fits"]
    assert quota.refusal(dataclasses.replace(PLAN, steps=fits), corpus()) is None
    assert quota.refusal(dataclasses.replace(PLAN, steps=fits + 1), corpus()) is not None


@pytest.mark.parametrize("key", TOO_MUCH)
def test_at_home_nothing_is_too_large(key):
    chosen, pairs = TOO_MUCH[key]
    assert quota.refusal(dataclasses.replace(PLAN, **chosen), pairs) is None
    assert quota.time_limit() == float("inf")


def waiting(runs, count):
    """Runs of whoever asks now, that seem to be under way."""
    for _ in range(count):
        runs.prepare(PLAN, corpus()).take_ticket(os.getpid())


def test_nobody_fills_the_queue(runs, space, ask_as):
    ask_as(4)
    waiting(runs, budget("runs_of_one") - 1)
    plans = [dataclasses.replace(PLAN, seed=seed, data=TrainingData()) for seed in (0, 1)]
    with pytest.raises(Problem) as caught:  # both or none
        run_comparison.start_all(runs, plans)
    assert caught.value.key == "problem.training_shared_own"
    assert caught.value.values["count"] == budget("runs_of_one") - 1
    ask_as(5)
    quota.check_queue(runs.root, 2)
    while len(all_runs(runs.root)) < budget("runs"):
        ask_as(100 + len(all_runs(runs.root)))
        waiting(runs, 1)
    ask_as(6)
    with pytest.raises(Problem) as caught:
        runs.start(PLAN, corpus())
    assert caught.value.key == "problem.training_shared_queue"


def test_the_queue_at_home_is_as_long_as_one_likes(runs, ask_as):
    ask_as(4)
    waiting(runs, 24)
    quota.check_queue(runs.root, 100)


@pytest.mark.parametrize("paused", [False, True])
def test_a_run_ends_when_its_time_is_up(paused, runs, monkeypatch):
    """Also one that its owner has left paused: the others wait."""
    monkeypatch.setattr(quota, "time_limit", lambda: 0.0)
    run = runs.prepare(PLAN, corpus())
    run.take_ticket(os.getpid())
    if paused:
        run.send_command("pause")
    train(run)
    status = runs.status(run.name)
    assert (status.state, status.step) == ("stopped", 1)
    assert status.problem.key == "problem.training_time_up"
    assert (run.model / "modules.json").exists()


def test_a_batch_of_lists_is_bounded_by_its_pairs(monkeypatch):
    monkeypatch.setenv("SPACE_ID", "somebody/lossprism")
    pairs = tuple((f"a {i // 16}", f"b {i}", float(i % 2)) for i in range(320))
    of_lists = Corpus(pairs, corpus().held_out)
    plan = dataclasses.replace(PLAN, loss="list_net", batch_size=9)
    reason = quota.refusal(plan, of_lists)
    assert reason is not None
    assert (reason.key, reason.values["batch"]) == ("problem.training_shared_batch", 144)
    assert quota.refusal(dataclasses.replace(plan, batch_size=8), of_lists) is None
    assert quota.refusal(dataclasses.replace(plan, loss="cosent"), of_lists) is None
