"""Batches of a training are those that Explore draws under the same name."""

from __future__ import annotations

import dataclasses

import pytest
import torch

from lossprism.explorer.lab.training import data, run_downloads
from lossprism.explorer.lab.training.loss_refusal_reasons import refusal
from lossprism.explorer.lab.training.plan import SCRATCH, TrainingPlan
from lossprism.explorer.lab.training.trainer_callback import Recorder
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.drawn_batches import SAMPLERS, Draw, drawn
from lossprism.explorer.sources.pairs import Pairs
from lossprism.losses.sentence_transformers import check_epoch, training_loss
from tests.tiny import static_model
from tests.unit.lab.training.conftest import corpus
from tests.unit.lab.training.taught import corpus as lists

PLAN = TrainingPlan(
    encoder=SCRATCH, dimension=8, loss="supcon", steps=3, batch_size=8, evaluations=1, seed=4
)


@pytest.fixture
def batches(monkeypatch):
    """The rows of each step, as they are trained on."""
    found = []

    def note(self, loss, given, value, own=Recorder._note_loss):
        own(self, loss, given, value)
        rows = self.batch
        found.append([(row["sentence1"], row["sentence2"], row["label"]) for row in rows])

    monkeypatch.setattr(Recorder, "_note_loss", note)
    return found


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_a_batch_is_drawn_as_explore_draws_it(sampler, runs, trained, batches):
    whole = corpus()
    chosen = dataclasses.replace(PLAN, sampler=sampler)
    trained(chosen, whole)
    pairs = Pairs(*(tuple(column) for column in zip(*whole.train, strict=True)))
    if sampler == "in_order":
        wanted = [drawn(pairs, Draw(sampler, 8, 4, number)) for number in range(3)]
        assert batches == [[whole.train[place] for place in batch] for batch in wanted]
    for batch in batches:
        texts = [text for first, second, _ in batch for text in {first, second}]
        labels = [label for *_, label in batch]
        assert len(batch) == 8
        assert (len(set(texts)) == len(texts)) or sampler != "no_duplicates"
        assert min(map(labels.count, labels)) >= 2 or sampler != "group_by_label"
    assert (batches[0] == list(whole.train[:8])) == (sampler == "in_order")


def test_what_is_not_chosen_suits_the_loss():
    for loss, usual in (("info_nce", "no_duplicates"), ("cosent", "shuffled")):
        plan = TrainingPlan(loss=loss)
        assert plan.drawn_by == usual
        for sampler in SAMPLERS:
            chosen = dataclasses.replace(plan, sampler=sampler)
            assert chosen.drawn_by == sampler
            assert chosen.keeps_texts_apart == (sampler == "no_duplicates")
            assert TrainingPlan.from_json(chosen.to_json()) == chosen
    with pytest.raises(Problem) as result:
        TrainingPlan(sampler="sorted")
    assert "in_order, shuffled, no_duplicates, group_by_label" in str(result.value)


def test_labels_that_cannot_repeat_are_reported_before():
    def refused(whole, **chosen):
        plan = dataclasses.replace(PLAN, sampler="group_by_label", **chosen)
        problem = refusal(plan, whole)
        return problem and problem.key

    assert refused(corpus()) is None
    assert refused(corpus(), loss="arcface", threshold=3.0) is None  # classes of sentences
    assert refused(corpus(), batch_size=7) == "problem.sampler_labels"
    assert refused(corpus(), batch_size=256) == "problem.no_batch"
    assert refused(lists(), loss="list_net") == "problem.training_no_label"


@pytest.mark.parametrize(
    ("common", "rare", "refused"), [(40, 40, False), (60, 20, False), (90, 9, True)]
)
def test_batches_by_label_that_leave_most_rows_out_are_refused(common, rare, refused):
    labels = (*(1.0,) * common, *(0.0,) * rare)
    pairs = tuple((f"a {n}", f"b {n}", label) for n, label in enumerate(labels))
    whole = data.Corpus(pairs, pairs[:4] + pairs[-4:])
    plan = dataclasses.replace(PLAN, loss="cosent", sampler="group_by_label")
    problem = refusal(plan, whole)
    assert (problem is not None) == refused
    if problem:
        assert problem.key == "problem.training_by_label"
        assert (problem.values["rows"], problem.values["seen"]) == (99, 16)
    assert refusal(dataclasses.replace(plan, sampler="shuffled"), whole) is None


