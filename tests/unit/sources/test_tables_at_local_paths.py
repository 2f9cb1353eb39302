"""Folders that `datasets.save_to_disk` wrote, or that are laid out as BEIR's, are tables wherever a
file is one; of another folder the tables are named."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from lossprism.explorer.lab.doctor.explain_and_doctor_command_line_options import add_to
from lossprism.explorer.lab.doctor.logs.run_reader import is_run, read_run
from lossprism.explorer.lab.doctor.terminal_commands import doctor
from lossprism.explorer.lab.training.new_file_evaluation import read as read_unseen
from lossprism.explorer.lab.training.pair_sources import held_out_of, pairs_of
from lossprism.explorer.lab.training.plan import TrainingData
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources import pairs_from_tables
from lossprism.explorer.sources.pairs_from_tables import read_file
from lossprism.explorer.sources.tables_at_local_paths import saved_set_files
from tests.sentences import raises_problem

datasets = pytest.importorskip("datasets")
ROWS = {
    "sentence1": [f"question {n}" for n in range(12)],
    "sentence2": [f"answer {n}" for n in range(12)],
    "score": [n % 6 / 5 for n in range(12)],
}


@pytest.fixture(scope="module", params=["one file", "three files", "splits", "no train split"])
def folder(request, tmp_path_factory):
    datasets.disable_progress_bars()
    path, rows = tmp_path_factory.mktemp("saved") / "pairs", datasets.Dataset.from_dict(ROWS)
    if request.param in ("one file", "three files"):
        rows.save_to_disk(path, num_shards=1 if request.param == "one file" else 3)
    else:
        other = rows.select(range(2))
        first = "train" if request.param == "splits" else "all"
        datasets.DatasetDict({first: rows, "validation": other}).save_to_disk(path)
    return path


def doctored(path, capsys):
    parser = argparse.ArgumentParser()
    add_to(parser.add_subparsers())
    doctor(parser.parse_args(["doctor", str(path), "--json"]))
    return json.loads(capsys.readouterr().out)


def test_every_door_reads_all_rows(folder, capsys):
    expected = [*zip(*ROWS.values(), strict=True)]

    def rows_of(pairs):
        return [*zip(pairs.first, pairs.second, pairs.labels, strict=True)]

    assert rows_of(pairs_from_tables.read_file(folder).pairs) == expected
    assert rows_of(pairs_of(TrainingData(source="file", file=str(folder))).pairs) == expected
    held_out = TrainingData(source="example", held_out_file=str(folder))
    assert rows_of(held_out_of(held_out).pairs) == expected
    assert read_unseen(str(folder), "pairs", {}, "").notes
    assert doctored(folder, capsys)["pairs"] == len(expected)


def test_any_other_folder_is_none(tmp_path):
    assert saved_set_files(tmp_path) == []
    (tmp_path / "state.json").write_text('{"state": "finished"}')  # of a run of ours
    assert saved_set_files(tmp_path) == []
    for damaged in ("", "[1]", '{"_data_files": [{"filename": 3}, "x"]}', '{"_data_files": 3}'):
        (tmp_path / "state.json").write_text(damaged)
        assert saved_set_files(tmp_path) == []
    with pytest.raises(Problem):
        pairs_from_tables.read_file(tmp_path)


def test_files_outside_the_folder_are_not_read(tmp_path):
    (tmp_path / "secret.arrow").write_text("secret")
    folder = tmp_path / "saved"
    folder.mkdir()
    listed = {"_data_files": [{"filename": "../secret.arrow"}]}
    (folder / "state.json").write_text(json.dumps(listed))
    assert saved_set_files(folder) == []


def test_a_folder_that_is_too_large_is_refused(folder, monkeypatch):
    monkeypatch.setattr(pairs_from_tables, "FILE_BYTES", 100)
    with raises_problem("file_too_large", name="pairs"):
        pairs_from_tables.read_file(folder)


def beir(folder, documents=("d1", "d2"), parts=("test", "train")):
    (folder / "qrels").mkdir(parents=True)
    texts = {"queries": ["q1", "q2"], "corpus": [*documents, "d9"]}
    for name, ids in texts.items():
        rows = (json.dumps({"_id": one, "title": "", "text": f"text of {one}"}) for one in ids)
        (folder / f"{name}.jsonl").write_text("\n".join(rows))
    for part in parts:
        rows = ["query-id\tcorpus-id\tscore", "q1\td1\t1", f"q2\td2\t{2 * (part == 'train')}"]
        (folder / "qrels" / f"{part}.tsv").write_text("\n".join(rows) + "\n")
    return folder


def test_a_folder_of_beir_is_joined(tmp_path):
    table = read_file(beir(tmp_path / "scifact"))
    assert table.pairs.first == ("text of q1", "text of q2")
    assert table.pairs.second == ("text of d1", "text of d2")
    assert table.pairs.labels == (1.0, 2.0)  # of "train"
    assert not is_run(str(tmp_path / "scifact"))


def test_a_judged_document_that_is_missing_is_said(tmp_path):
    table = read_file(beir(tmp_path / "scifact", documents=("d1",), parts=("test",)))
    assert len(table.pairs) == 1
    assert [one.key for one in table.skipped] == ["problem.id_without_text"]


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("qrels/train.tsv", "query-id\tcorpus-id\tscore\nq1"),
        ("corpus.jsonl", '{"id": "d1", "text": "one"}'),
        ("queries.jsonl", "q1\tquery"),
        ("queries.jsonl", '["q1"]'),
    ],
)
def test_a_damaged_folder_of_beir_is_refused(tmp_path, file, content):
    folder = beir(tmp_path / "scifact")
    (folder / file).write_text(content)
    with raises_problem("file_broken"):
        read_file(folder)


def test_the_tables_of_a_folder_are_named(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "train-00000-of-00001.parquet").write_bytes(b"PAR1")
    (tmp_path / "pairs.jsonl").write_text("{}")
    (tmp_path / "README.md").write_text("# Pairs")
    with raises_problem("folder_of_tables") as caught:
        read_run(str(tmp_path))
    shown = caught.value.values["tables"]
    assert shown == f"{Path('data') / 'train-00000-of-00001.parquet'}, pairs.jsonl"
