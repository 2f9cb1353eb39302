"""A hosted page refuses what is too much, or comes too often, before it is read."""

from __future__ import annotations

import asyncio
import http.client
import json
import sys
from typing import Annotated

import httpx
import pytest
from fastapi import Body, FastAPI, Request
from fastapi.middleware import Middleware
from fastapi.testclient import TestClient

from lossprism.explorer.runtime.deployment_policy import HOSTED
from lossprism.explorer.runtime.hosted_budgets import budget
from lossprism.explorer.runtime.visitor_key_signing import new_key
from lossprism.explorer.web.api.health_check import state_of_page
from lossprism.explorer.web.hosted_server_setup_and_cleanup import (
    allow_connections,
    shorten_thread_switches,
)
from lossprism.explorer.web.middleware import request_limits
from lossprism.explorer.web.middleware.asgi_messages import Message
from lossprism.explorer.web.middleware.request_limits import RequestLimitsMiddleware, RequestQueue
from lossprism.explorer.web.middleware.visitor_key import HEADER
from tests.asgi_server import served
from tests.loops import in_loop


@pytest.fixture
def application(monkeypatch):
    monkeypatch.setenv(HOSTED, "1")
    made = FastAPI(middleware=[Middleware(RequestLimitsMiddleware)])

    @made.post("/length")
    async def length(request: Request) -> int:
        came = 0
        while True:
            message = await request.receive()
            if message["type"] == "http.disconnect":
                return -1
            came += len(message.get("body", b""))
            if not message.get("more_body"):
                return came

    @made.post("/parsed")
    def parsed(body: Annotated[object, Body()]) -> str:
        return "parsed"

    @made.post("/late")
    async def late(request: Request) -> str:
        await request.body()
        await asyncio.sleep(0.2)
        return "late"

    @made.get("/page")
    def page() -> str:
        return "page"

    return made


def as_one(application) -> TestClient:
    return TestClient(application, headers={HEADER: new_key()})


def test_too_many_requests_are_refused_of_that_visitor_alone(application, monkeypatch, capfd):
    monkeypatch.setenv("LOSSPRISM_REQUESTS_AT_ONCE", "3")
    monkeypatch.setenv("LOSSPRISM_REQUESTS_A_SECOND", "0.001")
    mine, other = as_one(application), as_one(application)
    assert [mine.post("/length", content=b"a").status_code for _ in range(4)] == [200] * 3 + [429]
    refused = mine.post("/length", content=b"zanzibar")
    assert refused.json()["error"]["key"] == "problem.too_often"
    assert "faster" in refused.json()["detail"]
    assert other.post("/length", content=b"a").status_code == 200
    assert mine.get("/page").status_code == 200  # the page's own files come at once
    output = capfd.readouterr().err.splitlines()
    assert output == ["refused 429 problem.too_often"] * 2


@pytest.mark.parametrize("path", ["/config", "/gradio_api/info", "/openapi.json"])
def test_uncached_answers_are_not_requested_too_often(application, monkeypatch, path):
    monkeypatch.setenv("LOSSPRISM_REQUESTS_AT_ONCE", "3")
    monkeypatch.setenv("LOSSPRISM_REQUESTS_A_SECOND", "0.001")
    one = as_one(application)
    assert [one.get(path).status_code == 429 for _ in range(5)] == [False] * 3 + [True] * 2
    assert {one.get("/page").status_code for _ in range(9)} == {200}


def test_the_budget_of_requests_fills_again(application, monkeypatch):
    monkeypatch.setenv("LOSSPRISM_REQUESTS_AT_ONCE", "1")
    monkeypatch.setenv("LOSSPRISM_REQUESTS_A_SECOND", "1e9")
    one = as_one(application)
    assert {one.post("/length", content=b"a").status_code for _ in range(20)} == {200}


def test_a_body_that_is_too_large_is_not_read(application, monkeypatch):
    monkeypatch.setenv("LOSSPRISM_BODY_MIB", "0.001")
    one = as_one(application)
    assert one.post("/length", content=b"a" * 1000).json() == 1000
    refused = one.post("/length", content=b"a" * 1100)
    assert refused.status_code == 413
    assert refused.json()["error"]["key"] == "problem.too_much"

    def unannounced():
        for _ in range(5):
            yield b"a" * 500

    late = one.post("/length", content=unannounced())
    assert (late.status_code, late.json()["error"]["key"]) == (413, "problem.too_much")
    assert one.post("/gradio_api/upload", content=b"a").status_code == 403
    shown = one.post("/requests/explore/explore", content=b"a" * 1100)
    assert (shown.status_code, shown.json()["error"]["key"]) == (413, "problem.too_much")


