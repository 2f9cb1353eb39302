"""`lossprism.probe`: its figures are those of the loss, in a bare loop and in others' trainers."""

from __future__ import annotations

import functools
import importlib
import math
import sys
import types

import pytest
import torch
from sentence_transformers.sentence_transformer import losses as bi
from torch import nn
from transformers import PrinterCallback, Trainer, TrainingArguments

import lossprism
from lossprism.explorer.lab import saved_training_batches
from lossprism.explorer.lab.saved_training_batches import (
    open_saved_batches,
    wait_for_batches,
)
from lossprism.losses import info_nce
from lossprism.losses.modules import CosentLoss, InfoNceLoss, loss_module
from lossprism.losses.sentence_transformers import PrismCallback
from tests.sentences import raises_problem
from tests.tiny import static_model
from tests.unit.losses.made import EMBEDDED, EVERY, SCORED, call, inputs_for
from tests.unit.losses.test_sentence_transformers import rows

ROWS, WIDTH = 8, 16
FIGURES = {"loss", "collapse", "floor", "effective_terms", "gradient_norm"}
COSINES = {"positive_cosine", "negative_cosine"}


def vectors(count=2, seed=0):
    made = torch.Generator().manual_seed(seed)
    return torch.randn(count, ROWS, WIDTH, generator=made).unbind()


@pytest.mark.parametrize("spec", EVERY)
def test_value_and_gradient_are_those_of_the_loss(spec):
    inputs = inputs_for(spec)
    found = lossprism.probe(spec.name, inputs, **spec.defaults)
    leaves = {
        name: one.clone().requires_grad_()
        for name, one in inputs.items()
        if spec.reads[name] in (*EMBEDDED, *SCORED, "pair_logits")
    }
    value = call(spec, {**inputs, **leaves})
    value.backward()
    norm = math.sqrt(sum(float(one.grad.square().sum()) for one in leaves.values()))
    assert found.value == pytest.approx(float(value.detach()), rel=1e-6)
    assert found.gradient_norm == pytest.approx(norm, rel=1e-5, abs=1e-9)
    assert found.loss == spec.name
    assert not any(one.requires_grad for one in inputs.values())


def test_figures_of_in_batch_negatives_are_those_by_hand():
    """InfoNCE of 8 queries, 8 keys and 8 negatives: ln 16 at collapse."""
    queries, keys, negatives = vectors(3)
    batch = {"queries": queries, "keys": keys, "negatives": negatives}
    found = lossprism.probe(InfoNceLoss(temperature=0.1), batch)
    unit = [nn.functional.normalize(one, dim=1) for one in (queries, keys, negatives)]
    cosines = unit[0] @ torch.cat(unit[1:]).T
    own = torch.eye(ROWS, 2 * ROWS, dtype=torch.bool)
    weights = cosines.div(0.1).softmax(dim=1).flatten() / ROWS
    entropy = -(weights * weights.log()).sum()
    assert found.collapse == pytest.approx(math.log(16), rel=1e-6)
    assert found.positives == pytest.approx(float(cosines[own].mean()), rel=1e-5)
    assert found.negatives == pytest.approx(float(cosines[~own].mean()), rel=1e-4)
    assert found.effective_terms == pytest.approx(float(entropy.exp()), rel=1e-3)
    assert found.figures.keys() == FIGURES | COSINES


def test_a_loss_has_one_measurement_by_whatever_it_is_named():
    queries, keys = vectors()
    module = InfoNceLoss(temperature=0.05)
    ways = [
        lossprism.probe("info_nce", (queries, keys), temperature=0.05),
        lossprism.probe("InfoNCE", {"queries": queries, "keys": keys}, temperature=0.05),
        lossprism.probe(info_nce, (queries, keys), temperature=0.05),
        lossprism.probe(functools.partial(info_nce, temperature=0.05), (queries, keys)),
        lossprism.probe(module, (queries.half().float().requires_grad_(), keys)),
    ]
    first = ways[0].figures
    for one in ways[1:4]:
        assert one.figures == pytest.approx(first)
    assert ways[4].figures == pytest.approx(first, rel=0.01, abs=0.01)


def test_a_loss_of_the_library_is_called_with_its_own_batch():
    model = static_model()
    loss = bi.MultipleNegativesRankingLoss(model, scale=10)
    texts = rows("positives")
    features = [
        model.preprocess([str(text) for text in texts[name]]) for name in texts.column_names
    ]
    found = lossprism.probe(loss, (features, None))
    with torch.no_grad():
        again = loss(
            [model.preprocess([str(t) for t in texts[n]]) for n in texts.column_names], None
        )
    assert found.value == pytest.approx(float(again))
    assert found.loss == "info_nce"
    assert found.figures.keys() == FIGURES | COSINES


