"""Reader of trackio projects: SQLite files with the scalars of several runs."""

import contextlib
import itertools
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
from lossprism.explorer.runtime.json_reading import read_json
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.validation import is_number

SIGNATURE = b"SQLite format 3\x00"
WITH_JOURNAL = b"\x02\x02"  # bytes 18 and 19 of a database with a write-ahead log
# The table of scalars has a row for each step, with its scalars as JSON. Newer versions also have a
# `run_id`, since several runs may have one name.
NEEDED_COLUMNS = {"run_name", "step", "metrics"}
# Reading stops after so many checks, one per so many instructions of SQLite: in a damaged file,
# pages may refer to each other without end. `MAX_POINTS` rows take a twentieth of them.
INSTRUCTIONS_A_CHECK, MAX_CHECKS = 1_000_000, 400

DAMAGE = (sqlite3.Error, ValueError, TypeError, AttributeError, OverflowError)


def is_database(content: bytes) -> bool:
    return content.startswith(SIGNATURE)


def journal_of(path: Path) -> Path | None:
    """Return the write-ahead log of a database; None without one. It has the last rows while the
    database is written, or after its writer was killed."""
    journal = path.with_name(f"{path.name}-wal")
    return journal if journal.is_file() and journal.stat().st_size else None


def read_with_journal(path: Path) -> bytes:
    """Read a database with its write-ahead log, even while it is written.

    Raises Problem if it is damaged or its folder does not permit that.
    """
    try:
        address = f"{path.absolute().as_uri()}?mode=ro"
        with contextlib.closing(sqlite3.connect(address, uri=True)) as database:
            return database.serialize()
    except sqlite3.Error as damage:
        raise Problem("run_damaged", name=path.name, reason=str(damage)[:120]) from None


def read(name: str, content: bytes) -> Log:
    """Read the curves by name; of several runs, by run and name.

    Raises Problem for a damaged file and for one that is no trackio project.
    """
    try:
        rows = _rows(content)
        if rows is None:
            has_journal = content[18:20] == WITH_JOURNAL
            raise Problem("run_journal" if has_journal else "run_no_trackio", name=name)
        runs = _run_names(dict.fromkeys((key, name) for key, name, _, _ in rows))
        curves = curves_of(
            (f"{runs[key]} · {name}" if len(runs) > 1 else name, step, value)
            for key, _, count, metrics in rows
            for name, step, value in _points(count, read_json(metrics))
        )
    except Problem:
        raise
    except DAMAGE as damage:
        raise Problem("run_damaged", name=name, reason=str(damage)[:120]) from None
    if not curves:
        raise Problem("run_nothing_logged", name=name)
    return Log("trackio", curves, epochs=epochs_of(curves))


def _rows(content: bytes) -> list[tuple[object, object, object, str | bytes]] | None:
    """Return (key of the run, its name, step, metrics) of each row; None without such a table.

    Raises ValueError if the rows together are larger than the file: one stored text, such as the
    default of a column, may be that of every row.
    """
    database = sqlite3.connect(":memory:")
    checks = itertools.count()
    database.set_progress_handler(lambda: next(checks) >= MAX_CHECKS, INSTRUCTIONS_A_CHECK)
    try:
        database.deserialize(_standalone(content))
        database.execute("PRAGMA trusted_schema = OFF")
        table = next(
            (
                one
                for (one,) in database.execute("SELECT name FROM sqlite_master WHERE type='table'")
                if _columns(database, one) >= NEEDED_COLUMNS
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


def _run_names(runs: Iterable[tuple[object, object]]) -> dict[object, str]:
    """Name each run by its key, with a number where an earlier one has the same name."""
    names: dict[object, str] = {}
    uses: Counter[object] = Counter()
    for key, name in runs:
        if key not in names:
            uses[name] += 1
            names[key] = f"{name} ({uses[name]})" if uses[name] > 1 else f"{name}"
    return names


def _standalone(content: bytes) -> bytes:
    """Clear the mark of a write-ahead log, with which a database cannot be opened in memory."""
    if content[18:20] != WITH_JOURNAL:
        return content
    return content[:18] + b"\x01\x01" + content[20:]


def _columns(database: sqlite3.Connection, table: str) -> set[str]:
    quoted = table.replace('"', '""')
    return {row[1] for row in database.execute(f'PRAGMA table_info("{quoted}")')}


def _points(count: object, metrics: dict) -> Iterator[tuple[str, object, float]]:
    """Return the scalars of one call of `trackio.log` at the global step if it logs one, else at
    the count of the call."""
    scalars = dict(_scalars(metrics))
    named = (scalars[name] for name in GLOBAL_STEPS if name in scalars)
    step = next(named, count)
    return ((name, step, value) for name, value in scalars.items() if name not in GLOBAL_STEPS)


def _scalars(metrics: dict) -> Iterator[tuple[str, float]]:
    for name, value in metrics.items():
        if is_number(value):
            yield name, value
        elif value in NO_NUMBERS:
            yield name, float(value)
