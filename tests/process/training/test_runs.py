"""Runs in processes of their own: killed and resumed, paused, stopped, queued."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import replace

import pytest

from lossprism.explorer.lab.training.plan import SCRATCH, TrainingData, TrainingPlan
from lossprism.explorer.lab.training.run_control import estimate
from lossprism.explorer.runtime.problem import Problem
from tests.sentences import raises_problem
from tests.unit.lab.training.conftest import corpus

PATIENCE = 600  # seconds, on a machine that has other things to do
PLAN = {"encoder": SCRATCH, "dimension": 8, "batch_size": 8, "evaluations": 4}


def until(runs, name, holds, seconds=PATIENCE):
    """The status of a run once something holds for it."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        status = runs.status(name)
        if holds(status):
            return status
        time.sleep(0.02)
    raise AssertionError(f"still {status.state} at step {status.step}: {status.problem}")


STEPS = 120


def test_a_killed_run_resumes_to_the_same_figures(bert, runs):
    """Dropout, a classifier of the loss's own, the order of the data: all as if never killed."""
    plan = TrainingPlan(
        encoder=bert,
        loss="multitask_cosent",
        steps=STEPS,
        batch_size=8,
        evaluations=5,
        learning_rate=0.01,
    )
    whole = runs.start(plan, corpus())
    killed = runs.start(replace(plan, checkpoint_seconds=0.3), corpus())
    until(runs, killed, lambda s: s.step >= 20 and _checkpointed(runs, killed))
    runs.pause(killed)  # so that it cannot end before it is killed
    until(runs, killed, lambda s: s.state == "paused")
    os.kill(runs.folder(killed).state.process, signal.SIGKILL)
    status = until(runs, killed, lambda s: s.state != "paused")
    assert status.state == "interrupted"
    assert status.problem.key == "problem.training_interrupted"
    reached = status.step
    assert reached < STEPS
    runs.resume(killed)
    assert runs.wait(killed, PATIENCE).state == "finished"
    one, other = runs.status(whole).summary, runs.status(killed).summary
    assert one.loss == other.loss
    assert one.after == other.after
    losses = [[r.loss for r in runs.history(name) if r.kind == "step"] for name in (whole, killed)]
    assert losses[0] == losses[1]
    records = runs.status(killed).records
    again = [r.step for r in records if r.kind == "step"]
    resumed = next(r.step for r in records if r.kind == "resumed")
    assert 0 < resumed <= reached
    assert len(again) >= STEPS
    with raises_problem("training_finished"):
        runs.resume(killed)


def _checkpointed(runs, name):
    return runs.folder(name).last_checkpoint() is not None


def test_pause_queue_stop_and_resume(runs):
    plan = TrainingPlan(**PLAN, steps=100_000)
    first = runs.start(plan, corpus())
    second = runs.start(TrainingPlan(**PLAN, steps=5), corpus())
    third = runs.start(TrainingPlan(**PLAN, steps=5), corpus())
    until(runs, first, lambda s: s.step > 3)
    positions = [runs.status(name).queue_position for name in (first, second, third)]
    assert positions == [0, 1, 2]
    assert runs.status(second).state == "queued"
    runs.pause(first)
    paused = until(runs, first, lambda s: s.state == "paused")
    time.sleep(0.3)
    later = runs.status(first, paused.offset)
    assert later.step == paused.step
    assert later.seconds_left > 0
    with pytest.raises(Problem, match="is “Paused”"):
        runs.delete(first)
    runs.resume(first)
    until(runs, first, lambda s: s.step > paused.step)
    runs.stop(third)  # it leaves the queue without having trained
    until(runs, third, lambda s: s.state == "stopped")
    runs.stop(first)
    stopped = runs.wait(first, PATIENCE)
    assert stopped.state == "stopped"
    assert 0 < stopped.summary.steps < 100_000
    measured = [r.step for r in runs.history(first) if r.kind == "evaluation"]
    assert measured[-1] == stopped.summary.steps
    assert (runs.folder(first).model / "modules.json").exists()
    assert runs.wait(second, PATIENCE).state == "finished"
    kinds = {record.kind for record in runs.history(first)}
    assert {"paused", "continued", "checkpoint"} <= kinds
    runs.delete(first)
    assert first not in [status.id for status in runs.listed()]
    with raises_problem("training_no_run"):
        runs.status(first)


def test_deltas_add_up_to_the_log(runs):
    name = runs.start(TrainingPlan(**PLAN, steps=100), corpus())
    gathered, offset = [], 0
    while runs.status(name).state not in ("finished", "failed"):
        status = runs.status(name, offset)
        gathered, offset = gathered + status.records, status.offset
        time.sleep(0.05)
    gathered += runs.status(name, offset).records
    assert gathered == runs.status(name).records
    assert [r.step for r in gathered if r.kind == "step"] == list(range(1, 101))


def test_an_estimate_trains_two_steps_and_leaves_nothing(bert, tmp_path):
    rows = tuple((a, b, str(label)) for a, b, label in corpus().train)
    found = estimate(
        TrainingPlan(data=TrainingData(source="rows", rows=rows), encoder=bert, epochs=3), "cpu"
    )
    assert found["steps"] == 3 * (58 // 16)
    assert 0 < found["seconds_per_step"] < found["seconds"]
    assert 0 < found["seconds_to_load"] < found["seconds"]
