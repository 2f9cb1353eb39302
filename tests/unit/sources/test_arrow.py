"""Arrow files and streams: the rows that Parquet gives, and nothing unpacked beyond the limits."""

from __future__ import annotations

import io
import random
import tracemalloc

import datasets
import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet
import pytest

from lossprism.explorer.runtime import limits
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources import arrow, rows_of_arrow_record_batches
from lossprism.explorer.sources.pairs_from_tables import read_table
from tests.unit.sources.test_odd_files import READERS, outcome, packed

FORMS = {"file": pyarrow.ipc.new_file, "stream": pyarrow.ipc.new_stream}
COMPRESSIONS = (None, "lz4", "zstd")
PAIR = {"sentence1": ["a"], "sentence2": ["b"], "score": [1.0]}
LISTS = [["x", None], [], None, ["y"]]
TABLE = pa.table(
    {
        "sentence1": ["a cat", None, "ein Bär", "d"],
        "sentence2": pa.array(["e", "f", "g", "很好"]).dictionary_encode(),
        "score": pa.array([0.25, 1.0, None, 0.5], pa.float32()),
        "large": pa.array(["a", "b", None, "d"], pa.large_string()),
        "negatives": pa.array(LISTS, pa.large_list(pa.string())),
        "vector": pa.array([[0.1, 0.2]] * 4, pa.list_(pa.float32(), 2)),
        "passages": [[{"text": "t", "score": 2}], None, [], [{"text": "u", "score": 3}]],
        "day": pa.array([0, 1, None, 3], pa.date32()),
    }
)


def stored(columns, form="file", compression=None, rows=None) -> bytes:
    into = io.BytesIO()
    table = columns if isinstance(columns, pa.Table) else pa.table(columns)
    options = pyarrow.ipc.IpcWriteOptions(compression=compression)
    with FORMS[form](into, table.schema, options=options) as writer:
        writer.write_table(table, rows)
    return into.getvalue()


def problem_of(data: bytes, name: str) -> tuple:
    table = read_table(data, name)
    problems = [(skip.row, skip.problem.key) for skip in table.skipped]
    return table.pairs.rows, table.columns, table.chosen, table.unread, problems


@pytest.fixture(autouse=True)
def _folder(tmp_path):
    READERS[2].folder = tmp_path


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rows", [None, 3])
def test_a_table_is_read_as_parquet_has_it(form, compression, rows):
    data = stored(TABLE, form, compression, rows)
    for name in ("x.arrow", "x.feather", "x.ipc", "x.arrows", "x.txt", "x"):
        assert problem_of(data, name) == problem_of(packed(TABLE), "x.parquet")
    assert read_table(data, "x").encoding == "Arrow"


def test_strings_as_polars_writes_them_are_texts():
    views = {
        name: pa.array(words, pa.string_view())
        for name, words in {
            "sentence1": ["a", None, "a long sentence that stands beside its view"],
            "sentence2": ["b", "c", "d"],
        }.items()
    }
    kinds = pa.array([0, 1, 0], pa.int8())
    words = pa.DictionaryArray.from_arrays(kinds, pa.array(["x", "y"], pa.string_view()))
    table = read_table(stored({**views, "score": [1.0, 0.5, 0.0], "kind": words}), "x.arrow")
    rows = (("a", "b", "1"), ("a long sentence that stands beside its view", "d", "0"))
    assert table.pairs.rows == rows


def test_what_the_datasets_library_saved_is_read(tmp_path):
    datasets.Dataset.from_dict(PAIR).save_to_disk(tmp_path / "saved")
    (path,) = (tmp_path / "saved").glob("*.arrow")
    for reader in READERS:
        assert outcome(reader, path.read_bytes(), path.name) == "read"


def test_a_damaged_name_of_an_inner_column_is_refused():
    data = stored(TABLE).replace(b"score", b"s\x83ore")
    assert {outcome(reader, data, "x.arrow") for reader in READERS} == {"file_broken"}


def test_what_feather_writes_by_default_is_read():
    into = io.BytesIO()
    pyarrow.feather.write_feather(pa.table(PAIR), into)
    assert read_table(into.getvalue(), "x.feather").pairs.rows == (("a", "b", "1"),)


