"""Pairs that nobody gave labels: what learns from them, and what is measured on them."""

from __future__ import annotations

import csv
import json
import random

import numpy as np
import pytest
import torch

from lossprism.explorer.lab.training import (
    data,
    model_card,
    new_file_evaluation,
    run_comparison,
    run_downloads,
    run_remarks,
)
from lossprism.explorer.lab.training.data import Corpus
from lossprism.explorer.lab.training.ended_run_scores import outcome
from lossprism.explorer.lab.training.held_out_metrics import HeldOut, own_places, retrieval
from lossprism.explorer.lab.training.loss_refusal_reasons import checked_corpus, refusal
from lossprism.explorer.lab.training.metric_uncertainty import LEADING, RETRIEVAL
from lossprism.explorer.lab.training.plan import SCRATCH, TrainingData, TrainingPlan
from lossprism.explorer.lab.training.rank_and_neighbour_changes import rank_changes
from lossprism.explorer.lab.training.run_difference_verdict import gain
from lossprism.explorer.locale import say
from lossprism.explorer.runtime.problem import Problem
from lossprism.losses import LOSSES
from tests.sentences import pattern_of

WORDS = ("ab", "cde", "fig", "hut", "ijk", "lom", "nap", "quo", "rust", "vex", "wyz", "tub")
PLAN = TrainingPlan(
    encoder=SCRATCH,
    dimension=16,
    loss="info_nce",
    steps=30,
    batch_size=8,
    evaluations=2,
    learning_rate=0.2,
)


def questions(count=80, seed=3):
    """A query of words, and a key that says each in another language: what is to be learnt."""
    draw, pairs = random.Random(seed), {}
    while len(pairs) < count:
        words = draw.sample(WORDS, 4)
        pairs[" ".join(words)] = " ".join(word.swapcase()[::-1] for word in words)
    return list(pairs.items())


