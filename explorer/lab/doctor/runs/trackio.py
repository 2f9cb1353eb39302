"""A trackio project: the SQLite file in which it keeps the scalars of its runs."""

from __future__ import annotations

import itertools
import json
import sqlite3
from collections.abc import Iterator

from explorer.lab.doctor.runs.log import MOST_POINTS, Log, curves_of
from explorer.runtime.problem import Problem

SIGNATURE = b"SQLite format 3\x00"
# Of the table of scalars: a row for each step, its scalars as JSON.
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


def read(name: str, content: bytes) -> Log:
    """Curves of one run by their names; of several by run and name.

    Raises Problem where it is damaged or no project of trackio's.
    """
    try:
        rows = _rows(content)
        if rows is None:
            raise Problem("run_no_trackio", name=name)
        several = len({run for run, _, _ in rows}) > 1
        curves = curves_of(
            (f"{run} · {name}" if several else name, step, value)
            for run, step, metrics in rows
            for name, value in _scalars(json.loads(metrics))
        )
    except Problem:
        raise
    except DAMAGE as damage:
        raise Problem("run_damaged", name=name, reason=str(damage)[:120]) from None
    if not curves:
        raise Problem("run_nothing_logged", name=name)
    return Log("trackio", curves)


def _rows(content: bytes) -> list[tuple[object, object, str | bytes]] | None:
    """Run, step and metrics of each row; None where no table has these.

    Raises ValueError where the rows hold more than the file does: what stands once in it, such as
    the default of a column, can be that of every row.
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
        rows, held = [], 0
        for run, step, metrics in database.execute(
            f'SELECT run_name, step, metrics FROM "{quoted}"'
        ):
            held += sum(len(one) for one in (run, step, metrics) if isinstance(one, str | bytes))
            if held > len(content):
                raise ValueError("its rows hold more than the file does")
            if len(rows) == MOST_POINTS:
                raise Problem("run_too_long", most=MOST_POINTS)
            rows.append((run, step, metrics))
        return rows
    finally:
        database.close()


def _without_journal(content: bytes) -> bytes:
    """Read as a file by itself: one that says it has a write-ahead log cannot be opened in memory
    (bytes 18 and 19 of its head, 2 for such a log)."""
    if content[18:20] != b"\x02\x02":
        return content
    return content[:18] + b"\x01\x01" + content[20:]


def _columns(database: sqlite3.Connection, table: str) -> set[str]:
    quoted = table.replace('"', '""')
    return {row[1] for row in database.execute(f'PRAGMA table_info("{quoted}")')}


def _scalars(held: dict) -> Iterator[tuple[str, float]]:
    for name, value in held.items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield name, value
        elif value in ("NaN", "Infinity", "-Infinity"):  # as it writes them
            yield name, float(value)
