"""Runs that have ended, measured on a file of the user's."""

from __future__ import annotations

import argparse
import csv
import dataclasses
import os
import re
from dataclasses import replace

import numpy as np
import pytest

from lossprism.explorer.lab.training import (
    new_file_evaluation,
    run_comparison,
    train_and_compare_commands,
)
from lossprism.explorer.lab.training.data import Corpus
from lossprism.explorer.lab.training.ended_run_scores import HeldOutScores, outcome
from lossprism.explorer.lab.training.new_file_evaluation import Unseen
from lossprism.explorer.lab.training.plan import SCRATCH, TrainingPlan
from lossprism.explorer.lab.training.run_folder import RunFolder
from lossprism.explorer.lab.training.run_json_types import Measured
from lossprism.explorer.locale import LANGUAGES, say, spelled
from lossprism.explorer.runtime import jobs
from lossprism.explorer.runtime.current_visitor import as_visitor
from lossprism.explorer.runtime.hosted_budgets import budget
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.visitor_key_signing import new_key
from tests.sentences import pattern_of
from tests.unit.lab.training.conftest import SUMMARY, corpus

PLAN = TrainingPlan(
    encoder=SCRATCH, dimension=8, steps=4, batch_size=8, evaluations=1, learning_rate=0.1
)


def saved(path, pairs, heads=("sentence1", "sentence2", "score")):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([heads, *pairs])
    return path


@pytest.fixture
def held_out(tmp_path):
    """The very pairs that the runs hold out, as a file of the user's."""
    return new_file_evaluation.read(saved(tmp_path / "mine.csv", corpus().held_out), "mine.csv")


@pytest.mark.parametrize("kind", ["scratch", "bi", "cross"])
def test_models_score_a_file_as_the_run_scored_the_same_pairs(kind, runs, trained, held_out, bert):
    """Before training too: a head that is new to a cross-encoder is drawn as the run drew it."""
    plan = PLAN if kind == "scratch" else dataclasses.replace(PLAN, encoder=bert, kind=kind)
    name = trained(dataclasses.replace(plan, seed=3))
    own = outcome(runs.folder(name))
    found = new_file_evaluation.outcomes({name: runs.folder(name)}, held_out)[name]
    assert found.on_the_same_pairs(own)
    for when in ("before", "after"):
        np.testing.assert_allclose(found.scores[when], own.scores[when], atol=2e-5)
    assert np.abs(found.scores["after"] - found.scores["before"]).max() > 1e-3


def test_what_was_scored_once_is_kept_until_the_run_goes_on(runs, trained, held_out):
    name = trained(PLAN)
    folder = {name: runs.folder(name)}
    requests = []

    def result(what, *_given, **_values):
        requests.append(what)

    first = new_file_evaluation.outcomes(folder, held_out, result)[name]
    assert set(requests) == {"unseen"}
    requests.clear()
    again = new_file_evaluation.outcomes(folder, held_out, result)[name]
    assert not requests
    assert np.array_equal(again.scores["after"], first.scores["after"])
    relabelled = [(a, b, 5 - label) for a, b, label in held_out.pairs]
    new_file_evaluation.outcomes(
        folder, dataclasses.replace(held_out, pairs=tuple(relabelled)), result
    )
    assert requests  # other labels are other pairs
    requests.clear()
    os.utime(folder[name].path / "after.npz", ns=(1, 1))
    new_file_evaluation.outcomes(folder, held_out, result)
    assert requests


def test_the_shared_start_of_runs_is_scored_once(runs, trained, held_out, bert):
    plan = dataclasses.replace(PLAN, encoder=bert, steps=2)
    names = [trained(dataclasses.replace(plan, seed=seed)) for seed in (0, 1)]
    models = set()
    new_file_evaluation.outcomes(
        {name: runs.folder(name) for name in names},
        held_out,
        lambda _what, *_given, **values: models.add(tuple(values.values())),
    )
    assert models == {(1, 3), (2, 3), (3, 3)}


def test_it_can_be_cancelled_and_requested_again(runs, trained, held_out):
    name = trained(PLAN)
    folder = {name: runs.folder(name)}
    with jobs.job("mine") as job:
        job.cancel()
        with pytest.raises(jobs.Cancelled):
            new_file_evaluation.outcomes(folder, held_out)
    assert not (folder[name].path / "unseen").exists()
    assert new_file_evaluation.outcomes(folder, held_out)[name].pairs  # the lock was given back


