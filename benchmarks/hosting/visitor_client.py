"""Visitors of a hosted page, each with a connection and a key of their own, and what they are
answered: what all parts of ``python -m benchmarks hosting`` ask with."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import brotli
import httptools
import httpx
import numpy as np
import orjson

from benchmarks.report import Row
from lossprism.explorer.runtime.visitor_key_signing import new_key
from lossprism.explorer.web.middleware.visitor_key import HEADER

PAIRS = 64
EVERY_S = 0.5
WAIT_S = 120.0
IDLE_S = 4.0  # after which a connection is not relied on: the server closes it
FUNCTIONS = re.compile(r'data-folder="(\w+)" data-functions="([^"]*)"')
MILLION = {"kind": "random", "random": {"pairs": 1_000_000}}


@dataclass
class Answers:
    """The seconds of each answer, and what was no answer."""

    seconds: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    @contextlib.contextmanager
    def timed(self, what: str = "") -> Iterator[None]:
        """Time what is done inside; where no answer came that is wrong."""
        began = time.monotonic()
        try:
            yield
        except OSError as error:
            self.wrong.append(f"{what}{error!r}")
        self.seconds.append(time.monotonic() - began)

    def add(self, answer: dict, what: str = "") -> None:
        """A sentence that says why not is wrong here, too."""
        if "error" in answer:
            self.wrong.append(f"{what}{json.dumps(answer['error'])}")


class Line:
    """A connection that is kept, and opened again where the server has closed it.

    As little as it takes: a client that does more would take the time that it measures.
    """

    def __init__(self, address: str, key: str) -> None:
        parts = urlsplit(address)
        self.host, self.port, self.path = parts.hostname or "", parts.port, parts.path
        self.head = f"Host: {parts.netloc}\r\n{HEADER}: {key}\r\nAccept-Encoding: br\r\n"
        self.last = 0.0
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str, body: bytes = b"") -> bytes:
        """The body of the answer. Raises OSError where none comes or it is none of success."""
        kind = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n" if body else ""
        text = f"{method} {self.path}{path} HTTP/1.1\r\n{self.head}{kind}\r\n"
        if time.monotonic() - self.last > IDLE_S:
            self.close()
        if self._streams is None:
            self._streams = await asyncio.open_connection(self.host, self.port, limit=2**20)
        reader, writer = self._streams
        received = _ReceivedAnswer()
        parser = httptools.HttpResponseParser(received)
        try:
            writer.write(text.encode() + body)
            while not received.whole:
                piece = await asyncio.wait_for(reader.read(2**20), WAIT_S)
                if not piece:
                    raise ConnectionError("closed before the answer's end")
                parser.feed_data(piece)
        except (TimeoutError, ConnectionError, httptools.HttpParserError) as error:
            self.close()
            raise OSError(f"{path}: {error!r}") from error
        self.last = time.monotonic()
        if not parser.should_keep_alive():
            self.close()
        if not 200 <= parser.get_status_code() < 300:
            raise OSError(f"{path}: status {parser.get_status_code()}")
        found = b"".join(received.pieces)
        return brotli.decompress(found) if received.packed else found

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


class _ReceivedAnswer:
    """Parts of an answer that the parser has received."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.packed = self.whole = False

    def on_header(self, name: bytes, value: bytes) -> None:
        self.packed |= name.lower() == b"content-encoding" and value == b"br"

    def on_body(self, piece: bytes) -> None:
        self.pieces.append(piece)

    def on_message_complete(self) -> None:
        self.whole = True


class Visitor:
    """Somebody with a key, who asks the functions of the page's instruments."""

    def __init__(self, address: str, paths: dict[str, str]) -> None:
        self.line = Line(address, new_key())
        self.paths = paths
        self.runs: list[str] = []

    async def ask(self, function: str, request: object) -> dict:
        body = orjson.dumps(request)
        return orjson.loads(await self.line.ask("POST", self.paths[function], body))

    async def opens(self, path: str) -> bytes:
        return await self.line.ask("GET", path)

    async def move_a_slider(self, answers: Answers, until: float) -> None:
        """Move a slider as the page does, which receives the facts of its batch only once."""
        await asyncio.sleep(random.uniform(0, EVERY_S))
        random_pairs = {"pairs": PAIRS, "seed": random.randrange(2**31)}
        known = ""
        while time.monotonic() < until:
            scenario = {
                "data": {"source": "random", "random": random_pairs},
                "parameters": {"scale": round(random.uniform(1, 60), 2)},
            }
            with answers.timed():
                answer = await self.ask("explore", {"scenario": scenario, "known": known})
                answers.add(answer)
                known = answer.get("batch", {}).get("key", known)
            await asyncio.sleep(max(EVERY_S - answers.seconds[-1], 0))

    async def open_a_million(self, loss: str, answers: Answers, until: float) -> None:
        """Another million pairs as soon as one is open."""
        while time.monotonic() < until:
            source = {**MILLION, "random": {**MILLION["random"], "seed": random.randrange(2**31)}}
            began = time.monotonic()
            while time.monotonic() < until:
                answer = await self.ask("blocks", {"source": source, "loss": loss})
                if "working" not in answer:
                    answers.add(answer)
                    answers.seconds.append(time.monotonic() - began)
                    break
                await asyncio.sleep(0.2)

    async def train(self, plan: dict) -> None:
        answer = await self.ask("start", {"plans": [plan]})
        self.runs = answer["started"]

    async def stop(self) -> None:
        """Stop their trainings."""
        for run in self.runs:
            await self.ask("steer", {"run": run, "what": "stop"})


def served_paths(client: httpx.Client) -> dict[tuple[str, str], str]:
    """By the folder of a page and the name of each function that it may call, where it does."""
    from lossprism.explorer.web.site import (
        PAGES,  # loads Gradio, which most of a benchmark does not need
    )

    found: dict[tuple[str, str], str] = {}
    for page, *_ in PAGES:
        html = FUNCTIONS.search(client.get(f"/{page}").text)
        if html is None:
            raise RuntimeError(f"the page /{page} names no functions")
        folder, names = html.groups()
        found |= {(folder, name): f"/requests/{folder}/{name}" for name in names.split()}
    return found


def paths_of(address: str, first: str = "explore") -> dict[str, str]:
    """By the name of a function where it is called; of one that several pages have, that of the
    page `first`."""
    with httpx.Client(base_url=address, timeout=WAIT_S) as client:
        found = served_paths(client)
    ordered = sorted(found, key=lambda one: one[0] == first)
    return {name: found[folder, name] for folder, name in ordered}


def memory_mib(address: str) -> float:
    """Return the memory of the app, as it reports it."""
    return httpx.get(f"{address}/healthz", timeout=WAIT_S).json()["memory_mib"]["own"]


def row(what: str, answers: Answers, target: str) -> Row:
    if not answers.seconds:
        return what, "no answer", target
    p50, p95, most = np.quantile(answers.seconds, (0.5, 0.95, 1))
    measured = f"p50 {1000 * p50:.0f} ms, p95 {1000 * p95:.0f} ms, at most {most:.1f} s"
    return what, f"{measured}; {len(answers.seconds)} answers, {len(answers.wrong)} errors", target
