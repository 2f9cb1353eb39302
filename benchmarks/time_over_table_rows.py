"""Growth of times with the rows of large tables: ``python -m benchmarks growth``.

Doctor on scored pairs and the overviews of the Large batch page, in seconds of the
processor, which other work on the machine changes little. Writes a table and draws it.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from unittest import mock

import torch

from benchmarks import report
from benchmarks.doctor_on_a_million_rows import BATCH
from benchmarks.large import SCORED
from benchmarks.machine import describe
from benchmarks.made_up_tables import Writer, scored
from benchmarks.time_over_size_chart import drawn
from benchmarks.timing_result import Result, growth
from lossprism.explorer.lab.doctor.dataset_reader import pairs_only, read_table
from lossprism.explorer.lab.doctor.pair_dataset_checks import examine
from lossprism.explorer.lab.large import large_batch_session
from lossprism.explorer.lab.large.batch import in_order
from lossprism.explorer.lab.large.large_batch_session import checked, open_batch
from lossprism.explorer.lab.large.window_blocks import Window
from lossprism.explorer.sources import random_batch
from lossprism.explorer.sources.random_batch import RandomBatch
from lossprism.losses import LOSSES

ROOT = Path(__file__).resolve().parents[1]
DRAWING = ROOT / "docs" / "growth.svg"
TITLE = "Milliseconds of the processor, over the rows of a table"
OVERVIEW_ROWS = (10_000, 100_000, 1_000_000, 10_000_000)
DOCTOR_ROWS = (10_000, 100_000, 1_000_000)  # it reads no more than these
REPEATS = 3


def doctor_seconds(rows: int) -> float:
    """Return the processor time of Doctor on a file of scored pairs, from its bytes to its
    findings."""
    lines = ("\t".join(map(str, cells)) for cells in scored(Writer(), rows))
    content = "\n".join(lines).encode()
    times = []
    for _ in range(REPEATS):
        began = time.process_time()
        read = pairs_only(read_table(content, "rows.tsv", lambda *far: None))
        examine(read.profile, LOSSES["cosent"], BATCH)
        times.append(time.process_time() - began)
    return statistics.median(times)


def overview_seconds(rows: int, loss: str) -> float:
    """Return the processor time from random scores to the blocks of the whole matrix."""
    plan = random_batch.composed(RandomBatch(pairs=rows, labels="continuous"), most=rows)
    names = ("",) * rows
    times = []
    for _ in range(REPEATS):
        began = time.process_time()
        batch = in_order(plan.labels, plan.cosines, names, names)
        with mock.patch.object(
            large_batch_session, "must_fit"
        ):  # which refuses more than the page takes
            opened = open_batch(batch, loss, checked(loss, {}), lambda done, total: None)
        opened.matrix.blocks(Window(0, rows, 0, rows))
        times.append(time.process_time() - began)
    return statistics.median(times)


def measured() -> Iterable[tuple[str, int, float]]:
    for rows in DOCTOR_ROWS:
        yield "Doctor of scored pairs", rows, doctor_seconds(rows)
    for loss in SCORED:
        for rows in OVERVIEW_ROWS:
            yield f"Overview under {loss}", rows, overview_seconds(rows, loss)


def with_exponents(results: list[Result]) -> list[Result]:
    """Return the results with the exponent of N in the name of each case."""
    found = growth(results)
    named = {
        case: f"{case}, N^{slope:.2f} from {low:,}" for (case, _), (slope, low, _) in found.items()
    }
    return [replace(one, case=named.get(one.case, one.case)) for one in results]


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks growth", description=__doc__)
    report.add_option(parser)
    chosen = parser.parse_args(arguments)
    torch.set_num_threads(1)  # as the app runs
    results = []
    for what, rows, seconds in measured():
        print(f"{what}, {rows:,} rows: {seconds:.3f} s", flush=True)
        results.append(Result(what, rows, "ours", 1000 * seconds, 0, 0, 0.0))
    place = report.folder(chosen, whole=True)
    assert place is not None
    exponents = growth(results)
    rows = [
        (f"{one.case}, {one.size:,} rows", f"{one.milliseconds / 1000:.3f} s", "")
        for one in results
    ]
    rows += [
        (f"{what}, from {low:,} to {high:,} rows", f"N^{slope:.2f}", "")
        for (what, _), (slope, low, high) in exponents.items()
    ]
    report.write(place, "growth", TITLE, describe(), (report.HEADS, rows))
    with (place / "growth.csv").open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerow(("what", "rows", "processor_seconds"))
        writer.writerows((one.case, one.size, f"{one.milliseconds / 1000:.3f}") for one in results)
    drawing = DRAWING if chosen.results is None else place / DRAWING.name
    drawing.write_text(drawn(with_exponents(results), describe(), TITLE), encoding="utf-8")
