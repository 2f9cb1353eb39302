"""What the callback logs of a training, and the batches that it keeps."""

from __future__ import annotations

import math
import warnings
from pathlib import Path

import pytest
import torch
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer
from sentence_transformers.cross_encoder import CrossEncoder, CrossEncoderTrainer
from sentence_transformers.cross_encoder import losses as cross
from sentence_transformers.cross_encoder.training_args import CrossEncoderTrainingArguments
from sentence_transformers.sentence_transformer import losses as bi
from sentence_transformers.sentence_transformer.training_args import (
    SentenceTransformerTrainingArguments,
)
from torch import nn
from transformers import PrinterCallback, TrainerCallback

import lossprism.losses.sentence_transformers as adapter
from lossprism.explorer.lab.saved_training_batches import open_saved_batches
from lossprism.losses.sentence_transformers import PrismCallback, saved_batch
from lossprism.losses.sentence_transformers.library_loss_recognition import recognised
from tests.tiny import WORDS, save_bert, static_model
from tests.unit.losses.test_sentence_transformers import BATCH, rows

WHOLE = {"prism_loss", "prism_collapse", "prism_effective_terms", "prism_gradient_norm"}
COSINES = {"prism_positive_cosine", "prism_negative_cosine"}


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return save_bert(tmp_path_factory.mktemp("bert"))


def trained(loss, data, folder, *callbacks, steps=4, **other):
    """The trainer after a few steps, and the warnings of the callback."""
    model = loss.model if hasattr(loss, "model") else loss.sentence_embedder
    is_cross = isinstance(model, CrossEncoder)
    arguments = CrossEncoderTrainingArguments if is_cross else SentenceTransformerTrainingArguments
    kind = CrossEncoderTrainer if is_cross else SentenceTransformerTrainer
    chosen = arguments(
        output_dir=str(folder),
        max_steps=steps,
        per_device_train_batch_size=BATCH,
        learning_rate=0.01,
        save_strategy="no",
        use_cpu=True,
        seed=1,
        disable_tqdm=True,
        **{"report_to": "none", **other},
    )
    trainer = kind(model=model, args=chosen, train_dataset=data, loss=loss, callbacks=[*callbacks])
    trainer.remove_callback(PrinterCallback)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        trainer.train()
    sentences = [str(one.message) for one in caught if "PrismCallback" in str(one.message)]
    ours = [
        one for one in caught if "/losses/sentence_transformers/" in Path(one.filename).as_posix()
    ]
    # None of torch's; what was made of the labels is another matter.
    known = ("PrismCallback", "of the first batch")
    assert all(any(word in str(one.message) for word in known) for one in ours), ours
    return trainer, sentences


def logged(trainer):
    """The figures of each step that was looked at."""
    history = trainer.state.log_history
    return {one["step"]: one for one in history if any(name.startswith("prism") for name in one)}


class Losses(TrainerCallback):
    """The value of every step, by the loss's own forward."""

    def __init__(self, loss: nn.Module) -> None:
        self.values: list[float] = []
        loss.register_forward_hook(lambda _, __, value: self.values.append(float(value)))


KNOWN = {
    "CoSENTLoss": ("scored", lambda m: bi.CoSENTLoss(m, scale=10)),
    "AnglELoss": ("scored", lambda m: bi.AnglELoss(m)),
    "CosineSimilarityLoss": ("scored", lambda m: bi.CosineSimilarityLoss(m)),
    "ContrastiveLoss": ("binary", lambda m: bi.ContrastiveLoss(m, margin=0.7)),
    "OnlineContrastiveLoss": ("binary", lambda m: bi.OnlineContrastiveLoss(m)),
    "MultipleNegativesRankingLoss": (
        "triplets",
        lambda m: bi.MultipleNegativesRankingLoss(m, scale=10),
    ),
    "its four directions": (
        "positives",
        lambda m: bi.MultipleNegativesRankingLoss(
            m, directions=("query_to_doc", "doc_to_query", "query_to_query", "doc_to_doc")
        ),
    ),
    "TripletLoss": ("triplets", lambda m: bi.TripletLoss(m, triplet_margin=2)),
    "MarginMSELoss": ("margins", lambda m: bi.MarginMSELoss(m)),
    "DistillKLDivLoss": ("lists", lambda m: bi.DistillKLDivLoss(m, temperature=2.0)),
    "BatchAllTripletLoss": ("classes", lambda m: bi.BatchAllTripletLoss(m, margin=3)),
    "BatchHardSoftMarginTripletLoss": (
        "classes",
        lambda m: bi.BatchHardSoftMarginTripletLoss(m),
    ),
    "ours, on classes": ("classes", lambda m: adapter.SupconLoss(m)),
    "ours, with weights of its own": ("classes", lambda m: adapter.ArcfaceLoss(m, class_count=3)),
    "ours, on labels": ("scored", lambda m: adapter.InfoNceLoss(m, label_range=(0, 1))),
}


