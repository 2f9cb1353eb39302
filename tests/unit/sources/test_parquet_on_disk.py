"""Parquet files that stay on the disk are read as others, and may have more rows."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lossprism.explorer.lab.doctor.dataset_reader import content_of, read_table
from lossprism.explorer.lab.doctor.pair_dataset_checks import examine
from lossprism.explorer.lab.large import large_pair_table_reader
from lossprism.explorer.lab.large.large_pair_table_reader import read_pairs
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources import parquet
from lossprism.losses import LOSSES
from tests.sentences import raises_problem

ROWS, AGAIN = 200, 180  # the last is written as the first


@pytest.fixture
def file(tmp_path):
    """A file of small groups of rows; row 5 has no first sentence, row 181 is row 1 again."""
    numbers = [0 if at == AGAIN else at for at in range(ROWS)]
    table = pa.table(
        {
            "sentence1": [None if at == 4 else f"A cat {at}." for at in numbers],
            "sentence2": [f"中文 {at}" for at in numbers],
            "score": [at % 3 for at in numbers],
            "note": ["unread"] * ROWS,
        }
    )
    path = tmp_path / "pairs.parquet"
    pq.write_table(table, path, row_group_size=16)
    return path


def report(*_):
    pass


def test_it_is_read_as_its_bytes_are(file):
    on_disk, _ = content_of(file)
    assert on_disk == file
    found, known = (
        read_pairs(one, file.name, None, None, report) for one in (on_disk, file.read_bytes())
    )
    for name in ("first", "second", "labels", "rows"):
        assert list(getattr(found, name)) == list(getattr(known, name))
    assert found.chosen == known.chosen
    assert found.unread == known.unread == ("note",)
    assert (found.total, found.skipped[0], found.encoding) == (ROWS, 1, "Parquet")
    assert found.skipped[1][0][0] == 5


def test_rows_beyond_those_that_fit_into_memory_are_looked_at(file, monkeypatch):
    monkeypatch.setattr(large_pair_table_reader, "LARGE_PAIRS", 50)
    assert read_pairs(file.read_bytes(), file.name, None, None, report).limited
    read = read_table(*content_of(file), report)
    assert len(read.profile) == ROWS - 1
    (copies,) = (
        one for one in examine(read.profile, LOSSES["cosent"], 8).faults if one.name == "copies"
    )
    assert copies.values["count"] == 1
    assert [read.row(pair) for pair in copies.shown] == [1, AGAIN + 1]


def test_a_file_of_classes_stays_there_too(tmp_path):
    path = tmp_path / "classes.parquet"
    table = pa.table({"text": ["a cat", "a dog", "a fox"] * 9, "class": ["x", "y", "x"] * 9})
    pq.write_table(table, path, row_group_size=4)
    read = read_table(*content_of(path), report, columns={"text": "text", "class": "class"})
    assert len(read.texts) == 27


def test_what_is_too_much_is_refused(file, monkeypatch):
    monkeypatch.setattr(parquet, "DISK_ROWS", ROWS - 1)
    with raises_problem("file_many_rows", rows=ROWS, most=ROWS - 1):
        read_table(*content_of(file), report)


def test_a_damaged_file_is_refused(file):
    whole = file.read_bytes()
    for damaged in (whole[:-9], whole[:40] + bytes(400) + whole[440:], whole[:6]):
        file.write_bytes(damaged)
        with pytest.raises(Problem):
            read_table(*content_of(file), report)


@pytest.mark.parametrize("content", [b"", b"PAR", b"sentence1,sentence2\na,b\n"])
def test_other_files_are_read_into_memory(tmp_path, content):
    path = tmp_path / "pairs.parquet"
    path.write_bytes(content)
    assert content_of(path) == (content, path.name)


def test_what_is_no_file_is_reported(tmp_path):
    with raises_problem("file_unreadable", name="nothing.parquet"):
        content_of(tmp_path / "nothing.parquet")
