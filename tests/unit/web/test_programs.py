"""What programs send to a hosted page: none of it is fetched, kept or written to the log, and what
fits no function is answered by a sentence."""

from __future__ import annotations

import asyncio
import gc
import io
import json
import logging
import os
import re
import time
from collections.abc import Callable, Coroutine
from pathlib import Path

import gradio as gr
import httpx
import pytest
from gradio import queueing

from lossprism.explorer.lab.training.plan import SCRATCH, TrainingPlan
from lossprism.explorer.lab.training.run_control import Runs
from lossprism.explorer.locale import say
from lossprism.explorer.runtime import uploads
from lossprism.explorer.runtime.current_visitor import as_visitor
from lossprism.explorer.runtime.limits import MIB
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.unsent_response_bytes import UNSENT_BYTES
from lossprism.explorer.runtime.visitor_key_signing import new_key
from lossprism.explorer.web import site
from lossprism.explorer.web.api import endpoint_functions, gradio_private
from lossprism.explorer.web.middleware.visitor_key import HEADER
from tests.hostile import HALF
from tests.loops import in_loop
from tests.sentences import pattern_of
from tests.unit.lab.training.conftest import corpus

SECRET = "zanzibar"
MINE, OTHER = new_key(), new_key()
GIVEN = ["cosent", [0.5, 0.1], [0, 1], {}, "", None, None, True, None, "keep"]
API = "/gradio_api"
MCP = f"{API}/mcp/"
JSON = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


@pytest.fixture
def log(capfd):
    """All that was written by now, by us or by a library."""
    logged = io.StringIO()
    logging.getLogger().addHandler(handler := logging.StreamHandler(logged))
    yield lambda: capfd.readouterr().err + logged.getvalue()
    logging.getLogger().removeHandler(handler)


def test_a_page_that_nobody_has_open_is_at_rest(monkeypatch):
    """Gradio's two loops look for calls, and for their progress, a thousand times a second."""
    with gr.Blocks() as blocks:
        gradio_private.prepare(blocks)
    queue, pause = blocks._queue, asyncio.sleep

    async def watch(loop: Callable[[], Coroutine]) -> list[float]:
        """The pauses of a loop, of which it makes two hundred."""
        looked, ours = [], asyncio.get_running_loop()

        async def counted(seconds: float) -> None:
            if asyncio.get_running_loop() is not ours:  # a server that another test began
                await pause(seconds)
                return
            looked.append(seconds)
            await pause(0)
            queue.stopped = len(looked) == 200

        queue.stopped = False
        with monkeypatch.context() as patched:
            patched.setattr(queueing.asyncio, "sleep", counted)
            await loop()
        return looked

    for loop in (queue.start_processing, queue.start_progress_updates):
        assert sum(in_loop(watch(loop))) >= 2.0, loop.__name__


def called(name: str, arguments: dict) -> dict:
    return {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": name, "arguments": arguments},
    }


def at_rest(blocks: gr.Blocks, but: int = 0) -> None:
    """Once all that was called is answered, but so many that wait."""
    queue = blocks._queue
    while len(queue) > but or any(job is not None for job in queue.active_jobs):
        time.sleep(0.01)