@pytest.mark.trains
@pytest.mark.parametrize("name", KNOWN)
def test_every_figure_is_that_of_the_loss_in_use(name, tmp_path):
    kind, make = KNOWN[name]
    loss = make(static_model())
    reports = Losses(loss)
    callback = PrismCallback(every=3, folder=tmp_path / "kept")
    trainer, message = trained(loss, rows(kind), tmp_path, callback, reports)
    assert message == []
    found = logged(trainer)
    assert [*found] == [1, 3]
    for step, figures in found.items():
        assert figures.keys() >= WHOLE | COSINES
        assert figures["prism_loss"] == pytest.approx(reports.values[step - 1])
        assert figures["prism_effective_terms"] >= 0
        batch = saved_batch.read(
            saved_batch.saved_batch_paths(tmp_path / "kept")[[*found].index(step)]
        )
        assert (batch.step, batch.called, batch.rows) == (step, type(loss).__name__, BATCH)
        assert batch.loss
        assert batch.whole


@pytest.mark.trains
def test_reference_values_and_means_are_what_the_batch_says(tmp_path):
    """InfoNCE of 8 queries with 15 negatives each: ln 16 at collapse."""
    loss = bi.MultipleNegativesRankingLoss(static_model(), scale=10)
    callback = PrismCallback(every=100, folder=tmp_path / "kept", texts=True)
    trainer, _ = trained(loss, rows("triplets"), tmp_path, callback, steps=1)
    figures = logged(trainer)[1]
    assert figures["prism_collapse"] == pytest.approx(math.log(2 * BATCH))
    batch = saved_batch.read(saved_batch.saved_batch_paths(tmp_path / "kept")[0])
    anchors, positives, negatives = (nn.functional.normalize(one) for one in batch.columns)
    cosines = torch.cat([anchors @ positives.T, anchors @ negatives.T], dim=1)
    value = nn.functional.cross_entropy(10 * cosines, torch.arange(BATCH))
    assert figures["prism_loss"] == pytest.approx(float(value), rel=1e-5)
    own = cosines.diagonal()
    others = (cosines.sum() - own.sum()) / (cosines.numel() - BATCH)
    assert figures["prism_positive_cosine"] == pytest.approx(float(own.mean()), abs=1e-6)
    assert figures["prism_negative_cosine"] == pytest.approx(float(others), abs=1e-6)
    assert batch.texts is not None
    assert [len(column) for column in batch.texts] == [BATCH] * 3
    assert set(" ".join(batch.texts[0]).split()) <= {*WORDS}
    assert dict(batch.parameters)["temperature"] == pytest.approx(0.1)


@pytest.mark.trains
def test_a_loss_in_pieces_is_the_same_loss(bert, tmp_path):
    model = SentenceTransformer(bert)
    loss = bi.CachedMultipleNegativesRankingLoss(model, mini_batch_size=3)
    trainer, message = trained(loss, rows("triplets"), tmp_path, PrismCallback(every=2), steps=2)
    assert message == []
    assert logged(trainer)[2]["prism_collapse"] == pytest.approx(math.log(2 * BATCH))


@pytest.mark.trains
def test_of_a_loss_that_nobody_knows_only_similarities_are_logged(tmp_path):
    model = static_model()
    loss = bi.MatryoshkaLoss(model, bi.MultipleNegativesRankingLoss(model), [6, 4], [1, 0.5], 1)
    trainer, message = trained(loss, rows("positives"), tmp_path, PrismCallback(every=1), steps=3)
    assert len(message) == 1
    assert "MatryoshkaLoss" in message[0]
    assert "layers" not in message[0]
    for figures in logged(trainer).values():
        assert {name for name in figures if name.startswith("prism")} == COSINES | {"prism_loss"}


