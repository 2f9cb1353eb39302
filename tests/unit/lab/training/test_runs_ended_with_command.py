"""What becomes of the runs of a command that somebody terminates."""

from __future__ import annotations

import os
import signal
from types import SimpleNamespace

import pytest

from lossprism.explorer.lab.training.plan import TrainingData, TrainingPlan
from lossprism.explorer.lab.training.run_comparison import start_all
from lossprism.explorer.lab.training.runs_ended_with_command import (
    TERMINATING_SIGNALS,
    runs_ended_with_command,
)


class Started:
    """Runs by name, whose processes are ended or not."""

    root = None

    def __init__(self, fails_at: int = 99) -> None:
        self.names: list[str] = []
        self.ended: list[str] = []
        self.fails_at = fails_at

    def start(self, plan, corpus) -> str:
        if len(self.names) == self.fails_at:
            raise OSError("no space left")
        self.names.append(f"run {plan.seed}")
        return self.names[-1]

    def folder(self, name: str) -> SimpleNamespace:
        return SimpleNamespace(end_process=lambda: self.ended.append(name))


def terminated(runs: Started, number: int) -> None:
    with runs_ended_with_command(runs) as names:
        names += ["one", "other"]
        os.kill(os.getpid(), number)


@pytest.mark.parametrize("name", TERMINATING_SIGNALS)
def test_a_terminated_command_ends_its_runs(name):
    number = getattr(signal, name)
    before, runs = signal.getsignal(number), Started()
    with pytest.raises(SystemExit) as left:
        terminated(runs, number)
    assert left.value.code == 128 + number
    assert runs.ended == ["one", "other"]
    assert signal.getsignal(number) == before


def test_a_command_that_goes_well_or_fails_ends_no_run():
    runs = Started()
    with runs_ended_with_command(runs) as names:
        names.append("one")
    problem = ValueError("much")
    with pytest.raises(ValueError, match="much"), runs_ended_with_command(runs):
        raise problem
    assert runs.ended == []


def test_of_several_runs_none_goes_on_where_one_cannot_be_started(monkeypatch):
    monkeypatch.setattr("lossprism.explorer.lab.training.quota.check_queue", lambda *_: None)
    runs = Started(fails_at=2)
    data = TrainingData(source="example", example="graded_english")
    with pytest.raises(OSError, match="no space"):
        start_all(runs, [TrainingPlan(data=data, seed=seed) for seed in range(4)])
    assert runs.ended == ["run 0", "run 1"]
