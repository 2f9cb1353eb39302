"""Several runs beside each other, and one run before and after."""

from __future__ import annotations

import dataclasses
import os
import shutil

import numpy as np
import pytest

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.lab.training import (
    cosent_experiment_plans,
    published_cosent_results,
    run_comparison,
    train_and_compare_commands,
)
from lossprism.explorer.lab.training.data import Corpus
from lossprism.explorer.lab.training.ended_run_scores import outcome
from lossprism.explorer.lab.training.new_file_evaluation import Unseen
from lossprism.explorer.lab.training.plan import SCRATCH, TrainingPlan
from lossprism.explorer.lab.training.probe_batch_exploration import probe_exploration
from lossprism.explorer.lab.training.rank_and_neighbour_changes import neighbours, rank_changes
from lossprism.explorer.lab.training.run_control import Runs
from lossprism.explorer.lab.training.run_difference_verdict import Difference
from lossprism.explorer.locale import say
from lossprism.explorer.sources.encoders import EMBEDDED
from tests.sentences import raises_problem
from tests.unit.lab.training.conftest import corpus, train_here

PLAN = TrainingPlan(
    encoder=SCRATCH, dimension=8, steps=12, batch_size=8, evaluations=2, learning_rate=0.1
)


@pytest.fixture(scope="module")
def trained_once(tmp_path_factory):
    """The folder of three runs of each of two losses, the first of them that of `PLAN`."""
    folder = tmp_path_factory.mktemp("several") / "runs"
    plans = [
        dataclasses.replace(PLAN, loss=loss, seed=seed)
        for loss in ("cosent", "cosine_mse")
        for seed in (0, 1, 2)
    ]
    return folder, [train_here(Runs(folder, device="cpu"), plan) for plan in plans]


@pytest.fixture
def several(trained_once, runs, tmp_path):
    """These runs, to do with as one likes."""
    folder, names = trained_once
    shutil.copytree(folder, tmp_path / "runs", dirs_exist_ok=True)
    return runs, names


def test_mean_spread_and_difference(several):
    runs, names = several
    found = run_comparison.table(runs, names)
    assert [group.label for group in found.groups] == ["cosent", "cosine_mse"]
    values = []
    for group, some in zip(found.groups, (names[:3], names[3:]), strict=True):
        own = [runs.status(name).summary.after.spearman for name in some]
        values.append(own)
        assert group.runs == some
        assert group.seeds == [0, 1, 2]
        assert group.figures["spearman"].values == own
        assert group.figures["spearman"].mean == pytest.approx(np.mean(own))
        assert group.figures["spearman"].spread == pytest.approx(np.std(own, ddof=1))
        assert "accuracy" not in group.figures
    gap = next(one for one in found.differences if one.figure == "spearman")
    between = gap.between
    assert (gap.a, gap.b) == ("cosent", "cosine_mse")
    assert between.difference == pytest.approx(np.mean(values[1]) - np.mean(values[0]))
    assert between.low < between.difference < between.high
    assert (between.seeds, between.covers) == ((0, 1, 2), "both")
    message, setting = found.verdict
    assert setting.key == "verdict_not_tuned"
    assert setting.values["setting"] == "λ = 20 (cosent)"
    assert message.values["figure"]["key"] == "finetune.spearman"  # in what it is ahead
    assert "in Spearman" in say("en", f"remark.{message.key}", **message.values)
    is_reported = between.low > 0 or between.high < 0
    assert message.key.startswith("verdict_ahead" if is_reported else "verdict_untold")


def test_two_seeds_compare_models_and_not_losses(several):
    runs, names = several
    message, _ = run_comparison.table(runs, [*names[:2], *names[3:5]]).verdict
    assert message.key.startswith("verdict_models")
    [message] = run_comparison.table(runs, [names[0], names[4]]).verdict
    assert message.key == "verdict_no_seed"


def test_other_held_out_pairs_do_not_compare(several):
    runs, names = several
    folder = runs.folder(names[0])
    pairs = folder.read_pairs("held_out.jsonl")
    folder.write_pairs("held_out.jsonl", [(a, f"{b}!", label) for a, b, label in pairs])
    os.utime(folder.path / "after.npz")  # as if measured anew
    found = run_comparison.table(runs, [names[0], names[3]])
    assert [one.key for one in found.verdict] == ["verdict_other_pairs"]
    assert found.differences == []


def test_the_order_of_the_data_is_that_of_the_seed(runs, trained):
    """Two losses under one seed see the same batches."""
    from lossprism.explorer.lab.training.trainer_callback import Recorder

    seen = []

    def start(self, *given, own=Recorder.on_train_begin, **more):
        seen.append([])
        own(self, *given, **more)

    def end(self, *given, own=Recorder.on_step_end, **more):
        seen[-1].append([row["sentence1"] for row in self.batch])
        own(self, *given, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Recorder, "on_train_begin", start)
        patch.setattr(Recorder, "on_step_end", end)
        for loss in ("cosent", "pairwise_hinge"):
            trained(dataclasses.replace(PLAN, loss=loss))
        trained(dataclasses.replace(PLAN, seed=1))
    assert seen[0] == seen[1] != seen[2]


def test_nearest_before_and_after(several):
    runs, (name, *_) = several
    found = neighbours(runs, name, count=3)
    texts = {text for pair in corpus().held_out for text in pair[:2]}
    assert {entry.sentence for entry in found} == texts
    assert [entry.kept for entry in found] == sorted(entry.kept for entry in found)
    after = np.load(runs.folder(name).path / "after.npz")
    vectors, listed = after["vectors"].astype(float), after["sentences"].tolist()
    entry = found[0]
    place = listed.index(entry.sentence)
    cosines = vectors @ vectors[place]
    cosines /= np.linalg.norm(vectors, axis=1) * np.linalg.norm(vectors[place])
    cosines[place] = -np.inf
    assert entry.after[0].cosine == pytest.approx(cosines.max(), abs=1e-3)
    assert len(entry.before) == 3