@pytest.mark.parametrize(
    ("name", "data", "key"),
    [
        ("x.arrow", b"sentence1,sentence2\na,b\n", "file_not_packed"),
        ("x.csv", stored(PAIR), "file_not_its_name"),
        ("x.parquet", stored(PAIR, "stream"), "file_not_its_name"),
        ("x.feather", b"FEA1" + bytes(40) + b"FEA1", "file_not_its_name"),
        ("x.arrow", stored(PAIR)[:-20], "file_broken"),
        ("x.arrow", stored(PAIR, "stream")[:-40], "file_broken"),
        ("x.arrow", b"ARROW1", "file_broken"),
        ("x.arrow", stored({}), "file_only_header"),
        ("x.arrow", stored({"a": pa.array([], pa.string())}), "file_only_header"),
        (
            "x.arrow",
            stored({**PAIR, "sentence1": pa.array([b"\xff\xfe"]).view(pa.string())}),
            "file_broken",
        ),
    ],
)
def test_another_file_and_a_damaged_one_are_refused(name, data, key):
    assert {outcome(reader, data, name) for reader in READERS} == {key}


def often(word: str, times: int) -> pa.Array:
    places = pa.array(np.zeros(times, dtype=np.int32))
    return pa.DictionaryArray.from_arrays(places, pa.array([word]))


def views_of_one(word: str, times: int) -> pa.Array:
    one = pa.array([word], pa.string_view())
    _, views, words = one.buffers()
    repeated = pa.py_buffer(views.to_pybytes() * times)
    return pa.Array.from_buffers(pa.string_view(), times, [None, repeated, words])


BOMBS = {
    "one word": lambda: often("x" * 10**4, 10**5),
    "views of one word": lambda: views_of_one("x" * 10**4, 10**5),
    "one number": lambda: pa.FixedSizeListArray.from_arrays(pa.array(np.zeros(10**7)), 100),
    "a list of nothing": lambda: pa.ListArray.from_arrays(
        pa.array([0, 2**30], pa.int32()), pa.nulls(2**30)
    ),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("bomb", BOMBS)
def test_a_small_file_of_much_is_refused_before_it_is_unpacked(reader, bomb, monkeypatch):
    monkeypatch.setattr(rows_of_arrow_record_batches, "UNPACKED_BYTES", 64 * limits.MIB)
    first = BOMBS[bomb]()
    table = {"sentence1": first, "sentence2": pa.nulls(len(first))}
    data = stored(table, compression="zstd")
    del first, table
    assert len(data) < limits.MIB / 4
    before = pa.total_allocated_bytes()
    tracemalloc.start()
    try:
        assert outcome(reader, data, "x.arrow") == "file_too_large"
        assert tracemalloc.get_traced_memory()[1] < 16 * limits.MIB
    finally:
        tracemalloc.stop()
    assert pa.total_allocated_bytes() - before < 16 * limits.MIB


@pytest.mark.parametrize("reader", READERS)
def test_rows_without_anything_count(reader):
    data = stored({"sentence1": pa.nulls(limits.UNPACKED_ROWS + 1), "b": pa.nulls(2**22 + 1)})
    assert len(data) < 2**12
    assert outcome(reader, data, "x.arrow") == "file_many_rows"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_a_file_says_to_how_much_it_unpacks(form, compression):
    table = pa.table({"a": pa.array(np.zeros(300_000)), "b": ["a word"] * 300_000})
    data = stored(table, form, compression)
    assert arrow.unpacked_bytes(data) == pytest.approx(table.nbytes, rel=0.01)
    cut = data[: len(data) // 2]
    assert arrow.unpacked_bytes(cut) == len(cut)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_bytes_that_were_hit_are_borne(form, compression):
    stream = random.Random(7)
    data = stored(TABLE, form, compression)
    found = set()
    for _ in range(150):
        hit = bytearray(data)
        for _ in range(stream.randint(1, 3)):
            hit[stream.randrange(8, len(hit) - 8)] = stream.randrange(256)
        try:
            found.add(bool(read_table(bytes(hit), "x.arrow").pairs))
        except Problem as problem:
            found.add(problem.key)
    assert {True, "problem.file_broken"} <= found
