"""What the page asks is answered, with a sentence where it cannot be done."""

from __future__ import annotations

import errno
import json
import math
import os

import brotli
import pytest

from lossprism.explorer.runtime import jobs
from lossprism.explorer.runtime.deployment_policy import HOSTED
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.visitor_key_signing import new_key
from lossprism.explorer.web.middleware.visitor_key import HEADER, with_headers
from lossprism.explorer.web.page_requests import JOBS, sent, served

look, cancel = JOBS


def answered(function, request):
    """What the page gets."""
    return json.loads(sent(function)(request).body)


def test_a_problem_becomes_an_answer():
    def refuse(request):
        raise Problem("link_version", version=request, known=1)

    answer = answered(served("refuse", refuse, takes=str), "7")
    assert answer == {
        "error": {
            "key": "problem.link_version",
            "about": "",
            "values": {"version": "7", "known": 1},
        }
    }


def test_a_defect_is_reported_and_logged(capsys):
    answer = answered(served("broken", lambda request: 1 / 0), {})
    assert answer == {"error": {"key": "problem.internal", "about": "again", "values": {}}}
    assert "ZeroDivisionError" in capsys.readouterr().err


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS])
def test_a_disk_that_takes_no_more_is_no_defect(capsys, number):
    def keep(request):
        raise OSError(number, os.strerror(number), "/a/place/of/the/machine")

    answer = answered(served("keep", keep), {})
    assert answer["error"] == {"key": "problem.no_room", "about": "again", "values": {}}
    assert capsys.readouterr().err == f"refused no_room {os.strerror(number)}\n"


def test_any_other_trouble_with_a_file_is_a_defect(capsys):
    def keep(request):
        raise IsADirectoryError(errno.EISDIR, "is a folder")

    assert answered(served("keep", keep), {})["error"]["key"] == "problem.internal"
    assert "IsADirectoryError" in capsys.readouterr().err


def test_a_request_that_names_itself_can_be_followed_and_cancelled():
    def work(request):
        jobs.step("encoding", 32, 100)
        seen.append(answered(look, "mine")["job"])
        assert answered(cancel, "mine") == {"cancelled": True}
        jobs.step("encoding", 64, 100)
        raise AssertionError("it went on")

    seen = []
    answer = answered(served("work", work), {"job": "mine"})
    assert answer["error"]["key"] == "problem.cancelled"
    assert (seen[0]["what"], seen[0]["done"], seen[0]["total"]) == ("encoding", 32, 100)
    assert answered(look, "mine") == {"job": None}
    assert answered(cancel, "mine") == {"cancelled": False}


@pytest.mark.parametrize("request_", [{}, {"job": 7}, {"job": None}, [], "text", None])
def test_a_request_without_a_name_is_answered_too(request_):
    def work(request):
        jobs.step("encoding")
        return {"got": request}

    assert answered(served("work", work, takes=object), request_) == {"got": request_}
    assert answered(look, request_) == {"job": None}


@pytest.mark.parametrize("request_", [[], [["job", 1]], "text", None, 7, float("nan"), True])
def test_what_is_no_object_is_refused_in_a_sentence(request_):
    answer = answered(served("echo", lambda request: {"got": request}), request_)
    assert answer["error"]["key"] == "problem.scenario_entry"
    assert answer["error"]["values"] == {"where": "request", "value": str(request_)}


def test_every_answer_can_be_sent():
    """Half a character and a number of any length, in answers and in refusals."""
    half, name = "half \ud83d", "\ud83dname"

    def refuse(request):
        raise Problem("encoder_id", encoder=request["text"], count=10**400, flag=True)

    tell = served("echo", lambda request: {name: [{"text": (request["text"],)}]})
    assert answered(tell, {"text": half}) == {"\ufffdname": [{"text": ["half \ufffd"]}]}
    values = answered(served("refuse", refuse), {"text": half})["error"]["values"]
    assert values == {"encoder": "half \ufffd", "count": str(10**400), "flag": "True"}


@pytest.mark.parametrize("whole", [7, 2**80])
def test_an_answer_is_sent_as_json_that_any_reader_takes(whole):
    answer = {"nan": math.nan, "whole": whole, "half": "a\ud800", "list": (1, math.inf, None)}
    result = sent(served("thing", lambda request: answer))({})
    assert result.headers["content-type"] == "application/json"
    expected = {"nan": None, "whole": whole, "half": "a\ufffd", "list": [1, None, None]}
    assert json.loads(result.body) == expected


@pytest.mark.parametrize(
    ("accepted", "coded"),
    [("gzip, br", True), ("br;q=0.5", True), ("gzip", False), ("br;q=0, gzip", False)],
)
def test_what_goes_a_long_way_is_compressed(monkeypatch, accepted, coded):
    long = {"text": "word " * 1000}
    tell = sent(served("thing", lambda request: long if request else {}))
    key = {HEADER: new_key(), "accept-encoding": accepted}
    with with_headers(key):
        assert "content-encoding" not in tell({"at": "home"}).headers
        monkeypatch.setenv(HOSTED, "1")
        result = tell({"to": "a stranger"})
        assert ("content-encoding" in result.headers) == coded
        assert json.loads(brotli.decompress(result.body) if coded else result.body) == long
        assert "content-encoding" not in tell({}).headers


def test_a_large_answer_of_a_hosted_page_is_refused_before_it_is_written(monkeypatch):
    """Many references to one text, as the dictionary of a Parquet file gives them."""
    text = "x" * 2**20
    tell = sent(served("thing", lambda request: {"rows": [[text, text]] * 2**12}))
    monkeypatch.setenv(HOSTED, "1")
    with with_headers({HEADER: new_key()}):
        answer = json.loads(tell({}).body)
    assert answer["error"]["key"] == "problem.answer_too_large"


def test_answers_that_wait_to_be_sent_fill_the_memory_budget(monkeypatch):
    text = "".join(map(chr, range(97, 123))) * 2**16
    tell = sent(served("thing", lambda request: {"text": text}))
    monkeypatch.setenv(HOSTED, "1")
    monkeypatch.setenv("LOSSPRISM_ANSWERS_MIB", "2")
    with with_headers({HEADER: new_key()}):
        waiting = tell({})
        assert json.loads(tell({}).body)["error"]["key"] == "problem.low_memory"
        del waiting
        assert json.loads(tell({}).body) == {"text": text}
