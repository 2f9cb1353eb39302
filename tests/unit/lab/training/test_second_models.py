"""A guide and a teacher beside the encoder that is trained: the losses that are logged are those of
sentence-transformers' own classes, trained by hand on the same rows."""

from __future__ import annotations

import dataclasses
import os

import numpy as np
import pytest
import torch
from datasets import Dataset
from transformers import set_seed

from lossprism.explorer.lab.training import data, starting_model, teacher_scores
from lossprism.explorer.lab.training.loss_refusal_reasons import refusal
from lossprism.explorer.lab.training.probe_batch_exploration import probe_exploration
from lossprism.explorer.lab.training.trainer_rows import columns_for
from lossprism.explorer.runtime import jobs
from lossprism.explorer.runtime.problem import Problem
from tests.tiny import save_bert
from tests.unit.lab.training.taught import corpus, plan, triplets


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Folders of an encoder to train, of another one, and of a cross-encoder."""
    from sentence_transformers import CrossEncoder
    from transformers import AutoModel

    names = ("trained", "second", "cross")
    folders = {name: tmp_path_factory.mktemp(name) for name in names}
    for seed, name in enumerate(names[:2]):
        save_bert(folders[name])
        model = AutoModel.from_pretrained(folders[name])
        torch.manual_seed(seed)
        for weight in (w for w in model.parameters() if w.ndim > 1):
            torch.nn.init.normal_(weight, std=0.3)  # so that texts differ by more than rounding
        model.save_pretrained(folders[name])
    torch.manual_seed(8)
    cross = CrossEncoder(str(folders["second"]), num_labels=1, device="cpu")
    cross.save_pretrained(str(folders["cross"]))
    return {name: str(folder) for name, folder in folders.items()}


def logged(runs, name):
    return [record.loss for record in runs.history(name) if record.kind == "step"]


def by_hand(chosen, columns, loss_of, tmp_path):
    """The losses of the library's trainer on these columns."""
    from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer
    from sentence_transformers.sentence_transformer.training_args import (
        SentenceTransformerTrainingArguments as Arguments,
    )

    set_seed(chosen.seed)
    model = SentenceTransformer(chosen.encoder, device="cpu")
    rows = Dataset.from_dict(columns)
    result = chosen.trainer_arguments(chosen.steps, len(rows))
    trainer = SentenceTransformerTrainer(
        model=model,
        args=Arguments(
            output_dir=str(tmp_path / "by_hand"),
            save_strategy="no",
            logging_strategy="steps",
            logging_steps=1,
            report_to="none",
            disable_tqdm=True,
            use_cpu=True,
            **result,
        ),
        train_dataset=rows,
        loss=loss_of(model),
    )
    trainer.train()
    return [one["loss"] for one in trainer.state.log_history if "grad_norm" in one]


def test_a_guide_is_the_librarys_guide(models, runs, trained, tmp_path):
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.losses import GISTEmbedLoss

    chosen = plan(
        loss="gist",
        encoder=models["trained"],
        guide=models["second"],
        parameters=(("temperature", 0.05),),
        learning_rate=1e-4,
        steps=3,
    )
    pairs = triplets((1,))
    name = trained(chosen, pairs)
    run = runs.folder(name)
    columns = columns_for(chosen, data.material_of(run), data.rules_of(run, chosen))
    guide = SentenceTransformer(models["second"], device="cpu")
    found = by_hand(
        chosen, columns, lambda model: GISTEmbedLoss(model, guide, temperature=0.05), tmp_path
    )
    assert logged(runs, name) == pytest.approx(found, rel=1e-4)
    # The guide has its say: by itself the model leaves out other negatives.
    alone = dataclasses.replace(chosen, guide="", steps=1)
    assert logged(runs, trained(alone, pairs))[0] != pytest.approx(found[0], rel=1e-3)
    # And in the matrix of the probe batch: of its vectors, not of the model's.
    read = probe_exploration(runs, name, 0).batch.guide
    probe = runs.probe(name)
    assert probe
    texts = [text for both in zip(probe.first, probe.second, strict=True) for text in both]
    wanted = guide.encode(list(dict.fromkeys(texts)))
    assert read is not None
    assert read.numpy() == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize("kind", ["second", "cross"])
