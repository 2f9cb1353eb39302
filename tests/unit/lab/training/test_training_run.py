"""Runs from start to end, with every loss, both kinds of encoder, and what is recorded."""

from __future__ import annotations

import math
import random
import shutil

import numpy as np
import pytest

from lossprism.explorer.core.own_loss_from_python_file import add_own_loss
from lossprism.explorer.lab.training import run_downloads
from lossprism.explorer.lab.training import training_run as sessions
from lossprism.explorer.lab.training.data import Corpus
from lossprism.explorer.lab.training.held_out_metrics import live_sample
from lossprism.explorer.lab.training.loss_refusal_reasons import refusal
from lossprism.explorer.lab.training.plan import SCRATCH, TrainingPlan
from lossprism.explorer.locale import say
from lossprism.explorer.runtime.problem import Problem
from lossprism.losses import LOSSES
from lossprism.losses.combined.combined_loss_names import RECIPES
from tests.sentences import pattern_of, raises_problem
from tests.unit.lab.training.conftest import corpus

SMALL = {"encoder": SCRATCH, "dimension": 8, "steps": 6, "batch_size": 8, "evaluations": 2}


def plan(**chosen):
    return TrainingPlan(**{**SMALL, **chosen})


def of_kind(records, kind):
    return [record for record in records if record.kind == kind]


# On lists and from a teacher: test_taught.py.
ON_PAIRS = [n for n, s in LOSSES.items() if "lists" not in s.needs and not s.reads_teacher]
SUMS = [*RECIPES, "matryoshka(cosent,8,4)+supcon"]


@pytest.mark.thorough
@pytest.mark.parametrize("loss", [*ON_PAIRS, *SUMS])
def test_every_loss_trains_an_encoder_from_scratch(loss, runs, trained):
    name = trained(plan(loss=loss, steps=3, evaluations=1))
    status = runs.status(name)
    assert status.state == "finished"
    assert status.summary.steps == 3
    steps = of_kind(status.records, "step")
    assert [step.step for step in steps] == [1, 2, 3]
    assert all(math.isfinite(step.loss) and step.gradient_norm >= 0 for step in steps)
    assert any(step.gradient_norm > 0 for step in steps)


def test_a_sum_is_trained_again_by_its_script(runs, trained):
    name = trained(plan(loss="info_nce+angle", parameters={"weight_of_angle": 0.5}))
    code = run_downloads.script(runs, name)
    assert 'training_loss("info_nce+angle")(' in code
    assert "weight_of_angle=0.5" in code
    assert "from lossprism.losses.sentence_transformers import training_loss" in code


def test_parts_that_learn_from_other_data_are_refused_before_anything_is_trained():
    apart = refusal(plan(loss="cosent+arcface"), corpus())
    assert apart.key == "problem.training_sum_apart"
    assert refusal(plan(loss="cosent+supcon"), corpus()) is None


@pytest.mark.parametrize("twins", ["leave_out", "keep"])
def test_a_run_trains_with_the_same_text_in_its_batches(twins, runs, trained):
    name = trained(plan(loss="info_nce", twins=twins))
    assert runs.status(name).state == "finished"
    assert runs.plan(name).twins == twins
    code = run_downloads.script(runs, name)
    assert ("twins='leave_out'" in code or 'twins="leave_out"' in code) == (twins == "leave_out")
    assert "no_duplicates" not in code


ON_SCORES = [n for n, spec in LOSSES.items() if spec.reads_scores_only]


@pytest.mark.parametrize("loss", ["cosent", "multitask_cosent", "binary_cross_entropy"])
def test_a_cross_encoder_trains(loss, bert, runs, trained):
    assert loss in ON_SCORES
    name = trained(plan(loss=loss, encoder=bert, kind="cross"), corpus(labels=(0, 1)))
    summary = runs.status(name).summary
    assert 0.5 <= summary.after.accuracy <= 1
    assert 0 <= summary.after.auc <= 1
    assert summary.after.uniformity is None


