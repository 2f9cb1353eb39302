"""What the benchmark of the Doctor writes is read whole, as what it is called."""

import json

import pytest

from benchmarks.doctor_on_a_million_rows import CASES
from benchmarks.made_up_tables import Writer
from lossprism.explorer import cli

ROWS = 4_000
REPEATED = {"copies", "conflicting_labels"}
FOUND = {
    "scored pairs, half of them repeated": REPEATED,
    "the same, in-batch negatives": {*REPEATED, "twins", "degrees_lost"},
    "Chinese pairs, 0 or 1": {"not_latin"},
    "classes": {"rows_alone"},
}


@pytest.mark.parametrize("name", CASES)
def test_each_table_is_read_whole_and_has_what_was_put_into_it(name, tmp_path, monkeypatch, capsys):
    made, loss = CASES[name]
    file = tmp_path / "rows.tsv"
    written = made(Writer(), ROWS)
    file.write_text("".join("\t".join(map(str, cells)) + "\n" for cells in written), "utf-8")
    arguments = ["app.py", "doctor", str(file), "--loss", loss, "--batch", "64", "--json"]
    monkeypatch.setattr("sys.argv", arguments)
    assert cli.main() in (0, 1)
    output = json.loads(capsys.readouterr().out)
    pairs_of_a_row = 2 if name == "triplets" else 1
    assert output.get("pairs", output.get("rows")) == pairs_of_a_row * ROWS
    assert output["skipped"] == 0
    assert {finding["name"] for finding in output["findings"]} == FOUND.get(name, set())