def test_a_teacher_is_called_once_and_learnt_from(kind, models, runs, trained, tmp_path):
    from sentence_transformers import CrossEncoder, SentenceTransformer
    from sentence_transformers.sentence_transformer.losses import DistillKLDivLoss
    from sentence_transformers.util import pairwise_cos_sim

    chosen = plan(
        loss="distill_kl",
        encoder=models["trained"],
        teacher_model=models[kind],
        learning_rate=1e-4,
        steps=3,
    )
    rows = triplets((2,))
    name = trained(chosen, rows)
    # What the teacher says, by the library; what came with the data counts no more.
    if kind == "cross":
        cross = CrossEncoder(models[kind], device="cpu")
        ask = lambda a, b: cross.predict(list(zip(a, b, strict=True)))  # noqa: E731
    else:
        second = SentenceTransformer(models[kind], device="cpu")
        ask = lambda a, b: pairwise_cos_sim(second.encode(a), second.encode(b))  # noqa: E731
    run = runs.folder(name)
    pairs, given = run.read_scored("train.jsonl")
    answer = ask([a for a, _, _ in pairs], [b for _, b, _ in pairs])
    assert given == pytest.approx(list(map(float, answer)), abs=1e-5)
    assert given != pytest.approx(rows.teacher, abs=0.1)
    # The same by the library's own class, from triplets with the teacher's scores as labels.
    columns = {
        "query": [a for a, _, label in pairs if label == 1],
        "positive": [b for _, b, label in pairs if label == 1],
        "negative_1": [b for _, b, _ in pairs[1::3]],
        "negative_2": [b for _, b, _ in pairs[2::3]],
        "label": [given[place : place + 3] for place in range(0, len(pairs), 3)],
    }

    def loss_of(model):
        return DistillKLDivLoss(model, similarity_fct=pairwise_cos_sim, temperature=1.0)

    assert logged(runs, name) == pytest.approx(
        by_hand(chosen, columns, loss_of, tmp_path), rel=1e-4
    )
    # A run on the same pairs has the scores from this one, and a resumed one from itself.
    again = runs.prepare(dataclasses.replace(chosen, seed=1), rows)
    again.take_ticket(os.getpid())
    teacher_scores._teacher_answer, kept = None, teacher_scores._teacher_answer
    try:
        teacher_scores.teach(again, chosen, "cpu")
        teacher_scores.teach(run, chosen, "cpu")
    finally:
        teacher_scores._teacher_answer = kept
    assert again.read_scored("train.jsonl") == (pairs, given)


def test_a_teachers_vectors_are_learnt_as_the_library_does(
    models, runs, trained, tmp_path, monkeypatch
):
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.losses import MSELoss

    chosen = plan(
        loss="embedding_mse",
        encoder=models["trained"],
        teacher_model=models["second"],
        learning_rate=1e-4,
        steps=20,
    )
    rows = corpus()
    name = trained(chosen, rows)
    # By the library: the teacher's vectors of both sides are the labels.
    second = SentenceTransformer(models["second"], device="cpu")
    columns = columns_for(chosen, rows.material, data.rules_of(runs.folder(name), chosen))
    message = [second.encode(columns[side]) for side in ("sentence1", "sentence2")]
    columns["label"] = [np.stack(both).tolist() for both in zip(*message, strict=True)]
    found = by_hand(chosen, columns, MSELoss, tmp_path)
    assert len(found) == 20
    assert logged(runs, name) == pytest.approx(found, rel=1e-4)
    assert runs.status(name).summary.examples.form == "pairs"
    # The probe batch has the teacher's, at any step.
    probe = probe_exploration(runs, name, 20)
    texts = probe.batch.pairs.sentences
    assert probe.batch.teacher_vectors is not None
    assert probe.batch.teacher_vectors.numpy() == pytest.approx(
        second.encode(list(texts)), abs=1e-5
    )
    # Another run on these pairs asks nobody.
    monkeypatch.setattr(teacher_scores, "_teacher_answer", None)
    again = runs.prepare(dataclasses.replace(chosen, seed=1), rows)
    again.take_ticket(os.getpid())
    teacher_scores.teach(again, chosen, "cpu")
    one, other = (teacher_scores.vectors_of(run, chosen) for run in (again, runs.folder(name)))
    assert one
    assert other
    assert torch.equal(one(texts), other(texts))


