"""A hosted page does not wait for ever for a request's head, nor for its answer to be taken."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time

import pytest

from explorer.gateway import timeouts
from explorer.runtime.deployment_policy import HOSTED
from tests.unit.gateway.serving import served

ASKED = b"GET /small HTTP/1.1\r\nHost: a\r\n\r\n"
PIECES = b"POST /small HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n"
LARGE = 2**25
WAIT_S = 60.0


LEFT, GOES_ON = threading.Event(), threading.Event()
ASKED_WITH: list[dict] = []


async def application(scope, receive, send):
    if scope["type"] != "http":
        return
    body = b"a" * LARGE if scope["path"] == "/large" else b"ok"
    while (await receive()).get("more_body"):
        pass
    ASKED_WITH.append(dict(scope["headers"]))
    if scope["path"] == "/waits":
        while (await receive())["type"] != "http.disconnect":
            pass
        LEFT.set()
        return
    if scope["path"] == "/halves":
        begun = [(b"content-length", b"4")]
        await send({"type": "http.response.start", "status": 200, "headers": begun})
        await send({"type": "http.response.body", "body": b"ha", "more_body": True})
        await asyncio.to_thread(GOES_ON.wait, WAIT_S)
        await send({"type": "http.response.body", "body": b"lf"})
        return
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture(scope="module")
def port():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(HOSTED, "1")
        with served(application, http=timeouts.BoundedConnection) as found:
            yield found


@pytest.fixture(autouse=True)
def afresh():
    LEFT.clear()
    GOES_ON.clear()
    ASKED_WITH.clear()


def connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=WAIT_S)


def told(line: socket.socket) -> bytes:
    """All that comes until the other side closes."""
    found = b""
    with contextlib.suppress(ConnectionError):
        while piece := line.recv(2**20):
            found += piece
    return found


@pytest.mark.parametrize(
    "sent", [b"", b"G", b"GET / HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nHost: a\r\nX: "]
)
def test_a_head_that_does_not_end_is_not_waited_for(port, monkeypatch, capfd, sent):
    monkeypatch.setenv("LOSSPRISM_HEAD_SECONDS", "0.2")
    with connected(port) as line:
        line.sendall(sent)
        assert told(line).startswith(b"HTTP/1.1 408 ")
    assert capfd.readouterr().err == "refused 408 problem.too_slow\n"


def test_a_header_now_and_again_gains_no_time(port, monkeypatch):
    monkeypatch.setenv("LOSSPRISM_HEAD_SECONDS", "0.5")
    with connected(port) as line, contextlib.suppress(ConnectionError):
        line.sendall(b"GET / HTTP/1.1\r\n")
        line.settimeout(0.02)
        began, found = time.monotonic(), None
        while found is None and time.monotonic() - began < WAIT_S:
            line.sendall(b"X: y\r\n")
            with contextlib.suppress(TimeoutError):
                found = line.recv(100)
        assert found is not None
        assert found.startswith(b"HTTP/1.1 408 ")


def test_a_second_request_has_its_time_too(port, monkeypatch):
    with connected(port) as line:
        line.sendall(ASKED)
        assert line.recv(1000).endswith(b"ok")
        monkeypatch.setenv("LOSSPRISM_HEAD_SECONDS", "0.2")
        line.sendall(ASKED[:9])
        assert told(line).startswith(b"HTTP/1.1 408 ")


def test_a_head_without_end_is_refused_by_its_length(port, capfd):
    with connected(port) as line:
        with contextlib.suppress(ConnectionError):
            line.sendall(b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * (timeouts.HEAD_BYTES // 6 + 9))
        told(line)
    assert capfd.readouterr().err == "refused 431 problem.too_much\n"


@pytest.mark.parametrize("ended", [b"", b"\r\n"], ids=["open", "whole"])
def test_a_long_head_is_refused_also_where_it_comes_at_once(port, capfd, ended):
    for header in (b"X: " + b"y" * timeouts.HEAD_BYTES + b"\r\n", b"X: y\r\n" * 12_000):
        with connected(port) as line:
            with contextlib.suppress(ConnectionError):
                line.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n" + header + ended)
            assert not told(line).startswith(b"HTTP/1.1 200")
        assert capfd.readouterr().err == "refused 431 problem.too_much\n"


@pytest.mark.parametrize("cut", range(1, 4))
def test_where_a_head_ends_is_seen_across_two_parts(port, cut):
    size = 2 * timeouts.HEAD_BYTES
    head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % size
    with connected(port) as line:
        line.sendall(head[:-cut])
        time.sleep(0.05)
        line.sendall(head[-cut:] + b"a" * size)
        assert line.recv(1000).startswith(b"HTTP/1.1 200")


def test_a_body_is_another_matter(port, monkeypatch):
    """It has its own time, and any length that `Bounded` allows."""
    monkeypatch.setenv("LOSSPRISM_HEAD_SECONDS", "0.3")
    size = 2 * timeouts.HEAD_BYTES
    head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % (2 * size)
    with connected(port) as line:
        line.sendall(head + b"a" * size)
        time.sleep(0.5)
        line.sendall(b"a" * size + ASKED)  # and the next request at once
        answers = b""
        while answers.count(b"ok") < 2:
            answers += line.recv(1000)


def test_who_does_not_take_an_answer_is_left(port, monkeypatch):
    monkeypatch.setenv("LOSSPRISM_ANSWER_SECONDS", "0.3")
    given_up, said = threading.Event(), []

    def tell(*refused):
        said.append(refused)
        given_up.set()

    monkeypatch.setattr(timeouts, "_log_refusal", tell)
    with connected(port) as line:
        line.sendall(ASKED.replace(b"small", b"large"))
        assert given_up.wait(WAIT_S)  # before anything of it is read
        assert len(told(line)) < LARGE
    assert said == [(408, "too_slow")]


def test_who_takes_it_in_time_has_all_of_it(port):
    with connected(port) as line:
        line.sendall(
            ASKED.replace(b"small", b"large").replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
        )
        assert len(told(line)) > LARGE


def test_what_comes_after_a_body_is_no_header(port):
    """It was not there when the request was let in, and would pass for what was looked at then."""
    with connected(port) as line:
        line.sendall(PIECES + b"Host: b\r\nX-Forwarded-Host: c\r\nCookie: d=e\r\n\r\n")
        assert line.recv(1000).endswith(b"ok")
    assert ASKED_WITH == [{b"host": b"a", b"transfer-encoding": b"chunked"}]


@pytest.mark.parametrize("after", [b"X: y\r\n" * 9, b"y" * 50], ids=["many", "one"])
def test_what_comes_after_a_body_has_an_end(port, capfd, after):
    with connected(port) as line:
        with contextlib.suppress(ConnectionError):
            line.sendall(PIECES + b"X: y")
            for _ in range(8 * timeouts.BESIDE_BYTES // len(after)):
                line.sendall(after)
        told(line)
    assert capfd.readouterr().err == "refused 431 problem.too_much\n"


def test_who_asks_again_before_the_answer_is_answered_in_turn(port):
    with connected(port) as line:
        line.sendall(ASKED * 3)
        answers = b""
        while answers.count(b"ok") < 3:
            answers += line.recv(1000)
        line.sendall(ASKED)
        assert line.recv(1000).endswith(b"ok")


def test_who_asks_again_before_the_answer_and_leaves_has_left(port, capfd):
    with connected(port) as line:
        line.sendall(ASKED.replace(b"small", b"waits"))
        time.sleep(0.05)
        line.sendall(ASKED)
        time.sleep(0.05)
    assert LEFT.wait(WAIT_S)
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("sent", [b"GET / HT", b"junk\r\n\r\n"], ids=["cut", "junk"])
def test_no_refusal_comes_within_an_answer(monkeypatch, sent):
    monkeypatch.setenv(HOSTED, "1")
    monkeypatch.setenv("LOSSPRISM_HEAD_SECONDS", "0.1")
    bounded = {"http": timeouts.BoundedConnection, "timeout_keep_alive": 1}
    with served(application, **bounded) as port, connected(port) as line:
        line.sendall(ASKED.replace(b"small", b"halves"))
        assert line.recv(1000).endswith(b"ha")
        line.sendall(sent)
        time.sleep(0.3)
        GOES_ON.set()
        assert told(line) in (b"lf", b"")  # the rest, or a connection that breaks


def test_who_sends_much_before_the_answer_is_left(port, capfd):
    """It would be kept until then, of each connection."""
    with connected(port) as line:
        line.sendall(ASKED.replace(b"small", b"waits"))
        time.sleep(0.05)
        head = ASKED.replace(b"GET", b"POST").replace(
            b"a\r\n", b"a\r\nContent-Length: 99999999\r\n"
        )
        with contextlib.suppress(ConnectionError):
            line.sendall(head + b"a" * 99_999_999)
        assert not told(line)
    assert LEFT.wait(WAIT_S)
    assert capfd.readouterr().err == "refused 431 problem.too_much\n"


def test_who_asks_for_another_protocol_is_answered_in_this_one(port, capfd):
    asks = b"Connection: Upgrade\r\nUpgrade: h2c\r\n"
    with connected(port) as line:
        line.sendall(ASKED.replace(b"\r\n\r\n", b"\r\n" + asks + b"\r\n"))
        assert told(line).endswith(b"connection: close\r\n\r\nok")
    assert not capfd.readouterr().err


@pytest.mark.parametrize(
    "head",
    [
        b"POST / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 3\r\n\r\nabc",
        b"PUT / HTTP/1.1\r\nConnection: upgrade\r\nUpgrade: a\r\nTransfer-Encoding:chunked\r\n\r\n",
        b"CONNECT /small HTTP/1.1\r\nHost: a\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabc",
        b"POST / HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
        b"GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n",
        b"GET / HTTP/1.1\r\nX-A: b\rX-B: c\r\n\r\n",
        b"GET / HTTP/1.1\nHost: a\n\n",
        b"GET http://elsewhere HTTP/1.1\r\nHost: a\r\n\r\n",
    ],
)
def test_what_two_servers_might_read_differently_is_refused(port, capfd, head):
    """Of a request for another protocol the parser would take the body for the next request."""
    with connected(port) as line:
        line.sendall(head)
        assert told(line).startswith(b"HTTP/1.1 400 ")
    assert not ASKED_WITH
    assert capfd.readouterr().err == "refused 400 problem.malformed\n"
