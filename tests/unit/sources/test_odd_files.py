"""Files as nobody should write them: each is read rightly or refused in a sentence, by all readers
of files, in time and room that grow no faster than the file."""

from __future__ import annotations

import contextlib
import datetime
import functools
import io
import itertools
import json
import random
import sys
import time
import tracemalloc
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from lossprism.explorer.lab.large import large_pair_table_reader as large
from lossprism.explorer.lab.training import pair_sources
from lossprism.explorer.lab.training.plan import TrainingData
from lossprism.explorer.locale import LANGUAGES, say
from lossprism.explorer.runtime import limits
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources import (
    delimited,
    json_rows,
    pairs_from_tables,
    parquet,
    rows_of_arrow_record_batches,
)
from lossprism.explorer.sources.cells import is_score, read_score
from lossprism.explorer.sources.pairs_from_tables import from_rows, read_table
from tests.sentences import raises_problem

HEAD = "sentence1,sentence2,score\n"


def keys(table):
    return [(skip.row, skip.problem.key.removeprefix("problem.")) for skip in table.skipped]


def read(text, name="x.csv", **options):
    return read_table(text if isinstance(text, bytes) else text.encode(), name, **options)


def packed(columns, **options) -> bytes:
    into = io.BytesIO()
    table = columns if isinstance(columns, pa.Table) else pa.table(columns)
    pyarrow.parquet.write_table(table, into, **options)
    return into.getvalue()


def often(word: str, times: int) -> pa.Array:
    """One word many times, of which Parquet keeps one."""
    places = pa.array(np.zeros(times, dtype=np.int32))
    return pa.DictionaryArray.from_arrays(places, pa.array([word]))


# ---- Whatever it is, all three readers bear it --------------------------------------------------


def of_table(data, name):
    table = read_table(data, name)
    assert len(table.pairs.first) == len(table.pairs.labels) <= limits.EXPLORED_PAIRS
    return table.pairs.first + table.pairs.second, table.columns, table.skipped


def of_large(data, name):
    found = large.read_pairs(data, name, None, None, lambda what, done, total: None)
    listed = [pairs_from_tables.SkippedRow.of(row, problem) for row, problem in found.skipped[1]]
    return [*found.first, *found.second], found.columns, listed


def of_training(data, name):
    path = of_training.folder / "file"
    path.write_bytes(data)
    pairs = pair_sources.pairs_of(TrainingData(source="file", file=str(path), name=name)).pairs
    return pairs.first + pairs.second, (), ()


READERS = [of_table, of_large, of_training]


@pytest.fixture(autouse=True)
def _folder(tmp_path):
    of_training.folder = tmp_path


def outcome(reader: Callable, data: bytes, name: str) -> str:
    """ "read", or the key of the problem; every message can be written and sent."""
    try:
        sentences, columns, skipped = reader(data, name)
        problems = [skip.problem for skip in skipped[:20]]
    except Problem as problem:
        sentences, columns, problems = (), (), [problem]
    for problem in problems:
        for language in LANGUAGES:
            assert say(language, problem.key, **problem.values).encode()
        json.dumps(problem.to_json(), ensure_ascii=False).encode()
    assert all(text.strip() and text.encode() for text in sentences)
    assert len(set(columns)) == len(columns)
    assert all(column.encode() for column in columns)
    return "read" if sentences else problems[0].key.removeprefix("problem.")


def dates() -> bytes:
    far = [2**62, -(2**62)]
    return packed(
        {
            "sentence1": ["a", "b"],
            "sentence2": ["c", "d"],
            "score": [1.0, 0.5],
            "far": pa.array(far, pa.timestamp("us")),
            "nowhere": pa.array([1, 2], pa.timestamp("us", "Nowhere/Here")),
            "day": pa.array([2**31 - 1, None], pa.date32()),
            "span": pa.array(far, pa.duration("s")),
            "listed": pa.array([[2**62], None], pa.list_(pa.timestamp("us"))),
            "named": pa.array([[("a", 1)], []], pa.map_(pa.string(), pa.int32())),
            "nested": [{"a": 1}, {"a": 2}],
            "bytes": [b"\xff", None],
        }
    )


