"""A page's functions are called without Gradio's way to them, and all else goes that way."""

from __future__ import annotations

import json

import pytest
from fastapi import FastAPI, Request
from fastapi.middleware import Middleware
from fastapi.testclient import TestClient

from explorer.runtime.visitors import HOSTED, new_key, own_key
from explorer.web.address import KnowsAddress
from explorer.web.calls import PATH, AnswersCalls
from explorer.web.hosting import HEADER, KnowsVisitor
from explorer.web.instrument import Instrument, PageState
from explorer.web.serving import served

NUMBER = 7


@pytest.fixture
def application():
    functions = [
        served("echo", lambda request: {"got": request}, dict),
        served("whose", lambda request: {"key": own_key()}, dict),
    ]
    part = Instrument("a", "a.js", PageState("p", "p", "p.js"), server_functions=functions)
    calls = Middleware(AnswersCalls, {NUMBER: part, 8: object()})
    made = FastAPI(middleware=[Middleware(KnowsAddress, "/below"), Middleware(KnowsVisitor), calls])

    @made.api_route("/{path:path}", methods=["GET", "POST"])
    async def elsewhere(request: Request) -> dict:
        return {"elsewhere": (await request.body()).decode("latin-1")}

    return made


def question(**changed) -> dict:
    asked = {"component_id": NUMBER, "fn_name": "echo", "session_hash": "a", "data": {"x": 1}}
    return {name: value for name, value in (asked | changed).items() if value is not ...}


@pytest.mark.parametrize("path", [PATH, f"{PATH}/", f"/below{PATH}"])
def test_a_function_of_the_page_is_called(application, path):
    answer = TestClient(application).post(path, json=question())
    assert answer.json() == {"got": {"x": 1}}
    assert answer.headers["content-type"] == "application/json"


def test_it_is_called_for_whoever_asks(application, monkeypatch):
    monkeypatch.setenv(HOSTED, "1")
    keys = [new_key(), new_key()]
    for key in keys:
        one = TestClient(application, headers={HEADER: key})
        assert one.post(PATH, json=question(fn_name="whose")).json() == {"key": key}


@pytest.mark.parametrize(
    "changed",
    [
        {"component_id": 8},
        {"component_id": 9},
        {"component_id": True},
        {"component_id": "7"},
        {"fn_name": "server_fns"},
        {"fn_name": ["echo"]},
        {"session_hash": []},
        {"session_hash": ...},
        {"data": ...},
    ],
    ids=str,
)
def test_what_is_no_call_goes_its_way_as_it_came(application, changed):
    asked = json.dumps(question(**changed))
    kind = {"content-type": "application/json"}
    answer = TestClient(application).post(PATH, content=asked, headers=kind)
    assert answer.json() == {"elsewhere": asked}


@pytest.mark.parametrize("body", ["", "[]", "{", "[" * 10**5, "\x00"], ids=lambda body: body[:3])
def test_what_is_no_object_goes_its_way_too(application, body):
    kind = {"content-type": "application/json"}
    answer = TestClient(application).post(PATH, content=body, headers=kind)
    assert answer.json() == {"elsewhere": body}


def test_a_body_in_pieces_is_put_together_or_passed_on_whole(application):
    kind = {"content-type": "application/json"}
    for asked, expected in (
        (question(), {"got": {"x": 1}}),
        (question(fn_name="none"), {"elsewhere": json.dumps(question(fn_name="none"))}),
    ):
        text = json.dumps(asked).encode()
        pieces = (text[start : start + 9] for start in range(0, len(text), 9))
        assert TestClient(application).post(PATH, content=pieces, headers=kind).json() == expected


def test_other_ways_of_asking_are_left_alone(application):
    one, asked = TestClient(application), json.dumps(question())
    assert one.get(PATH).json() == {"elsewhere": ""}
    plain = one.post(PATH, content=asked, headers={"content-type": "text/plain"})
    assert plain.json() == {"elsewhere": asked}
    kind = {"content-type": "application/json"}
    assert one.post(f"{PATH}/x", content=asked, headers=kind).json() == {"elsewhere": asked}
