"""A page's functions are called without Gradio's way to them, and all else goes that way."""

from __future__ import annotations

import asyncio
import json
import threading
import time

import pytest
from fastapi import FastAPI, Request
from fastapi.middleware import Middleware
from fastapi.testclient import TestClient

from explorer.front.address import KnowsAddress
from explorer.front.visitor import HEADER
from explorer.runtime import jobs
from explorer.runtime.promise import HOSTED
from explorer.runtime.visitors import as_visitor, new_key, own_key
from explorer.web.calls import PATH, AnswersCalls
from explorer.web.hosting import KnowsVisitor
from explorer.web.instrument import Instrument, PageState
from explorer.web.pool import EndsWork
from explorer.web.serving import served
from tests.loops import in_loop

NUMBER = 7
LONG_S = 60


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


def until_cancelled(ended: threading.Event, work) -> dict:
    """Work of many steps, which ends by itself only when it was asked to."""
    for _ in range(LONG_S * 100):
        try:
            work()
        except jobs.Cancelled:
            ended.set()
            raise
        time.sleep(0.01)
    raise AssertionError("nobody ended it")


def part_with(work) -> Instrument:
    function = served("work", work, dict)
    return Instrument("a", "a.js", PageState("p", "p", "p.js"), server_functions=[function])


async def leaves_while(application, begun: threading.Event, asked: dict) -> None:
    """Ask, and close the connection once the work has begun."""
    body = {"type": "http.request", "body": json.dumps(asked).encode(), "more_body": False}
    messages = [body]

    async def receive() -> dict:
        if messages:
            return messages.pop()
        while not begun.is_set():
            await asyncio.sleep(0.01)
        return {"type": "http.disconnect"}

    async def send(message: dict) -> None:
        pass

    headers = [(b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": PATH, "headers": headers}
    scope |= {"query_string": b"", "scheme": "http", "server": ("here", 80), "http_version": "1.1"}
    await asyncio.wait_for(application(scope, receive, send), LONG_S)


@pytest.mark.parametrize("named", [False, True])
def test_work_ends_when_whoever_asked_for_it_leaves(named):
    begun, ended = threading.Event(), threading.Event()

    def work(request: dict) -> dict:
        begun.set()
        return until_cancelled(ended, lambda: jobs.step("reading"))

    part = Instrument(
        "a", "a.js", PageState("p", "p", "p.js"), server_functions=[served("work", work, dict)]
    )
    application = EndsWork(AnswersCalls(None, {NUMBER: part}))
    data = {"job": "named"} if named else {}
    in_loop(leaves_while(application, begun, question(fn_name="work", data=data)))
    assert ended.is_set()


def test_what_another_waits_for_goes_on_when_one_leaves(monkeypatch):
    monkeypatch.setenv(HOSTED, "1")
    kept, begun, go_on = jobs.Jobs(), threading.Event(), threading.Event()

    def background(report) -> str:
        begun.set()
        while not go_on.wait(0.01):
            report("encoding", 0, 1)
        return "made"

    def waits(request: dict) -> dict:
        return {"got": jobs.within(lambda: kept.start("both", background), jobs.step)}

    application = KnowsVisitor(EndsWork(AnswersCalls(None, {NUMBER: part_with(waits)})))
    with as_visitor(new_key()):
        other = kept.start("both", background)
    in_loop(leaves_while(application, begun, question(fn_name="work", data={})))
    assert not other.cancelled
    go_on.set()
    assert other.wait(LONG_S)
    assert other.result() == "made"