PAIR = {"sentence1": ["a"], "sentence2": ["b"], "score": [1.0]}
ODD = {
    "empty cells alone": ("x.tsv", b'""\t""\n""\t""\n', "file_empty"),
    "separators alone": ("x.csv", b",,,\n,,,\n", "table_one_column"),
    "half characters as keys": (
        "x.jsonl",
        b'{"s1": "a", "s2": "b", "score": 1, "\\ud800": 1, "\\udfff": 2}',
        "read",
    ),
    "half characters as names": (
        "x.csv",
        HEAD.replace("\n", ",\udcff,\udcff\n").encode("utf-8", "surrogatepass") + b"a,b,1,,\n",
        "read",
    ),
    "half characters in what is wrong": (
        "x.jsonl",
        '{"s1": "a", "s2": "b", "score": 1}\n{"\ud800'.encode("utf-8", "surrogatepass"),
        "read",
    ),
    "half characters in a score": (
        "x.jsonl",
        b'{"s1": "a", "s2": "b", "score": "\\ud800"}\n{"s1": "a", "s2": "b", "score": 1}',
        "read",
    ),
    "half characters in its name": ("\ud800.csv", b"\0\0\0", "file_binary"),
    "a number of too many digits": (
        "x.jsonl",
        b'{"s1": "a", "s2": "b", "score": 1}\n{"s1": "a", "s2": "b", "score": '
        + b"9" * 5000
        + b"}",
        "read",
    ),
    "the same as a sentence": (
        "x.json",
        b'[{"s1": ' + b"9" * 5000 + b', "s2": "b", "score": 1}]',
        None,
    ),
    "an array that goes on": ("x.json", b'[{"s1": "a"}] more', "file_broken"),
    "an array without its end": ("x.json", b'[{"s1": "a"},', "file_broken"),
    "an array of nothing": ("x.json", b"[]", "file_not_json"),
    "objects of nothing": ("x.jsonl", b"{}\n{}", "file_not_json"),
    "dates out of range": ("x.parquet", dates(), "read"),
    "dates as sentences": (
        "x.parquet",
        packed({**PAIR, "sentence1": pa.array([2**62], pa.timestamp("us"))}),
        None,
    ),
    "columns of one name": (
        "x.parquet",
        packed(
            pa.Table.from_arrays([pa.array(["a"])] * 2 + [pa.array([1.0])], ["a", "a", "score"])
        ),
        None,
    ),
    "bytes that are no letters": (
        "x.parquet",
        packed({**PAIR, "sentence1": pa.array([b"\xff\xfe"]).view(pa.string())}),
        "file_broken",
    ),
    "no columns": ("x.parquet", packed({}), "file_only_header"),
    "no rows": ("x.parquet", packed({"a": pa.array([], pa.string())}), "file_only_header"),
    "half a page": ("x.parquet", packed(PAIR)[:-20], "file_broken"),
    "other kinds of text": (
        "x.parquet",
        packed({**PAIR, "sentence1": pa.array(["q"], pa.large_string())}),
        "read",
    ),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("what", ODD)
def test_an_odd_file_is_read_or_refused(reader, what):
    name, data, expected = ODD[what]
    found = outcome(reader, data, name)
    assert expected in (None, found)


@pytest.mark.parametrize("reader", READERS)
def test_whatever_is_strewn_into_a_file_all_readers_bear(reader):
    stream = random.Random(5)
    pieces = [
        '"',
        '""',
        ",",
        "\t",
        "\n",
        "\r",
        ";",
        "{",
        "}",
        "[",
        "]",
        ":",
        "\ufeff",
        "\x1b",
        "~{",
    ]
    pieces += [
        "+AGE-",
        "1,000",
        "²",
        "é",
        "你",
        "score",
        "null",
        "\\ud800",
        "\udc00",
        "s1",
        "a",
        ".",
    ]
    whole = {
        ".csv": HEAD + 'a,"b, b",1\n"c ""d""",e,0\n',
        ".tsv": HEAD.replace(",", "\t") + "a\tb\t1\nc\td\t0\n",
        ".jsonl": '{"s1": "a", "s2": "b", "score": 1}\n{"s1": "c", "s2": "d", "score": 0}\n',
        ".json": '[{"s1": "a", "s2": "b", "score": 1}, {"s1": "c", "s2": "d", "score": 0}]',
    }
    encodings = ["utf-8", "utf-16", "cp1251", "big5", "latin1", "utf-8-sig"]
    found = set()
    for _ in range(300):
        kind = stream.choice(list(whole))
        text = whole[kind]
        for _ in range(stream.randint(1, 6)):
            at = stream.randint(0, len(text))
            text = text[:at] + stream.choice(pieces) + text[at + stream.randint(0, 2) :]
        encoding = stream.choice(encodings)
        how = "surrogatepass" if encoding.startswith("utf") else "ignore"
        found.add(outcome(reader, text.encode(encoding, how), f"x{kind}"))
    assert "read" in found
    assert len(found) > 5


@pytest.mark.parametrize("reader", READERS)
def test_bytes_that_were_hit_in_a_parquet_file_are_borne(reader):
    stream = random.Random(6)
    rows = {"sentence1": ["a", "b"], "sentence2": ["c", "d"], "score": [1.0, 0.5]}
    data = packed({**rows, "negatives": [["x"], []]})
    for _ in range(60):
        hit = bytearray(data)
        for _ in range(stream.randint(1, 3)):
            hit[stream.randrange(4, len(hit) - 8)] = stream.randrange(256)
        outcome(reader, bytes(hit), "x.parquet")


# ---- What stands in a cell -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "labels"),
    [
        (["1,000", "0,5"], [1.0, 0.5]),
        (["2.500", "0.5"], [2.5, 0.5]),
        (["4.000", "3.667"], [4.0, 3.667]),  # a mean to three places
        (["1.000", "0.000"], [1.0, 0.0]),
        (["1.125", "2"], [1.125, 2.0]),
        (["12,5", "1,250", "1234,500"], [12.5, 1.25, 1234.5]),
        (["５", "０．５", "٤", "٠٫٢٥", "−１"], [5.0, 0.5, 4.0, 0.25, -1.0]),
    ],
)
def test_the_decimal_mark_is_found_from_the_column(cells, labels):
    rows = [(f"a{at}", "b", cell) for at, cell in enumerate(cells)]
    assert list(from_rows(rows).pairs.labels) == labels
    lines = [json.dumps(dict(zip(("s1", "s2", "score"), row, strict=True))) for row in rows]
    assert list(read("\n".join(lines), "x.jsonl").pairs.labels) == labels


