"""Every way in which a table comes in says which columns were taken as what."""

from __future__ import annotations

import argparse
import base64
import io
import json
import sys

import pytest

from lossprism.explorer import notebook
from lossprism.explorer.lab.doctor import dataset_reader, explain_and_doctor_command_line_options
from lossprism.explorer.lab.doctor import terminal_commands as doctor
from lossprism.explorer.lab.training import new_file_evaluation, pair_sources
from lossprism.explorer.lab.training import train_and_compare_commands as training
from lossprism.explorer.lab.training.run_control import Runs
from lossprism.explorer.locale import say
from lossprism.explorer.runtime import downloads
from lossprism.explorer.runtime.json_encoding import plain
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.web import page_requests
from lossprism.explorer.web.api import dataset_diagnosis, endpoint_functions, pasted_text_diagnosis
from lossprism.explorer.web.pages.doctor import dataset_requests as doctor_page
from lossprism.explorer.web.pages.explore import uploaded_file_batches as explore_page
from lossprism.explorer.web.pages.finetune import plan_check as finetune_check
from lossprism.explorer.web.pages.finetune import uploaded_file_description as training_file
from lossprism.explorer.web.pages.large import request_handlers as large_page
from lossprism.explorer.web.pages.large import uploaded_file_description
from tests.unit.web.test_api_rules import AT_ONCE

ROWS = [
    {
        "docid": f"d-{place}",
        "query": f"query {place}",
        "pos_1": f"positive {place}",
        "pos_2": f"further positive {place}",
        "negative": f"negative {place}",
        "instruction": "find it",
    }
    for place in range(20)
]
LINES = "\n".join(map(json.dumps, ROWS))
CLASSES = "text,category,source\n" + "".join(f"a text of {n},kind {n % 3},web\n" for n in range(20))
# The notes on these rows, wherever they come in.
SAID = [
    say("en", "reading.positive", columns="“pos_1”, “pos_2”"),
    say("en", "reading.negative", columns="“negative”"),
    say("en", "reading.instruction", columns="“instruction”"),
    say("en", "reading.unread", columns="“docid”"),
    say("en", "reading.unordered_positives", columns="“pos_1”, “pos_2”"),
    say(
        "en",
        "reading.by_position",
        first="docid",
        second="query",
        columns="“query”, “pos_1”, “pos_2”, “negative”",
    ),
]
COLLAPSED = {"loss": "info_nce", "encoder": "all alike"}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """No hub, no run that begins, and files of this test alone."""
    import datasets

    monkeypatch.setenv("LOSSPRISM_CACHE", str(tmp_path))
    monkeypatch.setattr(downloads, "PACKED_FOLDER", tmp_path / "taken")
    monkeypatch.setattr(page_requests, "ANSWER_S", 600)
    monkeypatch.setattr(dataset_reader, "first_rows", lambda *_: LINES.encode())
    monkeypatch.setattr(pair_sources.hub_datasets, "dataset_info", lambda hub: None)
    monkeypatch.setattr(pair_sources.hub_datasets, "size_within_limits", lambda *_: 0)
    monkeypatch.setattr(pair_sources.hub_cache_pruning, "prepare_download", lambda *_: None)
    held = datasets.Dataset.from_list(ROWS)
    monkeypatch.setattr(datasets, "load_dataset", lambda *_, **__: held)
    monkeypatch.setattr(Runs, "start", lambda self, plan: "run")
    monkeypatch.setattr(Runs, "status", lambda *_: AT_ONCE)