FILE = {"path": f"/etc/{SECRET}", "meta": {"_type": "gradio.FileData"}, "orig_name": SECRET}
ELSEWHERE = {**FILE, "path": f"http://127.0.0.1:9/{SECRET}", "url": f"http://127.0.0.1:9/{SECRET}"}
UNKNOWN, UNFIT = (pattern_of(f"problem.call_{name}") for name in ("unknown", "arguments"))
# Each with what its answer says.
ASKED: dict[str, tuple[str, str, object, str | re.Pattern]] = {
    "too few": ("POST", "/run/loss_from_scores", {"data": [SECRET]}, "takes 10 values (loss, "),
    "too many": ("POST", "/run/loss_from_scores", {"data": [SECRET] * 30}, "but 30 were sent"),
    "a file": ("POST", "/run/loss_from_scores", {"data": [FILE, *GIVEN[1:]]}, "loss"),
    "one elsewhere": ("POST", "/run/loss_from_scores", {"data": [ELSEWHERE, *GIVEN[1:]]}, "loss"),
    "no such name": (
        "POST",
        "/call/v2/loss_from_scores",
        {SECRET: SECRET},
        "/gradio_api/openapi.json",
    ),
    "one left out": (
        "POST",
        "/call/v2/loss_from_scores",
        {"loss": SECRET},
        "/gradio_api/openapi.json",
    ),
    "half a name": (
        "POST",
        "/call/v2/loss_from_scores",
        {HALF + SECRET: 1},
        "/gradio_api/openapi.json",
    ),
    "no such call": ("GET", f"/call/loss_from_scores/{SECRET}", None, "event: error\ndata: "),
    "no such queue": ("GET", f"/queue/data?session_hash={SECRET}", None, UNKNOWN),
    "no such tool": ("POST", "/mcp/", called(SECRET, {}), "Unknown tool"),
    "no such session": ("POST", f"/mcp/messages/?session_id={SECRET}", {}, "Invalid session"),
    "too deep a tool": ("POST", "/mcp/", "[" * 10**5 + SECRET, "rror"),
    "a link of Gradio's": ("GET", f"/deep_link?session_hash={SECRET}", None, UNKNOWN),
    "a component": ("GET", f"/custom_component/{SECRET}/client/a/b", None, UNKNOWN),
    "a recording": ("POST", "/process_recording", SECRET, UNKNOWN),
}


@pytest.mark.parametrize("what", ASKED)
def test_nothing_that_was_sent_is_written_to_the_log(hosted, log, what):
    method, path, body, message = ASKED[what]
    content = body if isinstance(body, str | None) else json.dumps(body)
    with httpx.Client(base_url=f"{hosted[1]}{API}", headers=JSON, timeout=60) as client:
        answer = client.request(method, path, content=content)
    assert re.search(
        message if isinstance(message, re.Pattern) else re.escape(message), answer.text
    )
    assert "Traceback" not in answer.text
    assert " object at 0x" not in answer.text
    written = log()
    assert SECRET not in written
    assert "Traceback" not in written
    if what != "too deep a tool":  # MCP's own reader tells that one by its place
        assert "  File " not in written


def test_a_queued_call_gets_the_same_report(hosted, log):
    with httpx.Client(base_url=hosted[1], timeout=60) as client:
        body = {"data": [SECRET, FILE]}
        event = client.post(f"{API}/call/loss_from_scores", json=body).json()["event_id"]
        answer = client.get(f"{API}/call/loss_from_scores/{event}").text
    assert "takes 10 values" in answer
    assert SECRET not in log()


def test_nothing_of_a_call_is_kept_for_its_session(hosted):
    (running, address), value = hosted, ""
    with httpx.Client(base_url=address, timeout=60) as client:
        for number in range(site.SESSIONS + 8):
            given = [*GIVEN[:3], {SECRET: 1}, *GIVEN[4:]] if number % 2 else GIVEN
            body = {"data": given, "session_hash": f"session {number}"}
            answer = client.post(f"{API}/run/loss_from_scores", json=body)
            assert ("error" if number % 2 else "data") in answer.json()
            value = value if number % 2 else repr(answer.json()["data"][0]["gradient_norm"])
    known = running.app.state_holder.session_data
    assert len(known) <= site.SESSIONS
    held = [(state.config_values, state.state_data) for state in known.values()]
    assert value
    assert not any(word in repr(held) for word in (SECRET, value))


def test_answers_that_nobody_fetches_leave(hosted):
    blocks, address = hosted[0].app.get_blocks(), hosted[1]
    with httpx.Client(base_url=address, timeout=60) as client:
        for _ in range(gradio_private.UNFETCHED + 8):
            client.post(f"{API}/call/list_losses", json={"data": []})
            at_rest(blocks)
        assert len(blocks._queue.pending_messages_per_session) <= gradio_private.UNFETCHED
        event = client.post(f"{API}/call/list_losses", json={"data": []}).json()["event_id"]
        assert "cosent" in client.get(f"{API}/call/list_losses/{event}").text
    at_rest(blocks)


