"""A hosted page does not wait for ever for a request's head, nor for its answer to be taken."""

from __future__ import annotations

import contextlib
import socket
import threading
import time

import pytest

from explorer.front import patience
from explorer.runtime.visitors import HOSTED
from tests.unit.front.serving import served

ASKED = b"GET /small HTTP/1.1\r\nHost: a\r\n\r\n"
LARGE = 2**25
WAIT_S = 60.0


async def application(scope, receive, send):
    if scope["type"] != "http":
        return
    body = b"a" * LARGE if scope["path"] == "/large" else b"ok"
    while (await receive()).get("more_body"):
        pass
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture
def port(monkeypatch):
    monkeypatch.setenv(HOSTED, "1")
    with served(application, http=patience.BoundedConnection) as found:
        yield found


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
            line.sendall(b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * (patience.HEAD_BYTES // 6 + 9))
        told(line)
    assert capfd.readouterr().err == "refused 431 problem.too_much\n"


@pytest.mark.parametrize("ended", [b"", b"\r\n"], ids=["open", "whole"])
def test_a_long_head_is_refused_also_where_it_comes_at_once(port, capfd, ended):
    for header in (b"X: " + b"y" * patience.HEAD_BYTES + b"\r\n", b"X: y\r\n" * 12_000):
        with connected(port) as line:
            with contextlib.suppress(ConnectionError):
                line.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n" + header + ended)
            assert not told(line).startswith(b"HTTP/1.1 200")
        assert capfd.readouterr().err == "refused 431 problem.too_much\n"


@pytest.mark.parametrize("cut", range(1, 4))
def test_where_a_head_ends_is_seen_across_two_parts(port, cut):
    size = 2 * patience.HEAD_BYTES
    head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % size
    with connected(port) as line:
        line.sendall(head[:-cut])
        time.sleep(0.05)
        line.sendall(head[-cut:] + b"a" * size)
        assert line.recv(1000).startswith(b"HTTP/1.1 200")


def test_a_body_is_another_matter(port, monkeypatch):
    """It has its own time, and any length that `Bounded` allows."""
    monkeypatch.setenv("LOSSPRISM_HEAD_SECONDS", "0.3")
    size = 2 * patience.HEAD_BYTES
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

    monkeypatch.setattr(patience, "_tell", tell)
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
