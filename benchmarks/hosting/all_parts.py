"""Response times of visitors of a hosted page beside each other: ``python -m benchmarks hosting``.

Each visitor has a connection and a key of their own; the times are those of the answers, as they
arrive over the loopback. `--part` chooses what is measured:

* `space`: the start from a clean checkout, as a Space of two cores and 16 GiB
* `slider`: visitors who move a slider twice a second
* `crowd`: the same beside one who trains MiniLM and others who open a million pairs
* `overviews`: sliders beside sixteen who open a million pairs under a hinge loss at once
* `hostile`: many connections, some of them hostile (`benchmarks/hosting/hostile_connections.py`)
* `hour`: mixed use for long (`benchmarks/hosting/mixed_use.py`)
* `fuzz`: whatever a stranger sends (`benchmarks/hosting/malformed_requests.py`)
* `faults`: killed, a full disk, spoilt files (`benchmarks/hosting/crashes_and_full_disks.py`)
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import psutil

from benchmarks import report
from benchmarks.app_in_browser import app_process, running
from benchmarks.hosting.visitor_client import (
    PAIRS,
    WAIT_S,
    Answers,
    Visitor,
    memory_mib,
    paths_of,
    row,
)
from benchmarks.machine import describe
from benchmarks.report import Row
from lossprism.explorer.lab.training.run_folder import RunFolder
from lossprism.explorer.runtime.visitor_key_signing import key_secret
from lossprism.explorer.sources.encoders import EMBEDDED
from lossprism.explorer.web.pages.finetune.state_entries import first_plan
from tests import nginx_server

STEPS_ALONE, COLD = 40, 10  # of which the first are slower: memory and caches are made then
ALONE, CROWDED = "no error, p50 ≤ 150 ms, p95 ≤ 1 s", "no error, p95 ≤ 2 s"
HEADS = ("part", *report.HEADS, "on")
Measured = tuple[str, str, str, str, str]
OVERVIEWS = 16


async def moved(
    address: str,
    visitors: int,
    seconds: float,
    crowd: int,
    losses: Sequence[str] = ("cosent", "pairwise_hinge"),
    trains: bool = True,
) -> tuple[Answers, Answers, list[str]]:
    """Measure visitors who move a slider, beside a `crowd` that opens a million pairs each, under
    these losses in turn, and one that trains; return the run of that one."""
    paths = paths_of(address)
    light, heavy = Answers(), Answers()
    until = time.monotonic() + seconds
    everyone = [Visitor(address, paths) for _ in range(visitors + crowd + 1)]
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
    one = Visitor(address, paths_of(address))
    await one.train({**first_plan(), "encoder": EMBEDDED, "steps": STEPS_ALONE})
    until = time.monotonic() + 10 * WAIT_S
    while len(steps_in(data, one.runs)) < STEPS_ALONE and time.monotonic() < until:
        await asyncio.sleep(0.5)
    one.line.close()
    return steps_in(data, one.runs)[COLD:]


def steps_in(data: Path, runs: list[str]) -> list[float]:
    """The seconds of each step of the run that was begun, as far as it has come."""
    history = RunFolder(data / "runs" / runs[0]).history()
    ends = [record.seconds for record in history if record.kind == "step"]
    return list(np.diff(ends, prepend=0.0))


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
    """Yield a function that reports the cores used by other processes during the body."""

    def taken() -> tuple[float, float, float]:
        all_, own = psutil.cpu_times(), psutil.Process().cpu_times()
        busy = sum(all_[:8]) - all_.idle - getattr(all_, "iowait", 0)
        return busy, sum(own[:4]), time.monotonic()

    before = after = taken()

    def printed() -> str:
        busy, own, seconds = (now - then for now, then in zip(after, before, strict=True))
        return f"other work took {max(busy - own, 0) / seconds:.1f} of the cores"

    yield printed
    after = taken()


@contextlib.contextmanager
def hosted(
    port: int, changes: dict[str, str] | None = None, **environment: str
) -> Iterator[tuple[str, Path]]:
    """A hosted app behind nginx, with these changes of docs/nginx.conf: the address, and the folder
    that the app writes in."""
    key_secret()  # of the visitors' keys, which the app has from the environment
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        tempfile.TemporaryDirectory() as nginx_folder,
        running(port + 1, "--hosted", "--data", folder, **environment),
        nginx_server.running(Path(nginx_folder), port, port + 1, changes),
    ):
        yield f"http://127.0.0.1:{port}", Path(folder)


def sliders(chosen: argparse.Namespace, crowd: int, target: str) -> list[Row]:
    with hosted(chosen.port) as (address, data):
        alone = asyncio.run(trained_alone(address, data)) if crowd else []
        rows = [("memory at rest", f"{memory_mib(address):.0f} MiB", "")]
        began = spent()
        light, heavy, runs = asyncio.run(moved(address, chosen.visitors, chosen.seconds, crowd))
        took = 1000 * (spent() - began) / max(len(light.seconds), 1)
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


def spent() -> float:
    """The seconds of a processor that the app, its workers and nginx have taken."""
    return sum(sum(one.cpu_times()[:2]) for one in psutil.Process().children(recursive=True))


def overviews(chosen: argparse.Namespace) -> list[Row]:
    """Sixteen who open a million pairs under the loss that takes most memory for it."""
    with hosted(chosen.port) as (address, _):
        app = app_process()
        crowd = (OVERVIEWS, ("pairwise_hinge",), False)
        light, heavy, _ = asyncio.run(moved(address, chosen.visitors, chosen.seconds, *crowd))
        for error in sorted(set(light.wrong + heavy.wrong))[:3]:
            print(error, file=sys.stderr)
        beside = f"{chosen.visitors} visitors moving a slider beside {OVERVIEWS} hinge overviews"
        return [
            row(f"{beside} of 10⁶ pairs", light, CROWDED),
            row("those overviews", heavy, "no error"),
            ("memory at its most", f"{peak_memory_mib(app):.0f} MiB", ""),
        ]


def peak_memory_mib(process: psutil.Process) -> float:
    """The most that a process has held so far; what it holds, where the system tells no more."""
    try:
        lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    except OSError:
        return process.memory_info().rss / 2**20
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def space(chosen: argparse.Namespace) -> list[Row]:
    from benchmarks.hosting import space_start as part

    return part.rows(chosen.port)


def hostile(chosen: argparse.Namespace) -> list[Row]:
    from benchmarks.hosting import hostile_connections as part

    with hosted(chosen.port) as (address, _):
        rows = part.rows(address, chosen.connections, chosen.seconds)
        return [*rows, ("memory after it", f"{memory_mib(address):.0f} MiB", "")]


def hour(chosen: argparse.Namespace) -> list[Row]:
    from benchmarks.hosting import mixed_use as part

    with hosted(chosen.port, **part.TIMES) as (address, data):
        return part.rows(address, data, chosen.minutes)


def fuzz(chosen: argparse.Namespace) -> list[Row]:
    from benchmarks.hosting import malformed_requests as part

    with hosted(chosen.port, part.CHANGES, **part.ENVIRONMENT) as (address, _):
        app = app_process()
        return part.rows(address, app.pid)


def faults(chosen: argparse.Namespace) -> list[Row]:
    from benchmarks.hosting import crashes_and_full_disks as part

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