def trainer(pairs, tmp_path, sampler, size, **more):
    from datasets import Dataset
    from sentence_transformers import SentenceTransformerTrainer
    from sentence_transformers.sentence_transformer.training_args import (
        SentenceTransformerTrainingArguments,
    )

    model = static_model()
    names = ("anchor", "positive", "label") if more else ("anchor", "positive")
    rows = Dataset.from_dict(dict(zip(names, zip(*pairs, strict=True), strict=False)))
    arguments = SentenceTransformerTrainingArguments(
        output_dir=str(tmp_path),
        per_device_train_batch_size=size,
        batch_sampler=sampler,
        dataloader_drop_last=True,
        report_to="none",
        use_cpu=True,
    )
    loss = training_loss("info_nce")(model)
    return SentenceTransformerTrainer(model=model, args=arguments, train_dataset=rows, loss=loss)


@pytest.mark.parametrize("says", ["", "warns", "refuses"])
def test_a_script_looks_at_its_epoch_as_fine_tune_does(says, tmp_path):
    answers = {"": range(240), "warns": [n % 2 * n for n in range(240)], "refuses": [0, 1] * 120}
    pairs = tuple((f"question {n}", f"answer {at}", 1.0) for n, at in enumerate(answers[says]))
    made = trainer(pairs, tmp_path, "no_duplicates", 16)
    plan = dataclasses.replace(PLAN, loss="info_nce", batch_size=16)
    whole = data.Corpus(pairs, pairs[:8], labelled=False)
    assert (refusal(plan, whole) is not None) == bool(says)
    if says == "refuses":
        with pytest.raises(ValueError, match="fills 0 of 15 batches of 16 rows, with 0 of 240"):
            check_epoch(made)
    elif says:
        with pytest.warns(UserWarning, match="fills 15 of 15 batches of 16 rows"):
            check_epoch(made)
    else:
        state = torch.get_rng_state()
        check_epoch(made)
        assert torch.equal(state, torch.get_rng_state())  # the script repeats its run
    check_epoch(trainer(pairs, tmp_path, "batch_sampler", 16))


def test_a_run_of_before_is_refused_when_it_begins_and_its_script_looks(runs, trained):
    """`prepare` writes any run, as a version did that did not look at its epoch."""
    plan = dataclasses.replace(PLAN, loss="info_nce", batch_size=16)
    with pytest.raises(Problem) as result:
        trained(plan, questions(12))
    assert result.value.key == "problem.training_duplicates"
    (run,) = runs.root.iterdir()
    assert "check_epoch(trainer)" in run_downloads.script(runs, run.name)


def questions(answers, count=240):
    """Questions of their own on so many answers, without labels."""
    pairs = tuple((f"question {n}", f"answer {n % answers}", 1.0) for n in range(count))
    return data.Corpus(pairs, pairs[:8], labelled=False)


@pytest.mark.parametrize("loss", ["info_nce", "siglip", "mega_batch_margin"])
@pytest.mark.parametrize(
    ("answers", "size", "key"),
    [
        (240, 16, None),
        (120, 16, None),
        (12, 16, "problem.training_duplicates"),
        (24, 32, "problem.training_duplicates"),
        (1, 16, "problem.training_duplicates_none"),
    ],
)
def test_batches_without_duplicates_that_fill_no_epoch_are_refused(loss, answers, size, key):
    """Before the first step, with a batch size at which the same data do fill one."""
    plan = dataclasses.replace(PLAN, loss=loss, batch_size=size)
    problem = refusal(plan, questions(answers))
    assert (problem and problem.key) == key
    assert refusal(dataclasses.replace(plan, sampler="shuffled"), questions(answers)) is None
    if problem and problem.values["fits"]:
        fitting = dataclasses.replace(plan, batch_size=problem.values["fits"])
        assert refusal(fitting, questions(answers)) is None


def test_a_text_that_stands_in_most_rows_is_refused_on_either_side_and_in_triplets():
    plan = dataclasses.replace(PLAN, loss="info_nce", batch_size=16)
    turned = tuple((b, a, label) for a, b, label in questions(4).train)
    rows = ((f"q {n}", text, label) for n in range(60) for text, label in
            ((f"answer {n}", 1.0), ("the one negative", 0.0)))  # fmt: skip
    for whole in (
        data.Corpus(turned, turned[:8], labelled=False),
        data.Corpus(triples := tuple(rows), triples[:8], triplets=True),
    ):
        assert refusal(plan, whole).key.startswith("problem.training_duplicates")