def test_pairs_whose_rank_changed_most(several):
    runs, (name, *_) = several
    pairs = rank_changes(outcome(runs.folder(name)), count=5)
    jumps = [abs(pair.rank_after - pair.rank_before) for pair in pairs]
    assert jumps == sorted(jumps, reverse=True)
    assert jumps[0] > 0
    every = rank_changes(outcome(runs.folder(name)), count=1000)
    assert len(every) == len(corpus().held_out)
    assert sorted(p.rank_after for p in every)[0] == 1


def test_the_probe_batch_opens_in_the_explorer(several):
    runs, (name, *_) = several
    records = [r for r in runs.history(name) if r.kind == "evaluation"]
    for record in records:
        found = probe_exploration(runs, name, record.step)
        assert found.spec.name == "cosent"
        assert found.batch.scores.tolist() == pytest.approx(record.probe, abs=1e-5)
    other = probe_exploration(runs, name, 6, Scenario(loss="info_nce"))
    assert other.spec.name == "info_nce"
    assert other.loss == pytest.approx(explore(other.scenario, other.batch).loss)


def test_queueing_several_checks_all_before_any(runs):
    good = dataclasses.replace(PLAN, data=dataclasses.replace(PLAN.data, example="graded_english"))
    bad = dataclasses.replace(good, loss="info_nce", threshold=99.0)
    with raises_problem("training_no_positives"):
        run_comparison.start_all(runs, [good, bad])
    assert runs.listed() == []


def test_the_averages_that_the_source_prints_are_those_of_its_figures():
    for figure, rows in published_cosent_results.PRINTED_FIGURES.items():
        for model, values in rows.items():
            printed = published_cosent_results.PRINTED_AVERAGES[figure][model]
            assert printed == pytest.approx(sum(values) / len(values), abs=0.0101)


def test_the_experiment_of_the_source():
    plans = cosent_experiment_plans.experiment(
        dataclasses.replace(PLAN, encoder="all-MiniLM-L6-v2")
    )
    assert [(plan.loss, plan.seed) for plan in plans] == [
        (loss, seed) for loss in ("binary_cross_entropy", "cosent") for seed in (0, 1, 2)
    ]
    assert {plan.kind for plan in plans} == {"cross"}


def test_the_experiment_after_a_run_from_scratch_has_an_encoder_and_a_rate_of_its_own():
    small = dataclasses.replace(PLAN, encoder=SCRATCH, kind="bi", learning_rate=0.05)
    for plan in cosent_experiment_plans.experiment(small):
        assert plan.encoder == EMBEDDED
        assert plan.rate == dataclasses.replace(PLAN, encoder=EMBEDDED, learning_rate=0.0).rate


@pytest.mark.parametrize(
    ("low", "high", "message"),
    [
        (-0.0042, 0.0051, ("−0.0042", "+0.0051")),
        (-0.00031, 0.00012, ("−0.0003", "+0.0001")),
        (0.00002, 0.00003, ("+0.00002", "+0.00003")),
        (0.0, 0.0, ("0.000", "0.000")),
    ],
)
def test_the_ends_of_an_interval_have_enough_digits(low, high, message):
    found = Difference((low + high) / 2, low, high, (0,), 100, "pairs", None)
    result = run_comparison.interval_values(found)
    assert (result["low"], result["high"]) == message


def test_models_that_order_all_pairs_alike_have_no_interval(several):
    runs, names = several
    found = run_comparison.table(runs, [names[0], names[3]])
    for one in found.differences:
        assert "98%: " in train_and_compare_commands._table(
            dataclasses.replace(found, differences=[one])
        )
    still = {"difference": 0.0, "low": 0.0, "high": 0.0}
    found.differences[:] = [
        dataclasses.replace(one, between=dataclasses.replace(one.between, **still))
        for one in found.differences
    ]
    table = train_and_compare_commands._table(dataclasses.replace(found, verdict=[]))
    assert "cosine_mse − cosent, spearman: 0.000 (1 seed, 24 pairs)" in table
    assert "98%" not in table


def test_repeated_pairs_are_reported_wherever_runs_are_judged(runs, trained, capsys):
    plain = corpus()
    again = Corpus(plain.train, (*plain.held_out, *plain.held_out[:1] * 12))
    names = [
        trained(dataclasses.replace(PLAN, loss=loss, seed=seed), again)
        for loss, seed in (("cosent", 0), ("cosent", 1), ("cosine_mse", 0))
    ]
    sentence = say("en", "remark.run_repeats", pairs="the 36 held-out pairs", repeated=12)
    for some in (names, names[:2]):  # two ways, one way under two seeds
        found = run_comparison.table(runs, some)
        assert [one.key for one in found.verdict][-1] == "run_repeats"
        assert sentence in train_and_compare_commands._table(found)
    assert runs.status(names[0]).summary.repeated == 12
    train_and_compare_commands._print_figures(runs.folder(names[0]), runs.status(names[0]))
    assert sentence in capsys.readouterr().out
    assert sentence in (runs.folder(names[0]).model / "README.md").read_text(encoding="utf-8")
    file = Unseen("mine.tsv", again.held_out, 36)
    assert run_comparison.table(runs, names[:1], file).verdict[-1].key == "run_repeats"
