"""docs/nginx.conf passes on what arrives as it was sent, and keeps from the app what comes slowly,
too often or too large."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.web.middleware.refusals import refusal
from lossprism.explorer.web.middleware.visitor_key import COOKIE, HEADER, HOST_COOKIE
from tests import nginx_server
from tests.asgi_server import WAIT_S, served
from tests.browser.serving import free_port

pytestmark = pytest.mark.skipif(not nginx_server.FOUND, reason=nginx_server.MISSING)

LARGE = 2**25
GET = b"GET /told HTTP/1.1\r\nHost: a\r\n\r\n"
POST = b"POST /told HTTP/1.1\r\nHost: a\r\n"
# So that a test takes no longer than it must, and so that few requests are too many.
HURRIED = {
    "client_header_timeout 20s;": "client_header_timeout 400ms;",
    "client_body_timeout 20s;": "client_body_timeout 400ms;",
    "send_timeout 60s;": "send_timeout 400ms;",
}
STRICT = {"rate=60r/s": "rate=1r/m", "burst=300 delay=240": "burst=2 nodelay"}


class App:
    """What nginx stands before: it says what came, and what becomes of it."""

    def __init__(self) -> None:
        self.left, self.goes_on = threading.Event(), threading.Event()
        self.asked: list[str] = []  # the addresses, in order

    async def __call__(self, scope, receive, send) -> None:
        came, self.asked = b"", [*self.asked, scope["path"]]
        while True:
            message = await receive()
            came += message.get("body", b"")
            if message["type"] == "http.disconnect":
                self.left.set()
                return
            if not message.get("more_body"):
                break
        await getattr(self, scope["path"].split("/")[1] or "told")(scope, came, receive, send)

    async def told(self, scope, came, receive, send) -> None:
        body = {
            "method": scope["method"],
            "path": scope["raw_path"].decode(),
            "query": scope["query_string"].decode(),
            "headers": [[name.decode(), value.decode()] for name, value in scope["headers"]],
            "length": len(came),
        }
        headers = [(b"set-cookie", b"a=1"), (b"set-cookie", b"b=2"), (b"x-own", b"yes")]
        await send({"type": "http.response.start", "status": 201, "headers": headers})
        await send({"type": "http.response.body", "body": json.dumps(body).encode()})

    requests = gradio_api = config = told

    async def large(self, scope, came, receive, send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"a" * LARGE})

    async def stream(self, scope, came, receive, send) -> None:
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"first", "more_body": True})
        await asyncio.to_thread(self.goes_on.wait, WAIT_S)
        await send({"type": "http.response.body", "body": b"second"})

    async def broken(self, scope, came, receive, send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"half", "more_body": True})
        raise RuntimeError("in the middle")

    async def waits(self, scope, came, receive, send) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self.left.set()


class Running:
    """nginx with these changes of its file, before an `App`."""

    def __init__(self, folder: Path, app: App, port: int, process: psutil.Process) -> None:
        self.folder, self.app, self.port, self.process = folder, app, port, process
        self.address = f"http://127.0.0.1:{port}"

    @property
    def log(self) -> list[str]:
        return (self.folder / nginx_server.LOG).read_text().splitlines()

    def connected(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=WAIT_S)


@contextlib.contextmanager
def started(folder: Path, changes: dict[str, str]) -> Iterator[Running]:
    app, port = App(), free_port()
    with (
        served(app) as behind,
        nginx_server.running(folder, port, behind, changes) as process,
    ):
        yield Running(folder, app, port, psutil.Process(process.pid))


@pytest.fixture(scope="module")
def usual(tmp_path_factory) -> Iterator[Running]:
    with started(tmp_path_factory.mktemp("usual"), {}) as found:
        yield found


@pytest.fixture(scope="module")
def hurried(tmp_path_factory) -> Iterator[Running]:
    with started(tmp_path_factory.mktemp("hurried"), HURRIED) as found:
        yield found


@pytest.fixture
def strict(tmp_path) -> Iterator[Running]:
    with started(tmp_path, STRICT) as found:
        yield found


def received(line: socket.socket) -> bytes:
    """All that comes until the other side closes."""
    found = b""
    with contextlib.suppress(ConnectionError):
        while piece := line.recv(2**20):
            found += piece
    return found


def until(happens: Callable[[], object]) -> None:
    ends = time.monotonic() + WAIT_S
    while not happens():
        assert time.monotonic() < ends
        time.sleep(0.02)


# ---- What it passes on


def test_a_request_arrives_as_it_was_sent_and_its_answer_as_it_was_given(usual):
    sent = {"x-mine": "a", "cookie": "c=d", HEADER: "e"}
    body = b"x" * 3 * 2**20
    answer = httpx.put(f"{usual.address}/told/%C3%A9%2Fa%20b?q=%26&r", content=body, headers=sent)
    assert answer.status_code == 201
    result = answer.json()
    assert (result["method"], result["length"]) == ("PUT", len(body))
    assert (result["path"], result["query"]) == ("/told/%C3%A9%2Fa%20b", "q=%26&r")
    headers = dict(result["headers"])
    assert (headers["x-mine"], headers["cookie"], headers[HEADER]) == ("a", "c=d", "e")
    assert headers["host"] == usual.address.removeprefix("http://")
    assert answer.headers.get_list("set-cookie") == ["a=1", "b=2"]
    assert answer.headers["x-own"] == "yes"


def test_a_body_without_a_length_arrives_whole(usual):
    answer = httpx.post(f"{usual.address}/told", content=(b"ab" for _ in range(1000))).json()
    assert answer["length"] == 2000


def test_events_arrive_as_they_are_sent(usual):
    with httpx.stream("GET", f"{usual.address}/stream", timeout=WAIT_S) as answer:
        pieces = answer.iter_bytes()
        assert next(pieces) == b"first"  # while the second waits for this
        usual.app.goes_on.set()
        assert b"".join(pieces) == b"second"


def test_who_leaves_has_left_the_app_too(usual):
    usual.app.left.clear()
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{usual.address}/waits", content=b"a", timeout=0.3)
    assert usual.app.left.wait(WAIT_S)


def test_half_an_answer_is_not_taken_for_a_whole_one(usual):
    with pytest.raises(httpx.RemoteProtocolError):
        httpx.get(f"{usual.address}/broken")


def test_who_takes_an_answer_in_time_has_all_of_it(hurried):
    assert len(httpx.get(f"{hurried.address}/large", timeout=WAIT_S).content) == LARGE


def test_requests_at_once_are_answered_in_turn(usual):
    with usual.connected() as line:
        line.sendall(GET * 3)
        answers = b""
        while answers.count(b"HTTP/1.1 201") < 3:
            answers += line.recv(2**16)


def test_an_address_may_hold_a_table(usual):
    """A link to a batch that was typed is some ten thousand characters long."""
    scenario = "a" * 40_000
    assert (
        httpx.get(f"{usual.address}/told?scene={scenario}").json()["query"] == f"scene={scenario}"
    )


# ---- What it does not wait for


@pytest.mark.parametrize("sent", [b"", b"G", b"GET / HTTP/1.1\r\nHost: a\r\nX: "])
def test_a_head_that_does_not_end_is_not_waited_for(hurried, sent):
    hurried.app.asked.clear()
    with hurried.connected() as line:
        line.sendall(sent)
        assert received(line) == b""
    assert not hurried.app.asked


def test_a_header_now_and_again_gains_no_time(hurried):
    with hurried.connected() as line:
        line.sendall(b"GET / HTTP/1.1\r\n")
        line.settimeout(0.02)
        began, closed = time.monotonic(), False
        while not closed and time.monotonic() - began < WAIT_S:
            try:
                line.sendall(b"X: y\r\n")
                closed = line.recv(100) == b""
            except TimeoutError:
                pass
            except ConnectionError:
                closed = True
        assert closed


@pytest.mark.parametrize("header", [b"X: " + b"y" * 2**17 + b"\r\n", b"X: y\r\n" * 60_000])
def test_a_long_head_is_refused(usual, header):
    usual.app.asked.clear()
    with usual.connected() as line:
        with contextlib.suppress(ConnectionError):
            line.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n" + header + b"\r\n")
        assert not received(line).startswith(b"HTTP/1.1 2")
    assert not usual.app.asked


def test_a_body_that_stands_still_is_not_waited_for(hurried):
    hurried.app.left.clear()
    with hurried.connected() as line:
        line.sendall(POST + b"Content-Length: 9\r\n\r\nabc")
        assert not received(line).startswith(b"HTTP/1.1 2")
    assert hurried.app.left.wait(WAIT_S)


def test_who_does_not_take_an_answer_is_left(hurried):
    with hurried.connected() as line:
        line.sendall(GET.replace(b"told", b"large"))
        time.sleep(1.5)  # before anything of it is read
        assert len(received(line)) < LARGE


@pytest.mark.parametrize(
    "head",
    [
        POST + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabc",
        POST + b"Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
        b"CONNECT /told HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET /told HTTP/1.1\r\n\r\n",
    ],
)
def test_what_two_servers_might_read_differently_is_refused(usual, head):
    usual.app.asked.clear()
    with usual.connected() as line:
        line.sendall(head)
        assert received(line).startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 405 "))
    assert not usual.app.asked


def test_what_comes_after_a_body_is_no_header(usual):
    """It was not there when the request was let in, and would pass for what was looked at then."""
    pieces = POST + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n"
    with usual.connected() as line:
        line.sendall(pieces + b"X-Forwarded-Host: c\r\nCookie: d=e\r\n\r\n")
        answer = b""
        while not answer.endswith(b"0\r\n\r\n"):  # its last chunk
            answer += (piece := line.recv(2**16))
            assert piece
    assert b'["host", "a"]' in answer
    assert b"forwarded" not in answer
    assert b'"d=e"' not in answer


# ---- What it refuses


@pytest.mark.parametrize("announced", [True, False])
def test_a_body_that_is_too_large_never_ends_in_the_app(usual, announced):
    piece = b"a" * 2**20
    sent = piece * 33 if announced else (piece for _ in range(33))
    usual.app.asked.clear()
    answer = httpx.post(f"{usual.address}/requests/a", content=sent, timeout=WAIT_S)
    assert answer.status_code == 413
    assert answer.json() == refusal(Problem("too_much", most=32))
    assert not (announced and usual.app.asked)
    until(lambda: usual.log[-1:] == ["refused 413 too_much"])  # once the rest is read and dropped


def test_who_asks_too_often_is_refused_and_nobody_else(strict):
    first, second = "a" * 64, "b" * 64
    ask = f"{strict.address}/requests/a?secret"
    statuses = [httpx.post(ask, headers={HEADER: first}).status_code for _ in range(4)]
    assert statuses == [201, 201, 201, 429]
    refused = httpx.get(f"{strict.address}/config", headers={HEADER: first})
    assert refused.json() == refusal(Problem("too_often", about="again"))
    # By either cookie it is the same visitor; a page's own files do not count.
    for name in (COOKIE, HOST_COOKIE):
        cookie = {"cookie": f"other=c; {name}={first}"}
        assert httpx.get(f"{strict.address}/gradio_api/a", headers=cookie).status_code == 429
        assert httpx.get(f"{strict.address}/told", headers=cookie).status_code == 201
    assert httpx.post(ask, headers={HEADER: second}).status_code == 201
    until(lambda: len(strict.log) == 4)
    assert set(strict.log) == {"refused 429 too_often"}  # without a word of theirs


def test_all_who_come_without_a_key_are_counted_as_one(strict):
    sent = [{}, {HEADER: "made up"}, {"cookie": f"{COOKIE}=none"}, {"cookie": "a=b"}]
    statuses = [httpx.post(f"{strict.address}/told", headers=one).status_code for one in sent]
    assert statuses == [201, 201, 201, 429]


def test_who_asks_faster_than_the_rate_is_slowed_down_before_they_are_refused(tmp_path):
    changes = {"rate=60r/s": "rate=10r/s", "burst=300 delay=240": "burst=4 delay=2"}
    with started(tmp_path, changes) as slowed:
        began = time.monotonic()
        found = [httpx.post(f"{slowed.address}/told").status_code for _ in range(6)]
        assert found == [201] * 6
        assert time.monotonic() - began > 0.2


# ---- Its beginning and its end


def test_where_no_app_answers_a_sentence_says_so_and_a_browser_asks_again(tmp_path):
    port, behind = free_port(), free_port()
    with nginx_server.running(tmp_path, port, behind):
        ask = f"http://127.0.0.1:{port}/requests/explore/explore?zanzibar"
        answer = httpx.post(ask, content=b"a")
        assert answer.status_code == 502
        assert answer.json() == refusal(Problem("no_answer", about="again"))
        assert answer.headers["refresh"] == "3"
        with served(App(), port=behind):
            assert httpx.post(ask, content=b"a").status_code == 201
    assert "zanzibar" not in (tmp_path / nginx_server.LOG).read_text()


def test_a_worker_that_died_is_followed_by_another(strict):
    for worker in (before := strict.process.children()):
        os.kill(worker.pid, 9)
    psutil.wait_procs(before, WAIT_S)
    # There may have been more: a worker of earlier settings stays until its answers are sent.
    until(lambda: set(strict.process.children()) - set(before))
    assert httpx.get(f"{strict.address}/told", timeout=WAIT_S).status_code == 201
