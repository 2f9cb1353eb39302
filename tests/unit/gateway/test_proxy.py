"""What the front hands on arrives as it was sent, and the answer as it was given."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Iterator

import httpx
import pytest

from explorer.gateway.process import free_port
from explorer.gateway.proxy import Proxy
from tests.loops import in_loop
from tests.unit.gateway.serving import WAIT_S, served

LARGE = 3 * 2**20


class App:
    """What a proxy is before: it tells what came, and what becomes of it."""

    def __init__(self) -> None:
        self.left, self.goes_on = threading.Event(), threading.Event()

    async def __call__(self, scope, receive, send) -> None:
        came = b""
        while True:
            message = await receive()
            came += message.get("body", b"")
            if not message.get("more_body"):
                break
        await getattr(self, scope["path"].split("/")[1])(scope, came, receive, send)

    async def told(self, scope, came, receive, send) -> None:
        body = {
            "method": scope["method"],
            "path": scope["raw_path"].decode(),
            "query": scope["query_string"].decode(),
            "headers": [[name.decode(), value.decode()] for name, value in scope["headers"]],
            "length": len(came),
        }
        headers = [(b"set-cookie", b"a=1"), (b"set-cookie", b"b=2"), (b"x-own", b"yes")]
        headers += [(b"connection", b"x-hop"), (b"x-hop", b"of this connection")]
        await send({"type": "http.response.start", "status": 201, "headers": headers})
        await send({"type": "http.response.body", "body": json.dumps(body).encode()})

    async def empty(self, scope, came, receive, send) -> None:
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def stream(self, scope, came, receive, send) -> None:
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"first", "more_body": True})
        await asyncio.to_thread(self.goes_on.wait, WAIT_S)
        await send({"type": "http.response.body", "body": b"second"})

    async def broken(self, scope, came, receive, send) -> None:
        headers = [(b"content-length", b"1000")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"half", "more_body": True})
        raise RuntimeError("in the middle")

    async def waits(self, scope, came, receive, send) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self.left.set()


@pytest.fixture(scope="module")
def app() -> App:
    return App()


@pytest.fixture(scope="module")
def address(app: App) -> Iterator[str]:
    with served(app, timeout_keep_alive=1) as behind, served(Proxy(behind)) as port:
        yield f"http://127.0.0.1:{port}"


def test_a_request_arrives_as_it_was_sent_and_its_answer_as_it_was_given(address):
    sent = {"x-mine": "a", "cookie": "c=d", "connection": "keep-alive, x-hop", "x-hop": "of mine"}
    answer = httpx.put(f"{address}/told/%C3%A9%2Fa%20b?q=%26&r", content=b"x" * LARGE, headers=sent)
    assert answer.status_code == 201
    told = answer.json()
    assert told["method"] == "PUT"
    assert (told["path"], told["query"]) == ("/told/%C3%A9%2Fa%20b", "q=%26&r")
    assert told["length"] == LARGE
    headers = dict(told["headers"])
    assert (headers["x-mine"], headers["cookie"]) == ("a", "c=d")
    assert headers["host"] == address.removeprefix("http://")
    assert headers["content-length"] == str(LARGE)
    assert "x-hop" not in headers
    assert answer.headers.get_list("set-cookie") == ["a=1", "b=2"]
    assert answer.headers["x-own"] == "yes"
    assert "x-hop" not in answer.headers


def test_a_body_that_comes_in_pieces_arrives_whole(address):
    told = httpx.post(f"{address}/told", content=(b"ab" for _ in range(1000))).json()
    assert told["length"] == 2000
    assert dict(told["headers"])["content-length"] == "2000"


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "DELETE"])
def test_what_has_no_body_is_given_none(address, method):
    answer = httpx.request(method, f"{address}/told")
    assert answer.status_code == 201
    if method != "HEAD":
        told = answer.json()
        assert (told["method"], told["length"]) == (method, 0)
        assert "content-length" not in dict(told["headers"])
    assert httpx.request(method, f"{address}/empty").status_code == 204


def test_an_answer_is_handed_on_piece_by_piece(address, app):
    with httpx.stream("GET", f"{address}/stream", timeout=WAIT_S) as answer:
        pieces = answer.iter_bytes()
        assert next(pieces) == b"first"  # while the second waits for this
        app.goes_on.set()
        assert b"".join(pieces) == b"second"


def test_who_leaves_has_left_the_app_too(address, app):
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{address}/waits", content=b"a", timeout=0.3)
    assert app.left.wait(WAIT_S)


def test_half_an_answer_is_not_taken_for_a_whole_one(address, capfd):
    with pytest.raises(httpx.RemoteProtocolError):
        httpx.get(f"{address}/broken")
    assert capfd.readouterr().err == "half an answer of the app: Unanswered\n"


def test_what_says_who_asks_is_handed_on_whatever_else_is_said_of_it(address):
    sent = {"cookie": "a=b", "x-lossprism-key": "c", "connection": "cookie, host, x-lossprism-key"}
    told = dict(httpx.get(f"{address}/told", headers=sent).json()["headers"])
    assert (told["cookie"], told["x-lossprism-key"]) == ("a=b", "c")
    assert told["host"] == address.removeprefix("http://")


def test_a_connection_that_the_app_has_closed_is_not_used_again(address):
    async def twice() -> list[int]:
        async with httpx.AsyncClient() as client:
            first = await client.get(f"{address}/told")
            await asyncio.sleep(1.5)  # longer than this app keeps one
            return [first.status_code, (await client.get(f"{address}/told")).status_code]

    assert in_loop(twice()) == [201, 201]


def test_where_no_app_answers_a_sentence_says_so(capfd):
    with served(Proxy(free_port())) as port:
        told = httpx.post(f"http://127.0.0.1:{port}/gradio_api/call/a", content=b"a")
        page = httpx.post(f"http://127.0.0.1:{port}/requests/explore/explore", content=b"a")
    assert (told.status_code, page.status_code) == (502, 200)
    assert told.json()["error"]["key"] == page.json()["error"]["key"] == "problem.no_answer"
    assert "zanzibar" not in capfd.readouterr().err


def test_who_leaves_before_all_was_sent_reaches_nobody(address):
    host, port = address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), WAIT_S) as line:
        line.sendall(b"POST /waits HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc")
    assert httpx.get(f"{address}/told").status_code == 201
