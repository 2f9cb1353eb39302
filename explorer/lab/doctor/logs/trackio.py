"""A trackio project: the SQLite file in which it keeps the scalars of its runs."""

import contextlib
import itertools
import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from lossprism.explorer.lab.doctor.logs.log import (
    GLOBAL_STEPS,
    MAX_POINTS,
    NO_NUMBERS,
    Log,
    curves_of,
    epochs_of,
)
from lossprism.explorer.runtime.problem import Problem

SIGNATURE = b"SQLite format 3\x00"
IN_JOURNAL = b"\x02\x02"  # bytes 18 and 19 of one that has a write-ahead log
# Of the table of scalars: a row for each step, its scalars as JSON. Newer ones have the run's own
# `run_id` too, since several may go by one name.
NEEDED = {"run_name", "step", "metrics"}
# SQLite is asked to go on after so many of its instructions, and no more often: reading as many
# rows as there may be points takes a twentieth of them. Pages that lead to each other in a damaged
# file can be read without end.
INSTRUCTIONS, LOOKS = 1_000_000, 400

DAMAGE = (
    *(sqlite3.Error, ValueError, TypeError, AttributeError, OverflowError),
    RecursionError,  # metrics that are nested too deeply
)


def is_database(content: bytes) -> bool:
    return content.startswith(SIGNATURE)


def journal_of(path: Path) -> Path | None:
    """The write-ahead log beside a database, in which its last rows stand while it is written to,
    or after what wrote it was killed; None where there is none."""
    beside = path.with_name(f"{path.name}-wal")
    return beside if beside.is_file() and beside.stat().st_size else None


def with_journal(path: Path) -> bytes:
    """Read a database with its write-ahead log, while it may be written to.

    Raises Problem where it is damaged, or its folder does not let it be read so.
    """
    try:
        address = f"{path.absolute().as_uri()}?mode=ro"
        with contextlib.closing(sqlite3.connect(address, uri=True)) as database:
            return database.serialize()
    except sqlite3.Error as damage:
        raise Problem("run_damaged", name=path.name, reason=str(damage)[:120]) from None


def read(name: str, content: bytes) -> Log:
    """Read curves of one run by their names; of several by run and name.

    Raises Problem where it is damaged or no project of trackio's.
    """
    try:
        rows = _rows(content)
        if rows is None:
            in_journal = content[18:20] == IN_JOURNAL
            raise Problem("run_journal" if in_journal else "run_no_trackio", name=name)
        called = _called(dict.fromkeys((key, name) for key, name, _, _ in rows))
        curves = curves_of(
            (f"{called[key]} · {name}" if len(called) > 1 else name, step, value)
            for key, _, count, metrics in rows
            for name, step, value in _points(count, json.loads(metrics))
        )
    except Problem:
        raise
    except DAMAGE as damage:
        raise Problem("run_damaged", name=name, reason=str(damage)[:120]) from None
    if not curves:
        raise Problem("run_nothing_logged", name=name)
    return Log("trackio", curves, epochs=epochs_of(curves))


def _rows(content: bytes) -> list[tuple[object, object, object, str | bytes]] | None:
    """Read the run's key, its name, step and metrics of each row; None where no table has these.

    Raises ValueError where the rows hold more than the file does: one stored text, such as the
    default of a column, can be that of every row.
    """
    database = sqlite3.connect(":memory:")
    looks = itertools.count()
    database.set_progress_handler(lambda: next(looks) >= LOOKS, INSTRUCTIONS)
    try:
        database.deserialize(_without_journal(content))
        database.execute("PRAGMA trusted_schema = OFF")
        table = next(
            (
                one
                for (one,) in database.execute("SELECT name FROM sqlite_master WHERE type='table'")
                if _columns(database, one) >= NEEDED
            ),
            None,
        )
        if table is None:
            return None
        quoted = table.replace('"', '""')
        key = "run_id" if "run_id" in _columns(database, table) else "run_name"
        rows, size = [], 0
        for row in database.execute(f'SELECT {key}, run_name, step, metrics FROM "{quoted}"'):
            size += sum(len(one) for one in {*row} if isinstance(one, str | bytes))
            if size > len(content):
                raise ValueError("its rows hold more than the file does")
            if len(rows) == MAX_POINTS:
                raise Problem("run_too_long", most=MAX_POINTS)
            rows.append(row)
        return rows
    finally:
        database.close()


def _called(runs: Iterable[tuple[object, object]]) -> dict[object, str]:
    """Name each run, with a number where an earlier one has the same name."""
    found: dict[object, str] = {}
    so_far: Counter[object] = Counter()
    for key, name in runs:
        if key not in found:
            so_far[name] += 1
            found[key] = f"{name} ({so_far[name]})" if so_far[name] > 1 else f"{name}"
    return found


def _without_journal(content: bytes) -> bytes:
    """Read as a file by itself: one that says it has a write-ahead log cannot be opened in memory
    (bytes 18 and 19 of its head, 2 for such a log)."""
    if content[18:20] != IN_JOURNAL:
        return content
    return content[:18] + b"\x01\x01" + content[20:]


def _columns(database: sqlite3.Connection, table: str) -> set[str]:
    quoted = table.replace('"', '""')
    return {row[1] for row in database.execute(f'PRAGMA table_info("{quoted}")')}


def _points(count: object, metrics: dict) -> Iterator[tuple[str, object, float]]:
    """Yield the scalars of one call of `trackio.log` at their step: the global step, where they
    have one, else the count of the call."""
    scalars = dict(_scalars(metrics))
    named = (scalars[name] for name in GLOBAL_STEPS if name in scalars)
    step = next(named, count)
    return ((name, step, value) for name, value in scalars.items() if name not in GLOBAL_STEPS)


def _scalars(metrics: dict) -> Iterator[tuple[str, float]]:
    for name, value in metrics.items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield name, value
        elif value in NO_NUMBERS:
            yield name, float(value)
