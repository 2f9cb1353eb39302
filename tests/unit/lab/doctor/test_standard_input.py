"""`python app.py doctor -`, and folders of other programs: read, or named what reads them."""

from __future__ import annotations

import io
import json
import sqlite3

import pytest

from lossprism.explorer.lab.doctor.terminal_commands import doctor
from lossprism.explorer.locale import LANGUAGES, say
from lossprism.losses.sentence_transformers.saved_batch import write
from tests.sentences import pattern_of
from tests.unit.lab.doctor.test_terminal_commands import typed_doctor
from tests.unit.web.pages.test_doctor_run import batch

LINES = "warming up\n" + "".join(f"{{'loss': {2.0794 + n % 2 / 1e4}}}\n" for n in range(40))


@pytest.fixture
def piped(monkeypatch):
    """Run the command on a text from standard input; its status."""

    def run(text, *words):
        stdin = io.TextIOWrapper(io.BytesIO(text.encode()))
        monkeypatch.setattr("sys.stdin", stdin)
        return doctor(typed_doctor("-", *words))

    return run


@pytest.mark.parametrize(
    ("text", "words", "status", "key", "values"),
    [
        ("2.09 2.081", ("--negatives", "7"), 0, "mean_of", {"count": 2, "value": "2.0855"}),
        ("{'loss': 0.6925}", ("--batch", "2"), 0, "took_value", {"count": 1, "values": "0.6925"}),
        (LINES, ("--loss", "info_nce", "--batch", "8"), 1, "run.at_collapse", {}),
        (LINES, (), 0, "run.left_lines", {"count": 1, "line": 1}),
        (LINES, ("--language", "zh"), 0, "run.left_lines", {"count": 1, "line": 1}),
        ("a b\tc d\ne f\tg h\n", (), 0, "examined", {"count": 2, "loss": "InfoNCE"}),
    ],
)
def test_standard_input_is_read_as_what_it_is(text, words, status, key, values, piped, capsys):
    assert piped(text, *words) == status
    language = "zh" if "zh" in words else "en"
    assert pattern_of(f"doctor.{key}", language, **values).search(capsys.readouterr().out)


@pytest.mark.parametrize("text", ["", "hello", '{"log_history": [', "step,loss\n"])
def test_refusals_are_in_the_language_that_was_chosen(text, piped, capsys):
    for language in LANGUAGES:
        assert piped(text, "--language", language) == 2
        output = capsys.readouterr()
        assert pattern_of("doctor.not_examined", language).match(output.err)
        assert output.out == ""
        assert (language == "zh") == any("一" <= letter <= "鿿" for letter in output.err[8:])


@pytest.mark.parametrize("at", ["", "wandb", "wandb/offline-run-1", "wandb/offline-run-1/a.wandb"])
def test_an_offline_run_of_wandb_names_what_exports_it(at, tmp_path, capsys):
    run = tmp_path / "wandb" / "offline-run-1"
    run.mkdir(parents=True)
    (run / "a.wandb").write_bytes(b":W&B")
    assert doctor(typed_doctor(str(tmp_path / at))) == 2
    assert f"wandb sync {run}" in capsys.readouterr().err


def project(path, name="train/global_step"):
    """A trackio project whose calls are counted by ones and whose global step by tens."""
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE metrics (run_name TEXT, step INTEGER, metrics TEXT)")
        for n in range(1, 30):
            metrics = json.dumps({"train/loss": 2.0, name: 10 * n})
            database.execute("INSERT INTO metrics VALUES ('run', ?, ?)", (n, metrics))
    database.close()


@pytest.mark.parametrize("name", ["train/global_step", "global_step", "trainer/global_step"])
def test_a_trackio_folder_is_its_project_at_the_global_step(name, tmp_path, capsys):
    project(tmp_path / "one.db", name)
    assert doctor(typed_doctor(str(tmp_path))) == 0
    read = {"points": 29, "curve": "train/loss", "first": 10, "last": 290}
    assert say("en", "doctor.run.read", **read) in capsys.readouterr().out
    project(tmp_path / "two.db", name)
    assert doctor(typed_doctor(str(tmp_path))) == 2
    assert "one.db, two.db" in capsys.readouterr().err


def test_a_folder_of_batches_lists_them(tmp_path, capsys):
    for step in (50, 100):
        write(tmp_path, batch(step))
    assert doctor(typed_doctor(str(tmp_path), "--json")) == 0
    listed = json.loads(capsys.readouterr().out)["batches"]
    assert [one["step"] for one in listed] == [50, 100]
    assert doctor(typed_doctor(str(tmp_path))) == 0
    output = capsys.readouterr().out
    assert output.count("CoSENTLoss") == 2
    assert f"python app.py --open {tmp_path}" in output
