"""What one takes away works without LossPrism."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import zipfile
from dataclasses import replace

import pytest

from lossprism.explorer.lab.training import run_downloads, training_run
from lossprism.explorer.lab.training.model_card import section
from lossprism.explorer.lab.training.plan import SCRATCH, TrainingData, TrainingPlan
from lossprism.explorer.lab.training.run_remarks import gained
from lossprism.explorer.lab.training.train_and_compare_commands import _print_figures
from lossprism.explorer.locale import say
from lossprism.explorer.runtime.json_encoding import plain
from tests.plain_numbers import table_of, text_columns
from tests.sentences import raises_problem
from tests.unit.lab.training.conftest import corpus

SMALL = {"steps": 8, "batch_size": 8, "evaluations": 2}


def test_the_model_is_a_folder_of_sentence_transformers(runs, trained, tmp_path, capsys):
    from sentence_transformers import SentenceTransformer

    data = TrainingData(source="rows", name="my|pairs.tsv")
    name = trained(TrainingPlan(encoder=SCRATCH, dimension=8, data=data, **SMALL))
    with zipfile.ZipFile(run_downloads.model_zip(runs, name, tmp_path / "model.zip")) as opened:
        opened.extractall(tmp_path / "out")
        files = [path.partition("/")[2] for path in opened.namelist()]
    assert "modules.json" in files
    assert not [file for file in files if file.endswith((".bin", ".pt", ".pkl"))]
    model = SentenceTransformer(str(tmp_path / "out" / name))
    assert model.encode("cat dog").shape == (8,)
    card = (tmp_path / "out" / name / "README.md").read_text(encoding="utf-8")
    assert card.index("\n# ") < card.index("## Trained with LossPrism") < card.index("## Model D")
    assert "| Data | my&#124;pairs.tsv |" in card
    assert '| Loss | cosent {"scale": 20.0} |' in card
    assert "| Steps | 8 of 8 pairs |" in card
    result = gained(runs.folder(name))
    sentence = say("en", f"remark.{result.key}", **result.values)
    assert "(98%)" in sentence
    assert sentence in card
    _print_figures(runs.folder(name), runs.status(name))
    assert sentence in capsys.readouterr().out
    assert "<polyline" in (tmp_path / "out" / name / "loss.svg").read_text(encoding="utf-8")


def test_the_card_says_of_how_many_pairs_the_curve_is_where_that_is_known(runs, trained):
    name = trained(TrainingPlan(encoder=SCRATCH, dimension=8, **SMALL))
    plan, summary = runs.plan(name), runs.status(name).summary
    held_out = summary.pairs.held_out
    live = [one for one in runs.history(name) if one.kind == "evaluation"]
    few = [replace(one, pairs=held_out - 1) for one in live]
    without = section(plan, summary, [])
    (note,) = {*section(plan, summary, few).splitlines()} - {*without.splitlines()}
    assert re.findall(r"\d+", note) == [str(held_out - 1), str(held_out)]
    # Records of earlier versions have no count; their run may be resumed by this one.
    few = [replace(one, pairs=None) for one in live]
    assert section(plan, summary, few) == without


def test_the_log_as_tables(runs, trained):
    name = trained(TrainingPlan(encoder=SCRATCH, dimension=8, **SMALL))
    whole = json.loads(run_downloads.run_json(runs, name))
    assert whole["records"] == plain(runs.history(name))
    assert TrainingPlan.from_json(whole["plan"]) == runs.plan(name)  # its typed pairs included
    assert text_columns(table_of(run_downloads.run_csv(runs, name))) == set()
    rows = list(csv.DictReader(io.StringIO(run_downloads.run_csv(runs, name))))
    assert [row["step"] for row in rows] == [str(step) for step in range(9)]
    assert [bool(row["spearman"]) for row in rows] == [True, *[False, False, False, True] * 2]
    assert float(rows[-1]["loss"]) == whole["summary"]["loss"]


def test_there_is_no_model_before_the_end(runs):
    run = runs.prepare(TrainingPlan(encoder=SCRATCH), corpus())
    run.take_ticket(os.getpid())
    with raises_problem("training_no_model", name=run.name):
        run_downloads.model_zip(runs, run.name, "nowhere.zip")


def test_what_does_not_exist_yet_is_reported_or_left_out(runs, tmp_path):
    """A run that waits for its turn has neither a probe batch nor an encoder from scratch."""
    run = runs.prepare(TrainingPlan(encoder=SCRATCH), corpus())
    run.take_ticket(os.getpid())
    assert json.loads(run_downloads.run_json(runs, run.name))["probe"] is None
    with raises_problem("training_no_start", name=run.name):
        run_downloads.script_zip(runs, run.name, tmp_path / "script.zip")
    assert list(tmp_path.glob("*.zip*")) == []


@pytest.mark.parametrize("half", [1, 2])
def test_a_model_that_is_replaced_while_it_is_packed_is_packed_whole(
    runs, tmp_path, monkeypatch, half
):
    run = runs.prepare(TrainingPlan(encoder=SCRATCH), corpus())
    run.take_ticket(os.getpid())
    files = ("a.json", "b.json")

    def write(which):
        part = run.path / "model.part"
        part.mkdir()
        for name in files:
            (part / name).write_text(which)
        training_run._put_in_place(part, run.model)

    def replaced_midway(folder, under, own=run_downloads._files):
        for place, found in enumerate(own(folder, under), 1):
            yield found
            if place == half and found[1] == b"old":
                write("new")

    write("old")
    monkeypatch.setattr(run_downloads, "_files", replaced_midway)
    packed = run_downloads.model_zip(runs, run.name, tmp_path / "model.zip")
    with zipfile.ZipFile(packed) as opened:
        assert {name: opened.read(f"{run.name}/{name}") for name in files} == dict.fromkeys(
            files, b"new"
        )
    assert not (run.path / "model.old").exists()
