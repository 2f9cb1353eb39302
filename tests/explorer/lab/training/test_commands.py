"""``python app.py train`` and ``compare``, as a user runs them."""

from __future__ import annotations

import argparse
import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import pytest

from explorer.lab.training.commands import _DATA_KNOBS, _KNOBS, _pairs, _plan, _time_told, add_to
from explorer.lab.training.plan import TrainingData, TrainingPlan
from tests.explorer.lab.training.conftest import corpus

ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "pairs.tsv"
    lines = ["\t".join(map(str, pair)) for pair in (*corpus().train, *corpus().held_out)]
    path.write_text("\n".join(["sentence1\tsentence2\tscore", *lines]), encoding="utf-8")
    return path


def run(*arguments):
    command = [sys.executable, "app.py", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


SMALL = ("--encoder", "scratch", "--dimension", 8, "--batch-size", 8, "--steps", 6)


def test_train(pairs, tmp_path):
    out = tmp_path / "model"
    chosen = ("--loss", "cosent", "--parameter", "scale=5", "--out", out)
    done = run("train", "--data", pairs, *SMALL, *chosen, "--runs", tmp_path / "runs")
    assert done.returncode == 0, done.stderr
    assert "finished after 6 steps" in done.stdout
    assert "held-out spearman:" in done.stdout
    assert "6/6" in done.stderr  # the progress bar
    assert (out / "modules.json").exists()
    (config,) = (tmp_path / "runs").glob("*/config.json")
    plan = json.loads(config.read_text(encoding="utf-8"))["plan"]
    assert (plan["parameters"], plan["dimension"]) == ({"scale": 5}, 8)
    again = run("train", "--data", pairs, *SMALL, *chosen)
    assert again.returncode == 1
    assert "exists already" in again.stderr


def test_the_time_is_told_above_the_bar(pairs, tmp_path):
    often = ("--evaluations", 300, "--steps", 300)  # long enough to be seen under way
    done = run("train", "--data", pairs, *SMALL[:-2], *often, "--runs", tmp_path / "runs")
    assert done.returncode == 0, done.stderr
    (said,) = [line for line in done.stderr.splitlines() if "will take about" in line]
    assert "300 steps will take about" in said


@pytest.mark.parametrize(
    ("seconds", "said"), [(31, "31 s"), (89, "89 s"), (240, "4 minutes"), (9000, "2.5 hours")]
)
def test_a_time_is_said_in_a_fitting_unit(seconds, said):
    status = {"seconds": 1.0, "seconds_left": seconds - 1.0, "steps": 60}
    assert f"60 steps will take about {said}," in _time_told(status)


def test_compare(pairs, tmp_path):
    out = tmp_path / "figures.json"
    losses = ("--loss", "cosent", "--loss", "info_nce", "--seeds", 0, 1)
    done = run(
        "--runs", tmp_path / "runs", "compare", "--data", pairs, *SMALL, *losses, "--out", out
    )
    assert done.returncode == 0, done.stderr
    assert "cosent (2 seeds): loss" in done.stdout
    assert "paired t-test over 2 seeds" in done.stdout
    found = json.loads(out.read_text(encoding="utf-8"))
    assert [len(group["runs"]) for group in found["groups"]] == [2, 2]
    assert len(list((tmp_path / "runs").glob("*/summary.json"))) == 4


def test_what_cannot_be_trained_is_said(tmp_path):
    done = run("train", "--data", tmp_path / "missing.tsv", *SMALL)
    assert done.returncode == 1
    assert "No model was trained" in done.stderr
    assert "cannot be opened" in done.stderr
    assert "Traceback" not in done.stderr


# Told in other ways: typed rows and the name of an upload belong to the page.
OTHERWISE = {"data", "loss", "seed", "parameters"}
OF_DATA = {"source", "file", "hub", "example", "rows", "columns", "alternatives", "augment"}
OF_DATA |= {"name", "held_out_name"}


def test_every_knob_of_a_plan_can_be_told_and_its_default_is_said():
    knobs = {name: told for group in _KNOBS.values() for name, told in group.items()}
    for plan, named, others in (
        (TrainingPlan(), knobs, OTHERWISE),
        (TrainingData(), _DATA_KNOBS, OF_DATA),
    ):
        assert {entry.name for entry in dataclasses.fields(plan)} == {*named, *others}
        for name, (default, _) in named.items():
            assert default == (getattr(plan, name) or type(default)()), name


def planned(*arguments):
    parser = argparse.ArgumentParser()
    add_to(parser.add_subparsers())
    chosen = parser.parse_args(["train", *arguments])
    return _plan(chosen, chosen.loss, chosen.seed)


def test_what_is_left_out_stays_as_the_plan_has_it():
    data = TrainingData(source="file", file="a.tsv")
    assert planned("--data", "a.tsv") == TrainingPlan(data=data)


def test_what_is_told_reaches_the_plan():
    plan = planned(
        *("--hub", "someone/pairs", "--split", "dev", "--column", "first=a", "--column", "score=3"),
        *("--alternative", "back", "--augment", "cutoff", "--augment", "reorder", "--most", "90"),
        *("--lora", "4", "--bf16", "--threshold", "0.5", "--warmup", "0.2", "--layers", "0"),
    )
    assert plan.data == TrainingData(
        source="hub",
        hub="someone/pairs",
        split="dev",
        columns=(("first", "a"), ("score", "3")),
        alternatives=("back",),
        augment=("cutoff", "reorder"),
        most=90,
    )
    assert (plan.lora, plan.bf16, plan.threshold, plan.warmup, plan.layers) == (
        4,
        True,
        0.5,
        0.2,
        0,
    )


def test_an_example_of_the_page_is_trained_from():
    assert planned("--example", "graded_english").data == TrainingData()


def test_values_are_json_where_they_are_json():
    found = dict(_pairs(["a=1", "b=true", "c=hard", "d=[1, 2]", "e=x=y"]))
    assert found == {"a": 1, "b": True, "c": "hard", "d": [1, 2], "e": "x=y"}
    with pytest.raises(ValueError, match="NAME=VALUE"):
        list(_pairs(["a"]))