def test_a_teachers_vectors_beside_other_losses(models, runs, trained):
    """Of whole lists and of triplets: what is logged first is the other loss, and the squared
    error of the same batch's texts."""
    from sentence_transformers import SentenceTransformer

    both = [SentenceTransformer(models[name], device="cpu") for name in ("trained", "second")]
    given = {"encoder": models["trained"], "teacher_model": models["second"], "steps": 1}
    for rows, other in ((corpus(), "distill_kl"), (triplets((2,)), "info_nce")):
        chosen = [
            plan(loss=loss, sampler="in_order", **given)
            for loss in (other, f"embedding_mse+{other}")
        ]
        alone, summed = (logged(runs, trained(one, rows))[0] for one in chosen)
        material = data.under_teacher(chosen[0], rows).material
        places = [place for some in material.lists[:3] for place in some]
        pairs = [material.pairs[place] for place in places]
        # Of triplets each anchor stands once, beside its positive.
        asking = [a for a, _, label in pairs if other == "distill_kl" or label == 1]
        texts = [*asking, *(b for _, b, _ in pairs)]
        student, teacher = (model.encode(texts) for model in both)
        assert summed == pytest.approx(alone + np.square(student - teacher).mean(), rel=1e-4)


def test_a_teacher_whose_vectors_are_others_is_refused(models, runs):
    learns = {"loss": "embedding_mse", "teacher_model": models["second"]}
    for width in (16, 8):  # the vectors of the first run would be there for the second
        chosen = plan(**learns, dimension=width)
        run = runs.prepare(chosen, corpus())
        run.take_ticket(os.getpid())
        if width == 16:
            teacher_scores.teach(run, chosen, "cpu")
            continue
        with pytest.raises(Problem) as result:
            teacher_scores.teach(run, chosen, "cpu")
        assert (result.value.key, result.value.about) == ("problem.teacher_width", "teacher")
        assert (result.value.values["teacher"], result.value.values["width"]) == (16, 8)
    crossed = plan(loss="embedding_mse", encoder=models["trained"], teacher_model=models["cross"])
    with pytest.raises(Problem) as result:
        runs.prepare(crossed, corpus())
    assert (result.value.key, result.value.about) == ("problem.encoder_is_cross", "teacher")


def test_a_stopped_run_asks_its_teacher_no_further(models, runs):
    chosen = plan(loss="margin_mse", encoder=models["trained"], teacher_model=models["second"])
    run = runs.prepare(chosen, corpus())
    run.take_ticket(os.getpid())
    run.send_command("stop")
    with pytest.raises(jobs.Cancelled):
        teacher_scores.teach(run, chosen, "cpu")
    assert run.read_scored("train.jsonl")[1] is None
    assert run.state.part == "teacher"


def test_an_unusable_teacher_is_reported_before_a_run_is_queued(models, runs, tmp_path):
    gist = {"loss": "gist", "encoder": models["trained"]}
    with pytest.raises(Problem) as result:
        runs.prepare(plan(**gist, guide=models["cross"]), triplets((1,)))
    assert (result.value.about, result.value.key) == ("guide", "problem.encoder_is_cross")
    learns = {"loss": "margin_mse", "encoder": models["trained"]}
    with pytest.raises(Problem) as result:
        runs.prepare(plan(**learns, teacher_model=str(tmp_path / "nowhere")), corpus())
    assert result.value.about == "teacher"
    # What a loss does not read is not asked for.
    runs.prepare(plan(encoder=models["trained"], guide=str(tmp_path / "nowhere")), corpus())
    assert starting_model.guide_of(plan(guide=models["second"]), "cpu") is None


def test_a_teacher_that_is_named_takes_the_place_of_a_column():
    bare = dataclasses.replace(corpus(), teacher=None, held_out_teacher=None)
    named = plan(loss="distill_kl", teacher_model="all-MiniLM-L6-v2")
    refused = refusal(plan(loss="distill_kl"), bare)
    assert refused
    assert refused.key == "problem.training_needs_teacher"
    for given in (bare, corpus()):
        awaited = data.under_teacher(named, given)
        assert refusal(named, awaited) is None
        assert awaited.teacher is None
        assert awaited.material.taught_lists == awaited.material.lists