def file_of(tmp_path, text=LINES, name="rows.jsonl"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def output_of(commands, *words):
    parser = argparse.ArgumentParser()
    parser.set_defaults(runs=None, device=None)
    commands.add_to(parser.add_subparsers())
    return parser.parse_args(words)


def of_doctor(capsys, *words):
    chosen = output_of(explain_and_doctor_command_line_options, "doctor", *words)
    doctor.doctor(chosen)
    return capsys.readouterr().out


def of_training(capsys, monkeypatch, *words):
    def stop(*_):
        raise Problem("no_pairs")

    monkeypatch.setattr(Runs, "start", stop)  # notes are printed before
    command = {"train": training.train, "compare": training.compare}[words[0]]
    command(output_of(training, *words))
    return capsys.readouterr().err


def handed_in(hand_in):
    content = base64.b64encode(LINES.encode()).decode()
    return plain(hand_in({"name": "rows.jsonl", "content": content}))


def notes(answer):
    return [say("en", note["key"], **note["values"]) for note in plain(answer)["notes"]]


DOORS = {
    "doctor FILE": lambda t, c, m: of_doctor(c, file_of(t), "--batch", "4"),
    "doctor --hub": lambda t, c, m: of_doctor(c, "--hub", "some/set", "--batch", "4"),
    "doctor --json": lambda t, c, m: json.loads(of_doctor(c, file_of(t), "--json"))["reading"],
    "train --data": lambda t, c, m: of_training(c, m, "train", "--data", file_of(t)),
    "train --hub": lambda t, c, m: of_training(c, m, "train", "--hub", "some/set"),
    "compare --hub": lambda t, c, m: of_training(
        c, m, "compare", "--hub", "some/set", "--loss", "info_nce"
    ),
    "compare --on": lambda t, c, m: [
        note.written() for note in new_file_evaluation.read(file_of(t), "rows.jsonl").notes
    ],
    "compute_loss": lambda t, c, m: endpoint_functions.compute_loss(**COLLAPSED, table=LINES)[
        "reading"
    ],
    "compute_loss of objects": lambda t, c, m: endpoint_functions.compute_loss(
        **COLLAPSED, table=ROWS
    )["reading"],
    "trace_loss": lambda t, c, m: endpoint_functions.trace_loss(**COLLAPSED, table=LINES)[
        "reading"
    ],
    "compare_losses": lambda t, c, m: endpoint_functions.compare_losses(
        [{"loss": "info_nce"}, {"loss": "siglip"}], encoder="all alike", table=LINES
    )["reading"],
    "figure": lambda t, c, m: endpoint_functions.figure(**COLLAPSED, table=LINES)["reading"],
    "start_training": lambda t, c, m: endpoint_functions.start_training("info_nce", table=LINES)[
        "reading"
    ],
    "doctor_data": lambda t, c, m: dataset_diagnosis.doctor_data(table=LINES, batch=4)["reading"],
    "doctor_data of the hub": lambda t, c, m: dataset_diagnosis.doctor_data(
        hub="some/set", batch=4
    )["reading"],
    "doctor_pasted": lambda t, c, m: pasted_text_diagnosis.doctor_pasted(LINES)["data"]["reading"],
    "show": lambda t, c, m: notebook.show(table=LINES, loss="info_nce").reading,
    "Explore": lambda t, c, m: notes(handed_in(explore_page.read_file)),
    "Doctor": lambda t, c, m: notes(
        plain(
            doctor_page._examine(
                {
                    "source": {"kind": "file", "name": "rows.jsonl"}
                    | handed_in(uploaded_file_description.hand_in),
                    "batch": 4,
                }
            )
        )["file"]
    ),
    "Large batch": lambda t, c, m: notes(
        large_page._describe_file(
            {
                "source": {"kind": "file", "name": "rows.jsonl"}
                | handed_in(uploaded_file_description.hand_in)
            }
        )
    ),
    "Fine-tune": lambda t, c, m: notes(handed_in(training_file.hand_in)),
    "Fine-tune of the hub": lambda t, c, m: notes(
        finetune_check.check(
            {"plan": {"loss": "info_nce", "data": {"source": "hub", "hub": "some/set"}}}
        )
    ),
}


@pytest.mark.parametrize("door", DOORS)
def test_every_door_says_how_the_columns_were_read(door, tmp_path, capsys, monkeypatch):
    output = DOORS[door](tmp_path, capsys, monkeypatch)
    assert [sentence for sentence in SAID if sentence not in output] == []


HELD_OUT = "query,passage,label,source\nhow,so,1,a\nwhy,because,0,b\n" * 3
HELD_OUT_DOORS = {
    "train": lambda t, c, m: of_training(
        c, m, "train", "--data", file_of(t), "--held-out", file_of(t, HELD_OUT, "held.csv")
    ),
    "compare": lambda t, c, m: of_training(
        c,
        m,
        *("compare", "--data", file_of(t), "--loss", "info_nce"),
        *("--held-out", file_of(t, HELD_OUT, "held.csv")),
    ),
    "Fine-tune": lambda t, c, m: "\n".join(
        notes(
            training_file.describe_file(
                {
                    **plain(
                        training_file.hand_in(
                            {
                                "name": "held.csv",
                                "content": base64.b64encode(HELD_OUT.encode()).decode(),
                            }
                        )
                    ),
                    "columns": {},
                    "held_out": True,
                }
            )
        )
    ),
}


@pytest.mark.parametrize("door", HELD_OUT_DOORS)
def test_the_columns_of_a_held_out_file_are_named_as_well(door, tmp_path, capsys, monkeypatch):
    output = HELD_OUT_DOORS[door](tmp_path, capsys, monkeypatch)
    named = {"first": "query", "second": "passage", "score": "label", "unread": "source"}
    expected = [say("en", f"reading.{role}", columns=f"“{name}”") for role, name in named.items()]
    assert [sentence for sentence in expected if sentence not in output] == []
    if door != "Fine-tune":
        trained, held_out = output.split("held.csv:")
        assert "rows.jsonl:" in trained
        assert [sentence for sentence in SAID if sentence not in trained] == []
        assert [sentence for sentence in expected if sentence not in held_out] == []


def test_what_is_piped_is_read_the_same(tmp_path, capsys, monkeypatch):
    stdin = io.TextIOWrapper(io.BytesIO(LINES.encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    output = of_doctor(capsys, "-", "--batch", "4")
    assert [sentence for sentence in SAID if sentence not in output] == []


def test_the_columns_of_texts_with_classes_are_named(tmp_path, capsys):
    text = [
        say("en", "reading.text", columns="“text”"),
        say("en", "reading.class", columns="“category”"),
        say("en", "reading.unread", columns="“source”"),
    ]
    chosen = ("--column", "text=text", "--column", "class=category")
    printed = of_doctor(capsys, file_of(tmp_path, CLASSES, "x.csv"), *chosen, "--batch", "4")
    columns = {"text": "text", "class": "category"}
    answered = dataset_diagnosis.doctor_data(table=CLASSES, columns=columns, batch=4)["reading"]
    assert [sentence for sentence in text if sentence not in printed] == []
    assert answered == text


def test_lists_have_no_columns():
    pairs = {"sentences1": ["a", "c"], "sentences2": ["b", "d"], "scores": [0, 1]}
    assert endpoint_functions.compute_loss("cosent", **pairs, encoder="all apart")["reading"] == []