@pytest.mark.trains
def test_a_loss_on_prefixes_has_every_figure(tmp_path):
    """Its collapse is the sum of ln 8 on each prefix, times its weight."""
    model = static_model()
    inner = bi.MultipleNegativesRankingLoss(model)
    loss = bi.MatryoshkaLoss(model, inner, [6, 4], [1, 0.5])
    callback = PrismCallback(every=50, folder=tmp_path / "kept")
    trainer, message = trained(loss, rows("positives"), tmp_path, callback, steps=1)
    assert message == []
    figures = logged(trainer)[1]
    assert figures.keys() >= WHOLE | COSINES
    assert figures["prism_collapse"] == pytest.approx(1.5 * math.log(BATCH))
    assert 1 <= figures["prism_effective_terms"] <= BATCH**2  # each cell once, not on each prefix
    (opened,) = open_saved_batches(str(tmp_path / "kept"))
    assert opened.scenario.loss == "matryoshka(info_nce,6,4)"
    assert opened.same, opened.written()


@pytest.mark.trains
def test_a_loss_on_layers_is_reported_as_one(bert, tmp_path):
    model = SentenceTransformer(bert)
    inner = bi.MultipleNegativesRankingLoss(model)
    for loss in (bi.AdaptiveLayerLoss(model, inner), bi.Matryoshka2dLoss(model, inner, [8, 4])):
        _, message = trained(loss, rows("positives"), tmp_path, PrismCallback(every=1), steps=2)
        (line,) = message
        assert type(loss).__name__ in line
        assert "layers" in line


@pytest.mark.trains
@pytest.mark.parametrize(
    ("make", "kind", "whole"),
    [
        (lambda m: cross.BinaryCrossEntropyLoss(m), "binary", True),
        (lambda m: cross.ListNetLoss(m), "ragged", True),
        (lambda m: adapter.CosentLoss(m), "scored", True),
        (lambda m: cross.MSELoss(m), "scored", False),
    ],
)
def test_a_cross_encoder_has_scores(bert, make, kind, whole, tmp_path):
    loss = make(CrossEncoder(bert, num_labels=1))
    callback = PrismCallback(every=1, folder=tmp_path / "kept", texts=True)
    trainer, message = trained(loss, rows(kind), tmp_path, callback, steps=1)
    figures = logged(trainer)[1]
    assert {"prism_positive_score", "prism_negative_score"} <= figures.keys()
    assert (figures.keys() >= WHOLE) == whole == (not message)
    batch = saved_batch.read(saved_batch.saved_batch_paths(tmp_path / "kept")[0])
    assert batch.scores is not None
    assert batch.texts is not None
    assert len(batch.scores) == len(batch.labels) == len(batch.texts[1])


class Watched(TrainerCallback):
    """What reaches whatever the trainer reports to."""

    def __init__(self) -> None:
        self.lines: list[set[str]] = []

    def on_log(self, args, state, control, logs, **_) -> None:
        self.lines.append({*logs})


@pytest.mark.trains
def test_the_trainers_own_line_is_logged_all_the_same(tmp_path):
    watched = Watched()
    loss = bi.CoSENTLoss(static_model())
    trainer, _ = trained(
        loss, rows("scored"), tmp_path, watched, PrismCallback(every=2), logging_steps=2
    )
    steps = [one["step"] for one in trainer.state.log_history if "loss" in one]
    assert steps == [2, 4]
    assert sum("prism_loss" in line for line in watched.lines) == 3  # at 1, 2 and 4


@pytest.mark.trains
def test_it_changes_nothing_of_the_training(tmp_path):
    weights = []
    for callbacks in ([], [PrismCallback(every=1, folder=tmp_path / "kept", texts=True)]):
        loss = bi.MultipleNegativesRankingLoss(static_model())
        trained(loss, rows("positives"), tmp_path, *callbacks)
        weights.append(next(loss.model.parameters()).detach().clone())
        assert not loss._forward_hooks
        assert not loss.model._forward_hooks
    assert torch.equal(*weights)