@pytest.mark.parametrize("chosen", [{"lora": 2}, {"layers": 1}, {"bf16": True}], ids=str)
def test_parts_of_a_transformer_can_move_alone(chosen, bert, runs, trained):
    import torch
    from sentence_transformers import SentenceTransformer

    name = trained(plan(encoder=bert, learning_rate=0.01, **chosen))
    before = SentenceTransformer(bert)
    after = SentenceTransformer(str(runs.folder(name).model))
    one, other = before.state_dict(), after.state_dict()
    assert one.keys() == other.keys()
    moved = {key for key in one if not torch.equal(one[key], other[key])}
    assert moved
    words = [key for key in moved if "embeddings" in key]
    assert bool(words) == ("bf16" in chosen)
    script = run_downloads.script(runs, name)
    assert ("LoraConfig(r=2" in script) == ("lora" in chosen)
    assert ("move_only(model, 1)" in script) == ("layers" in chosen)
    if "layers" in chosen:
        assert all(".layer.1." in key or "pooler" in key for key in moved)


def test_adapters_go_on_from_their_checkpoint(bert, runs, trained):
    chosen = {"encoder": bert, "lora": 2, "learning_rate": 0.01, "checkpoint_seconds": 0.0}
    folder = runs.folder(trained(plan(**chosen)))
    whole = of_kind(folder.history(), "step"), folder.read("summary.json")["after"]
    last, step = folder.last_checkpoint()
    shutil.rmtree(last)
    shutil.rmtree(folder.model)
    assert folder.last_checkpoint()[1] == step - 1
    sessions.train(folder)
    again = of_kind(folder.history(), "step")
    assert [s.loss for s in again] == [s.loss for s in whole[0]]
    assert folder.read("summary.json")["after"] == whole[1]
    assert not list(folder.model.rglob("adapter*"))


def test_what_is_recorded(runs, trained):
    name = trained(plan(evaluations=3))
    records = runs.history(name)
    evaluations = of_kind(records, "evaluation")
    assert [e.step for e in evaluations] == [0, 2, 4, 6]
    probe = runs.probe(name)
    for evaluation in evaluations:
        assert len(evaluation.probe) == len(probe.first) == len(probe.labels)
        counts = np.array(evaluation.histogram.counts)
        assert counts.shape == (len(probe.bands), len(evaluation.histogram.edges) - 1)
        assert counts.sum() == probe.live
        vectors = runs.probe_vectors(name, evaluation.step)
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        cosines = unit @ unit.T
        assert np.linalg.norm(cosines) > 0
        assert 1 <= evaluation.effective_rank <= 8
        assert -1 <= evaluation.mean_cosine <= 1
        assert evaluation.uniformity <= 0 <= evaluation.alignment
    before, after = (r for r in records if r.kind == "held_out")
    assert (before.when, after.when) == ("before", "after")
    # 0.02 in the middle of a linear schedule with one step of warm-up.
    assert of_kind(records, "step")[-1].learning_rate < 0.02


@pytest.mark.parametrize("schedule", ["linear", "cosine", "source"])
def test_schedules(schedule, runs, trained):
    name = trained(plan(schedule=schedule, warmup=0.5, steps=8, learning_rate=0.4, evaluations=1))
    rates = [step.learning_rate for step in of_kind(runs.history(name), "step")]
    if schedule == "source":  # S1 eq. 51 with T = 4, its step t counted from 0
        expected = [0.4 * min(1, t / 4) / math.sqrt(max(t, 4)) for t in range(8)]
    else:
        falling = [1 - t / 4 for t in range(4)]
        if schedule == "cosine":
            falling = [(1 + math.cos(math.pi * t / 4)) / 2 for t in range(4)]
        expected = [0.4 * share for share in [0, 0.25, 0.5, 0.75, *falling]]
    assert rates == pytest.approx(expected)


def test_a_collapse_raises_the_alarm(runs, trained):
    """A static encoder gives "cat cat" and "cat" one vector, so all cosines are 1."""
    rows = tuple(("cat " * (i + 1), "cat " * (i + 100), float(i % 3)) for i in range(40))
    name = trained(plan(evaluations=3), Corpus(rows[:30], rows[30:]))
    alarms = of_kind(runs.history(name), "alarm")
    assert [alarm.since for alarm in alarms] == [0, 0, 0]
    assert all(alarm.high - alarm.low < 0.02 for alarm in alarms)
    ordered = sum(a > b for *_, a in rows[30:] for *_, b in rows[30:])
    assert alarms[-1].collapse == pytest.approx(math.log1p(ordered))
    assert alarms[-1].loss == pytest.approx(alarms[-1].collapse, rel=1e-5)