def positives():
    pairs = tuple((*pair, 1.0) for pair in questions())
    return Corpus(pairs[:56], pairs[56:], labelled=False)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "faq.csv"
    with path.open("w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerows([("question", "answer"), *questions()])
    return path


def plan_for(file, **chosen):
    return TrainingPlan(data=TrainingData(source="file", file=str(file)), **chosen)


# What is measured


@pytest.mark.parametrize("seed", range(5))
def test_places_by_counting(seed):
    draw = np.random.default_rng(seed)
    vectors = torch.nn.functional.normalize(
        torch.from_numpy(draw.integers(-2, 3, (20, 3)) + 0.1), dim=1
    )
    first, second = (torch.from_numpy(draw.integers(0, 20, 30)) for _ in range(2))
    found = own_places(vectors, first, second)
    pairs = list(zip(first.tolist(), second.tolist(), strict=True))
    for place, (query, key) in enumerate(pairs):
        passed = {k for q, k in pairs if q == query} | {query}
        near = [float(vectors[query] @ vectors[k]) for k in {k for _, k in pairs} - passed]
        own = float(vectors[query] @ vectors[key])
        assert sum(v > own + 1e-9 for v in near) < found[place]
        assert found[place] <= 1 + sum(v >= own - 1e-9 for v in near)


def test_collapse_is_no_success():
    vectors = torch.ones(8, 4) / 2
    first, second = torch.arange(0, 8, 2), torch.arange(1, 8, 2)
    assert own_places(vectors, first, second).tolist() == [4, 4, 4, 4]
    assert retrieval(own_places(vectors, first, second))["accuracy_at_1"] == 0


def test_another_answer_to_the_same_question_does_not_stand_in_the_way():
    vectors = torch.nn.functional.normalize(torch.tensor([[1.0, 0], [1, 1], [1, 0.1]]), dim=1)
    first, second = torch.tensor([0, 0]), torch.tensor([1, 2])
    assert own_places(vectors, first, second).tolist() == [1, 1]


def test_figures_of_places():
    assert retrieval(np.array([1, 2, 10, 11])) == {
        "accuracy_at_1": 0.25,
        "mrr_at_10": pytest.approx((1 + 0.5 + 0.1) / 4),
    }


@pytest.mark.parametrize("name", RETRIEVAL)
def test_the_influence_is_that_of_leaving_a_pair_out(name):
    places = np.random.default_rng(0).integers(1, 14, 50)
    found = RETRIEVAL[name](places)
    assert found.value == pytest.approx(retrieval(places)[name])
    left_out = [RETRIEVAL[name](np.delete(places, i)).value for i in range(50)]
    assert found.influence == pytest.approx(49 * (found.value - np.array(left_out)))


@pytest.mark.parametrize(
    ("labels", "threshold", "is_positive"),
    [([1, 1, 1], 0.5, True), ([0, 0, 0], 0.0, False), ([1, 0, 1], 0.5, False), ([2, 2], 3, False)],
)
def test_only_positives_of_one_label_are_queries_and_keys(labels, threshold, is_positive):
    pairs = [(f"a{i}", f"b{i}", float(label)) for i, label in enumerate(labels)]
    assert HeldOut.of(pairs, (), threshold).is_positive == is_positive


@pytest.mark.parametrize(("count", "result"), [(4, False), (8, True)])
def test_pairs_that_all_changed_are_evidence_if_there_are_enough(count, result):
    """All influences are 0 there, and the next pair may be another: of 8, one by chance in 128."""
    before, after = (RETRIEVAL["accuracy_at_1"](np.full(count, p)) for p in (2, 1))
    pairs = [(f"a{i}", f"b{i}") for i in range(count)]
    found = gain({0: before}, {0: after}, pairs)
    assert (found.before, found.after) == (0, 1)
    assert (found.low > 0) == result
    assert found.low < found.high == 1


def covered(count, shift, draw):
    """Whether the interval holds the rise of the share of all queries that find their key."""
    base = draw.normal(size=count)
    sides = [
        base + draw.normal(0, 0.7, count) > 0.3,
        base + shift + draw.normal(0, 0.7, count) > 0.3,
    ]
    one, other = (RETRIEVAL["accuracy_at_1"](np.where(side, 1, 2)) for side in sides)
    pairs = [(f"a{i}", f"b{i}") for i in range(count)]
    found = gain({0: one}, {0: other}, pairs)
    from scipy.stats import norm

    truth = norm.sf((0.3 - shift) / np.hypot(1, 0.7)) - norm.sf(0.3 / np.hypot(1, 0.7))
    return found.low <= truth <= found.high


@pytest.mark.parametrize(("count", "shift"), [(20, 0.0), (20, 1.0), (200, 0.5)])
def test_the_interval_keeps_its_level(count, shift):
    draw = np.random.default_rng(count)
    assert np.mean([covered(count, shift, draw) for _ in range(400)]) >= 0.96


# What learns from them


@pytest.mark.parametrize("loss", LOSSES)
def test_a_loss_learns_from_positives_or_says_what_would_make_it(file, loss):
    plan = plan_for(file, loss=loss)
    corpus = data.read(plan)
    assert not corpus.labelled
    reason = refusal(plan, corpus)
    needs = LOSSES[loss].needs
    assert (reason is None) == (needs <= {"positives"})
    if needs <= {"lists", "teacher"} and needs:
        assert reason.key == "problem.training_needs_teacher"
        assert LOSSES["info_nce"].title in str(reason)
        return
    if "teacher_vectors" in needs:
        assert reason.key == "problem.training_needs_teacher_vectors"
    elif reason:
        assert reason.key in ("problem.needs_scores", "problem.needs_negatives")
        assert pattern_of(reason.key).fullmatch(str(reason))["known"] == LOSSES["info_nce"].title
        assert reason.about == "scores"
        with pytest.raises(Problem):
            checked_corpus(plan)


def test_a_cross_encoder_is_refused_with_the_kind_that_is_not(file):
    plan = plan_for(file, loss="info_nce", kind="cross", encoder="all-MiniLM-L6-v2")
    assert refusal(plan, data.read(plan)).key == "problem.training_cross_positives"


def test_rows_without_scores_are_positives():
    rows = tuple((*pair, "") for pair in questions())
    corpus = data.read(TrainingPlan(data=TrainingData(source="rows", rows=rows)))
    assert not corpus.labelled
    assert set(corpus.labels) == {1.0}


def test_positives_beside_a_held_out_file_with_scores_are_above_its_threshold(file, tmp_path):
    held = tmp_path / "held.csv"
    rows = [(f"one {i}", f"other {i}", i % 6) for i in range(12)]
    with held.open("w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerows([("question", "answer", "score"), *rows])
    chosen = TrainingData(source="file", file=str(file), held_out_file=str(held))
    plan = TrainingPlan(data=chosen, loss="info_nce")
    corpus = checked_corpus(plan)
    assert {label for *_, label in corpus.train} == {5.0}
    assert {label for *_, label in corpus.held_out} == {0.0, 1.0, 2.0, 3.0, 4.0, 5.0}
    assert not corpus.labelled


def test_a_run_on_positives_is_measured_by_what_it_finds(runs, trained):
    name = trained(PLAN, positives())
    status = runs.status(name)
    summary = status.summary
    before, after = summary.before, summary.after
    assert status.state == "finished"
    assert after.spearman is after.auc is None
    assert 0 <= before.accuracy_at_1 < after.accuracy_at_1 <= 1
    assert before.mrr_at_10 >= before.accuracy_at_1
    found = outcome(runs.folder(name))
    assert found.leading == LEADING[1]
    for when, measured in (("before", before), ("after", after)):
        for figure in RETRIEVAL:
            assert found.figure(figure, when).value == pytest.approx(getattr(measured, figure))
    live = [r.accuracy_at_1 for r in status.records if r.kind == "evaluation"]
    assert (live[0], live[-1]) == (before.accuracy_at_1, after.accuracy_at_1)

    message = run_remarks.remarks(runs, name)
    assert message[0].key.startswith("run_")
    assert message[0].values["figure"]["key"] == "finetune.accuracy_at_1"
    assert not {"run_no_order", "run_pair"} & {one.key for one in message}
    text = model_card.section(runs.plan(name), summary, runs.history(name))
    assert f"| Held-out accuracy@1 | {before.accuracy_at_1:.4f} →" in text
    assert "spearman" not in text.lower()
    assert model_card.ON_POSITIVES in text
    assert (runs.folder(name).model / "accuracy_at_1.svg").is_file()
    rows = list(csv.DictReader(run_downloads.run_csv(runs, name).splitlines()))
    assert float(rows[-1]["accuracy_at_1"]) == after.accuracy_at_1
    for pair in rank_changes(outcome(runs.folder(name))):
        assert pair.rank_before == int(pair.rank_before) >= 1
        assert pair.label_rank == 1


def test_runs_on_positives_are_compared_by_what_they_find(runs, trained):
    import dataclasses

    names = [
        trained(dataclasses.replace(PLAN, loss=loss, seed=seed), positives())
        for loss in ("info_nce", "triplet")
        for seed in (0, 1, 2)
    ]
    found = run_comparison.table(runs, names)
    assert [group.leading for group in found.groups] == [LEADING[1]] * 2
    assert all(group.gain.pairs == 24 for group in found.groups)
    assert {one.figure for one in found.differences} == set(RETRIEVAL)
    assert found.verdict[0].key.startswith("verdict_")
    assert "spearman" not in found.groups[0].figures


def test_positives_that_all_come_close_are_no_collapse(runs, trained):
    """What a good model brings to 1 are the scores of positives, not those of other pairs."""
    name = trained(PLAN, positives())
    assert not [r for r in runs.history(name) if r.kind == "alarm"]
    held = HeldOut.of([("a", "b", 1.0), ("c", "d", 1.0)], ((1.0, 1.0),), 0.5)
    vectors = np.array([[1.0, 0], [1, 0], [0, 1], [0, 1]])
    assert held.ends(np.ones(2), vectors) == (0, 1)
    graded = HeldOut.of([("a", "b", 1.0), ("c", "d", 0.0)], ((0.0, 0.0), (1.0, 1.0)), 0.5)
    assert graded.ends(np.ones(2), vectors) == (0, 1)  # as are pairs that are all near


def test_the_script_of_a_run_on_positives_has_their_labels(runs, trained):
    name = trained(PLAN, positives())
    rows = [
        json.loads(line) for line in run_downloads._examples(PLAN, runs.folder(name)).splitlines()
    ]
    assert {row["label"] for row in rows} == {1.0}
    assert 'training_loss("info_nce")(' in run_downloads.script(runs, name)


def test_a_run_of_before_has_no_places(runs, trained):
    """Summaries and arrays of earlier versions open as they did."""
    name = trained(PLAN, positives())
    folder = runs.folder(name)
    summary = folder.read("summary.json")
    for side in ("before", "after"):
        del summary[side]["accuracy_at_1"], summary[side]["mrr_at_10"]
        with np.load(folder.path / f"{side}.npz") as held:
            kept = {key: held[key] for key in held.files if key != "places"}
        np.savez(folder.path / f"{side}.npz", **kept)
    folder.write("summary.json", summary)
    [group] = run_comparison.table(runs, [name]).groups
    assert group.gain is None
    assert say("en", "finetune.chart.binary") not in model_card.section(
        runs.plan(name), folder.summary, runs.history(name)
    )
    assert next(one.key for one in run_remarks.remarks(runs, name)) == "run_no_order"


def test_runs_are_measured_on_a_file_of_positives(runs, trained, tmp_path):
    """As the run measured the very same pairs."""
    name = trained(PLAN, positives())
    path = tmp_path / "faq.csv"
    with path.open("w", newline="", encoding="utf-8") as out:
        held_out = [pair[:2] for pair in positives().held_out]
        csv.writer(out).writerows([("question", "answer"), *held_out])
    on = new_file_evaluation.read(path, "faq.csv")
    folder = {name: runs.folder(name)}
    own, found = outcome(folder[name]), new_file_evaluation.outcomes(folder, on)[name]
    assert found.leading == "accuracy_at_1"
    for when in ("before", "after"):
        np.testing.assert_array_equal(found.places[when], own.places[when])
        kept = new_file_evaluation.outcomes(folder, on)[name]
        np.testing.assert_array_equal(kept.places[when], own.places[when])
    [group] = run_comparison.table(runs, [name], on).groups
    assert group.figures["accuracy_at_1"].mean == own.figure("accuracy_at_1", "after").value
    assert group.gain is not None


def test_a_cross_encoder_cannot_be_measured_on_positives(runs, trained, tmp_path, bert):
    plan = TrainingPlan(encoder=bert, kind="cross", steps=2, batch_size=8, evaluations=1)
    name = trained(plan)
    path = tmp_path / "faq.csv"
    with path.open("w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerows([("question", "answer"), *questions()])
    with pytest.raises(Problem, match="cross-encoder"):
        new_file_evaluation.outcomes(
            {name: runs.folder(name)}, new_file_evaluation.read(path, "faq.csv")
        )
