"""A batch that a training kept opens in Explore with the loss that it had there."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from sentence_transformers.cross_encoder import CrossEncoder
from sentence_transformers.cross_encoder import losses as cross
from sentence_transformers.sentence_transformer import losses as bi

import lossprism.losses.sentence_transformers as adapter
from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.lab import saved_training_batches
from lossprism.explorer.lab.saved_training_batches import files_in, open_saved_batches
from lossprism.explorer.locale import LANGUAGES
from lossprism.explorer.runtime.deployment_policy import HOSTED
from lossprism.explorer.sources.encoders import encode, locate
from lossprism.losses.sentence_transformers import PrismCallback
from lossprism.losses.sentence_transformers.saved_batch import SavedBatch, write
from tests.sentences import pattern_of, raises_problem
from tests.tiny import save_bert, static_model
from tests.unit.losses.test_callback import rows, trained

KINDS = {
    "CoSENT": ("scored", lambda m: bi.CoSENTLoss(m, scale=10)),
    "AnglE": ("scored", lambda m: bi.AnglELoss(m)),
    "contrastive": ("binary", lambda m: bi.ContrastiveLoss(m, margin=0.7)),
    "MNRL": ("positives", lambda m: bi.MultipleNegativesRankingLoss(m)),
    "MNRL with negatives": ("triplets", lambda m: bi.MultipleNegativesRankingLoss(m, scale=10)),
    "MarginMSE has no teacher here": ("margins", lambda m: bi.MarginMSELoss(m)),
    "TripletLoss": ("triplets", lambda m: bi.TripletLoss(m, triplet_margin=2)),
    "BatchAll": ("classes", lambda m: bi.BatchAllTripletLoss(m, margin=3)),
    "MNRL on prefixes": (
        "triplets",
        lambda m: bi.MatryoshkaLoss(m, bi.MultipleNegativesRankingLoss(m), [6, 4], [1, 0.5]),
    ),
    "CoSENT on prefixes": (
        "scored",
        lambda m: bi.MatryoshkaLoss(m, bi.CoSENTLoss(m, scale=10), [4, 2]),
    ),
    "ours on prefixes": (
        "scored",
        lambda m: bi.MatryoshkaLoss(m, adapter.InfoNceLoss(m, temperature=0.2), [6, 4]),
    ),
    "ours on classes": ("classes", lambda m: adapter.SupconLoss(m)),
    "ours on labels": ("scored", lambda m: adapter.InfoNceLoss(m)),
}


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return save_bert(tmp_path_factory.mktemp("bert"))


@pytest.mark.trains
@pytest.mark.parametrize("name", KINDS)
def test_the_scenario_has_the_loss_of_the_training(name, tmp_path):
    kind, make = KINDS[name]
    for texts in (True, False):
        folder = tmp_path / f"kept {texts}"
        callback = PrismCallback(every=50, folder=folder, texts=texts)
        trained(make(static_model()), rows(kind), tmp_path, callback, steps=1)
        (opened,) = open_saved_batches(str(folder))
        again = Scenario.from_link(opened.scenario.to_link())
        assert again == opened.scenario
        assert again.loss == opened.batch.loss
        if "no teacher" in name:
            assert opened.here is None
            assert "teacher" in opened.written()
            continue
        assert opened.same, opened.written()
        for language in LANGUAGES:
            assert pattern_of("kept.same", language, step=1).fullmatch(opened.written(language))


@pytest.mark.trains
@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda m: cross.BinaryCrossEntropyLoss(m), "binary"),
        (lambda m: cross.ListNetLoss(m), "ragged"),
        (lambda m: adapter.CosentLoss(m), "scored"),
    ],
)
def test_so_has_that_of_a_cross_encoder(bert, make, kind, tmp_path):
    loss = make(CrossEncoder(bert, num_labels=1))
    callback = PrismCallback(every=50, folder=tmp_path / "kept", texts=True)
    data = rows(kind)
    if kind == "ragged":  # of a list of one the library has a 0, and the page no list
        data = data.filter(lambda row: len(row["documents"]) > 1)
    trained(loss, data, tmp_path, callback, steps=1)
    (opened,) = open_saved_batches(str(tmp_path / "kept"))
    assert opened.scenario.data.cross_encoder.endswith("step-00000001.safetensors")
    assert opened.same, opened.written()


@pytest.mark.trains
def test_a_loss_unknown_is_shown_under_another(tmp_path):
    model = static_model()
    loss = bi.MatryoshkaLoss(model, bi.MultipleNegativesRankingLoss(model), [6, 3])  # 3 is odd
    trained(loss, rows("positives"), tmp_path, PrismCallback(folder=tmp_path / "kept"), steps=1)
    (opened,) = open_saved_batches(str(tmp_path / "kept"))
    assert opened.scenario.loss == "info_nce"
    assert pattern_of("kept.unknown", step=1).fullmatch(opened.written())


def made(rows=4, **changed):
    drawn = torch.Generator().manual_seed(0)
    columns = tuple(torch.randn(rows, 3, generator=drawn) for _ in range(2))
    about = {"texts": None, "called": "CoSENTLoss", "value": 1.0, "rows": rows, **changed}
    return SavedBatch(7, columns, None, torch.ones(rows), **about)


def test_texts_that_stand_twice_keep_their_vectors(tmp_path):
    batch = made(2, texts=(("a cat", "a cat"), ("a cat", "")))
    path = str(write(tmp_path, batch))
    vectors = encode(["a cat", "a cat · 2", "a cat · 1", "b2"], path)
    wanted = [batch.columns[0][0], batch.columns[0][1], batch.columns[1][0], batch.columns[1][1]]
    assert torch.equal(torch.from_numpy(vectors), torch.stack(wanted))


def test_the_first_rows_of_a_larger_batch_are_reported(tmp_path):
    write(tmp_path, replace(made(4), rows=900))
    (opened,) = open_saved_batches(str(tmp_path))
    assert pattern_of("kept.part", rows=900, count=4).fullmatch(opened.written())


def test_a_file_that_is_still_being_written_is_waited_for(tmp_path):
    """As in a folder that is synced from another machine, which may write in place."""
    whole = write(tmp_path / "there", made(4, texts=(("a", "b", "c", "d"), ("e", "f", "g", "h"))))
    here = tmp_path / "here"
    here.mkdir()
    write(here, replace(made(2), step=3))
    content, growing = whole.read_bytes(), here / whole.name
    for size in (0, 5, 40, len(content) // 2, len(content) - 1):
        growing.write_bytes(content[:size])
        files = files_in(str(here))
        assert (len(files.complete), files.unfinished) == (1, 1)
        assert [one.batch.step for one in open_saved_batches(str(here))] == [3]
    growing.write_bytes(content)
    assert files_in(str(here)).unfinished == 0
    assert [one.batch.step for one in open_saved_batches(str(here))] == [3, 7]


def test_a_growing_folder_explores_each_batch_once(tmp_path, monkeypatch):
    explored = []
    plain = saved_training_batches.explore
    monkeypatch.setattr(
        saved_training_batches,
        "explore",
        lambda scenario: explored.append(scenario) or plain(scenario),
    )
    for step in range(3):
        write(tmp_path, replace(made(2), step=step))
        assert len(open_saved_batches(str(tmp_path))) == step + 1
        assert len(explored) == step + 1


def test_what_is_not_there_gets_a_sentence(tmp_path, monkeypatch):
    with raises_problem("kept_none"):
        open_saved_batches(str(tmp_path))
    path = write(tmp_path, made(2))
    with raises_problem("kept_sentence", sentence="dog"):
        encode(["dog"], str(path))
    with raises_problem("cross_not_cross"):
        locate(str(path)).score(["a1"], ["b1"])
    with raises_problem("kept_missing"):
        encode(["dog"], str(tmp_path / "other.safetensors"))
    (tmp_path / "broken.safetensors").write_bytes(b"12345678")
    with raises_problem("kept_damaged"):
        encode(["dog"], str(tmp_path / "broken.safetensors"))
    monkeypatch.setenv(HOSTED, "1")
    with raises_problem("encoder_local_refused"):
        encode(["a1"], str(path))
