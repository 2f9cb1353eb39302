"""A million rows through the Doctor, as its command takes them: ``python -m benchmarks doctor``.

Each table is written to a file and read by ``app.py doctor`` in a process of its own: from its
start to its findings in seconds, and the most memory that it held. No encoder takes part.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks import report
from benchmarks.machine import describe
from benchmarks.report import Row

APP = Path(__file__).resolve().parents[1] / "app.py"
ROWS = 1_000_000
PARQUET_ROWS, PARQUET_GB = 10_000_000, 2.0
GROUP_ROWS = 100_000
MOST = {"scored pairs": (10, 0.6)}  # seconds and GB
MOST_OF_OTHERS = (60, 1.5)
BATCH = 64
SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "el", "or")]
CHARACTERS = "天地人山水火木金土日月星风云雨雪花草树鸟鱼马牛羊春夏秋冬东西南北上下大小多少"


class Writer:
    """Texts of made-up words, from one seed."""

    def __init__(self) -> None:
        self.chance = random.Random(0)
        self.words = ["".join(self.chance.choices(SYLLABLES, k=3)) for _ in range(20_000)]

    def text(self, words: int = 9) -> str:
        return " ".join(self.chance.choices(self.words, k=words))

    def chinese(self, characters: int = 18) -> str:
        return "".join(self.chance.choices(CHARACTERS, k=characters))


def scored(written: Writer, rows: int) -> Iterator[tuple[object, ...]]:
    yield "sentence1", "sentence2", "score"
    for _ in range(rows):
        yield written.text(), written.text(), written.chance.randint(0, 5)


def repeated(written: Writer, rows: int) -> Iterator[tuple[object, ...]]:
    """Half of the rows repeat one of a thousand questions, and some disagree of their label."""
    yield "sentence1", "sentence2", "score"
    few = [written.text() for _ in range(1_000)]
    for row in range(rows):
        question = few[row % 1_000] if row % 2 else written.text()
        answer = few[(row + 7) % 1_000] if row % 4 == 1 else written.text()
        yield question, answer, written.chance.randint(0, 5)


def chinese(written: Writer, rows: int) -> Iterator[tuple[object, ...]]:
    yield "sentence1", "sentence2", "label"
    for _ in range(rows):
        yield written.chinese(), written.chinese(), written.chance.randint(0, 1)


def triplets(written: Writer, rows: int) -> Iterator[tuple[object, ...]]:
    yield "anchor", "positive", "negative"
    for _ in range(rows):
        yield written.text(), written.text(), written.text()


def passages(written: Writer, rows: int) -> Iterator[tuple[object, ...]]:
    """Questions with passages of 20 words."""
    yield "question", "answer"
    for _ in range(rows):
        yield written.text(), written.text(20)


def lists(written: Writer, rows: int) -> Iterator[tuple[object, ...]]:
    """Ten candidates of each query."""
    yield "query", "passage", "score"
    query = ""
    for row in range(rows):
        query = written.text() if row % 10 == 0 else query
        yield query, written.text(), written.chance.randint(0, 3)


def classes(written: Writer, rows: int) -> Iterator[tuple[object, ...]]:
    yield "sentence", "label"
    for _ in range(rows):
        yield written.text(), f"kind {written.chance.randint(0, 300)}"


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


def write_parquet(file: Path, rows: int) -> None:
    """Write scored pairs with a column of notes, in small groups of rows."""
    words, draw = pa.array(Writer().words), np.random.default_rng(0)

    def texts(count: int) -> pa.Array:
        drawn = [words.take(pa.array(draw.integers(0, len(words), count))) for _ in range(9)]
        return pc.binary_join_element_wise(*drawn, " ")

    kinds = {"sentence1": pa.string(), "sentence2": pa.string(), "score": pa.float64()}
    with pq.ParquetWriter(file, pa.schema({**kinds, "note": pa.string()})) as out:
        for start in range(0, rows, GROUP_ROWS):
            count = min(GROUP_ROWS, rows - start)
            scores = pa.array(draw.integers(0, 6, count).astype(float))
            columns = [texts(count), texts(count), scores, texts(count)]
            out.write_table(pa.table(columns, schema=out.schema))


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
