"""A million rows through the Doctor, as its command takes them: ``python -m benchmarks doctor``.

Each table is written to a file and read by ``app.py doctor`` in a process of its own: from its
start to its findings in seconds, and the most memory that it held. No encoder takes part.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks import report
from benchmarks.machine import describe
from benchmarks.made_up_tables import (
    Writer,
    chinese,
    classes,
    lists,
    passages,
    repeated,
    scored,
    triplets,
    write_parquet,
)
from benchmarks.report import Row

APP = Path(__file__).resolve().parents[1] / "app.py"
ROWS = 1_000_000
PARQUET_ROWS, PARQUET_GB = 10_000_000, 2.0
MOST = {"scored pairs": (10, 0.6)}  # seconds and GB
MOST_OF_OTHERS = (60, 1.5)
BATCH = 64


# What is read, its rows, and the loss it is read for.
CASES: dict[str, tuple[Callable[[Writer, int], Iterator[tuple[object, ...]]], str]] = {
    "scored pairs": (scored, "cosent"),
    "scored pairs, half of them repeated": (repeated, "cosent"),
    "the same, in-batch negatives": (repeated, "info_nce"),
    "Chinese pairs, 0 or 1": (chinese, "contrastive"),
    "triplets": (triplets, "info_nce"),
    "questions with passages of 20 words": (passages, "info_nce"),
    "lists of ten": (lists, "list_net"),
    "classes": (classes, "supcon"),
}


def on_disk(rows: int, folder: Path) -> Row:
    """A Parquet file of more rows than are held in memory."""
    file = folder / "rows.parquet"
    write_parquet(file, rows)
    seconds, held, findings = measured(file, "cosent")
    size = file.stat().st_size / 1e6
    figures = f"{seconds:.1f} s, {held:.2f} GB at most; {findings} findings"
    return (
        f"{rows:,} rows of scored pairs in Parquet, {size:.0f} MB",
        figures,
        f"≤ {PARQUET_GB:.0f} GB",
    )


def measured(file: Path, loss: str) -> tuple[float, float, int]:
    """Seconds, GB at most, and findings of the command."""
    arguments = [
        sys.executable,
        str(APP),
        "doctor",
        str(file),
        "--loss",
        loss,
        "--batch",
        str(BATCH),
    ]
    began = time.perf_counter()
    with tempfile.TemporaryFile() as output:
        command = subprocess.Popen([*arguments, "--json"], stdout=output)
        _, status, used = os.wait4(command.pid, 0)
        command.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - began
        output.seek(0)
        answer = output.read()
    if command.returncode not in (0, 1) or not answer:  # 1: a finding is severe
        raise RuntimeError(
            f"{' '.join(arguments)} ended with {command.returncode}, without findings"
        )
    found = json.loads(answer)
    return seconds, used.ru_maxrss * 1024 / 1e9, len(found["findings"])


def case(name: str, rows: int, folder: Path) -> Row:
    made, loss = CASES[name]
    file = folder / "rows.tsv"
    with file.open("w", encoding="utf-8") as out:
        for cells in made(Writer(), rows):
            out.write("\t".join(map(str, cells)) + "\n")
    seconds, held, findings = measured(file, loss)
    size = file.stat().st_size / 1e6
    print(f"{name}: {seconds:.1f} s, {held:.2f} GB", flush=True)
    figures = f"{seconds:.1f} s, {held:.2f} GB at most; {findings} findings"
    most_seconds, most_gb = MOST.get(name, MOST_OF_OTHERS)
    target = f"≤ {most_seconds} s, ≤ {most_gb} GB"
    return f"{rows:,} rows of {name}, {size:.0f} MB, for `{loss}`", figures, target


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks doctor", description=__doc__)
    parser.add_argument("cases", nargs="*", help=f"of {', '.join(CASES)}; all if left out")
    parser.add_argument("--rows", type=int, default=ROWS)
    report.add_option(parser)
    chosen = parser.parse_args(arguments)
    for name in set(chosen.cases) - set(CASES):
        parser.error(f"there is no case {name!r}; there are {', '.join(CASES)}")
    whole = not chosen.cases and chosen.rows == ROWS
    with tempfile.TemporaryDirectory() as folder:
        rows = [case(name, chosen.rows, Path(folder)) for name in chosen.cases or CASES]
        if whole:
            rows.append(on_disk(PARQUET_ROWS, Path(folder)))
    print(report.table(report.HEADS, rows))
    place = report.folder(chosen, whole)
    if place:
        title = "A million rows through the Doctor"
        report.write(place, "doctor", title, describe(), (report.HEADS, rows))
