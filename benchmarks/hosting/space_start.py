"""A Space as its host starts it: the part `space` of ``python -m benchmarks hosting``.

The files that git knows, in a folder of their own, and the command of the README's front matter,
held to two cores and 16 GiB. The browser that waits for the first picture is outside of the limits,
on the same cores.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
from playwright.sync_api import sync_playwright

from benchmarks.app_in_browser import PICTURE, ROOT, launch
from benchmarks.report import Row

CORES, GIB = 2, 16
STARTS = 3
GROUPS = Path("/sys/fs/cgroup")


def checkout(folder: Path) -> str:
    """The files of the last commit; the command that the front matter names."""
    packed = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True)
    subprocess.run(["tar", "-x", "-C", str(folder)], input=packed.stdout, check=True)
    text = (folder / "README.md").read_text(encoding="utf-8")
    return re.findall(r"^app_file: (.+)$", text, re.MULTILINE)[0]


@contextlib.contextmanager
def limited() -> Iterator[tuple[list[str], str]]:
    """Yield the command prefix that enforces the limits, and their description."""
    cores = sorted(os.sched_getaffinity(0))[:CORES]
    before, machine = ["taskset", "-c", ",".join(map(str, cores))], f"{len(cores)} cores"
    group = GROUPS / ("memory" if (GROUPS / "memory").is_dir() else "") / f"space-{os.getpid()}"
    most = "memory.limit_in_bytes" if (GROUPS / "memory").is_dir() else "memory.max"
    try:
        group.mkdir()
        (group / most).write_text(str(GIB * 2**30))
    except OSError as error:
        yield before, f"{machine}, memory not limited ({error.strerror})"
        return
    try:
        joins = f'echo $$ > {shlex.quote(str(group / "cgroup.procs"))} && exec "$@"'
        yield ["sh", "-c", joins, "sh", *before], f"{machine}, {GIB} GiB"
    finally:
        group.rmdir()


def rows(port: int) -> list[Row]:
    started, pictured, held = [], [], []
    with (
        tempfile.TemporaryDirectory() as folder,
        limited() as (before, machine),
        sync_playwright() as playwright,
    ):
        place = Path(folder)
        app = checkout(place)
        browser = launch(playwright)
        for turn in range(STARTS):
            environment = {
                **os.environ,
                **{"SPACE_ID": "somebody/lossprism", "GRADIO_SERVER_PORT": str(port + turn)},
                **{"HOME": folder, "LOSSPRISM_CACHE": f"{folder}/cache{turn}"},
            }
            began = time.monotonic()
            process = subprocess.Popen(
                [*before, sys.executable, app],
                cwd=place,
                env=environment,
                stdout=subprocess.PIPE,
                text=True,
            )
            try:
                if "http" not in (line := process.stdout.readline()):
                    raise RuntimeError(f"the app did not start: {line!r}")
                started.append(time.monotonic() - began)
                address = f"http://127.0.0.1:{port + turn}"
                page = browser.new_context().new_page()
                page.goto(address, wait_until="domcontentloaded")
                page.wait_for_function(PICTURE, polling=20)
                pictured.append(time.monotonic() - began)
                page.context.close()
                time.sleep(5)
                held.append(httpx.get(f"{address}/healthz").json()["memory_mib"]["own"])
            finally:
                process.send_signal(signal.SIGTERM)
                process.wait(timeout=60)
        browser.close()
    where = f"a Space from a clean checkout ({machine})"
    return [
        (f"{where}: it listens after", f"{sorted(started)[STARTS // 2]:.1f} s", ""),
        ("first picture in a browser after", f"{sorted(pictured)[STARTS // 2]:.1f} s", ""),
        ("memory at rest, one visitor", f"{sorted(held)[STARTS // 2]:.0f} MiB", ""),
    ]
