"""What is asked of a hosted page is computed in the order of its queues, whoever asks."""

from __future__ import annotations

import contextlib
import threading

from lossprism.explorer.core.explore import seconds_for
from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.lab.compare import loss_comparison
from lossprism.explorer.lab.compare.comparison_results import Side
from lossprism.explorer.lab.compare.loss_comparison import ComparisonCache, compare
from lossprism.explorer.runtime import jobs
from lossprism.explorer.runtime.fair_queue import is_light
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.web.api import endpoint_functions as api
from lossprism.explorer.web.page_requests import served
from tests.sentences import raises_problem


def test_what_few_pairs_take_is_light_and_what_many_take_is_not():
    assert all(is_light(seconds_for(pairs)) for pairs in (2, 64, 128))
    assert not any(is_light(seconds_for(pairs)) for pairs in (200, 512))


def test_what_a_program_explores_is_in_order_too(monkeypatch):
    requests = []
    in_order = lambda seconds: requests.append(seconds) or contextlib.nullcontext()  # noqa: E731
    monkeypatch.setattr(api.jobs, "light_work_turn", in_order)
    names = [f"a{i}" for i in range(8)], [f"b{i}" for i in range(8)]
    given = {"scores": [i % 3 for i in range(8)], "similarities": [i / 8 for i in range(8)]}
    api.loss_from_scores("cosent", given["similarities"], given["scores"])
    assert requests == [seconds_for(8)]
    requests.clear()
    api.compare_losses([{"loss": "cosent"}, {"loss": "circle"}], *names, **given)
    assert requests == [seconds_for(8)] * 3  # each side, and what lies between


def test_that_the_machine_was_busy_is_not_kept_of_a_side(monkeypatch):
    def busy(_seconds):
        raise Problem("busy_middling", about="again", count=1)

    kept, requested = ComparisonCache(), (Scenario(), [Side("cosent"), Side("pairwise_hinge")])
    with monkeypatch.context() as patched:
        patched.setattr(loss_comparison.jobs, "light_work_turn", busy)
        with raises_problem("busy_middling"):
            compare(*requested, kept=kept)
    assert all(one.stands for one in compare(*requested, kept=kept).sides)


def test_who_left_while_they_waited_for_a_thread_is_answered_nothing():
    done, left = [], threading.Event()
    function = served("f", lambda request: done.append(request) or {})
    left.set()
    with jobs.cancelled_when(left):
        assert function({}).error.about == "cancelled"
    assert done == []
    assert function({}) == {}