@pytest.mark.parametrize("cell", ["1,000", "1.000", "-2,500", "250.100", "1,234", "１，０００"])
def test_an_ambiguous_thousands_mark_needs_an_answer(cell):
    table = read(f"{HEAD.replace(',', ';')}a;b;{cell}\nc;d;1\ne;f;750\n")
    assert keys(table) == [(1, "score_ambiguous")]
    assert list(table.pairs.labels) == [1, 750]
    values = table.skipped[0].problem.values
    thousands = float(values["thousands"])
    assert float(values["one"]) * 1000 == thousands
    assert abs(thousands) >= 1000


@pytest.mark.parametrize("cell", ["5²", "¹", "①", "½", "4⁄5", "1²³", "Ⅳ"])
def test_a_digit_that_is_a_footnote_is_no_digit(cell):
    assert not is_score(cell)
    with raises_problem("score_not_a_number"):
        read_score(cell, "score")


def test_an_unclosed_quoted_cell_is_reported():
    table = read(HEAD + '"oh no,b,1\n"c d",e,1\nf,"g" h,1\n6" wide,i,1\nj,"k,0\n"""l"" m",n,0\n')
    assert table.pairs.first == ("c d", "f", '6" wide', '"l" m')
    assert table.pairs.second == ("e", '"g" h', "i", "n")
    assert keys(table) == [(1, "row_unclosed_quote"), (5, "row_unclosed_quote")]


