"""``python app.py doctor`` recognises a run by what it is given, and fails where it is severe."""

from __future__ import annotations

import argparse
import json

import pytest

from lossprism.explorer.lab.doctor.explain_and_doctor_command_line_options import add_to
from lossprism.explorer.lab.doctor.logs.run_reader import is_run
from lossprism.explorer.lab.doctor.terminal_commands import doctor
from lossprism.explorer.locale import say
from tests.sentences import pattern_of

STUCK, FALLING = [2.0794] * 40, [2 * 0.95**step for step in range(60)]


def typed(*words):
    parser = argparse.ArgumentParser()
    add_to(parser.add_subparsers())
    return parser.parse_args(words)


def state(folder, values, name="trainer_state.json", **more):
    history = [{"step": step, "loss": value} for step, value in enumerate(values, 1)]
    path = folder / name
    path.write_text(json.dumps({"log_history": history, "train_batch_size": 8, **more}))
    return str(path)


def test_a_run_that_is_stuck_fails(tmp_path, capsys):
    words = ("doctor", state(tmp_path, STUCK), "--loss", "MultipleNegativesRankingLoss")
    assert doctor(typed(*words)) == 1
    output = capsys.readouterr().out
    assert say("en", "doctor.run.read", points=40, curve="loss", first=1, last=40) in output
    assert "batch 8" in pattern_of("doctor.run.known").search(output)["what"]
    assert f"{say('en', 'doctor.severity.severe')} · at_collapse" in output
    assert say("en", "doctor.run.at_collapse", level="2.079", collapse="2.079") in output
    assert doctor(typed(*words, "--batch", "64")) == 0
    assert "severe" not in capsys.readouterr().out


def test_as_json_with_the_link_of_the_first_door(tmp_path, capsys):
    words = ("doctor", state(tmp_path, FALLING), "--loss", "info_nce", "--scale", "10", "--json")
    assert doctor(typed(*words)) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["known"] == {"loss": "info_nce", "batch": 8, "scale": 10.0}
    names = {one["name"] for one in found["findings"]}
    assert {"between", "effective_candidates"} <= names
    assert found["link"].startswith("doctor#value=0.")
    assert "loss=info_nce&batch=8&scale=10" in found["link"]


def test_two_runs_beside_each_other(tmp_path, capsys):
    one = state(tmp_path, FALLING)
    other = tmp_path / "other.csv"
    other.write_text("step,loss\n" + "".join(f"{n},{v}\n" for n, v in enumerate(FALLING)))
    words = ("doctor", one, "--loss", "info_nce", "--beside", str(other))
    assert doctor(typed(*words)) == 0
    output = capsys.readouterr().out
    assert pattern_of("doctor.run.two", name=other).search(output)
    assert say("en", "doctor.run.untold") in output
    # Facts about the other run are accepted.
    named = (*words, "--scale", "20", "--beside-loss", "info_nce", "--beside-batch", "8")
    for scale, name in (("20", "comparable"), ("10", "other_scale")):
        doctor(typed(*named, "--beside-scale", scale, "--json"))
        beside = json.loads(capsys.readouterr().out)["beside"]
        assert beside["known"] == {"loss": "info_nce", "batch": 8, "scale": float(scale)}
        assert [fault["name"] for fault in beside["compared"]] == [name]
    assert doctor(typed("doctor", one, "--beside-loss", "info_nce")) == 2
    assert "--beside-loss" in capsys.readouterr().err


def test_what_cannot_be_read_is_reported(tmp_path, capsys):
    assert doctor(typed("doctor", str(tmp_path))) == 2
    refused = pattern_of("problem.run_folder").search(capsys.readouterr().err)
    assert str(tmp_path).startswith(refused["name"].removesuffix("…"))
    words = ("doctor", state(tmp_path, FALLING), "--loss", "noloss")
    assert doctor(typed(*words)) == 2
    assert "noloss" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "text", "run"),
    [
        ("pairs.tsv", "a\tb\tscore\nA cat sleeps.\tA cat is asleep.\t1\n", False),
        ("steps.csv", "step,sentence1,sentence2\n1,A cat sleeps.,A dog runs.\n", False),
        ("loss.csv", "step,loss\n1,2\n", True),
        ("numbers.csv", "foo,bar\n1,2\n3,4\n", True),  # reported as one without steps
        ("long.csv", "run_name,step,metric,value\nbold-sun,1,train/loss,3\n", True),
        ("trackio.csv", "id,timestamp,run_name,step,loss\n1,2026-11-26T10:00:00,a,1,3\n", True),
        ("text.txt", "", False),
    ],
)
def test_a_table_of_pairs_is_no_run(tmp_path, name, text, run):
    (tmp_path / name).write_text(text)
    assert is_run(str(tmp_path / name)) == run
