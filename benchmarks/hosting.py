"""What visitors of a hosted page feel of each other: ``python -m benchmarks hosting``.

Each visitor has a connection and a key of their own; the times are those of the answers, as they
arrive over the loopback. `--part` chooses what is measured:

* `space`: the start from a clean checkout, as a Space of two cores and 16 GiB
* `slider`: visitors who move a slider twice a second
* `crowd`: the same beside one who trains MiniLM and others who open a million pairs
* `overviews`: sliders beside sixteen who open a million pairs under a hinge loss at once
* `hostile`: many connections, some of them hostile (`benchmarks/hostile.py`)
* `hour`: mixed use for long (`benchmarks/mixed.py`)
* `fuzz`: whatever a stranger sends (`benchmarks/fuzz.py`)
* `faults`: killed, a full disk, spoilt files (`benchmarks/faults.py`)
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import brotli
import httptools
import httpx
import numpy as np
import orjson
import psutil

from benchmarks import report
from benchmarks.interaction import running
from benchmarks.machine import describe
from benchmarks.report import Row
from explorer.lab.training.folder import RunFolder
from explorer.runtime.visitors import new_key
from explorer.sources.model_folders import EMBEDDED
from explorer.web.hosting import HEADER
from explorer.web.pages.finetune.state import first_plan

PAIRS = 64
EVERY_S = 0.5
WAIT_S = 120.0
STEPS_ALONE, COLD = 40, 10  # of which the first are slower: memory and caches are made then
IDLE_S = 4.0  # after which a connection is not relied on: the server closes it
CALL = "/gradio_api/component_server/"
ALONE, CROWDED = "no error, p50 ≤ 150 ms, p95 ≤ 1 s", "no error, p95 ≤ 2 s"
HEADS = ("part", *report.HEADS, "on")
Measured = tuple[str, str, str, str, str]
OVERVIEWS = 16
MILLION = {"kind": "random", "random": {"pairs": 1_000_000}}


@dataclass
class Told:
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

    def hears(self, answer: dict, what: str = "") -> None:
        """A sentence that says why not is wrong here, too."""
        if "error" in answer:
            self.wrong.append(f"{what}{json.dumps(answer['error'])}")


def question(parts: dict[str, int], function: str, request: object) -> dict:
    """What a page sends to call a function of its own."""
    called = {"fn_name": function, "component_id": parts[function]}
    return {**called, "session_hash": "benchmark", "data": request}


class Line:
    """A connection that is kept, and opened again where the server has closed it.

    As little as it takes: a client that does more would take the time that it measures.
    """

    def __init__(self, address: str, key: str) -> None:
        said = urlsplit(address)
        self.host, self.port, self.path = said.hostname or "", said.port, said.path
        self.head = f"Host: {said.netloc}\r\n{HEADER}: {key}\r\nAccept-Encoding: br\r\n"
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
        told = _Heard()
        parser = httptools.HttpResponseParser(told)
        try:
            writer.write(text.encode() + body)
            while not told.whole:
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
        found = b"".join(told.pieces)
        return brotli.decompress(found) if told.packed else found

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


class _Heard:
    """What the parser of an answer has found so far."""

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

    def __init__(self, address: str, parts: dict[str, int]) -> None:
        self.line = Line(address, new_key())
        self.parts = parts
        self.runs: list[str] = []

    async def ask(self, function: str, request: object) -> dict:
        asked = orjson.dumps(question(self.parts, function, request))
        return orjson.loads(await self.line.ask("POST", CALL, asked))

    async def opens(self, path: str) -> bytes:
        return await self.line.ask("GET", path)

    async def move_a_slider(self, told: Told, until: float) -> None:
        """As the page does it: what it has of the batch is not sent again."""
        await asyncio.sleep(random.uniform(0, EVERY_S))
        random_pairs = {"pairs": PAIRS, "seed": random.randrange(2**31)}
        known = ""
        while time.monotonic() < until:
            scene = {
                "data": {"source": "random", "random": random_pairs},
                "parameters": {"scale": round(random.uniform(1, 60), 2)},
            }
            with told.timed():
                answer = await self.ask("explore", {"scenario": scene, "known": known})
                told.hears(answer)
                known = answer.get("batch", {}).get("key", known)
            await asyncio.sleep(max(EVERY_S - told.seconds[-1], 0))

    async def open_a_million(self, loss: str, told: Told, until: float) -> None:
        """Another million pairs as soon as one is open."""
        while time.monotonic() < until:
            source = {**MILLION, "random": {**MILLION["random"], "seed": random.randrange(2**31)}}
            began = time.monotonic()
            while time.monotonic() < until:
                answer = await self.ask("blocks", {"source": source, "loss": loss})
                if "working" not in answer:
                    told.hears(answer)
                    told.seconds.append(time.monotonic() - began)
                    break
                await asyncio.sleep(0.2)

    async def train(self, plan: dict) -> None:
        answer = await self.ask("start", {"plans": [plan]})
        self.runs = answer["started"]

    async def stop(self) -> None:
        """What they train."""
        for run in self.runs:
            await self.ask("steer", {"run": run, "what": "stop"})


async def parts_of(address: str) -> dict[str, int]:
    """By the name of a server function, the component that has it."""
    async with httpx.AsyncClient(base_url=address, timeout=WAIT_S) as client:
        return parts_in((await client.get("/config")).json())


def parts_in(config: dict, page: str = "main") -> dict[str, int]:
    """The same of an app that describes itself so; of functions of one name that of this page."""
    found: dict[str, int] = {}

    def is_elsewhere(component: dict) -> bool:
        return not str(component["props"].get("elem_id")).startswith(f"{page}-")

    for component in sorted(config["components"], key=is_elsewhere):
        for function in component["props"].get("server_fns") or ():
            found.setdefault(function, component["id"])
    return found


async def moved(
    address: str,
    visitors: int,
    seconds: float,
    crowd: int,
    losses: Sequence[str] = ("cosent", "pairwise_hinge"),
    trains: bool = True,
) -> tuple[Told, Told, list[str]]:
    """What visitors feel who move a slider, beside a `crowd` that opens a million pairs each, under
    these losses in turn, and one that trains; the run of that one."""
    parts = await parts_of(address)
    light, heavy = Told(), Told()
    until = time.monotonic() + seconds
    everyone = [Visitor(address, parts) for _ in range(visitors + crowd + 1)]
    work = [one.move_a_slider(light, until) for one in everyone[:visitors]]
    for number, one in enumerate(everyone[visitors : visitors + crowd]):
        work.append(one.open_a_million(losses[number % len(losses)], heavy, until))
    if crowd and trains:
        work.append(everyone[-1].train({**first_plan(), "encoder": EMBEDDED}))
    await asyncio.gather(*work)
    await everyone[-1].stop()
    for one in everyone:
        one.line.close()
    return light, heavy, everyone[-1].runs


async def trained_alone(address: str, data: Path) -> list[float]:
    """The seconds of each warm step of the same training, while nobody else asks for anything."""
    one = Visitor(address, await parts_of(address))
    await one.train({**first_plan(), "encoder": EMBEDDED, "steps": STEPS_ALONE})
    until = time.monotonic() + 10 * WAIT_S
    while len(steps_in(data, one.runs)) < STEPS_ALONE and time.monotonic() < until:
        await asyncio.sleep(0.5)
    one.line.close()
    return steps_in(data, one.runs)[COLD:]


def steps_in(data: Path, runs: list[str]) -> list[float]:
    """The seconds of each step of the run that was begun, as far as it has come."""
    history = RunFolder(data / "runs" / runs[0]).history()
    ends = [record["seconds"] for record in history if record["kind"] == "step"]
    return list(np.diff(ends, prepend=0.0))


def memory_mib(address: str) -> float:
    """What the app holds, as it says itself."""
    return httpx.get(f"{address}/healthz", timeout=WAIT_S).json()["memory_mib"]["own"]


def row(what: str, told: Told, target: str) -> Row:
    if not told.seconds:
        return what, "no answer", target
    p50, p95, most = np.quantile(told.seconds, (0.5, 0.95, 1))
    said = f"p50 {1000 * p50:.0f} ms, p95 {1000 * p95:.0f} ms, at most {most:.1f} s"
    return what, f"{said}; {len(told.seconds)} answers, {len(told.wrong)} errors", target


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks hosting", description=__doc__)
    parser.add_argument("--part", action="append", choices=PARTS, help="all if left out")
    parser.add_argument("--port", type=int, default=7990)
    parser.add_argument("--visitors", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--crowd", type=int, default=1, help="who open a million pairs meanwhile")
    parser.add_argument("--connections", type=int, default=500, help="a tenth of them hostile")
    parser.add_argument("--minutes", type=float, default=60.0, help="of mixed use")
    report.add_option(parser)
    chosen = parser.parse_args(arguments)
    usual = ("visitors", "seconds", "crowd", "connections", "minutes")
    whole = all(getattr(chosen, name) == parser.get_default(name) for name in usual)
    rows: dict[str, list[Measured]] = {}
    for name in [name for name in PARTS if name in (chosen.part or PARTS)]:
        with beside() as others:
            found = PARTS[name](chosen)
        rows[name] = [(name, *row, f"{report.today()}; {others()}") for row in found]
    print(report.table(HEADS, [row for found in rows.values() for row in found]))
    if place := report.folder(chosen, whole):
        table = (HEADS, with_those_of_before(place / "hosting.md", rows))
        report.write(place, "hosting", "A hosted page", describe(), table)


def with_those_of_before(path: Path, rows: dict[str, list[Measured]]) -> list[Measured]:
    """The rows of all parts: of those that were not measured now, those that the file has."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    kept: dict[str, list[Measured]] = {}
    for line in lines:
        part, *rest = (cell.strip() for cell in line.strip("|").split(" | "))
        if part in PARTS and len(rest) == 4:
            kept.setdefault(part, []).append((part, rest[0], rest[1], rest[2], rest[3]))
    return [row for part in PARTS for row in (rows.get(part) or kept.get(part, []))]


