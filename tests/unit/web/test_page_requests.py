"""What a page asks of its own functions: who is answered, by which function, and until when."""

from __future__ import annotations

import asyncio
import json
import threading
import time

import pytest
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.middleware import Middleware
from fastapi.testclient import TestClient

from lossprism.explorer.runtime import jobs
from lossprism.explorer.runtime.current_visitor import as_visitor, own_key
from lossprism.explorer.runtime.deployment_policy import HOSTED
from lossprism.explorer.runtime.visitor_key_signing import new_key
from lossprism.explorer.web import page_requests, site
from lossprism.explorer.web.middleware.cancel_on_disconnect import CancelOnDisconnectMiddleware
from lossprism.explorer.web.middleware.public_address import PublicAddressMiddleware
from lossprism.explorer.web.middleware.visitor_key import HEADER, VisitorKeyMiddleware
from lossprism.explorer.web.page_requests import served
from lossprism.explorer.web.pages.missing import page as missing
from tests.loops import in_loop

ECHO = "/requests/p/echo"
LONG_S = 60


def application_with(*functions, middleware=()) -> FastAPI:
    return FastAPI(
        routes=page_requests.routes({"p": functions}),
        middleware=[*middleware],
        exception_handlers={RequestValidationError: missing.invalid_call},
    )


@pytest.fixture
def application():
    return application_with(
        served("echo", lambda request: {"got": request}),
        served("whose", lambda request: {"key": own_key()}),
        middleware=[
            Middleware(PublicAddressMiddleware, "/below"),
            Middleware(VisitorKeyMiddleware),
        ],
    )


@pytest.mark.parametrize("path", [ECHO, f"/below{ECHO}"])
def test_a_function_of_the_page_is_called(application, path):
    answer = TestClient(application).post(path, json={"x": 1})
    assert answer.json() == {"got": {"x": 1}}
    assert answer.headers["content-type"] == "application/json"


def test_it_is_called_for_each_client(application, monkeypatch):
    monkeypatch.setenv(HOSTED, "1")
    keys = [new_key(), new_key()]
    for key in keys:
        one = TestClient(application, headers={HEADER: key})
        assert one.post("/requests/p/whose", json={}).json() == {"key": key}


@pytest.mark.parametrize(
    "path", ["/requests/p/none", "/requests/q/echo", "/requests/p", f"{ECHO}/x"]
)
def test_no_other_address_calls_a_function(application, path):
    assert TestClient(application).post(path, json={}).status_code == 404


@pytest.mark.parametrize("body", ["", "{", "[" * 10**5, "\x00"], ids=lambda body: body[:3])
def test_what_is_no_json_is_refused(application, body):
    assert TestClient(application).post(ECHO, content=body).status_code == 422


def test_a_body_in_pieces_is_put_together(application):
    text = json.dumps({"x": list(range(9))}).encode()
    pieces = (text[start : start + 9] for start in range(0, len(text), 9))
    assert TestClient(application).post(ECHO, content=pieces).json() == {"got": json.loads(text)}


def test_a_function_is_only_posted_to(application):
    for method in ("GET", "HEAD", "PUT", "DELETE"):
        assert TestClient(application).request(method, ECHO).status_code == 405


def test_every_page_has_each_name_once():
    for folder, functions in site.served_functions().items():
        names = [function.__name__ for function in functions]
        assert len(names) == len(set(names)), folder


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


def application_of(work) -> FastAPI:
    return application_with(served("work", work))


async def leaves_while(application, begun: threading.Event, requested: dict) -> None:
    """Ask, and close the connection once the work has begun."""
    body = {"type": "http.request", "body": json.dumps(requested).encode(), "more_body": False}
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
    scope = {"type": "http", "method": "POST", "path": "/requests/p/work", "headers": headers}
    scope |= {"query_string": b"", "scheme": "http", "server": ("here", 80), "http_version": "1.1"}
    await asyncio.wait_for(application(scope, receive, send), LONG_S)


@pytest.mark.parametrize("named", [False, True])
def test_work_ends_when_its_client_leaves(named):
    begun, ended = threading.Event(), threading.Event()

    def work(request: dict) -> dict:
        begun.set()
        return until_cancelled(ended, lambda: jobs.step("reading"))

    data = {"job": "named"} if named else {}
    in_loop(leaves_while(CancelOnDisconnectMiddleware(application_of(work)), begun, data))
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
        return {"got": jobs.result_within(lambda: kept.start("both", background), jobs.step)}

    application = VisitorKeyMiddleware(CancelOnDisconnectMiddleware(application_of(waits)))
    with as_visitor(new_key()):
        other = kept.start("both", background)
    in_loop(leaves_while(application, begun, {}))
    assert not other.cancelled
    go_on.set()
    assert other.wait(LONG_S)
    assert other.result() == "made"
