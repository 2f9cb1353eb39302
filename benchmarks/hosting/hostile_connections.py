"""Many connections at once, some of them hostile: the part `hostile` of ``python -m benchmarks
hosting``.

Most open the page and then look at small batches, each on a connection of its own. The others send
bodies a byte at a time, bodies of gigabytes, values of wrong types, deep nesting, and floods under
one key; small files that unpack to millions of rows, texts of nothing but quotes, and small
questions that take long, more at once than the app has threads, and leave before they are answered.
A refusal is timed from when as much was sent as is needed to refuse it.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import functools
import io
import json
import random
import time
from urllib.parse import urlsplit

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from benchmarks.hosting.visitor_client import WAIT_S, Answers, Visitor, paths_of, row
from benchmarks.report import Row
from lossprism.explorer.runtime.visitor_key_signing import new_key
from lossprism.explorer.web.middleware.visitor_key import HEADER

CONNECTIONS, SHARE = 500, 0.1
EVERY_S = 15.0  # between two looks of one visitor
PAUSE_S = 0.5
GIB, PIECE = 2**30, 2**20
REFUSED_S = "≤ 50 ms"
LEFT_S = 20.0  # after which nobody waits for the answer to a costly question any more
AT_ONCE = 44  # of them under one key
HEAD, LINES = "sentence1,sentence2,score\n", 60_000
ROWS = 4_000_000
SIDES = ("cosent", "info_nce", "triplet", "siglip", "lifted", "circle")
WRONG = (None, True, -1, 1e308, 10**400, "a" * 100_000, [], [[[]]], {"data": {"source": 1}})


class Hostile:
    """Somebody who is refused again and again, and how long each refusal took."""

    def __init__(self, address: str, paths: dict[str, str], unread: Answers, read: Answers) -> None:
        parts = urlsplit(address)
        self.host, self.port = parts.hostname, parts.port
        self.key, self.paths = new_key(), paths
        self.unread, self.read = unread, read

    def head(self, more: str, function: str = "explore") -> bytes:
        lines = [
            f"POST {self.paths[function]} HTTP/1.1",
            f"Host: {self.host}",
            f"{HEADER}: {self.key}",
        ]
        return "\r\n".join([*lines, "Content-Type: application/json", more, "", ""]).encode()

    async def sends(self, more: str, pieces: list[bytes], function: str = "explore") -> None:
        """A request of its own connection; what comes back is a refusal, at once."""
        reader, writer = await asyncio.open_connection(self.host, self.port)
        try:
            writer.write(self.head(more, function))
            for piece in pieces:
                writer.write(piece)
                with contextlib.suppress(ConnectionError):  # it was refused before its end
                    await writer.drain()
            began = time.monotonic()
            answer = await asyncio.wait_for(reader.read(2000), WAIT_S)
            unread = b"problem.too_" in answer
            answers = self.unread if unread else self.read
            answers.seconds.append(time.monotonic() - began)
            if not answer.startswith((b"HTTP/1.1 4", b"HTTP/1.1 200")):
                answers.wrong.append(answer[:100].decode("latin-1") or "cut off")
        except ConnectionError:
            pass  # cut off while it sent: no answer, and none is owed
        finally:
            writer.close()

    async def slow(self, until: float) -> None:
        """A byte a second, of a megabyte; the connection is given up with the part."""
        while time.monotonic() < until:
            reader, writer = await asyncio.open_connection(self.host, self.port)
            writer.write(self.head("Content-Length: 1000000"))
            with contextlib.suppress(ConnectionError):
                while time.monotonic() < until and not reader.at_eof():
                    writer.write(b" ")
                    await writer.drain()
                    await asyncio.sleep(1.0)
            writer.close()

    async def announces(self, until: float) -> None:
        while time.monotonic() < until:
            await self.sends(f"Content-Length: {10 * GIB}", [])
            await asyncio.sleep(PAUSE_S)

    async def streams(self, until: float) -> None:
        """Unannounced, until more came than is taken."""
        piece = b"%x\r\n" % PIECE + b" " * PIECE + b"\r\n"
        while time.monotonic() < until:
            await self.sends("Transfer-Encoding: chunked", [piece] * 34)
            await asyncio.sleep(10 * PAUSE_S)

    async def misfits(self, until: float) -> None:
        names = ("explore", "statistics", "sweep", "link", "hand_in", "start", "blocks", "judge")
        while time.monotonic() < until:
            function = random.choice(names)
            text = json.dumps(random.choice(WRONG)).encode()
            await self.sends(f"Content-Length: {len(text)}", [text], function)
            await asyncio.sleep(PAUSE_S)

    async def nests(self, until: float) -> None:
        while time.monotonic() < until:
            text = b'{"data": ' + b"[" * 200_000
            await self.sends(f"Content-Length: {len(text)}", [text])
            await asyncio.sleep(PAUSE_S)

    async def leaves(self, function: str, text: bytes) -> None:
        """A costly question, whose answer is waited for only so long."""
        reader, writer = await asyncio.open_connection(self.host, self.port)
        with contextlib.suppress(ConnectionError, TimeoutError):
            writer.write(self.head(f"Content-Length: {len(text)}", function) + text)
            await writer.drain()
            await asyncio.wait_for(reader.read(2000), LEFT_S)
        writer.close()

    async def costs(self, until: float, requests: list[tuple[str, dict]]) -> None:
        """These questions, so many at once, and again as soon as all are answered or given up."""
        texts = [(function, json.dumps(request).encode()) for function, request in requests]
        while time.monotonic() < until:
            some = (texts[number % len(texts)] for number in range(AT_ONCE))
            await asyncio.gather(*(self.leaves(*one) for one in some))

    async def unpacks(self, until: float) -> None:
        await self.costs(until, [("read_file", file) for file in odd_files()])

    async def ponders(self, until: float) -> None:
        """Request the slowest losses on as many pairs as a page takes."""
        sides = [{"loss": loss, "convention": "", "parameters": {}} for loss in SIDES]
        drawn = {"pairs": 512, "dimension": 64, "labels": "graded"}
        data = {"source": "random", "random": {**drawn, "seed": random.randrange(2**31)}}
        scenario = {"scenario": {"loss": "triplet", "data": data}}
        requests = [
            ("explore", scenario),
            ("parity", {**scenario, "sides": sides}),
            ("collapse", {**scenario, "sides": sides, "points": 200}),
            ("compare", {**scenario, "sides": sides}),
        ]
        await self.costs(until, requests)

    async def floods(self, until: float) -> None:
        """Send requests without pause, ten at a time, under one key."""
        text = json.dumps("a link").encode()

        async def flood() -> None:
            while time.monotonic() < until:
                more = f"Content-Length: {len(text)}\r\nConnection: close"
                await self.sends(more, [text], "open_link")

        await asyncio.gather(*(flood() for _ in range(10)))


@functools.cache
def odd_files() -> list[dict]:
    """Upload files as a page does, before times are measured."""
    texts = (HEAD + 'b","\n' * LINES, HEAD + '"\n","\n' * LINES)
    contents = (unpacking(ROWS), *(text.encode() for text in texts))
    names = ("a.parquet", "chained.csv", "alternating.csv")
    return [
        {"name": name, "content": base64.b64encode(content).decode()}
        for name, content in zip(names, contents, strict=True)
    ]


def unpacking(rows: int) -> bytes:
    """A small Parquet file of so many rows, all of the same words."""
    places = pa.array(np.zeros(rows, dtype=np.int32))
    words = (pa.DictionaryArray.from_arrays(places, pa.array([letter * 50])) for letter in "xy")
    into = io.BytesIO()
    table = pa.table({**dict(zip(("sentence1", "sentence2"), words, strict=True))})
    pyarrow.parquet.write_table(table, into, compression="zstd")
    return into.getvalue()


async def watches(visitor: Visitor, answers: Answers, until: float) -> None:
    """Check periodically whether the app is alive, as its host does."""
    while time.monotonic() < until:
        with answers.timed():
            await visitor.opens("/healthz")
        await asyncio.sleep(PAUSE_S)


async def looks(visitor: Visitor, answers: Answers, until: float) -> None:
    """The page, and then a small batch now and again."""
    await asyncio.sleep(random.uniform(0, EVERY_S))
    drawn = {"pairs": 16, "seed": random.randrange(2**31)}
    while time.monotonic() < until:
        scenario = {"data": {"source": "random", "random": drawn}}
        with answers.timed():
            await visitor.opens("/")
            answers.add(await visitor.ask("explore", {"scenario": scenario}))
        await asyncio.sleep(EVERY_S)


async def crowded(
    address: str, connections: int, seconds: float
) -> tuple[Answers, Answers, Answers, Answers]:
    """Answers to the visitors, to the hostile ones before and after reading, and to the checks of
    health."""
    paths = paths_of(address)
    answered, unread, read, alive = Answers(), Answers(), Answers(), Answers()
    bad = round(SHARE * connections)
    until = time.monotonic() + seconds
    visitors = [Visitor(address, paths) for _ in range(connections - bad)]
    work = [looks(one, answered, until) for one in visitors]
    for number in range(bad):
        one = Hostile(address, paths, unread, read)
        kinds = (one.slow, one.announces, one.misfits, one.slow, one.nests, one.streams)
        kinds = (one.unpacks, one.ponders, *kinds)
        work.append(one.floods(until) if number == 0 else kinds[number % len(kinds)](until))
    watching = Visitor(address, paths)
    await asyncio.gather(*work, watches(watching, alive, until))
    for one in (*visitors, watching):
        one.line.close()
    return answered, unread, read, alive


def rows(address: str, connections: int, seconds: float) -> list[Row]:
    odd_files()
    answered, unread, read, alive = asyncio.run(crowded(address, connections, seconds))
    for error in sorted(set(answered.wrong + unread.wrong + read.wrong + alive.wrong))[:5]:
        print(error)
    bad = round(SHARE * connections)
    what = f"{connections} connections, {bad} of them hostile: the page and a picture"
    return [
        row(what, answered, "no error: it answers throughout"),
        row("what is too large, too slow or too often is refused", unread, REFUSED_S),
        row("what fits no function is refused, or answered", read, ""),
        row("/healthz beside it", alive, "no error"),
    ]