@pytest.mark.parametrize(
    "first",
    [f"hot tea,warm tea,{cell}" for cell in ("n/a", "NA", "-", "", "null", "缺失")]
    + ["The tea is hot.,It is warm.,what", "茶很烫。,茶是温的。,无"],
)
def test_a_first_row_without_a_score_is_no_header(first):
    table = read(f"{first}\n" + "c,d,1\ne,f,0\n" * 5)
    assert not table.header
    assert [row for row, _ in keys(table)] == [1]
    assert table.total == 11


def test_a_column_is_not_named_by_five_thousand_digits():
    with pytest.raises(Problem) as caught:
        read(HEAD + "a,b,1\n", columns={"first": "9" * 5000})
    assert caught.value.key == "problem.column_unknown"


# ---- No more time and room than the file is worth -----------------------------------------------


GROWING: dict[str, tuple[str, Callable[[int], str]]] = {
    "columns of one name": ("x.csv", lambda n: ",".join(["a"] * n) + "\n" + ",".join("1" * n)),
    "keys of their own": (
        "x.jsonl",
        lambda n: "\n".join(json.dumps({"s1": "a", "s2": "b", f"k{i}": 1}) for i in range(n // 8)),
    ),
    "chained quotes": ("x.csv", lambda n: HEAD + 'b","\n' * n),
    "chained quotes of many columns": (
        "x.csv",
        lambda n: ",".join(map(str, range(n // 4))) + "\n" + 'b","\n' * n,
    ),
    "alternating quotes": ("x.csv", lambda n: HEAD + '"\n","\n' * n),
    "doubled quotes": ("x.csv", lambda n: HEAD + '"x""\n' * n),
    "quotes of a TSV": ("x.tsv", lambda n: HEAD.replace(",", "\t") + '"x\t"y\t1\n' * n),
    "newlines": ("x.csv", lambda n: HEAD + "a,b,1\n" + "\n" * (40 * n)),
    "newlines among quotes": ("x.csv", lambda n: HEAD + '"a",b,1\n' + "\n" * (40 * n) + '"c",d,0'),
    "bad rows": ("x.csv", lambda n: HEAD + "a,b,1\n" + "a,b\n" * n),
    "bad lines": ("x.jsonl", lambda n: '{"s1": "a", "s2": "b", "score": 1}\n' + "x\n" * n),
    "empty cells": ("x.csv", lambda n: HEAD + ("a,b,1" + "," * (n // 4) + "\n") * 4),
    "a long array": ("x.json", lambda n: '[{"s1": "a", "s2": "b", "score": 1}' + ",{}" * n + "]"),
    "ambiguous scores": ("x.tsv", lambda n: HEAD.replace(",", "\t") + "a\tb\t1,000\n" * n),
    "open strings": ("x.json", lambda n: '[{"s1": "' + '\\"' * (10 * n)),
}


def calls_of(work: Callable[[], object]) -> int:
    """How many functions are called meanwhile: the same on every machine."""
    count = 0

    def counted(frame, event, arg):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        work()
    except Problem:
        pass
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("what", "reader"),
    [*((what, of_table) for what in GROWING), ("bad rows", of_large), ("newlines", of_large)],
)
def test_the_work_grows_as_the_file_does(what, reader):
    name, make = GROWING[what]
    files = [make(n).encode() for n in (100, 400, 1600)]
    spent = [calls_of(functools.partial(reader, data, name)) for data in files]
    assert spent[2] - spent[1] < 6 * (spent[1] - spent[0]) + 2000


@pytest.mark.parametrize(
    "what", ["columns of one name", "newlines", "doubled quotes", "open strings"]
)
def test_the_time_grows_as_the_file_does(what):
    name, make = GROWING[what]
    spent = []
    for n in (2000, 16_000):
        data = make(n).encode()
        start = time.process_time()
        with contextlib.suppress(Problem):
            of_table(data, name)
        spent.append(time.process_time() - start)
    assert spent[1] < 8 * 4 * spent[0] + 0.1  # 64 times as much, were it quadratic


@pytest.mark.thorough
@pytest.mark.parametrize("what", ["chained quotes", "alternating quotes"])
def test_a_megabyte_of_quotes_is_so_much_work(what):
    """Seconds of a processor, several times what they are: for a fifth of a megabyte."""
    name, make = GROWING[what]
    data = (make(40_000) if what.startswith("chained") else make(30_000)).encode()
    start = time.process_time()
    with contextlib.suppress(Problem):
        of_table(data, name)
    spent = time.process_time() - start
    assert spent < 12 * len(data) / limits.MIB


def test_columns_and_rows_beyond_the_limits_are_refused(monkeypatch):
    for module in (delimited, json_rows, rows_of_arrow_record_batches):
        monkeypatch.setattr(module, "COLUMNS", 50)
    names = [f"c{at}" for at in range(60)]
    wide = dict.fromkeys(names, 1)
    for data, name, key in [
        ("\t".join(names).encode() + b"\n", "x.tsv", "row_many_fields"),
        (b'"a\tb"\t' * 60 + b"\n", "x.tsv", "row_many_fields"),
        (json.dumps(wide).encode(), "x.jsonl", "file_many_columns"),
        (packed({at: [value] for at, value in wide.items()}), "x.parquet", "file_many_columns"),
    ]:
        assert {outcome(reader, data, name) for reader in READERS} == {key}
    monkeypatch.setattr(pairs_from_tables, "BAD_ROWS", 100)
    data = (HEAD + "a,b,1\n" * 90 + "a,b\n" * 102).encode()
    assert {outcome(reader, data, "x.csv") for reader in READERS} == {"file_bad_rows"}
    assert read_table(data.replace(b"a,b\n", b"", 10), "x.csv").left_out == 92
    monkeypatch.setattr(json_rows, "ROW_LETTERS", 1000)
    long = json.dumps([{"s1": "a", "s2": "b", "score": [0] * 1000}])
    assert outcome(of_table, long.encode(), "x.json") == "row_too_long"


def test_only_the_first_bad_rows_are_stored(monkeypatch):
    monkeypatch.setattr(pairs_from_tables, "SKIPPED_ROWS", 3)
    table = read(HEAD + "a,b\n" * 10 + "a,b,1\n")
    assert (len(table.skipped), table.left_out, table.total) == (3, 10, 11)


@pytest.mark.parametrize(
    ("columns", "key"),
    [
        (
            {"sentence1": often("x" * 10**6, 10**6), "sentence2": often("y", 10**6)},
            "file_too_large",
        ),
        ({"sentence1": pa.nulls(2**22 + 1, pa.string())}, "file_many_rows"),
        (
            {
                **PAIR,
                "negative": pa.ListArray.from_arrays(
                    pa.array([0, 5 * 10**6], pa.int32()), often("n", 5 * 10**6).dictionary_decode()
                ),
            },
            "file_too_large",
        ),
    ],
)
@pytest.mark.parametrize("reader", READERS)
def test_a_small_parquet_file_of_gigabytes_is_refused_before_they_are_there(reader, columns, key):
    data = packed(columns, compression="zstd")
    assert len(data) < 2**16
    before = pa.total_allocated_bytes()
    pool = pa.default_memory_pool()
    tracemalloc.start()
    try:
        assert outcome(reader, data, "x.parquet") == key
        assert tracemalloc.get_traced_memory()[1] < 64 * 2**20
    finally:
        tracemalloc.stop()
    assert pa.total_allocated_bytes() - before < 64 * 2**20
    assert pool.bytes_allocated() < 256 * 2**20


def test_what_rows_ask_for_is_counted_before_a_row_is_made(monkeypatch):
    made = []
    cells = rows_of_arrow_record_batches._cells
    monkeypatch.setattr(
        rows_of_arrow_record_batches, "_cells", lambda column: made.append(column) or cells(column)
    )
    monkeypatch.setattr(rows_of_arrow_record_batches, "UNPACKED_BYTES", limits.MIB)
    columns = {"sentence1": often("x" * 100, 20_000), "sentence2": often("y", 20_000)}
    data = packed(columns, compression="zstd", row_group_size=5000)
    assert len(data) < 2**14
    for reader in READERS:
        assert outcome(reader, data, "x.parquet") == "file_too_large"
    assert made == []
    monkeypatch.setattr(rows_of_arrow_record_batches, "UNPACKED_BYTES", 4 * limits.MIB)
    assert read(data, "x.parquet").total == 20_000
    assert made


def test_a_small_file_says_to_how_much_it_unpacks():
    many = packed({"sentence1": often("x", 100_000), "sentence2": often("y", 100_000)})
    assert len(many) < limits.HEAVY_FILE_BYTES < parquet.unpacked_bytes(many)
    few = packed({"sentence1": ["a"] * 50, "sentence2": ["b"] * 50, "score": [1.0] * 50})
    assert parquet.unpacked_bytes(few) < limits.HEAVY_FILE_BYTES
    assert parquet.unpacked_bytes(few[:-20]) == len(few) - 20  # it is damaged


def test_a_word_that_comes_often_is_there_once():
    many = 3000
    data = packed(
        {
            "sentence1": often("x" * 10**4, many),
            "sentence2": [f"y{at}" for at in range(many)],
            "score": pa.array(np.arange(many, dtype=np.float64)),
        }
    )
    table = read_table(data, "x.parquet", most=many)
    assert table.pairs.second == tuple(f"y{at}" for at in range(many))
    assert len(set(map(id, table.pairs.first))) <= 1 + many // 100


def test_a_file_of_many_rows_does_not_stay_in_memory():
    data = (HEAD + "a long tea,a warm tea,1\n" * 8000).encode()
    tracemalloc.start()
    try:
        table = read_table(data, "x.csv", most=10, seed=3)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (len(table.pairs), table.total, table.limited) == (10, 8000, True)
    assert peak < 4 * len(data)


def test_parquet_of_every_kind_of_column_keeps_its_rows():
    day = datetime.date(2020, 1, 1)
    columns = {
        "sentence1": ["a", None, "c", "d"],
        "sentence2": pa.array(["e", "f", "g", "h"]).dictionary_encode(),
        "score": ["0,5", "1,000", "1,000", None],
        "day": [day] * 4,
        "negatives": [["n"], None, [], ["o", "p"]],
    }
    table = read_table(packed(columns, row_group_size=2), "x.parquet")
    assert table.pairs.rows == (("a", "e", "0.5"), ("c", "g", "1"))
    assert keys(table) == [(2, "sentence_missing"), (4, "score_missing")]
    table = read_table(
        packed({**columns, "sentence1": [day] * 4}), "x.parquet", columns={"first": "sentence1"}
    )
    assert {key for _, key in keys(table)} == {"sentence_not_text"}
    assert table.skipped[0].problem.values["kind"] == "date32"
    roles = {"anchor": "sentence1", "positive": "sentence2", "negative": "negatives"}
    table = read_table(packed(columns), "x.parquet", columns=roles)
    assert table.pairs.rows == (
        ("a", "e", "1"),
        ("a", "n", "0"),
        ("d", "h", "1"),
        ("d", "o", "0"),
        ("d", "p", "0"),
    )


def test_names_of_columns_are_made_distinct_as_they_were():
    assert delimited.distinct(["a", "a", "a (2)", "", "a", " b ", "b"]) == (
        "a",
        "a (2)",
        "a (2) (2)",
        "4",
        "a (3)",
        "b",
        "b (2)",
    )


def test_blank_lines_count_and_cost_nothing():
    for quote in ("", '"'):
        text = f"\n\n{HEAD}\n \t\n{quote}a{quote},b,1\n\n\n{quote}c{quote},d,x\n"
        table = read(text)
        assert table.pairs.rows == (("a", "b", "1"),)
        assert keys(table) == [(6, "score_not_a_number")]
        assert table.total == 2


def test_every_sentence_of_a_sample_is_the_one_that_was_drawn():
    rows = [f"a{at},b,{at if at % 3 else 'bad'}" for at in range(1000)]
    table = read(HEAD + "\n".join(rows), most=50, seed=7)
    usable = [at for at in range(1000) if at % 3]
    drawn = sorted(np.random.RandomState(7).permutation(len(usable))[:50])
    assert table.pairs.first == tuple(f"a{usable[at]}" for at in drawn)
    assert table.left_out == len(list(itertools.filterfalse(lambda at: at % 3, range(1000))))
