"""What the command line of training reads."""

from __future__ import annotations

import argparse
import dataclasses
import re
from dataclasses import replace

import pytest

from lossprism.explorer.lab.training.plan import TrainingData, TrainingPlan
from lossprism.explorer.lab.training.run_comparison import (
    Comparison,
    Group,
    GroupDifference,
    Spread,
    held_out_pairs,
)
from lossprism.explorer.lab.training.run_difference_verdict import Difference
from lossprism.explorer.lab.training.run_file_reader import read_as
from lossprism.explorer.lab.training.run_json_types import (
    EvaluationRecord,
    FollowedRun,
    RecordedPlan,
    StepRecord,
)
from lossprism.explorer.lab.training.train_and_compare_commands import (
    _DATA_OPTIONS,
    _PLAN_OPTIONS,
    _pairs,
    _plan,
    _postfix,
    _table,
    _time_estimate,
    add_to,
    compare,
    train,
)
from lossprism.explorer.locale import say, spelled
from lossprism.explorer.runtime.json_encoding import plain
from lossprism.losses import LOSSES

STATUS = FollowedRun(
    id="",
    loss="cosent",
    encoder="",
    kind="bi",
    plan=read_as(RecordedPlan, plain(TrainingPlan().to_json())),
    created=0.0,
    state="training",
    shared=False,
    loading=None,
    queue_position=0,
    queue_seconds=None,
    step=1,
    steps=60,
    seconds=1.0,
    seconds_left=None,
    problem=None,
    summary=None,
    records=[],
    offset=0,
)


@pytest.mark.parametrize(
    ("seconds", "message"), [(31, "31 s"), (89, "89 s"), (240, "4 minutes"), (9000, "2.5 hours")]
)
def test_a_time_has_a_fitting_unit(seconds, message):
    status = replace(STATUS, seconds_left=seconds - 1.0)
    assert re.fullmatch(rf"60 steps .* {re.escape(message)}, .*", _time_estimate(status))


def test_a_figure_of_the_way_says_of_how_many_pairs_it_is():
    live = EvaluationRecord(step=1, spearman=0.85, pairs=128)
    status = replace(STATUS, records=[StepRecord(step=1, loss=2.5), live])
    assert _postfix(status).split(", ") == ["training", "loss 2.5", "spearman 0.850 on 128 pairs"]


def test_the_loss_of_a_training_batch_is_not_reported_for_held_out_pairs():
    figures = {
        "loss": Spread(5.9638, 2.3272, []),
        "spearman": Spread(0.8646, None, []),
        "steps_per_second": Spread(3.0, None, []),
    }
    group = Group("cosent", "cosent", {}, ["a", "b"], [0, 1], figures, "spearman", None)
    found = Comparison(held_out_pairs(175), None, [group], [], [], "98%", 3)
    pairs, figures = _table(found).splitlines()
    assert spelled("en", "pairs", held_out_pairs(175)) in pairs
    of_pairs, of_batch = figures.split("; ")
    assert of_pairs == "cosent (2 seeds): spearman 0.865"
    assert of_batch.endswith(" 5.964 ± 2.327")


def test_differences_are_written_as_the_sentences_write_them():
    between = Difference(-0.0091, -0.032, 0.0138, (0, 1, 2), 200, "both", None)
    gap = GroupDifference("cosent", "contrastive", "spearman", between)
    found = Comparison(held_out_pairs(200), None, [], [gap], [], "98%", 3)
    assert _table(found).splitlines()[1:] == [
        "contrastive − cosent, spearman: −0.009 (98%: −0.032 to +0.014, 3 seeds, 200 pairs)"
    ]
    one_seed = dataclasses.replace(between, seeds=(0,), pairs=4927)
    found = dataclasses.replace(found, differences=[dataclasses.replace(gap, between=one_seed)])
    assert _table(found).endswith("(98%: −0.032 to +0.014, 1 seed, 4\u202f927 pairs)")


