"""A call in a process of its own: its result, its error, and its end with the job."""

from __future__ import annotations

import operator
import os
import time

import psutil
import pytest

from lossprism.explorer.runtime import jobs
from lossprism.explorer.runtime.cancellable_process import call_in_process
from lossprism.explorer.runtime.problem import Problem


def children() -> int:
    # Python keeps a tracker of shared memory beside the processes that it spawns.
    # Those of earlier tests that have ended, and that nobody waited for, have no command any more.
    alive = [one for one in psutil.Process().children() if one.status() != psutil.STATUS_ZOMBIE]
    named = [one.cmdline() for one in alive]
    return sum("spawn_main" in " ".join(words) for words in named)


def test_the_result_and_the_error_come_back() -> None:
    assert call_in_process("embedding", operator.add, 2, 3) == 5
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        call_in_process("embedding", operator.truediv, 2, 0)
    assert children() == 0


def test_a_process_that_dies_is_reported() -> None:
    with pytest.raises(Problem) as caught:
        call_in_process("embedding", os._exit, 3)
    assert caught.value.key == "problem.process_ended"


def test_a_cancelled_job_kills_its_process_and_hears_of_it_before() -> None:
    reports = []

    def hear(what: str, done: int, total: int) -> None:
        reports.append((what, children()))
        if len(reports) == 3:
            raise jobs.Cancelled

    began = time.monotonic()
    with jobs.reports_to(hear), pytest.raises(jobs.Cancelled):
        call_in_process("embedding", time.sleep, 60)
    assert time.monotonic() - began < 20
    assert reports == [("embedding", 1)] * 3
    assert children() == 0
