"""A large answer leaves the app piece by piece, and counts until the last one is taken."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.responses import Response, StreamingResponse

from lossprism.explorer.runtime.deployment_policy import HOSTED
from lossprism.explorer.runtime.limits import MIB
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.unsent_response_bytes import UNSENT_BYTES
from lossprism.explorer.web.middleware.large_response_streaming import (
    PIECE_BYTES,
    ResponseStreamingMiddleware,
)

BODY = bytes(range(256)) * (5 * MIB // 2 // 256) + b"the end"


def sent_by(app, path: str, stop_after: int | None = None) -> tuple[list[dict], list[int]]:
    """The messages that the server gets, and how much was counted as it took each; a client that
    reads no more after so many of them."""
    messages: list[dict] = []
    held: list[int] = []

    async def send(message) -> None:
        messages.append(message)
        held.append(UNSENT_BYTES.held)
        if stop_after is not None and len(messages) > stop_after:
            raise OSError("nobody reads")

    async def receive() -> dict:
        await asyncio.Event().wait()  # nobody leaves
        raise AssertionError

    scope = {"type": "http", "path": path, "method": "GET"}
    with ThreadPoolExecutor(1) as apart:  # this thread may have a loop already
        apart.submit(asyncio.run, ResponseStreamingMiddleware(app)(scope, receive, send)).result()
    return messages, held


async def of_gradio(scope, receive, send) -> None:
    await StreamingResponse(iter([BODY, b"small", BODY]))(scope, receive, send)


async def of_a_page(scope, receive, send) -> None:
    await Response(BODY)(scope, receive, send)


@pytest.mark.parametrize(
    ("app", "path", "whole"),
    [
        (of_gradio, "/gradio_api/queue/data", BODY + b"small" + BODY),
        (of_a_page, "/requests/explore/read_file", BODY),
    ],
)
def test_it_arrives_whole_in_pieces_of_which_the_last_one_ends_it(app, path, whole):
    messages, held = sent_by(app, path)
    bodies = [one for one in messages if one["type"] == "http.response.body"]
    assert b"".join(one["body"] for one in bodies) == whole
    assert max(len(one["body"]) for one in bodies) <= PIECE_BYTES
    assert [one.get("more_body", False) for one in bodies] == [True] * (len(bodies) - 1) + [False]
    # A page's is counted where it is made (`explorer.web.page_requests.sent`).
    assert max(held) == (len(BODY) if app is of_gradio else 0)
    assert UNSENT_BYTES.held == 0


def test_what_does_not_fit_beside_others_is_not_sent(monkeypatch):
    monkeypatch.setenv(HOSTED, "1")
    monkeypatch.setenv("LOSSPRISM_ANSWERS_MIB", "4")
    UNSENT_BYTES.take(2 * MIB)
    try:
        with pytest.raises(Problem):
            sent_by(of_gradio, "/gradio_api/queue/data")
        assert UNSENT_BYTES.held == 2 * MIB
    finally:
        UNSENT_BYTES.release(2 * MIB)
    messages, _ = sent_by(of_gradio, "/gradio_api/queue/data")
    assert messages[-1]["more_body"] is False


def test_what_nobody_reads_to_its_end_counts_no_longer():
    with pytest.raises(OSError, match="nobody reads"):
        sent_by(of_gradio, "/gradio_api/queue/data", stop_after=3)
    assert UNSENT_BYTES.held == 0