BATCHES = {
    "pairs": ("info_nce", lambda u, v, w: {"queries": u, "keys": v}),
    "triplets": ("info_nce", lambda u, v, w: {"queries": u, "keys": v, "negatives": w}),
    "scores": ("cosent", lambda u, v, w: {"scores": (u * v).sum(1) / 40, "labels": u[:, 0] > 0}),
    "classes": ("supcon", lambda u, v, w: {"embeddings": u, "classes": torch.arange(ROWS) // 2}),
}


@pytest.mark.parametrize("kind", BATCHES)
def test_a_saved_batch_opens_with_the_value_of_the_loop(kind, tmp_path):
    name, make = BATCHES[kind]
    batch = {n: one.float() if n == "labels" else one for n, one in make(*vectors(3)).items()}
    found = lossprism.probe(name, batch)
    found.save(tmp_path, 7)
    (opened,) = open_saved_batches(str(tmp_path))
    assert opened.batch.step == 7
    assert opened.same, opened.written()


def test_inputs_beside_those_of_the_definition_have_no_reference_values():
    """Given triplets, of a loss that mines them: [‖a − p‖ − ‖a − n‖ + 1]₊ at its defaults."""
    anchors, positives, negatives = vectors(3)
    found = lossprism.probe("triplet", (anchors, positives, negatives))
    near, far = ((anchors - other).norm(dim=1) for other in (positives, negatives))
    assert found.value == pytest.approx(float((near - far + 1).clamp_min(0).mean()), rel=1e-5)
    assert found.figures.keys() == {"loss", "effective_terms", "gradient_norm"}


def test_what_cannot_be_measured_gets_a_sentence():
    queries, keys = vectors()
    refused = {
        "cross_entropy is no loss of LossPrism": (nn.functional.cross_entropy, (queries, keys)),
        "info_nce needs keys": ("info_nce", (queries,)),
        "info_nce takes the inputs queries, keys": ("info_nce", {"anchors": queries}),
        "has no model to read vectors from": (nn.CrossEntropyLoss(), (queries, keys)),
    }
    for message, (loss, batch) in refused.items():
        with pytest.raises(TypeError, match=message):
            lossprism.probe(loss, batch)
    with pytest.raises(ValueError, match="earlier batches"):
        lossprism.probe(loss_module("queue(info_nce)")(), (queries, keys))
    with pytest.raises(TypeError, match="its parameters already"):
        lossprism.probe(CosentLoss(), (queries[:, 0], keys[:, 0]), scale=2.0)


# ---- Trainers of others --------------------------------------------------------------------------


class Twice(nn.Module):
    """A model of transformers' kind, which computes its own loss: two towers, such as CLIP's."""

    def __init__(self):
        super().__init__()
        self.tower = nn.Linear(WIDTH, 4)
        self.loss = InfoNceLoss(temperature=0.1)
        self.values = []

    def forward(self, image, text):
        value = self.loss(self.tower(image), self.tower(text))
        self.values.append(float(value.detach()))
        return {"loss": value}


def pairs(count=64):
    made = torch.Generator().manual_seed(1)
    images = torch.randn(count, WIDTH, generator=made)
    texts = images + 0.1 * torch.randn(count, WIDTH, generator=made)
    return [{"image": image, "text": text} for image, text in zip(images, texts, strict=True)]


def plain_trainer(model, callback, folder, steps):
    arguments = TrainingArguments(
        output_dir=str(folder),
        max_steps=steps,
        per_device_train_batch_size=ROWS,
        save_strategy="no",
        report_to="none",
        use_cpu=True,
        disable_tqdm=True,
    )
    trainer = Trainer(model=model, args=arguments, train_dataset=pairs(), callbacks=[callback])
    trainer.remove_callback(PrinterCallback)
    return trainer


@pytest.mark.trains
def test_a_plain_trainer_is_read_where_its_model_has_our_loss(tmp_path):
    model = Twice()
    callback = PrismCallback(every=3, folder=tmp_path / "prism")
    trainer = plain_trainer(model, callback, tmp_path, steps=6)
    trainer.train()
    found = {one["step"]: one for one in trainer.state.log_history if "prism_loss" in one}
    assert [*found] == [1, 3, 6]
    for step, figures in found.items():
        assert figures["prism_loss"] == pytest.approx(model.values[step - 1], rel=1e-5)
        assert figures["prism_collapse"] == pytest.approx(math.log(ROWS), rel=1e-5)
    assert all(one.same for one in open_saved_batches(str(tmp_path / "prism")))


@pytest.mark.trains
def test_a_trainer_without_a_loss_of_ours_is_refused(tmp_path):
    class Plain(nn.Module):
        def __init__(self):
            super().__init__()
            self.tower = nn.Linear(WIDTH, 1)

        def forward(self, image, text):
            return {"loss": self.tower(image - text).square().mean()}

    arguments = TrainingArguments(
        output_dir=str(tmp_path), max_steps=1, report_to="none", use_cpu=True
    )
    trainer = Trainer(
        model=Plain(), args=arguments, train_dataset=pairs(), callbacks=[PrismCallback()]
    )
    with pytest.warns(UserWarning, match="neither trainer nor model has a loss"):
        trainer.train()


class HookedLoop:
    """Lightning's order of a step, with the attributes of its trainer that a callback may use."""

    is_global_zero = True

    def __init__(self, module, callback):
        self.module, self.callback, self.loggers = module, callback, [self]
        self.global_step, self.logged = 0, {}

    def log_metrics(self, figures, step):
        self.logged[step] = figures

    def fit(self, steps):
        optimiser = torch.optim.SGD(self.module.parameters(), 0.05)
        self.callback.on_train_start(self, self.module)
        for place in range(steps):
            batch = torch.utils.data.default_collate(pairs()[place * ROWS : (place + 1) * ROWS])
            self.callback.on_train_batch_start(self, self.module, batch, place)
            self.module(**batch)["loss"].backward()
            self.callback.on_before_optimizer_step(self, self.module, optimiser)
            optimiser.step()
            optimiser.zero_grad()
            self.global_step += 1
            self.callback.on_train_batch_end(self, self.module, None, batch, place)


@pytest.fixture
def lightning_callback(monkeypatch):
    """The callback on a stand-in for Lightning, which is not among the packages of the tests."""
    for name in ("lightning", "lightning.pytorch", "lightning.pytorch.callbacks"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    sys.modules["lightning.pytorch.callbacks"].Callback = object
    monkeypatch.delitem(sys.modules, "lossprism.losses.lightning", raising=False)
    yield importlib.import_module("lossprism.losses.lightning").PrismCallback
    sys.modules.pop("lossprism.losses.lightning", None)


@pytest.mark.trains
def test_lightning_logs_the_same_figures(lightning_callback, tmp_path):
    module = Twice()
    loop = HookedLoop(module, lightning_callback(every=3, folder=tmp_path))
    loop.fit(6)
    assert [*loop.logged] == [1, 3, 6]
    for step, figures in loop.logged.items():
        assert figures["prism_loss"] == pytest.approx(module.values[step - 1], rel=1e-5)
        assert figures.keys() == {f"prism_{name}" for name in FIGURES | COSINES}
    assert all(one.same for one in open_saved_batches(str(tmp_path)))


def test_without_lightning_its_callback_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "lightning", None)
    monkeypatch.delitem(sys.modules, "lossprism.losses.lightning", raising=False)
    with pytest.raises(ImportError, match="pip install lightning"):
        importlib.import_module("lossprism.losses.lightning")


def test_a_folder_of_a_training_that_begins_later_is_waited_for(tmp_path, monkeypatch):
    folder, waited = tmp_path / "later", []
    queries = torch.nn.functional.normalize(torch.randn(6, 4), dim=1)
    write = [
        lambda: folder.mkdir(),
        lambda: lossprism.probe("info_nce", (queries, queries)).save(folder, step=7),
    ]
    monkeypatch.setattr(saved_training_batches.time, "sleep", lambda _seconds: write.pop(0)())
    (opened,) = wait_for_batches(str(folder), lambda: waited.append("told"))
    assert (opened.batch.step, waited, write) == (7, ["told"], [])
    assert [one.batch.step for one in wait_for_batches(str(folder), waited.clear)] == [7]
    assert waited == ["told"]  # nothing to wait for


def test_a_file_is_no_folder_to_wait_for(tmp_path):
    (tmp_path / "pairs.csv").write_text("a,b")
    with raises_problem("kept_none"):
        wait_for_batches(str(tmp_path / "pairs.csv"), lambda: None)