def test_no_number_any_more(runs, trained, monkeypatch):
    """The run ends with the step, the pairs, and the model that still had numbers."""
    from lossprism.explorer.lab.training.trainer_callback import Recorder

    noted = Recorder._note_loss

    def spoilt(self, loss, given, value):
        noted(self, loss, given, value * float("nan") if self.used == broken else value)

    monkeypatch.setattr(Recorder, "_note_loss", spoilt)
    broken = 0
    with pytest.raises(Problem) as caught:
        trained(plan())
    assert caught.value.key == "problem.training_not_finite_at_once"
    assert "learning rate" not in str(caught.value)
    broken = 3
    with pytest.raises(Problem) as caught:
        trained(plan())
    values = caught.value.values
    assert caught.value.key == "problem.training_not_finite"
    assert (values["step"], values["kept"], values["more"]) == (4, 3, 5)
    pairs = [f"{a} | {b}" for a, b, _ in corpus().train]
    assert sum(pair in str(caught.value) for pair in pairs) >= 3
    assert all((runs.folder(one.id).model / "modules.json").exists() for one in runs.listed())


def test_what_few_held_out_pairs_show_is_no_alarm(runs, trained):
    """Those that are measured all along are one here; of all held-out pairs that is not so."""
    texts = [f"cat{' ' * i}cat" for i in range(1, 601)]  # of one vector
    rows = tuple((texts[i], texts[300 + i], float(i % 3)) for i in range(300))
    shown = {pair[:2] for pair in live_sample(list(rows))[0]}
    mixed = tuple(
        row if row[:2] in shown else (f"dog {row[0]}", f"sun {row[1]}", row[2]) for row in rows
    )
    assert {pair[:2] for pair in live_sample(list(mixed))[0]} == shown
    for held_out, alarmed in ((rows, True), (mixed, False)):
        name = trained(plan(steps=2, evaluations=1), Corpus(corpus().train, held_out))
        alarms = of_kind(runs.history(name), "alarm")
        assert bool(alarms) == alarmed


OWN = """import torch

def raises(scores, labels):
    return {}["no such"] + scores.sum()

def no_number(scores, labels):
    return (scores - 5).log().sum()

def no_gradient(scores, labels):
    return scores.sum() + (0 * scores).sqrt().sum()

def detached(scores, labels):
    return (scores.detach() ** 2).sum()

def constant(scores, labels):
    return 3.0
"""


def test_a_fault_of_a_users_loss_is_reported_as_its_own(runs, trained, tmp_path):
    """As Explore tells it; no learning rate is advised where the function is at fault."""
    file = tmp_path / "mine.py"
    file.write_text(OWN, encoding="utf-8")
    before = dict(LOSSES)
    result = {}
    try:
        for name in ("raises", "no_number", "no_gradient", "detached", "constant"):
            place = f"{file}:{name}"
            add_own_loss(place)
            with pytest.raises(Problem) as caught:
                trained(plan(loss=name, own_loss=place, steps=2, evaluations=1))
            result[name] = caught.value
            assert "learning rate" not in str(caught.value)
    finally:
        LOSSES.clear()
        LOSSES.update(before)
    raised = result["raises"].values
    assert result["raises"].key == "problem.own_loss_raised"
    assert (raised["kind"], raised["reason"]) == ("KeyError", "'no such'")
    assert (raised["file"].name, raised["line"]) == ("mine.py", 4)
    for name, what in (("no_number", "loss"), ("no_gradient", "gradient")):
        assert result[name].key == "problem.training_own_not_finite"
        assert result[name].values["what"]["otherwise"] == what
        named = {"name": name.replace("_", " "), "step": 1}
        assert pattern_of(result[name].key, **named).fullmatch(str(result[name]))
    assert str(result["detached"]) == say("en", "remark.no_gradient", name="detached")
    assert result["constant"].key == "problem.not_one_number"