# Told in other ways: typed rows, the name of an upload and the similarity belong to the page.
OTHERWISE = {"data", "loss", "seed", "parameters", "similarity"}
OF_DATA = {"source", "file", "hub", "example", "rows", "columns"}
OF_DATA |= {"encoding", "alternatives", "augment"}
OF_DATA |= {"name", "held_out_name", "teacher", "triplets"}


def test_every_setting_of_a_plan_is_an_option_with_its_default():
    options = {name: result for group in _PLAN_OPTIONS.values() for name, result in group.items()}
    for plan, named, others in (
        (TrainingPlan(), options, OTHERWISE),
        (TrainingData(), _DATA_OPTIONS, OF_DATA),
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


def test_a_loss_is_known_by_its_other_names():
    assert planned("--data", "a.tsv", "--loss", "MNRL").loss == "info_nce"
    hard = planned("--data", "a.tsv", "--loss", "BatchHardTripletLoss")
    assert (hard.loss, hard.convention) == ("triplet", "sentence-transformers 6.2 BatchHard")
    assert not planned(
        "--data", "a.tsv", "--loss", "BatchHardTripletLoss", "--convention", ""
    ).convention


@pytest.mark.parametrize("off", ["off", "none", "null", "1000"])
def test_a_parameter_can_be_switched_off(off):
    plan = planned("--data", "a.tsv", "--loss", "info_nce", "--parameter", f"mask_above={off}")
    assert plan.settings["mask_above"] is None


def test_options_reach_the_plan():
    plan = planned(
        *("--hub", "someone/pairs", "--split", "dev", "--column", "first=a", "--column", "score=3"),
        *("--alternative", "back", "--augment", "cutoff", "--augment", "reorder", "--most", "90"),
        *(
            "--lora",
            "4",
            "--bf16",
            "--threshold",
            "0.5",
            "--label-range",
            "-1",
            "5",
            "--warmup",
            "0.2",
            "--layers",
            "0",
        ),
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
    assert plan.label_range == (-1, 5)
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


MINE = """
def mine(scores, labels):
    terms = (scores - labels).square()
    return terms.mean()
"""


def test_an_own_loss_is_the_one_that_is_trained(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(MINE, encoding="utf-8")
    before = dict(LOSSES)
    try:
        given = ("--data", "a.tsv", "--own-loss", f"{file}:mine")
        plan = planned(*given)
        assert (plan.loss, plan.own_loss) == ("mine", f"{file}:mine")
        assert planned(*given, "--loss", "mine") == plan
        with pytest.raises(ValueError, match="--own-loss trains mine"):
            planned(*given, "--loss", "cosent")
    finally:
        LOSSES.clear()
        LOSSES.update(before)


ANSWERS_FIRST = ["answer,question,id", *(f"an answer {n},a question {n},{n}" for n in range(20))]


@pytest.mark.parametrize("command", ["train", "compare"])
def test_columns_that_are_learned_from_are_reported(command, tmp_path, capsys):
    file = tmp_path / "pairs.csv"
    file.write_text("\n".join(ANSWERS_FIRST))
    parser = argparse.ArgumentParser()
    add_to(parser.add_subparsers())
    columns = ["--column", "first=question", "--column", "second=answer", "--column", "score=none"]
    # Nothing is trained: CoSENT learns nothing from positives alone.
    options = ["--data", str(file), *columns, "--loss", "cosent", "--runs", str(tmp_path / "runs")]
    chosen = parser.parse_args([command, *options])
    chosen.device = "cpu"
    assert {"train": train, "compare": compare}[command](chosen) == 1
    output = capsys.readouterr().err
    assert say("en", "reading.first", columns="“question”") in output
    assert say("en", "reading.unread", columns="“id”") in output
    order = {"first": "answer", "second": "question", "columns": "“question”, “answer”"}
    assert say("en", "reading.by_position", **order) in output