def test_the_table_is_of_the_file_and_says_so(runs, trained, tmp_path):
    names = [trained(dataclasses.replace(PLAN, seed=seed)) for seed in (0, 1)]
    other = corpus(count=60, seed=11)
    train = runs.folder(names[0]).read_pairs("train.jsonl")
    rows = [*other.train, *[(train[0][0], b, label) for _, b, label in other.held_out]]
    on = new_file_evaluation.read(saved(tmp_path / "mine.csv", rows), "mine.csv")
    found = run_comparison.table(runs, names, on)
    [group] = found.groups
    folders = {name: runs.folder(name) for name in names}
    values = [
        one.figure("spearman", "after").value
        for one in new_file_evaluation.outcomes(folders, on).values()
    ]
    assert group.figures["spearman"].values == values
    assert group.gain.pairs == 60
    assert found.pairs["key"] == "finetune.pairs.of_file"
    assert found.pairs["values"] == {"count": 60, "file": "mine.csv"}
    assert found.unseen == run_comparison.OnFile(
        name="mine.csv",
        count=60,
        total=60,
        skipped=0,
        sampled=False,
        shared=on.shared(list(folders.values())),
    )
    assert found.unseen.shared >= len(other.held_out)
    [message] = run_comparison.table(runs, names[:1], on).verdict
    for language in LANGUAGES:
        of_file = spelled(language, "pairs", found.pairs)
        assert {"60", "mine.csv"} <= {*re.findall(r"[\w.]+", of_file)}
        assert of_file in say(language, f"remark.{message.key}", **message.values)
    back = run_comparison.table(runs, names)
    assert back.unseen is None
    assert back.pairs == run_comparison.held_out_pairs(24)


def test_columns_are_recognised_or_chosen(tmp_path):
    rows = [("a", "b", 1, "x"), ("c", "d", 0, "y"), ("e", "f", 1, "z"), ("g", "h", 0, "w")]
    file = saved(tmp_path / "a.csv", rows, ("sentence_A", "sentence_B", "relatedness", "entailed"))
    chosen = {"first": "entailed", "second": "sentence_B", "score": "relatedness"}
    assert new_file_evaluation.read(file, "a.csv", chosen).pairs[0] == ("x", "b", 1.0)
    few = saved(tmp_path / "few.csv", [("a", "b", 1), ("c", "d", 0)])
    with pytest.raises(Problem) as raised:
        new_file_evaluation.read(few, "few.csv")
    assert raised.value.key == "problem.unseen_few"
    alike = saved(tmp_path / "alike.csv", [(f"a{i}", f"b{i}", 1) for i in range(9)])
    with pytest.raises(Problem) as raised:
        new_file_evaluation.read(alike, "alike.csv")
    assert raised.value.key == "problem.unseen_one_label"


# Simulated runs: what is known of them is what their models score.


@dataclasses.dataclass
class Models:
    """Two ways of training under three seeds; `quality` is how much of the truth each scores."""

    quality: tuple[float, float]
    count: int = 1500

    def __post_init__(self) -> None:
        draw = np.random.default_rng(4)
        self.truth = draw.normal(size=self.count)
        self.draw = draw
        labels = np.round(np.clip(2.5 + 1.2 * self.truth, 0, 5))
        pairs = [(f"s{2 * i}", f"s{2 * i + 1}", float(y)) for i, y in enumerate(labels)]
        self.unseen = Unseen("test.csv", tuple(pairs), self.count)

    def scores(self, quality: float) -> np.ndarray:
        return quality * self.truth + 0.5 * self.draw.normal(size=self.count)


def judged(runs, models, monkeypatch):
    """The verdict of the table on the file, of runs whose models score so."""
    names = {}
    held_out = [("a", "b", 0.0), ("c", "d", 1.0), ("e", "f", 2.0), ("g", "h", 3.0)]
    for loss, quality in zip(("cosent", "cosine_mse"), models.quality, strict=True):
        for seed in range(3):
            plan = dataclasses.replace(PLAN, loss=loss, seed=seed)
            run = runs.prepare(plan, Corpus(tuple(held_out), tuple(held_out)))
            run.take_ticket(os.getpid())
            # On the held-out pairs all are alike.
            for when in ("before", "after"):
                np.savez(run.path / f"{when}.npz", scores=np.arange(4.0))
            figures = Measured(spearman=1.0, pearson=1.0)
            run.write("summary.json", replace(SUMMARY, before=figures, after=figures))
            run.set_stage("finished")
            names[run.name] = quality

    def requested(
        found: dict[str, RunFolder], on: Unseen, _told: object
    ) -> dict[str, HeldOutScores]:
        pairs = tuple((a, b) for a, b, _ in on.pairs)
        labels = np.array([label for *_, label in on.pairs])
        before = models.scores(0.2)
        return {
            name: HeldOutScores(
                pairs, labels, {"before": before, "after": models.scores(names[name])}
            )
            for name in found
        }

    monkeypatch.setattr(new_file_evaluation, "outcomes", requested)
    return run_comparison.table(runs, list(names), models.unseen).verdict


