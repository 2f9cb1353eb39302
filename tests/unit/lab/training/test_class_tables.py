"""Texts with their classes are learned from as pairs of one class, as from Doctor's page."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from lossprism.explorer.lab.doctor.dataset_row_scenarios import paired
from lossprism.explorer.lab.doctor.texts_with_classes_reader import read_classes
from lossprism.explorer.lab.training.pair_sources import columns_read, pairs_of
from lossprism.explorer.lab.training.plan import TrainingData
from lossprism.explorer.lab.training.train_and_compare_commands import add_to, train
from lossprism.explorer.sources import pairs_from_tables

INTENTS = [(f"say {word} for {name}", name) for name in ("alarm", "music", "rain", "news")
           for word in ("this", "that", "more", "less", "it all")]  # fmt: skip


def written(folder, kind: str) -> str:
    path = folder / f"intents.{kind}"
    if kind == "jsonl":
        path.write_text("\n".join(json.dumps({"text": a, "intent": b}) for a, b in INTENTS))
    else:
        between = "\t" if kind == "tsv" else ","
        path.write_text("\n".join(between.join(row) for row in [("text", "intent"), *INTENTS]))
    return str(path)


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl"])
@pytest.mark.parametrize("columns", [{}, {"text": "text", "class": "intent"}])
def test_a_training_reads_what_the_page_reads(tmp_path, kind, columns):
    path = written(tmp_path, kind)
    data = TrainingData(source="file", file=path, columns=tuple(columns.items()))
    found = pairs_of(data)
    table = read_classes(Path(path).read_bytes(), path, lambda *_: None)
    page = pairs_from_tables.read_table(paired(table), "pairs.tsv", most=1000)
    assert [*zip(found.pairs.first, found.pairs.second, found.pairs.labels, strict=True)] == [
        *zip(page.pairs.first, page.pairs.second, page.pairs.labels, strict=True)
    ]
    of = dict(INTENTS)
    assert set(found.pairs.labels) == {1.0}
    assert all(of[a] == of[b] for a, b in zip(found.pairs.first, found.pairs.second, strict=True))
    (notes,) = columns_read(data).values()
    assert {"Texts: “text”.", "Classes: “intent”."} <= {note.written() for note in notes}


def test_the_command_names_the_columns(tmp_path, capsys):
    chosen = argparse.ArgumentParser()
    add_to(chosen.add_subparsers())
    options = ["--data", written(tmp_path, "csv"), "--loss", "margin_mse"]  # which nothing teaches
    parsed = chosen.parse_args(["train", *options, "--runs", str(tmp_path / "runs")])
    parsed.device = "cpu"
    assert train(parsed) == 1
    assert "Classes: “intent”." in capsys.readouterr().err


def test_pairs_stay_pairs(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("sentence1,sentence2,label\na,b,1\nc,d,0\n")
    found = pairs_of(TrainingData(source="file", file=str(path))).pairs
    assert [*zip(found.first, found.second, found.labels, strict=True)] == [
        ("a", "b", 1.0), ("c", "d", 0.0)]  # fmt: skip
