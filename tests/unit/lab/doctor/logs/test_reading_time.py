"""Whatever a log of a run looks like, reading it takes time by its bytes, or it is refused soon."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import time
from collections.abc import Callable

import pytest

from lossprism.explorer.lab.doctor.logs.run_reader import read_content
from lossprism.explorer.runtime.limits import MIB
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources import delimited, table_column_kinds
from tests.unit.lab.doctor.logs.test_run_reader import FIRST, event, record
from tests.unit.sources.test_odd_files import calls_of

SECONDS_A_MIB = 6.0  # of a processor; a tenth to a third of it where nothing else is done
SMALL, LARGE = 2**13, 2**18
CARD = "* Loss: [<code>ALoss</code>](x)\n### Training Logs\n| Epoch | Step | Training Loss |\n"


def table(columns: int, cell: str = "0.5", first: int = 0) -> Callable[[int], bytes]:
    """So many columns; the first row has so many cells too few."""

    def made(size: int) -> bytes:
        rest = [cell] * (columns - 1)
        lines = [",".join(["step", *(f"c{at}" for at in range(columns - 1))])]
        lines += [",".join([str(row), *rest]) for row in range(max(size // (4 * columns), 1))]
        lines[1] = ",".join(["0", *rest[first:]])
        return "\n".join(lines).encode()

    return made


def repeated(start: str | bytes, more: str | bytes, end: str | bytes = b"") -> Callable:
    start, more, end = (one.encode() if isinstance(one, str) else one for one in (start, more, end))
    return lambda size: start + more * (size // len(more)) + end


def state(record: Callable[[int], dict]) -> Callable[[int], bytes]:
    return lambda size: json.dumps(
        {"log_history": [{"step": at, **record(at)} for at in range(size // 26)]}
    ).encode()


def project(metrics: str) -> Callable[[int], bytes]:
    def made(size: int) -> bytes:
        with contextlib.closing(sqlite3.connect(":memory:")) as held:
            held.execute("CREATE TABLE metrics (run_name TEXT, step INTEGER, metrics TEXT)")
            steps = max(size // (len(metrics) + 12), 1)
            rows = [(at, metrics) for at in range(steps)]
            held.executemany("INSERT INTO metrics VALUES ('a', ?, ?)", rows)
            held.commit()
            return held.serialize()

    return made


GROWING: dict[str, tuple[str, Callable[[int], bytes]]] = {
    "rows of a table": ("a.csv", table(4)),
    "columns of a table": ("a.csv", lambda size: table(max(size // 40, 2))(size)),
    "columns of text": ("a.csv", lambda size: table(max(size // 40, 2), "a")(size)),
    "a wide row that is too short": ("a.csv", lambda size: table(size // 40, first=1)(size)),
    "names of a long table": (
        "a.csv",
        lambda size: (
            b"step,name,value\n"
            + b"".join(b"%d,n%d,0.5\n" % (at, at % 5000) for at in range(size // 17))
        ),
    ),
    "objects": ("a.jsonl", lambda size: b'{"step": 1, "loss": 0.5}\n' * (size // 26)),
    "steps of a state": ("s.json", state(lambda at: {"loss": 0.5})),
    "names in a state": ("s.json", state(lambda at: {f"c{at % 9000}": 0.5})),
    "depth of a state": ("s.json", repeated('{"log_history": ', "[", "]")),
    "events": ("events", lambda size: FIRST + event(1, "loss", 2.5) * (size // 40)),
    "one event": ("events", lambda size: FIRST + record(b"\x12\x04loss" * (size // 6))),
    "steps of a project": ("a.db", project('{"loss": 1}')),
    "names in a project": ("a.db", project(json.dumps({f"c{at}": 0.5 for at in range(500)}))),
    "rows of a card": ("README.md", repeated(CARD + "|:--|:--|:--|\n", "| 0.1 | 3 | 0.5 |\n")),
    "half rows of a card": ("README.md", repeated(CARD, "|x\n")),
    "losses of a card": ("README.md", repeated("", "* Loss: <code>A\n")),
    "columns of a card": ("README.md", repeated("* Loss: x\n* Columns: ", "<code>")),
    "settings that never end": ("README.md", repeated("* Loss: <code>A</code>", "\n ```json\n")),
    "blank lines of settings": (
        "README.md",
        repeated("* Loss: <code>A</code>\n ```json\n{", "\n", "x"),
    ),
    "marks of a card": ("README.md", repeated("* Loss: x\n- `", "a")),
    "marks of a cell": ("a.txt", repeated("|", "*", "|")),
    "cells of HTML": ("a.txt", repeated("<table><tr>", "<td>a")),
    "an open tag of HTML": ("a.txt", repeated("<table><tr><td", "<")),
    "an open quote of SQL": ("a.sql", repeated("INSERT INTO x VALUES (", "'a\\")),
    "statements of SQL": ("a.sql", repeated("", "INSERT INTO x VALUES ('a', 1);\n")),
    "labels of fastText": ("a.txt", repeated("", "__label__a ", "b")),
    "a rule of columns": ("a.txt", repeated("a\n", "== ")),
    "numbers with thousands": ("a.txt", repeated("loss ", "1.234,")),
}


def spent(name: str, content: bytes) -> float:
    began = time.process_time()
    with contextlib.suppress(Problem):
        read_content(name, content)
    return time.process_time() - began


@pytest.mark.thorough
@pytest.mark.parametrize("what", GROWING)
def test_the_time_grows_as_the_log_does(what):
    name, make = GROWING[what]
    small, large = make(SMALL), make(LARGE)
    few, many = spent(name, small), spent(name, large)
    assert many < 4 * len(large) / len(small) * few + 0.2
    assert many < SECONDS_A_MIB * max(len(large) / MIB, 0.25)


def test_a_wide_table_is_refused_at_its_first_bad_row(monkeypatch):
    """The kind of a table follows from its first rows, of a wide one from few of them."""
    for module in (delimited, table_column_kinds):
        monkeypatch.setattr(module, "SAMPLE_CELLS", 2000)
    monkeypatch.setattr(delimited, "SAMPLE_LETTERS", 4000)
    made = table(300, first=1)
    few, many = (
        calls_of(lambda rows=rows: read_content("a.csv", made(1200 * rows))) for rows in (30, 180)
    )
    assert many < 1.2 * few
