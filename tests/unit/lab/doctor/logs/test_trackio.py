"""A trackio project's database: whole, while it is written to, and damaged."""

from __future__ import annotations

import json
import sqlite3
import tracemalloc

import pytest

from lossprism.explorer.lab.doctor.logs import trackio
from lossprism.explorer.lab.doctor.logs.run_reader import read_content, read_run
from lossprism.explorer.runtime.problem import Problem
from tests.sentences import raises_problem


def database(path, table="metrics"):
    held = sqlite3.connect(path)
    held.execute("PRAGMA journal_mode=WAL")
    columns = "id INTEGER, timestamp TEXT, run_name TEXT, step INTEGER, metrics TEXT"
    held.execute(f"CREATE TABLE {table} ({columns})")
    for run, step, metrics in (("a", 1, {"loss": 2.0}), ("b", 1, {"loss": "NaN", "text": "x"})):
        held.execute(
            f"INSERT INTO {table} VALUES (1, '', ?, ?, ?)", (run, step, json.dumps(metrics))
        )
    held.commit()
    held.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    held.close()
    return path


def test_a_project_of_trackio(tmp_path):
    log = read_run(str(database(tmp_path / "project.db")))
    assert log.source == "trackio"
    assert log.curve("a · loss").values.tolist() == [2.0]
    assert log.curve("b · loss").values[0] != log.curve("b · loss").values[0]
    other = tmp_path / "other.db"
    held = sqlite3.connect(other)
    held.execute("CREATE TABLE things (name TEXT)")
    held.commit()
    held.close()
    with raises_problem("run_no_trackio"):
        read_run(str(other))


def test_a_project_that_is_written_to_is_read_with_its_last_rows(tmp_path):
    """They stand in a file beside it, until whoever writes closes it; that alone is half of it."""
    held = sqlite3.connect(tmp_path / "project.db")
    held.execute("PRAGMA journal_mode=WAL")
    held.execute("CREATE TABLE metrics (run_name TEXT, step INTEGER, metrics TEXT)")
    held.execute("""INSERT INTO metrics VALUES ('a', 1, '{"loss": 2.5}')""")
    held.commit()
    alone = (tmp_path / "project.db").read_bytes()
    assert read_run(str(tmp_path / "project.db")).curve("loss").values.tolist() == [2.5]
    held.execute("""INSERT INTO metrics VALUES ('a', 2, '{"loss": 1.5}')""")
    held.commit()
    assert read_run(str(tmp_path / "project.db")).curve("loss").values.tolist() == [2.5, 1.5]
    held.close()
    with raises_problem("run_journal", name="project.db"):
        read_content("project.db", alone)


def project(path, metrics, steps=3, declared="TEXT"):
    """The content of a project with so many steps of one run."""
    held = sqlite3.connect(path)
    held.execute(f"CREATE TABLE metrics (run_name TEXT, step INTEGER, metrics {declared})")
    held.executemany(
        "INSERT INTO metrics VALUES ('a', ?, ?)", [(step, metrics) for step in range(steps)]
    )
    held.commit()
    held.close()
    return path.read_bytes()


def test_rows_of_a_database_hold_no_more_than_its_file(tmp_path):
    """A megabyte that stands once, as the default of a column, would be that of every row."""
    default = json.dumps({"loss": 1.0, "text": "x" * 2**20})
    path = tmp_path / "project.db"
    held = sqlite3.connect(path)
    held.execute("CREATE TABLE metrics (run_name TEXT, step INTEGER)")
    held.executemany("INSERT INTO metrics VALUES ('a', ?)", [(step,) for step in range(5000)])
    held.execute(f"ALTER TABLE metrics ADD COLUMN metrics TEXT DEFAULT '{default}'")
    held.commit()
    held.close()
    tracemalloc.start()
    try:
        with raises_problem("run_damaged", reason="its rows hold more than the file does"):
            read_content("project.db", path.read_bytes())
        assert tracemalloc.get_traced_memory()[1] < 16 * 2**20
    finally:
        tracemalloc.stop()


def test_a_database_is_not_read_without_end(tmp_path, monkeypatch):
    content = project(tmp_path / "project.db", '{"loss": 1}', steps=200)
    assert len(read_content("project.db", content).curve("loss")) == 200
    monkeypatch.setattr(trackio, "INSTRUCTIONS_A_CHECK", 10)
    monkeypatch.setattr(trackio, "MAX_CHECKS", 5)
    with raises_problem("run_damaged", reason="interrupted"):
        read_content("project.db", content)


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        ("[" * 100_000, "nested"),
        ('{"loss": 1', "delimiter"),
        ("7", "items"),
        (None, "NoneType"),
        (b"\xff\xfe\xff", "decode"),
    ],
)
def test_metrics_that_are_none_are_reported_as_damaged(tmp_path, metrics, message):
    content = project(tmp_path / "project.db", metrics, declared="BLOB")
    with pytest.raises(Problem, match=message) as raised:
        read_content("project.db", content)
    assert raised.value.key == "problem.run_damaged"
