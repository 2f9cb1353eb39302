"""What visitors of a hosted page feel of each other: ``python -m benchmarks hosting``.

Each visitor has a connection and a key of their own; the times are those of the answers, as they
arrive over the loopback. `--part` chooses what is measured:

* `space`: the start from a clean checkout, as a Space of two cores and 16 GiB
* `slider`: visitors who move a slider twice a second
* `crowd`: the same beside one who trains and others who open a million pairs
* `hostile`: many connections, some of them hostile (`benchmarks/hostile.py`)
* `hour`: mixed use for long (`benchmarks/mixed.py`)
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
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import numpy as np

from benchmarks import report
from benchmarks.interaction import running
from benchmarks.machine import describe
from benchmarks.report import Row
from explorer.runtime.visitors import new_key
from explorer.web.hosting import HEADER

PAIRS = 64
EVERY_S = 0.5
WAIT_S = 120.0
CALL = "/gradio_api/component_server/"
ALONE, CROWDED = "no error, p50 ≤ 150 ms, p95 ≤ 1 s", "no error, p95 ≤ 2 s"
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
        except httpx.HTTPError as error:
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


class Visitor:
    """Somebody with a key, who asks the functions of the page's instruments."""

    def __init__(self, address: str, parts: dict[str, int]) -> None:
        self.client = httpx.AsyncClient(
            base_url=address, headers={HEADER: new_key()}, timeout=WAIT_S
        )
        self.parts = parts

    async def ask(self, function: str, request: object) -> dict:
        answer = await self.client.post(CALL, json=question(self.parts, function, request))
        answer.raise_for_status()
        return answer.json()

    async def move_a_slider(self, told: Told, until: float) -> None:
        await asyncio.sleep(random.uniform(0, EVERY_S))
        random_pairs = {"pairs": PAIRS, "seed": random.randrange(2**31)}
        while time.monotonic() < until:
            scene = {
                "data": {"source": "random", "random": random_pairs},
                "parameters": {"scale": round(random.uniform(1, 60), 2)},
            }
            with told.timed():
                told.hears(await self.ask("explore", {"scenario": scene}))
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
        await self.ask("start", {"plans": [plan]})


async def parts_of(address: str) -> dict[str, int]:
    """By the name of a server function, the component that has it."""
    async with httpx.AsyncClient(base_url=address, timeout=WAIT_S) as client:
        return parts_in((await client.get("/config")).json())


def parts_in(config: dict) -> dict[str, int]:
    """The same of a page that describes itself so."""
    found: dict[str, int] = {}
    for component in config["components"]:
        for function in component["props"].get("server_fns") or ():
            found.setdefault(function, component["id"])
    return found


async def moved(address: str, visitors: int, seconds: float, crowd: int) -> tuple[Told, Told]:
    """What visitors feel who move a slider, beside a `crowd` that opens a million pairs each and
    one that trains."""
    parts = await parts_of(address)
    light, heavy = Told(), Told()
    until = time.monotonic() + seconds
    everyone = [Visitor(address, parts) for _ in range(visitors + crowd + 1)]
    losses = ("cosent", "pairwise_hinge")
    work = [one.move_a_slider(light, until) for one in everyone[:visitors]]
    for number, one in enumerate(everyone[visitors : visitors + crowd]):
        work.append(one.open_a_million(losses[number % 2], heavy, until))
    if crowd:
        from explorer.web.pages.finetune.state import first_plan

        work.append(everyone[-1].train(first_plan()))
    await asyncio.gather(*work)
    for one in everyone:
        await one.client.aclose()
    return light, heavy


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
    whole = all(
        getattr(chosen, name) == parser.get_default(name)
        for name in ("part", "visitors", "seconds", "crowd", "connections", "minutes")
    )
    parts = [PARTS[name] for name in PARTS if name in (chosen.part or PARTS)]
    rows = [row for measured in parts for row in measured(chosen)]
    print(report.table(report.HEADS, rows))
    if place := report.folder(chosen, whole):
        report.write(place, "hosting", "A hosted page", describe(), (report.HEADS, rows))


@contextlib.contextmanager
def hosted(port: int, **environment: str) -> Iterator[tuple[str, Path]]:
    """A hosted app: its address, and the folder that it writes in."""
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        running(port, "--hosted", "--data", folder, **environment) as address,
    ):
        yield address, Path(folder)


def sliders(chosen: argparse.Namespace, crowd: int, target: str) -> list[Row]:
    with hosted(chosen.port) as (address, _):
        rows = [("memory at rest", f"{memory_mib(address):.0f} MiB", "")]
        light, heavy = asyncio.run(moved(address, chosen.visitors, chosen.seconds, crowd))
        beside = f", beside one training and {crowd} opening 10⁶ pairs" if crowd else ""
        what = f"{chosen.visitors} visitors, each moving a slider twice a second at N = {PAIRS}"
        rows.append(row(what + beside, light, target))
        for error in sorted(set(light.wrong + heavy.wrong))[:3]:
            print(error, file=sys.stderr)
        if crowd:
            rows.append(row("10⁶ pairs opened meanwhile", heavy, "no error"))
        rows.append(("memory after it", f"{memory_mib(address):.0f} MiB", ""))
    return rows


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


def faults(chosen: argparse.Namespace) -> list[Row]:
    from benchmarks import faults as part

    return part.rows(chosen.port)


PARTS: dict[str, Callable[[argparse.Namespace], list[Row]]] = {
    "space": space,
    "slider": lambda chosen: sliders(chosen, 0, ALONE),
    "crowd": lambda chosen: sliders(chosen, chosen.crowd, CROWDED),
    "hostile": hostile,
    "hour": hour,
    "faults": faults,
}