@pytest.mark.trains
def test_what_is_kept_is_bounded_and_spread_over_the_training(tmp_path):
    callback = PrismCallback(every=1, folder=tmp_path / "kept", most=4)
    trained(bi.CoSENTLoss(static_model()), rows("scored"), tmp_path, callback, steps=20)
    steps = [saved_batch.step_of(path) for path in saved_batch.saved_batch_paths(tmp_path / "kept")]
    assert 2 <= len(steps) <= 4
    assert max(steps) >= 10
    assert min(steps) <= 8
    assert not [*(tmp_path / "kept").glob("*.part")]


@pytest.mark.trains
def test_a_full_disk_is_reported_once_and_ends_nothing(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(saved_batch, "save_file", full)
    callback = PrismCallback(every=1, folder=tmp_path / "kept")
    trainer, message = trained(bi.CoSENTLoss(static_model()), rows("scored"), tmp_path, callback)
    assert trainer.state.global_step == 4
    assert len(message) == 1
    assert "[Errno 28]" in message[0]
    assert [*logged(trainer)] == [1, 2, 3, 4]
    assert not [*(tmp_path / "kept").iterdir()]


@pytest.mark.trains
def test_an_error_of_its_own_is_reported_once_and_ends_nothing(tmp_path, monkeypatch):
    def broken(*_):
        raise RuntimeError("no such thing")

    monkeypatch.setattr("lossprism.losses.sentence_transformers.step_probe.probe", broken)
    loss = bi.CoSENTLoss(static_model())
    trainer, message = trained(loss, rows("scored"), tmp_path, PrismCallback(every=1))
    assert trainer.state.global_step == 4
    assert len(message) == 1
    assert logged(trainer) == {}


@pytest.mark.parametrize("chosen", [{"every": 0}, {"every": 2.5}, {"every": True}, {"most": 1}])
def test_what_cannot_be_chosen_is_refused(chosen):
    with pytest.raises(ValueError, match="must be a whole number from"):
        PrismCallback(**chosen)


def test_a_damaged_batch_gets_a_sentence(tmp_path):
    broken = tmp_path / "step-00000001.safetensors"
    broken.write_bytes(b"not this")
    with pytest.raises(ValueError, match="is no kept batch"):
        saved_batch.read(broken)
    from safetensors.torch import save_file

    save_file({"x": torch.zeros(2)}, broken)
    with pytest.raises(ValueError, match="is no batch that PrismCallback kept"):
        saved_batch.read(broken)
    save_file({"x": torch.zeros(2)}, broken, metadata={"prism": '{"version": 1, "columns": 2}'})
    with pytest.raises(ValueError, match="is a damaged batch"):
        saved_batch.read(broken)


@pytest.mark.parametrize(
    ("name", "settings", "loss", "parameters"),
    [
        (
            "MultipleNegativesRankingLoss",
            {"scale": 40.0, "similarity_fct": "cos_sim", "gather_across_devices": False},
            "info_nce",
            {"temperature": 0.025, "similarity": "cosine"},
        ),
        (
            "CachedMultipleNegativesRankingLoss",
            {"scale": 20.0, "hardness_mode": "hard_negatives", "hardness_strength": 5.0},
            "info_nce",
            {"temperature": 0.05, "hardness_on": "hard", "hardness": 5.0},
        ),
        (
            "ContrastiveLoss",
            {"distance_metric": "SiameseDistanceMetric.COSINE_DISTANCE", "margin": 0.3},
            "contrastive",
            {"distance": "cosine", "margin": 0.3},
        ),
        ("TripletLoss", {"triplet_margin": 2}, "triplet", {"margin": 2}),
        ("BinaryCrossEntropyLoss", {"activation_fn": "Identity"}, "binary_cross_entropy", {}),
    ],
)
def test_a_class_of_the_library_is_recognised(name, settings, loss, parameters):
    first = next(recognised(name, settings))
    assert first.spec.name == loss
    assert first.convention.startswith("sentence-transformers")
    assert dict(first.parameters) == pytest.approx(parameters)


@pytest.mark.parametrize("name", ["SoftmaxLoss", "DenoisingAutoEncoderLoss", "MyLoss"])
def test_another_one_is_not(name):
    assert [*recognised(name, {})] == []