def test_a_body_of_too_many_values_is_not_read(application, monkeypatch):
    """A list in a list takes three bytes of a body, and twenty times that in memory."""
    monkeypatch.setenv("LOSSPRISM_BODY_VALUES", "100")
    one = as_one(application)
    for value in (b"[],", b"{},", b"1,"):
        assert one.post("/length", content=value * 40).json() == 40 * len(value)
        refused = one.post("/length", content=value * 101)
        assert refused.status_code == 413
        assert refused.json()["error"]["key"] == "problem.too_many_values"
        pieces = one.post("/length", content=(value for _ in range(101)))
        assert pieces.status_code == 413
    assert one.post("/length", content=b"a" * 10_000).json() == 10_000


def sent_slowly(application, path: str, pieces: list[bytes]) -> list[dict]:
    """What is answered to whoever sends these pieces of a body, and then nothing for ever."""
    messages: list[dict] = []

    async def receive() -> dict:
        if pieces:
            return {"type": "http.request", "body": pieces.pop(0), "more_body": True}
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: dict) -> None:
        messages.append(message)

    headers = [(HEADER.encode(), new_key().encode()), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": path, "headers": headers}
    scope |= {"query_string": b"", "scheme": "http", "server": ("here", 80), "http_version": "1.1"}
    in_loop(asyncio.wait_for(application(scope, receive, send), 60))
    return messages


@pytest.mark.parametrize("path", ["/length", "/parsed"])
def test_a_body_that_comes_too_slowly_is_not_waited_for(application, monkeypatch, capfd, path):
    monkeypatch.setenv("LOSSPRISM_BODY_SECONDS", "0.05")
    begun, ended = sent_slowly(application, path, [b'{"a"', b": "])
    assert begun["status"] == 408
    assert json.loads(ended["body"])["error"]["key"] == "problem.too_slow"
    assert capfd.readouterr().err == "refused 408 problem.too_slow\n"


def test_the_reader_of_a_body_puts_no_answer_in_place_of_the_refusal(application, monkeypatch):
    monkeypatch.setenv("LOSSPRISM_BODY_MIB", "0.001")
    monkeypatch.setattr(request_limits, "DRAIN_S", 0.05)
    begun, result, ended = sent_slowly(application, "/parsed", [b'"' + b"a" * 900, b"a" * 900])
    assert begun["status"] == 413
    assert json.loads(result["body"])["error"]["key"] == "problem.too_much"
    assert dict(begun["headers"])[b"content-length"] == b"%d" % len(result["body"])
    assert not ended["body"]


@pytest.mark.parametrize("announced", [True, False])
def test_who_is_refused_while_they_send_is_answered_all_the_same(
    application, monkeypatch, announced
):
    """A connection that is closed with something unread takes the answer with it."""
    monkeypatch.setenv("LOSSPRISM_BODY_MIB", "1")
    piece, pieces = b"a" * 2**20, 32
    length = {"content-length": str(pieces * len(piece))} if announced else {}
    with served(application) as port:
        line = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        sent = (piece for _ in range(pieces))
        line.request("POST", "/length", sent, length, encode_chunked=not announced)
        answer = line.getresponse()
        assert answer.status == 413
        assert json.loads(answer.read())["error"]["key"] == "problem.too_much"


def test_a_client_that_has_sent_all_may_wait_for_the_answer(application, monkeypatch):
    monkeypatch.setenv("LOSSPRISM_BODY_SECONDS", "0.05")
    assert as_one(application).post("/late", content=b"a").json() == "late"


def test_all_who_come_without_a_key_are_counted_as_one(application, monkeypatch):
    monkeypatch.setenv("LOSSPRISM_REQUESTS_AT_ONCE", "2")
    monkeypatch.setenv("LOSSPRISM_REQUESTS_A_SECOND", "0.001")
    requests = [TestClient(application).post("/length", content=b"a").status_code for _ in range(3)]
    assert requests == [200, 200, 429]
    assert as_one(application).post("/length", content=b"a").status_code == 200


def test_all_bodies_together_stay_within_the_memory_limit(application, monkeypatch):
    monkeypatch.setenv("LOSSPRISM_BODIES_MIB", "0.01")
    body, one = b"a" * 6000, as_one(application)

    async def together() -> list[int]:
        transport = httpx.ASGITransport(application)
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
            requested = (client.post("/late", content=body) for _ in range(2))
            return sorted(answer.status_code for answer in await asyncio.gather(*requested))

    assert in_loop(together()) == [200, 503]
    assert one.post("/length", content=body).json() == 6000  # it was let go


def test_heavy_visitors_leave_capacity_for_light_ones(application, monkeypatch):
    monkeypatch.setenv("LOSSPRISM_BODIES_MIB", "1")
    monkeypatch.setattr(request_limits, "DRAIN_S", 0.05)
    held: list[asyncio.Task] = []

    async def sends(size: int, path: str) -> int:
        """The status of the answer to this many bytes, of which the last does not come."""
        listed: list[dict] = []
        pieces = [{"body": b"a" * size, "more_body": path == "/length"}]

        async def receive() -> dict:
            if pieces:
                return {"type": "http.request", **pieces.pop()}
            await asyncio.Event().wait()
            raise AssertionError

        async def send(message: dict) -> None:
            listed.append(message)

        headers = [(HEADER.encode(), new_key().encode())]
        scope = {"type": "http", "method": "POST", "path": path, "headers": headers}
        scope |= {"query_string": b"", "scheme": "http", "server": ("here", 80)}
        task = asyncio.create_task(application({**scope, "http_version": "1.1"}, receive, send))
        held.append(task)
        await asyncio.wait((task,), timeout=0.3)
        return listed[0]["status"] if listed else 0

    async def all_of_them() -> list[int]:
        found = [await sends(size, "/length") for size in (900_000, 100_000, 60_000)]
        found.append(await sends(1000, "/late"))
        for one in held:
            one.cancel()
        return found

    assert in_loop(all_of_them()) == [0, 503, 0, 200]


def test_of_what_is_made_anew_few_are_made_at_a_time(monkeypatch):
    """Whoever comes with a new key each time asks for no more of it at a time."""
    monkeypatch.setenv(HOSTED, "1")
    under_way, most, slowly = 0, 0, asyncio.Event()

    async def app(scope, receive, send) -> None:
        nonlocal under_way, most
        await receive()
        under_way, most = under_way + 1, max(most, under_way + 1)
        await asyncio.sleep(0.01)
        under_way -= 1
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await slowly.wait()  # who takes it slowly holds up nobody

    async def receive() -> dict:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def all_of_them() -> list[int]:
        bounded, statuses = request_limits.RequestLimitsMiddleware(app), []

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])
            if len(statuses) == 80:
                slowly.set()

        async def ask() -> None:
            headers = [(HEADER.encode(), new_key().encode())]
            scope = {"type": "http", "method": "GET", "path": "/config", "headers": headers}
            await bounded(scope, receive, send)

        await asyncio.wait_for(asyncio.gather(*(ask() for _ in range(80))), 60)
        return statuses

    waiting = int(budget("requests_waiting"))
    answered = in_loop(all_of_them())
    assert most == request_limits.COSTLY_AT_ONCE
    assert answered.count(200) == waiting + request_limits.COSTLY_AT_ONCE
    assert answered.count(429) == 80 - waiting - request_limits.COSTLY_AT_ONCE