@contextlib.contextmanager
def beside() -> Iterator[Callable[[], str]]:
    """What took the cores besides us and processes that we waited for, as a sentence afterwards."""

    def taken() -> tuple[float, float, float]:
        all_, own = psutil.cpu_times(), psutil.Process().cpu_times()
        busy = sum(all_[:8]) - all_.idle - getattr(all_, "iowait", 0)
        return busy, sum(own[:4]), time.monotonic()

    before = after = taken()

    def said() -> str:
        busy, own, seconds = (now - then for now, then in zip(after, before, strict=True))
        return f"other work took {max(busy - own, 0) / seconds:.1f} of the cores"

    yield said
    after = taken()


@contextlib.contextmanager
def hosted(port: int, **environment: str) -> Iterator[tuple[str, Path]]:
    """A hosted app: its address, and the folder that it writes in."""
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        running(port, "--hosted", "--data", folder, **environment) as address,
    ):
        yield address, Path(folder)


def sliders(chosen: argparse.Namespace, crowd: int, target: str) -> list[Row]:
    with hosted(chosen.port) as (address, data):
        (app,) = psutil.Process().children()
        alone = asyncio.run(trained_alone(address, data)) if crowd else []
        rows = [("memory at rest", f"{memory_mib(address):.0f} MiB", "")]
        began = sum(app.cpu_times()[:2])
        light, heavy, runs = asyncio.run(moved(address, chosen.visitors, chosen.seconds, crowd))
        took = 1000 * (sum(app.cpu_times()[:2]) - began) / max(len(light.seconds), 1)
        beside = f", beside one training and {crowd} opening 10⁶ pairs" if crowd else ""
        what = f"{chosen.visitors} visitors, each moving a slider twice a second at N = {PAIRS}"
        rows.append(row(what + beside, light, target))
        for error in sorted(set(light.wrong + heavy.wrong))[:3]:
            print(error, file=sys.stderr)
        if crowd:
            rows.append(row("10⁶ pairs opened meanwhile", heavy, "no error"))
            steps = steps_in(data, runs)[COLD:]
            alone += asyncio.run(trained_alone(address, data))  # before, and again after
            pace = f"{np.median(alone) / np.median(steps):.2f} of that alone before and after; "
            pace += f"{len(steps)} steps beside {len(alone)}, the first {COLD} of each left out"
            rows.append(("the training's pace meanwhile", pace, "≥ 0.5"))
        else:
            rows.append(("of the processor for an answer", f"{took:.1f} ms", ""))
        rows.append(("memory after it", f"{memory_mib(address):.0f} MiB", ""))
    return rows


