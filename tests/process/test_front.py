"""The process before a hosted app begins and ends with it; another follows one that died."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator

import httpx
import psutil
import pytest

from explorer.gateway import process
from explorer.gateway.process import Front
from explorer.runtime.deployment_policy import HOSTED
from tests.unit.gateway.serving import served

WAIT_S = 60.0
BEGINS = """
import sys, time
from explorer.gateway.process import Front
if __name__ == "__main__":
    front = Front("127.0.0.1", None, "")
    front.open()
    print(front.address, flush=True)
    time.sleep(600)
"""
BEGINS_ALONE = """
import signal, sys
from explorer.gateway.process import Front
if __name__ == "__main__":
    signal.signal(signal.SIGINT, lambda *_: None)
    front = Front("127.0.0.1", None, "")
    print("begun", flush=True)
    sys.stdin.read()
    front.end()
"""


async def answers(scope, receive, send) -> None:
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"ok"})


@pytest.fixture
def front(monkeypatch) -> Iterator[Front]:
    monkeypatch.setenv(HOSTED, "1")
    monkeypatch.setenv("LOSSPRISM_BODY_MIB", "0.001")
    made = Front("127.0.0.1", None, "")
    with served(answers, port=made.app_port):
        made.open()
        yield made
        made.end()


def until(happens: Callable[[], bool]) -> None:
    ends = time.monotonic() + WAIT_S
    while not happens():
        assert time.monotonic() < ends
        time.sleep(0.02)


def answer(address: str) -> int:
    """The status of an answer; 0 of none."""
    with contextlib.suppress(httpx.HTTPError):
        return httpx.post(address, content=b"a", timeout=WAIT_S).status_code
    return 0


def test_what_passes_reaches_the_app_and_what_is_too_much_does_not(front):
    until(lambda: answer(front.address) == 200)
    refused = httpx.post(front.address, content=b"a" * 2000, timeout=WAIT_S)
    assert refused.status_code == 413
    assert refused.json()["error"]["key"] == "problem.too_much"
    assert 0 < front.memory < 100 * 2**20  # neither torch nor Gradio is in it


def test_a_process_that_died_is_followed_by_another(front, capfd):
    until(lambda: answer(front.address) == 200)
    died = front._process.pid
    os.kill(died, signal.SIGKILL)
    until(lambda: front._process.pid != died and answer(front.address) == 200)
    assert "another process does" in capfd.readouterr().err


def test_where_both_are_told_to_end_none_is_begun_again(monkeypatch):
    """As whoever supervises processes tells it: to all of a group, the app and what it began."""
    begins, goes_on = threading.Event(), threading.Event()
    broken: list[object] = []
    monkeypatch.setattr(threading, "excepthook", broken.append)
    monkeypatch.setattr(process, "AGAIN_S", 0)
    made = Front("127.0.0.1", None, "")
    died, begin = made._process, made._begin
    assert died is not None
    assert died.pid

    def held() -> None:
        begins.set()
        goes_on.wait(WAIT_S)
        begin()

    monkeypatch.setattr(made, "_begin", held)
    os.kill(died.pid, signal.SIGTERM)
    assert begins.wait(WAIT_S)
    ending = threading.Thread(target=made.end)
    ending.start()
    time.sleep(0.1)  # it has come as far as it may
    goes_on.set()
    ending.join(WAIT_S)
    followed = made._process
    assert followed is not None
    assert followed is not died
    until(lambda: not followed.is_alive())
    assert not broken


def test_its_port_is_free_once_it_has_ended(front):
    until(lambda: answer(front.address) == 200)
    port, process = int(front.address.rpartition(":")[2]), front._process
    front.end()
    assert not process.is_alive()
    socket.create_server(("127.0.0.1", port)).close()
    front.end()  # twice is once


def test_it_ends_with_an_app_that_was_killed():
    with subprocess.Popen([sys.executable, "-c", BEGINS], stdout=subprocess.PIPE, text=True) as app:
        assert app.stdout
        address = app.stdout.readline().strip()
        begun = psutil.Process(app.pid).children()
        until(lambda: answer(address) == 502)  # it answers, and nobody behind it does
        app.kill()
    psutil.wait_procs(begun, WAIT_S)
    with socket.create_server(("127.0.0.1", int(address.rpartition(":")[2]))):
        pass


def test_control_c_while_it_begins_ends_it_neither_with_a_word_nor_at_all():
    """A terminal tells all processes of it, also one that still loads what it needs; the app ends
    it."""
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    command = [sys.executable, "-c", BEGINS_ALONE]
    with subprocess.Popen(command, text=True, start_new_session=True, **pipes) as app:
        assert app.stdout
        assert app.stdout.readline() == "begun\n"
        for _ in range(50):
            os.killpg(app.pid, signal.SIGINT)
            time.sleep(0.02)
        assert app.communicate(timeout=WAIT_S) == ("", "")


def test_a_port_that_is_taken_is_named():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(OSError, match=f"127.0.0.1 cannot be listened at on port {port}: "):
            Front("127.0.0.1", port, "")


def test_who_comes_before_the_app_answers_waits_for_it():
    front = Front("127.0.0.1", None, "")
    try:
        with pytest.raises(httpx.ReadTimeout):
            httpx.get(front.address, timeout=0.2)
        with served(answers, port=front.app_port):
            front.open()
            assert httpx.get(front.address, timeout=WAIT_S).status_code == 200
    finally:
        front.end()


def test_what_was_never_opened_ends_too():
    front = Front("127.0.0.1", None, "")
    process = front._process
    front.end()
    assert process is not None
    assert not process.is_alive()
