"""Visitors of a hosted page, as the benchmark plays them."""

from __future__ import annotations

import asyncio
import json

import brotli
import pytest

from benchmarks import report
from benchmarks.hosting.all_parts import HEADS, with_those_of_before
from benchmarks.hosting.hostile_connections import unpacking
from benchmarks.hosting.visitor_client import Line
from lossprism.explorer.runtime.limits import HEAVY_FILE_BYTES
from lossprism.explorer.sources.parquet import unpacked_bytes
from tests.loops import in_loop


@pytest.mark.parametrize("kind", ["sized", "packed", "chunked", "closed"])
def test_a_line_reads_answers_of_every_kind_and_is_kept(kind):
    body, requested = json.dumps({"a": "b" * 5000}).encode(), []

    async def answer(reader, writer):
        while head := await reader.read(2000):
            requested.append(head)
            message = brotli.compress(body) if kind == "packed" else body
            lines = {
                "sized": b"Content-Length: %d\r\n\r\n" % len(message),
                "packed": b"content-encoding: br\r\ncontent-length: %d\r\n\r\n" % len(message),
                "chunked": b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % len(message),
                "closed": b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(message),
            }
            writer.write(b"HTTP/1.1 200 OK\r\n" + lines[kind] + message)
            if kind == "chunked":
                writer.write(b"\r\n0\r\n\r\n")
            if kind == "closed":
                break
        writer.close()

    async def both() -> list[bytes]:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        line = Line(f"http://127.0.0.1:{port}/below", "key")
        found = [await line.ask("POST", "/x", b"{}"), await line.ask("GET", "/y")]
        line.close()
        server.close()
        return found

    assert in_loop(both()) == [body, body]
    assert requested[0].startswith(b"POST /below/x HTTP/1.1\r\nHost: 127.0.0.1:")
    assert requested[0].endswith(b"Content-Length: 2\r\n\r\n{}")
    assert requested[1].startswith(b"GET /below/y HTTP/1.1\r\n")


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n", "status 500"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", "closed before"),
        (b"nonsense\r\n\r\n", "HttpParser"),
    ],
)
def test_what_is_no_answer_is_an_error(message, expected):
    async def answer(reader, writer):
        await reader.read(2000)
        writer.write(message)
        writer.close()

    async def asks() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        try:
            await Line(f"http://127.0.0.1:{port}", "key").ask("GET", "/")
        finally:
            server.close()

    with pytest.raises(OSError, match=expected):
        in_loop(asks())


def test_parts_that_were_not_measured_now_stay_as_they_were(tmp_path):
    rows = [(part, "what", "1 ms", "≤ 2 ms", "yesterday") for part in ("slider", "hour")]
    rows.append(("hour", "files", "none", "", "yesterday"))
    report.write(tmp_path, "hosting", "A hosted page", "a machine", (HEADS, rows))
    again = [("slider", "what", "3 ms", "≤ 2 ms", "today")]
    found = with_those_of_before(tmp_path / "hosting.md", {"slider": again})
    assert found == [*again, *rows[1:]]
    assert with_those_of_before(tmp_path / "none.md", {"slider": again}) == again


def test_the_small_file_of_the_hostile_unpacks_to_much():
    data = unpacking(100_000)
    assert len(data) < 2**15
    assert unpacked_bytes(data) > HEAVY_FILE_BYTES