def test_answers_that_nobody_fetches_count_and_are_refused_when_full(hosted, monkeypatch):
    blocks, address = hosted[0].app.get_blocks(), hosted[1]
    with httpx.Client(base_url=f"{address}{API}/call/list_losses", timeout=60) as client:

        def events(count: int) -> list[str]:
            found = [
                client.post("", json={"data": ["", "full"]}).json()["event_id"]
                for _ in range(count)
            ]
            at_rest(blocks)
            gc.collect()
            return found

        blocks._queue.pending_messages_per_session.clear()
        gc.collect()
        before = UNSENT_BYTES.held
        (event,) = events(1)
        one = UNSENT_BYTES.held - before
        assert one > 10_000
        assert "cosent" in client.get(f"/{event}").text
        gc.collect()
        assert UNSENT_BYTES.held == before
        monkeypatch.setenv("LOSSPRISM_ANSWERS_MIB", str((before + 3.5 * one) / MIB))
        unfetched = events(8)
        assert UNSENT_BYTES.held == before + 3 * one
        assert say("en", "problem.low_memory") in client.get(f"/{unfetched[-1]}").text
        events(gradio_private.UNFETCHED + 1)  # nobody fetches those before them any more
        assert UNSENT_BYTES.held <= before + 3 * one
    blocks._queue.pending_messages_per_session.clear()


def test_calls_that_wait_longer_than_their_place_is_kept_leave_the_others_theirs(hosted):
    blocks, address = hosted[0].app.get_blocks(), hosted[1]
    waiting = blocks._queue.event_queue_per_concurrency_id
    with httpx.Client(base_url=f"{address}{API}/call", timeout=60) as client:

        def called(name: str, given: list[object]) -> httpx.Response:
            return client.post(f"/{name}", json={"data": given})

        def answered(called: httpx.Response) -> str:
            return client.get(f"{called.url.path[len(API) + 5 :]}/{called.json()['event_id']}").text

        assert "value" in answered(called("loss_from_scores", GIVEN))
        (of_losses,) = (
            waiting[one.concurrency_id]
            for one in blocks.fns.values()
            if one.api_name == "loss_from_scores"
        )
        of_losses.current_concurrency += 1  # somebody's call takes long
        kept = [called("loss_from_scores", GIVEN) for _ in range(2)]
        for _ in range(gradio_private.UNFETCHED):
            assert called("list_losses", []).is_success
            at_rest(blocks, but=len(kept))
        of_losses.current_concurrency -= 1
        assert "value" in answered(called("loss_from_scores", GIVEN))
        assert all(one.is_success for one in kept)
    at_rest(blocks)


def test_no_more_calls_wait_for_their_turn_than_there_are_places(hosted, monkeypatch):
    blocks, address = hosted[0].app.get_blocks(), hosted[1]
    with httpx.Client(base_url=address, timeout=60) as client:
        with monkeypatch.context() as patch:
            patch.setattr(blocks._queue, "active_jobs", [[]])  # all have something to do
            codes = [
                client.post(f"{API}/call/list_losses", json={"data": []}).status_code
                for _ in range(gradio_private.UNFETCHED + 2)
            ]
        assert codes == [200] * gradio_private.UNFETCHED + [503, 503]
        at_rest(blocks)
        assert client.post(f"{API}/call/list_losses", json={"data": []}).is_success
    at_rest(blocks)


def test_a_drawn_icon_is_given_at_the_sizes_that_there_are(hosted):
    for size, status in (("192", 200), ("512", 200), ("100000", 404), ("x", 404)):
        answer = httpx.get(f"{hosted[1]}/pwa_icon/{size}")
        assert answer.status_code == status
        assert (answer.headers.get("content-type") == "image/png") == (status == 200)


def test_the_log_of_a_library_is_recognised_by_its_place(hosted, log):
    try:
        raise ValueError(SECRET)
    except ValueError:
        logging.getLogger("mcp").exception("went wrong with %s", SECRET)
        logging.getLogger("mcp").warning(f"odd: {SECRET}")
    written = log()
    assert SECRET not in written
    assert written.count("test_programs.py:") >= 2
    assert "ValueError" in written


def test_a_defect_on_the_way_is_answered(hosted, monkeypatch, log):
    def broken(self):
        raise RuntimeError(SECRET)

    monkeypatch.setattr(type(hosted[0].app), "get_blocks", broken)
    answer = httpx.post(f"{hosted[1]}{API}/run/list_losses", json={"data": []})
    assert answer.status_code == 500
    assert answer.json()["detail"] == str(Problem("internal"))
    written = log()
    assert SECRET not in written
    assert "RuntimeError" in written


