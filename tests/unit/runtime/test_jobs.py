"""A job can be followed and cancelled, in the thread that asked or in the background."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time

import pytest

from lossprism.explorer.runtime import jobs as running
from lossprism.explorer.runtime.current_visitor import as_visitor
from lossprism.explorer.runtime.deployment_policy import HOSTED
from lossprism.explorer.runtime.jobs import Cancelled, Job, Jobs, Progress, result_within, step
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.visitor_key_signing import new_key
from tests.sentences import raises_problem

PATIENCE = 900  # seconds, on a machine that has other things to do


def test_a_job_is_known_while_it_runs():
    assert running.look("a") is None
    with running.job("a"):
        running.step("encoding", 3, 10, name="x")
        seen = running.look("a")
        assert (seen.what, seen.done, seen.total, seen.values) == ("encoding", 3, 10, {"name": "x"})
        assert running.look("b") is None
    assert running.look("a") is None
    assert not running.cancel("a")


def test_a_cancelled_job_stops_at_its_next_step():
    steps = []

    def work():
        for done in range(10):
            running.step("encoding", done, 10)
            steps.append(done)
            if done == 4:
                running.cancel("a")

    with running.job("a"), pytest.raises(Cancelled):
        work()
    assert steps == [0, 1, 2, 3, 4]
    assert running.look("a") is None


def test_cancelling_one_job_leaves_another():
    with running.job("outer"):
        with running.job("inner"):
            running.cancel("outer")
            running.step("encoding")
        with pytest.raises(Cancelled):
            running.step("encoding")


def test_two_threads_have_jobs_of_their_own():
    def work():
        running.step("scoring")  # in no job, though another thread is in one that is cancelled
        with running.job("theirs"):
            running.step("scoring")
            seen.append(running.look("theirs").what)

    seen = []
    with running.job("mine"):
        running.step("encoding")
        running.cancel("mine")
        other = threading.Thread(target=work)
        other.start()
        other.join()
    assert seen == ["scoring"]


def test_outside_a_job_a_step_does_nothing():
    with running.job("a"):
        pass
    running.cancel("a")
    running.step("encoding", 1, 2)


# ---- Work in the background ----------------------------------------------------------------------


def test_a_job_reports_its_progress_and_its_result():
    go = threading.Event()

    def work(report):
        report("terms", 1, 2)
        assert go.wait(PATIENCE)
        return 42

    job = Job.in_background(work)
    while job.progress.what != "terms":
        time.sleep(0.001)
    assert not job.wait(0)
    assert job.progress == Progress("terms", 1, 2)
    go.set()
    assert job.wait(PATIENCE)
    assert job.result() == 42


def test_a_stopped_job_ends_and_is_begun_again_on_request():
    jobs, runs = Jobs(), []
    started, stopped = threading.Event(), threading.Event()

    def work(report):
        runs.append(1)
        started.set()
        while len(runs) == 1 and not stopped.is_set():
            report("terms", 0, 1)
        return len(runs)

    first = jobs.start("key", work)
    assert started.wait(PATIENCE)
    jobs.cancel("key")
    assert first.wait(PATIENCE)
    with pytest.raises(Cancelled):
        first.result()
    second = jobs.start("key", work)
    assert second.wait(PATIENCE)
    assert second.result() == 2


def test_work_that_reports_its_steps_is_stopped_between_two():
    started = threading.Event()

    def work(report):
        while True:  # as an encoder does between two batches
            step("encoding", 0, 1)
            started.set()

    job = Job.in_background(work)
    assert started.wait(PATIENCE)
    job.cancel()
    assert job.wait(PATIENCE)
    with pytest.raises(Cancelled):
        job.result()


def test_a_failure_is_reported_once_and_then_tried_again():
    jobs, runs = Jobs(), []

    def work(report):
        runs.append(1)
        raise Problem("no_pairs")

    job = jobs.start("key", work)
    assert job.wait(PATIENCE)
    assert jobs.start("key", work) is job  # nobody has heard of it yet
    with pytest.raises(Problem):
        job.result()
    assert jobs.start("key", work) is not job


def test_only_so_many_results_are_kept():
    jobs = Jobs(most=2)
    made = [jobs.start(key, lambda report: object()) for key in "ab"]
    assert all(job.wait(PATIENCE) for job in made)
    assert jobs.start("c", lambda report: object()).wait(PATIENCE)
    jobs.start("b", lambda report: object())
    assert jobs.start("b", lambda report: object()) is made[1]
    assert jobs.start("a", lambda report: object()) is not made[0]


def test_work_that_nobody_waits_for_any_more_ends(monkeypatch):
    monkeypatch.setattr(running, "JOB_IDLE_S", 0.05)
    ended = threading.Event()

    def work(report):
        try:
            while True:
                report("terms", 0, 1)
                time.sleep(0.001)
        finally:
            ended.set()

    job = Job.in_background(work)
    assert ended.wait(PATIENCE)
    with pytest.raises(Cancelled):
        job.result()


def test_who_waits_for_other_work_hears_of_its_progress_and_cancels_it():
    inner, reports, go = [], [], threading.Event()

    def work(report):
        report("reading", 1, 2)
        while not go.wait(0.001):
            report("reading", 1, 2)
        return 42

    def start():
        if not inner:
            inner.append(Job.in_background(work))
        return inner[0]

    def report(what, done, total):
        reports.append((what, done, total))
        if len(reports) == 3:
            go.set()

    assert result_within(start, report) == 42
    assert reports[-1] == ("reading", 1, 2)

    def refuse(what, done, total):
        raise Cancelled

    inner.clear()
    go.clear()
    with pytest.raises(Cancelled):
        result_within(start, refuse)
    assert inner[0].cancelled


def test_all_work_ends_when_the_process_does(monkeypatch):
    monkeypatch.setattr(running, "_under_way", set())
    begun, stubborn = threading.Event(), threading.Event()

    def work(report):
        begun.set()
        while True:
            report("at it", 0, 0)

    job = Job.in_background(work)
    assert begun.wait(60)
    assert running.end_all(60)
    with pytest.raises(Cancelled):
        job.result()
    deaf = Job.in_background(lambda report: stubborn.wait(60))
    assert not running.end_all(0.01)
    stubborn.set()
    assert deaf.wait(60)


def test_the_work_of_a_request_ends_when_the_process_does(monkeypatch):
    monkeypatch.setattr(running, "_under_way", set())
    begun = threading.Event()

    def ask():
        with contextlib.suppress(Cancelled), running.job():
            begun.set()
            while True:
                running.check()

    asking = threading.Thread(target=ask)
    asking.start()
    assert begun.wait(60)
    assert running.end_all(60)
    asking.join(60)
    assert not asking.is_alive()


def test_heavy_work_of_a_hosted_page_ends_when_its_time_is_up(monkeypatch):
    monkeypatch.setenv(HOSTED, "1")
    monkeypatch.setenv("LOSSPRISM_HEAVY_SECONDS", "0.05")

    def long(report):
        while True:
            report("encoding", 0, 1)

    with as_visitor(new_key()):
        late = Jobs().start("long", long)
        assert late.wait(PATIENCE)
        with raises_problem("heavy_seconds", most="0.05"):
            late.result()
        with running.job("here"):
            with running.heavy_work_turn():
                running.step("encoding")
                time.sleep(0.1)
                with raises_problem("heavy_seconds", most="0.05"):
                    running.step("encoding")
            running.step("encoding")  # what comes after its turn is light


def test_work_that_others_wait_for_goes_on_where_one_leaves(monkeypatch):
    monkeypatch.setenv(HOSTED, "1")
    kept, go = Jobs(), threading.Event()
    one, other = new_key(), new_key()

    def inner():
        return kept.start("read", lambda report: go.wait(PATIENCE))

    def outer(report):
        return result_within(inner, report)

    with as_visitor(other):
        theirs = inner()
    with as_visitor(one):
        mine = Job.in_background(outer)
        while len(theirs.requesters) < 2:
            time.sleep(0.01)
        mine.cancel()
        mine.wait(PATIENCE)
    assert mine.cancelled
    assert not theirs.cancelled
    go.set()
    assert theirs.wait(PATIENCE)
    assert theirs.result() is True


@pytest.mark.skipif(sys.platform != "linux", reason="threads have priorities of their own there")
def test_background_work_of_a_hosted_page_gives_way(monkeypatch):
    def niceness(_report=None) -> int:
        return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    def in_the_background() -> int:
        job = Job.in_background(niceness)
        assert job.wait(PATIENCE)
        return job.result()

    usual = niceness()
    assert in_the_background() == usual
    monkeypatch.setenv(HOSTED, "1")
    with as_visitor(new_key()):
        assert in_the_background() == min(usual + running.NICE, 19)
    assert niceness() == usual  # who asked keeps theirs


def test_light_work_has_so_much_of_a_processor_and_heavy_work_does_not_count(monkeypatch):
    now = iter(range(0, 1000, 3))  # seconds of this thread's clock, three a look
    monkeypatch.setattr(running.time, "thread_time", lambda: next(now))
    with running.job():
        for _ in range(20):
            running.check()  # at home nothing is bounded
    monkeypatch.setenv(HOSTED, "1")
    monkeypatch.setenv("LOSSPRISM_LIGHT_SECONDS", "10")
    with as_visitor(new_key()), running.job():
        running.check()
        with running.heavy_work_turn():
            for _ in range(20):
                running.check()
        running.check()
        with pytest.raises(Problem) as refused:
            running.check()
    assert (refused.value.key, refused.value.values) == ("problem.light_seconds", {"most": "10"})


def test_who_has_left_waits_for_nothing():
    left = threading.Event()
    with running.cancelled_when(left), running.job():
        running.check()
        left.set()
        with pytest.raises(Cancelled):
            running.check()
    with running.job():
        running.check()
