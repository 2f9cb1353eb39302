"""A job can be followed and cancelled by its name, and by nobody else."""

from __future__ import annotations

import threading

import pytest

from explorer import progress


def test_a_job_is_known_while_it_runs():
    assert progress.look("a") is None
    with progress.job("a"):
        progress.step("encoding", 3, 10, name="x")
        seen = progress.look("a")
        assert (seen.what, seen.done, seen.total, seen.values) == ("encoding", 3, 10, {"name": "x"})
        assert progress.look("b") is None
    assert progress.look("a") is None
    assert not progress.cancel("a")


def test_a_cancelled_job_stops_at_its_next_step():
    steps = []

    def work():
        for done in range(10):
            progress.step("encoding", done, 10)
            steps.append(done)
            if done == 4:
                progress.cancel("a")

    with progress.job("a"), pytest.raises(progress.Cancelled):
        work()
    assert steps == [0, 1, 2, 3, 4]
    assert progress.look("a") is None


def test_cancelling_one_job_leaves_another():
    with progress.job("outer"):
        with progress.job("inner"):
            progress.cancel("outer")
            progress.step("encoding")
        with pytest.raises(progress.Cancelled):
            progress.step("encoding")


def test_two_threads_have_jobs_of_their_own():
    def work():
        progress.step("scoring")  # in no job, though another thread is in one that is cancelled
        with progress.job("theirs"):
            progress.step("scoring")
            seen.append(progress.look("theirs").what)

    seen = []
    with progress.job("mine"):
        progress.step("encoding")
        progress.cancel("mine")
        other = threading.Thread(target=work)
        other.start()
        other.join()
    assert seen == ["scoring"]


def test_outside_a_job_a_step_does_nothing():
    with progress.job("a"):
        pass
    progress.cancel("a")
    progress.step("encoding", 1, 2)