def test_a_stranger_is_believed_no_proxy(hosted):
    """Asked at the socket: the server itself reads such headers before the app is asked."""
    values = {"x-forwarded-proto": "https", "x-forwarded-for": "203.0.113.9"}
    cookie = httpx.get(f"{hosted[1]}/", headers=values).headers["set-cookie"]
    assert cookie.startswith("lossprism_key=")
    assert "Secure" not in cookie


@pytest.fixture
def run(hosted, tmp_path, monkeypatch):
    """A run that waits, of whoever has MINE; what it says and where it stands."""
    made = Runs(tmp_path / "runs", device="cpu")
    monkeypatch.setattr(endpoint_functions, "Runs", lambda **_: made)
    plan = TrainingPlan(encoder=SCRATCH, dimension=8, steps=4, batch_size=8, evaluations=1)
    with as_visitor(MINE):
        held = made.prepare(plan, corpus())
        held.take_ticket(os.getpid())
    return held


OF_RUNS = {"training_status": [0, ""], "unshare_training": [""], "stop_training": [""]}


@pytest.mark.parametrize("name", OF_RUNS)
def test_a_program_reaches_no_run_of_another(hosted, run, name):
    """Neither by a call nor as a tool; whoever has it is answered both ways."""
    for key, refused in ((OTHER, True), (MINE, False)):
        headers = {**JSON, HEADER: key}
        with httpx.Client(base_url=f"{hosted[1]}{API}", headers=headers, timeout=60) as client:
            tool = client.post("/mcp/", json=called(name, {"id": run.name})).text
            call = client.post(f"/run/{name}", json={"data": [run.name, *OF_RUNS[name]]})
        assert ('"isError":true' in tool) == refused, tool
        if refused or name != "stop_training":  # which the tool has stopped already
            assert (call.status_code != 200 or "error" in call.json()) == refused, call.text
        assert str(run.path) not in tool + call.text


def test_the_owner_of_a_run_finds_it_by_cookie_or_key(hosted, tmp_path, monkeypatch):
    made = Runs(tmp_path / "runs", device="cpu")
    monkeypatch.setattr(endpoint_functions, "Runs", lambda **_: made)
    monkeypatch.setattr(made, "_spawn", lambda begun, *_: begun.take_ticket(os.getpid()))
    texts = [f"text {i}" for i in range(24)]
    scores = [i % 3 for i in range(24)]
    options = {"steps": 2, "dimension": 8, "batch_size": 4, "evaluations": 1}
    given = ["cosent", texts, texts[::-1], scores, None, SCRATCH, options, "", "", "", None, ""]

    def called_by(client: httpx.Client | None, name: str, *data: object) -> dict:
        url = f"{hosted[1]}{API}/run/{name}"
        post = client.post if client else httpx.post  # which keeps no cookie
        return post(url, json={"data": data}, timeout=60).json()

    with httpx.Client() as mine, httpx.Client() as another:
        for client in (mine, another):
            client.get(f"{hosted[1]}/")
        (began,) = called_by(mine, "start_training", *given, None)["data"]
        assert began["key"] == ""
        (result,) = called_by(mine, "training_status", began["id"], 0, "")["data"]
        assert result["id"] == began["id"]
        refused = called_by(another, "training_status", began["id"], 0, "")
        assert refused["error"] == say("en", "problem.training_no_run", name=began["id"])
    (began,) = called_by(None, "start_training", *given, None)["data"]
    (result,) = called_by(None, "training_status", began["id"], 0, began["key"])["data"]
    assert result["id"] == began["id"]
    refused = called_by(None, "training_status", began["id"], 0, "")
    assert refused["error"] == say("en", "problem.training_no_run", name=began["id"])


def test_no_file_of_another_is_served(hosted, run):
    with as_visitor(MINE):
        upload = uploads.find(uploads.put(SECRET.encode(), "a.csv"))
    assert upload is not None
    kept = [path for path in run.path.rglob("*") if path.is_file()]
    assert kept
    for path in (upload, *kept, Path("/etc/passwd")):
        for key in (OTHER, MINE):
            for place in (f"{API}/file={path}", f"/file={path}"):
                answer = httpx.get(f"{hosted[1]}{place}", headers={HEADER: key}, timeout=60)
                assert answer.status_code in (403, 404), place
                assert SECRET not in answer.text.replace(str(path), "")
