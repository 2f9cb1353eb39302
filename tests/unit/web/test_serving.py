"""What the page asks is answered, with a sentence where it cannot be done."""

from __future__ import annotations

import pytest

from explorer.runtime import jobs
from explorer.runtime.problem import Problem
from explorer.web.serving import JOBS, served

look, cancel = JOBS


def test_a_problem_becomes_an_answer():
    def refuse(request):
        raise Problem("link_version", version=request, known=1)

    answer = served("refuse", refuse, dict)("7")
    assert answer == {
        "error": {
            "key": "problem.link_version",
            "about": "",
            "values": {"version": "7", "known": 1},
        }
    }


def test_a_defect_is_told_and_written_down(capsys):
    answer = served("broken", lambda request: 1 / 0, dict)({})
    assert answer == {"error": {"key": "problem.internal", "about": "again", "values": {}}}
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_a_request_that_names_itself_can_be_followed_and_cancelled():
    def work(request):
        jobs.step("encoding", 32, 100)
        seen.append(look("mine")["job"])
        assert cancel("mine") == {"cancelled": True}
        jobs.step("encoding", 64, 100)
        raise AssertionError("it went on")

    seen = []
    answer = served("work", work, dict)({"job": "mine"})
    assert answer["error"]["key"] == "problem.cancelled"
    assert (seen[0]["what"], seen[0]["done"], seen[0]["total"]) == ("encoding", 32, 100)
    assert look("mine") == {"job": None}
    assert cancel("mine") == {"cancelled": False}


@pytest.mark.parametrize("request_", [{}, {"job": 7}, {"job": None}, [], "text", None])
def test_a_request_without_a_name_is_answered_too(request_):
    def work(request):
        jobs.step("encoding")
        return {"got": request}

    assert served("work", work, dict)(request_) == {"got": request_}
    assert look(request_) == {"job": None}
