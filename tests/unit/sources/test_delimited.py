"""Separators of columns: bars, full-width commas, Excel's first line; and texts that have none."""

from __future__ import annotations

import gzip

import pytest

from lossprism.explorer.runtime import limits
from lossprism.explorer.sources import gzip_files
from lossprism.explorer.sources.pairs_from_tables import read_table
from tests.sentences import raises_problem

HEAD, ROWS = ("query", "passage", "label"), [("a b", "c d", "1"), ("e f", "g h", "0")]


def joined(mark, rows):
    return "\n".join(mark.join(row) for row in rows).encode()


@pytest.mark.parametrize("name", ["x.csv", "x.txt"])
@pytest.mark.parametrize("mark", ["|", "，", ";", ",", "\t"])
def test_columns_are_separated_by_any_usual_mark(mark, name):
    table = read_table(joined(mark, [HEAD, *ROWS]), name)
    assert (table.pairs.first, table.pairs.labels) == (("a b", "e f"), (1.0, 0.0))
    assert read_table(joined(mark, ROWS), name).pairs.second == ("c d", "g h")


@pytest.mark.parametrize("mark", ";,\t|")
def test_the_first_line_of_excel_names_the_separator(mark):
    data = f"sep={mark}\n".encode() + joined(mark, [HEAD, *ROWS])
    assert read_table(data, "x.csv").pairs.first == ("a b", "e f")
    assert read_table(data.replace(b"\n", b"\r\n"), "x.csv").pairs.first == ("a b", "e f")


@pytest.mark.parametrize(
    "lines",
    [
        ["Title | Site", "Another | Page", "Third | Blog"],  # no names, no scores
        ["我今天很高兴，因为下雨了", "天气很好，我们出去吧"],
        ["a | b", "c", "d | e | f"],
        ["min max", "feature 1:0.5"],
    ],
)
def test_a_mark_within_sentences_separates_nothing(lines):
    with raises_problem("table_one_column"):
        read_table("\n".join(lines).encode(), "x.csv")


def test_bars_within_texts_stay_there():
    rows = [("query", "passage"), ("a | b", "c d"), ("e | f", "g | h")]
    assert read_table(joined("\t", rows), "x.tsv").pairs.first == ("a | b", "e | f")
    assert read_table(joined(",", rows), "x.csv").pairs.second == ("c d", "g | h")


def test_numbers_alone_are_no_pairs():
    with raises_problem("table_of_numbers"):
        read_table(b"0.9,0.1,0.2\n0.3,0.8,0.1\n", "x.csv")


@pytest.mark.parametrize("name", ["x.csv.gz", "x.gz", "x.CSV.GZ"])
def test_a_file_of_gzip_is_read(name):
    data = gzip.compress(joined(",", [HEAD, *ROWS]))
    assert read_table(data, name).pairs.first == ("a b", "e f")
    with raises_problem("file_broken"):
        read_table(data[:-12], name)


def test_a_file_of_gzip_unpacks_to_what_a_file_may_have(monkeypatch):
    monkeypatch.setattr(gzip_files, "LARGE_FILE_BYTES", limits.MIB)
    with raises_problem("large_file_too_large"):
        read_table(gzip.compress(b"a,b\n" * limits.MIB), "x.csv.gz")


@pytest.mark.parametrize("name", ["x.pt", "x.pth", "x.bin", "x.pkl"])
@pytest.mark.parametrize("data", [b"PK\x03\x04" + bytes(99), b"\x80\x05" + bytes(99)])
def test_pickled_objects_are_refused_as_such(name, data):
    with raises_problem("arrays_pickled"):
        read_table(data, name)