def test_health_counts_what_is_under_way(monkeypatch, tmp_path):
    monkeypatch.setenv("LOSSPRISM_CACHE", str(tmp_path))
    result = state_of_page()
    assert result["alive"] is True
    assert result["heavy"] == result["middling"] == {"under_way": 0, "waiting": 0}
    assert result["memory_mib"]["own"] > 100
    assert result["disk_mib"]["left"] > 0


def test_health_is_reported_where_nothing_can_be_stored(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LOSSPRISM_CACHE", str(tmp_path / "file"))
    assert state_of_page()["disk_mib"] == {"left": 0}


@pytest.mark.parametrize(
    ("now", "wanted"),
    [((1024, 4096), (4096, 4096)), ((1024, -1), (9000, -1)), ((20_000, 30_000), None)],
)
def test_as_many_connections_as_the_system_lets(monkeypatch, now, wanted):
    resource = pytest.importorskip("resource")
    assert resource.RLIM_INFINITY == -1
    requests = []
    monkeypatch.setattr(resource, "getrlimit", lambda kind: now)
    monkeypatch.setattr(resource, "setrlimit", lambda kind, limits: requests.append(limits))
    allow_connections(9000)
    assert requests == ([wanted] if wanted else [])


def test_a_thread_that_only_counts_keeps_no_other_waiting_for_long():
    before = sys.getswitchinterval()
    try:
        shorten_thread_switches()
        assert sys.getswitchinterval() < before / 4
    finally:
        sys.setswitchinterval(before)


def test_beyond_what_waits_a_visitor_is_refused(monkeypatch):
    monkeypatch.setenv(HOSTED, "1")
    monkeypatch.setenv("LOSSPRISM_REQUESTS_OF_ONE", "2")
    monkeypatch.setenv("LOSSPRISM_REQUESTS_WAITING", "2")

    async def queued() -> list[int]:
        line, served = RequestQueue(), []

        async def one(number: int) -> None:
            if await line.enter():
                served.append(number)

        waiting = [asyncio.create_task(one(number)) for number in range(5)]
        await asyncio.sleep(0)
        assert served == [0, 1]
        assert waiting[4].done()  # refused
        waiting[2].cancel()
        await asyncio.sleep(0)
        line.leave()
        line.leave()
        await asyncio.sleep(0)
        line.leave()
        assert line.under_way == 0
        return served

    assert in_loop(queued()) == [0, 1, 3]
