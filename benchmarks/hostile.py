"""Many connections at once, some of them hostile: the part `hostile` of ``python -m benchmarks
hosting``.

Most open the page and then look at small batches, each on a connection of its own. The others send
bodies a byte at a time, bodies of gigabytes, values of wrong types, deep nesting, and floods under
one key. A refusal is timed from when as much was sent as is needed to refuse it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import time
from urllib.parse import urlsplit

from benchmarks.report import Row
from benchmarks.visitors import CALL, WAIT_S, Answers, Visitor, parts_of, question, row
from explorer.runtime.visitors import new_key
from explorer.web.hosting import HEADER

CONNECTIONS, SHARE = 500, 0.1
EVERY_S = 15.0  # between two looks of one visitor
PAUSE_S = 0.5
GIB, PIECE = 2**30, 2**20
REFUSED_S = "≤ 50 ms"
WRONG = (None, True, -1, 1e308, 10**400, "a" * 100_000, [], [[[]]], {"data": {"source": 1}})


class Hostile:
    """Somebody who is refused again and again, and how long each refusal took."""

    def __init__(self, address: str, parts: dict[str, int], unread: Answers, read: Answers) -> None:
        said = urlsplit(address)
        self.host, self.port = said.hostname, said.port
        self.key, self.parts = new_key(), parts
        self.unread, self.read = unread, read

    def head(self, more: str) -> bytes:
        lines = [f"POST {CALL} HTTP/1.1", f"Host: {self.host}", f"{HEADER}: {self.key}"]
        return "\r\n".join([*lines, "Content-Type: application/json", more, "", ""]).encode()

    async def sends(self, head: str, pieces: list[bytes], between: float = 0.0) -> None:
        """A request of its own connection; what comes back is a refusal, at once."""
        reader, writer = await asyncio.open_connection(self.host, self.port)
        try:
            writer.write(self.head(head))
            for piece in pieces:
                writer.write(piece)
                with contextlib.suppress(ConnectionError):  # it was refused before its end
                    await writer.drain()
                if between:
                    await asyncio.sleep(between)
            began = time.monotonic()
            answer = await asyncio.wait_for(reader.read(2000), WAIT_S)
            unread = b"problem.too_" in answer
            told = self.unread if unread else self.read
            told.seconds.append(time.monotonic() - began)
            if not answer.startswith((b"HTTP/1.1 4", b"HTTP/1.1 200")):
                told.wrong.append(answer[:100].decode("latin-1") or "cut off")
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
            text = json.dumps(question(self.parts, function, random.choice(WRONG))).encode()
            await self.sends(f"Content-Length: {len(text)}", [text])
            await asyncio.sleep(PAUSE_S)

    async def nests(self, until: float) -> None:
        while time.monotonic() < until:
            text = b'{"data": ' + b"[" * 200_000
            await self.sends(f"Content-Length: {len(text)}", [text])
            await asyncio.sleep(PAUSE_S)

    async def floods(self, until: float) -> None:
        """As fast as answers come, ten at a time, under one key."""
        text = json.dumps(question(self.parts, "open_link", "a link")).encode()

        async def flood() -> None:
            while time.monotonic() < until:
                await self.sends(f"Content-Length: {len(text)}\r\nConnection: close", [text])

        await asyncio.gather(*(flood() for _ in range(10)))


async def looks(visitor: Visitor, told: Answers, until: float) -> None:
    """The page, and then a small batch now and again."""
    await asyncio.sleep(random.uniform(0, EVERY_S))
    drawn = {"pairs": 16, "seed": random.randrange(2**31)}
    while time.monotonic() < until:
        scene = {"data": {"source": "random", "random": drawn}}
        with told.timed():
            await visitor.opens("/")
            told.hears(await visitor.ask("explore", {"scenario": scene}))
        await asyncio.sleep(EVERY_S)


async def crowded(
    address: str, connections: int, seconds: float
) -> tuple[Answers, Answers, Answers]:
    """What the visitors were answered; the hostile ones, before it was read and after."""
    parts = await parts_of(address)
    answered, unread, read = Answers(), Answers(), Answers()
    bad = round(SHARE * connections)
    until = time.monotonic() + seconds
    visitors = [Visitor(address, parts) for _ in range(connections - bad)]
    work = [looks(one, answered, until) for one in visitors]
    for number in range(bad):
        one = Hostile(address, parts, unread, read)
        kinds = (one.slow, one.announces, one.misfits, one.slow, one.nests, one.streams)
        work.append(one.floods(until) if number == 0 else kinds[number % len(kinds)](until))
    await asyncio.gather(*work)
    for one in visitors:
        one.line.close()
    return answered, unread, read


def rows(address: str, connections: int, seconds: float) -> list[Row]:
    answered, unread, read = asyncio.run(crowded(address, connections, seconds))
    for error in sorted(set(answered.wrong + unread.wrong + read.wrong))[:5]:
        print(error)
    bad = round(SHARE * connections)
    what = f"{connections} connections, {bad} of them hostile: the page and a picture"
    return [
        row(what, answered, "no error: it answers throughout"),
        row("what is too large, too slow or too often is refused", unread, REFUSED_S),
        row("what fits no function is refused, or answered", read, ""),
    ]