def test_a_gradient_that_is_no_number_changes_no_weight(runs, trained, monkeypatch):
    import torch
    from sentence_transformers import SentenceTransformer

    from lossprism.explorer.lab.training.trainer_callback import Recorder

    def attach(self, trainer, own=Recorder.attach):
        own(self, trainer)
        clip = trainer.accelerator.clip_grad_norm_

        def spoilt(parameters, *rest):
            parameters = list(parameters)
            if trainer.state.global_step == 2:
                parameters[0].grad[0] = float("inf")
            return clip(parameters, *rest)

        trainer.accelerator.clip_grad_norm_ = spoilt

    monkeypatch.setattr(Recorder, "attach", attach)
    with pytest.raises(Problem) as caught:
        trained(plan())
    assert (caught.value.values["step"], caught.value.values["kept"]) == (3, 2)
    (name,) = [status.id for status in runs.listed()]
    kept = SentenceTransformer(str(runs.folder(name).model))
    assert all(torch.isfinite(weight).all() for weight in kept.parameters())


@pytest.mark.parametrize(
    "message",
    ["CUDA out of memory", "can't allocate memory: 9 bytes", "could not create a primitive"],
)
def test_a_batch_that_does_not_fit_names_one_that_does(runs, trained, monkeypatch, message):
    def forward(self, columns, labels=None, own=sessions.TrainingLoss.forward, **more):
        if labels is not None and len(labels) > 5:
            raise RuntimeError(message)
        return own(self, columns, labels, **more)

    monkeypatch.setattr(sessions.TrainingLoss, "forward", forward)
    with pytest.raises(Problem) as caught:
        trained(plan(batch_size=16))
    assert caught.value.key == "problem.training_out_of_memory"
    assert caught.value.values == {"batch": 16, "fits": 4}


def test_where_not_even_two_fit_no_batch_is_named(runs, trained, monkeypatch):
    def forward(self, *given, **more):
        raise MemoryError

    monkeypatch.setattr(sessions.TrainingLoss, "forward", forward)
    with pytest.raises(Problem) as caught:
        trained(plan(batch_size=16))
    assert caught.value.key == "problem.training_no_memory"
    assert caught.value.values == {"batch": 16}


def test_chinese_from_scratch(runs, trained):
    draw = random.Random(0)
    letters = "猫狗睡跑太阳很热旧红大小在上"
    pairs = [
        ("".join(draw.choices(letters, k=6)), "".join(draw.choices(letters, k=6)))
        for _ in range(60)
    ]
    rows = tuple((a, b, float(len(set(a) & set(b)))) for a, b in pairs)
    name = trained(plan(steps=40, learning_rate=0.05), Corpus(rows[:45], rows[45:]))
    summary = runs.status(name).summary
    assert summary.after.spearman > 0.3
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(runs.folder(name).model))
    assert model[0].tokenizer.get_vocab_size() > len(letters)


def test_the_same_plan_gives_the_same_run(runs, trained):
    one, other = (runs.status(trained(plan())).summary for _ in range(2))
    assert one.loss == other.loss
    assert one.after == other.after
    another = runs.status(trained(plan(seed=1))).summary
    assert another.loss != one.loss


def test_nothing_left_to_move(bert, trained):
    with raises_problem("training_nothing_moves", layers=0):
        trained(plan(encoder=bert, layers=0))


def test_an_encoder_from_scratch_is_the_same_at_every_start():
    import torch

    from lossprism.explorer.lab.training.starting_model import from_scratch
    from lossprism.explorer.sources.textbook import load_example

    sentences = load_example("graded_english").sentences + load_example("graded_chinese").sentences
    made = []
    for order in (sentences, sentences[::-1]):
        torch.manual_seed(0)
        made.append(from_scratch(order, 8000, 4, "cpu")[0])
    assert made[0].tokenizer.get_vocab() == made[1].tokenizer.get_vocab()
    assert torch.equal(made[0].embedding.weight, made[1].embedding.weight)


def test_a_run_that_died_before_its_first_checkpoint_begins_again(runs, trained, monkeypatch):
    from lossprism.explorer.lab.training.trainer_callback import Recorder
    from lossprism.explorer.lab.training.training_run import train

    def die(self, args, state, control, own=Recorder.on_step_end, **more):
        own(self, args, state, control, **more)
        if state.global_step == 3:
            self.flush()
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Recorder, "on_step_end", die)
        with pytest.raises(KeyboardInterrupt):
            trained(plan())
    (run,) = [runs.folder(status.id) for status in runs.listed()]
    train(run)
    whole = trained(plan())
    records = [[(r.kind, r.step) for r in runs.history(n)] for n in (run.name, whole)]
    assert records[0] == [("resumed", -1), *records[1]]
    assert runs.status(run.name).summary.loss == runs.status(whole).summary.loss
