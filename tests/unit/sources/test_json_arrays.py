"""JSON whose rows are arrays: one array of them, over any lines, or one on each line."""

from __future__ import annotations

import json

import pytest

from lossprism.explorer.sources.json_rows import is_json
from lossprism.explorer.sources.pairs_from_tables import read_table
from lossprism.explorer.sources.table_file_reader import read_grid
from tests.unit.sources.test_odd_files import READERS, outcome

ROWS = [["a cat", "a dog", 0.3], ["x", 'y, "z"', 0.9], ["m", "第三", 1]]
WAYS = {
    "one line": json.dumps,
    "several lines": lambda rows: json.dumps(rows, indent=2),
    "an array a line": lambda rows: "[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n",
    "JSON lines": lambda rows: "\n".join(map(json.dumps, rows)),
    "JSON lines of Windows": lambda rows: "\r\n".join(map(json.dumps, rows)) + "\r\n",
    "JSON lines after a blank one": lambda rows: "\n  " + "\n\n".join(map(json.dumps, rows)),
}
NAMES = ("x.json", "x.jsonl", "x.txt", "x")


@pytest.fixture(autouse=True)
def _folder(tmp_path):
    READERS[2].folder = tmp_path


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("way", WAYS)
def test_arrays_are_rows_of_numbered_columns(way, name):
    table = read_table(WAYS[way](ROWS).encode(), name)
    assert table.columns == ("1", "2", "3")
    assert not table.header
    assert table.pairs.rows == tuple((a, b, f"{c:g}") for a, b, c in ROWS)
    assert {outcome(reader, WAYS[way](ROWS).encode(), name) for reader in READERS} == {"read"}


@pytest.mark.parametrize("way", WAYS)
def test_the_first_array_may_have_the_names(way):
    rows = [["anchor", "positive", "negatives"], ["a", "b", ["c", "d"]], ["e", "f", "g"]]
    table = read_table(WAYS[way](rows).encode(), "x.json")
    assert table.columns == tuple(rows[0])
    assert table.header
    expected = (("a", "b", "1"), ("a", "c", "0"), ("a", "d", "0"), ("e", "f", "1"), ("e", "g", "0"))
    assert table.pairs.rows == expected


@pytest.mark.parametrize("way", WAYS)
def test_positives_and_chosen_columns(way):
    pairs = [row[:2] for row in ROWS]
    assert read_table(WAYS[way](pairs).encode(), "x.json").pairs.labels == (1.0, 1.0, 1.0)
    roles = {"anchor": "1", "positive": "2", "negative": "3"}
    table = read_table(WAYS[way]([["p", "q", "r"]] * 2).encode(), "x.json", columns=roles)
    assert table.pairs.rows == (("p", "q", "1"), ("p", "r", "0")) * 2


@pytest.mark.parametrize("way", ["one line", "JSON lines"])
def test_rows_that_are_no_arrays_or_too_short_are_named(way):
    rows = [*ROWS, ["only one"], 5, {"1": "s", "2": "t", "3": 0}, ["u", "v", "word"]]
    table = read_table(WAYS[way](rows).encode(), "x.json")
    found = [(skip.row, skip.problem.key.removeprefix("problem.")) for skip in table.skipped]
    assert found == [(4, "sentence_missing"), (5, "row_not_object"), (7, "score_not_a_number")]
    assert table.pairs.rows[-1] == ("s", "t", "0")


@pytest.mark.parametrize(
    "text",
    ["[0.1, 0.2]\n[0.3, 0.4]", "[[1, 2]]", '["a", "b"],c\n["d", "e"],f', "[citation needed]", "["],
)
def test_lists_in_cells_and_numbers_are_no_rows(text):
    assert not is_json(text)


def test_a_cell_with_a_list_stays_a_cell_of_csv():
    grid = read_grid(b'["a";"b"],c,1\n["d";"e"],f,0\n', "x.csv", False)
    assert len(grid.columns) == 3