def overviews(chosen: argparse.Namespace) -> list[Row]:
    """Sixteen who open a million pairs under the loss that takes most memory for it."""
    with hosted(chosen.port) as (address, _):
        (app,) = psutil.Process().children()
        crowd = (OVERVIEWS, ("pairwise_hinge",), False)
        light, heavy, _ = asyncio.run(moved(address, chosen.visitors, chosen.seconds, *crowd))
        for error in sorted(set(light.wrong + heavy.wrong))[:3]:
            print(error, file=sys.stderr)
        beside = f"{chosen.visitors} visitors moving a slider beside {OVERVIEWS} hinge overviews"
        return [
            row(f"{beside} of 10⁶ pairs", light, CROWDED),
            row("those overviews", heavy, "no error"),
            ("memory at its most", f"{most_held_mib(app):.0f} MiB", ""),
        ]


def most_held_mib(process: psutil.Process) -> float:
    """The most that a process has held so far; what it holds, where the system tells no more."""
    try:
        lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    except OSError:
        return process.memory_info().rss / 2**20
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def space(chosen: argparse.Namespace) -> list[Row]:
    from benchmarks import space as part

    return part.rows(chosen.port)


def hostile(chosen: argparse.Namespace) -> list[Row]:
    from benchmarks import hostile as part

    with hosted(chosen.port) as (address, _):
        rows = part.rows(address, chosen.connections, chosen.seconds)
        return [*rows, ("memory after it", f"{memory_mib(address):.0f} MiB", "")]


def hour(chosen: argparse.Namespace) -> list[Row]:
    from benchmarks import mixed as part

    with hosted(chosen.port, **part.TIMES) as (address, data):
        return part.rows(address, data, chosen.minutes)


def fuzz(chosen: argparse.Namespace) -> list[Row]:
    from benchmarks import fuzz as part

    with hosted(chosen.port, **part.ENVIRONMENT) as (address, _):
        (app,) = psutil.Process().children()
        return part.rows(address, app.pid)


def faults(chosen: argparse.Namespace) -> list[Row]:
    from benchmarks import faults as part

    return part.rows(chosen.port)


PARTS: dict[str, Callable[[argparse.Namespace], list[Row]]] = {
    "space": space,
    "slider": lambda chosen: sliders(chosen, 0, ALONE),
    "crowd": lambda chosen: sliders(chosen, chosen.crowd, CROWDED),
    "overviews": overviews,
    "hostile": hostile,
    "hour": hour,
    "fuzz": fuzz,
    "faults": faults,
}