def of_test_file(count):
    return say("en", "finetune.pairs.of_file", count=count, file="test.csv")


def test_the_better_model_on_unseen_pairs_is_reported_as_ahead(runs, monkeypatch):
    message, _ = judged(runs, Models((0.5, 1.0)), monkeypatch)
    assert message.key == "verdict_ahead"
    assert (message.values["best"], message.values["other"]) == ("cosine_mse", "cosent")
    assert spelled("en", "pairs", message.values["pairs"]) == of_test_file(1500)
    ahead = pattern_of("remark.verdict_ahead", pairs=of_test_file(1500), best="cosine_mse")
    assert ahead.match(say("en", "remark.verdict_ahead", **message.values))


def test_equal_models_cannot_be_distinguished_on_unseen_pairs(runs, monkeypatch):
    message, _ = judged(runs, Models((1.0, 1.0)), monkeypatch)
    assert message.key.startswith("verdict_untold")
    untold = pattern_of(f"remark.{message.key}", pairs=of_test_file(1500))
    assert untold.match(say("en", f"remark.{message.key}", **message.values))


# A Space, and the command


def test_a_space_reads_so_many_pairs_for_one_comparison(runs, trained, held_out, monkeypatch):
    name = trained(PLAN)
    folder = {name: runs.folder(name)}
    monkeypatch.setenv("SPACE_ID", "someone/space")
    fits = budget("training_seen") // 2
    many = tuple((f"{i}", f"{i}!", float(i % 2)) for i in range(fits + 1))
    with pytest.raises(Problem) as raised:
        new_file_evaluation.outcomes(folder, dataclasses.replace(held_out, pairs=many))
    assert raised.value.key == "problem.unseen_shared"
    assert raised.value.values["fits"] == fits
    with as_visitor(new_key()):
        assert new_file_evaluation.outcomes(folder, held_out)
        assert not (folder[name].path / "unseen").exists()  # a run of somebody else is read only


def commanded(*arguments):
    parser = argparse.ArgumentParser()
    parser.set_defaults(device=None)
    train_and_compare_commands.add_to(parser.add_subparsers())
    return train_and_compare_commands.compare(parser.parse_args(["compare", *map(str, arguments)]))


def test_the_command_compares_ended_runs_on_a_file(runs, trained, tmp_path, capsys):
    names = [trained(PLAN), trained(dataclasses.replace(PLAN, loss="cosine_mse"))]
    file = saved(tmp_path / "mine.csv", corpus().held_out)
    given = (*names, "--on", file, "--runs", runs.root)
    assert commanded(*given, "--out", tmp_path / "found.json") == 0
    printed = capsys.readouterr().out
    of_file = say("en", "finetune.pairs.of_file", count=24, file="mine.csv")
    first, second, *verdict = printed.splitlines()
    assert of_file in first
    assert second.startswith("cosent (1 seed)")
    assert any(of_file in line for line in verdict)
    assert "share" in printed.splitlines()[-1]
    assert (tmp_path / "found.json").exists()
    assert commanded(*names, "--runs", runs.root) == 0
    held_out = spelled("en", "pairs", run_comparison.held_out_pairs(24))
    assert held_out in capsys.readouterr().out.splitlines()[0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "name the runs to compare, or what to train with"),
        (("--loss", "cosent"), "one of --data, --hub and --example"),
        (("gone",), say("en", "problem.training_no_run", name="gone")),
        (("gone", "--loss", "cosent"), "not both"),
    ],
)
def test_an_incomplete_command_names_what_is_missing(arguments, message, runs, capsys):
    assert commanded(*arguments, "--runs", runs.root) == 1
    assert message in capsys.readouterr().err
