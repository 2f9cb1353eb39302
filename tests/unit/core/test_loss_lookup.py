"""The losses by any of their names."""

from __future__ import annotations

import time

import pytest

from lossprism.explorer.core.library_classes_without_loss import RELATED_CLASSES
from lossprism.explorer.core.loss_lookup import (
    loss_called,
    losses_called,
    other_names,
)
from lossprism.explorer.locale import LANGUAGES, say, title_word
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.web.api.endpoint_functions import compute_loss, list_losses
from lossprism.losses import LOSSES
from lossprism.losses.loss_name_matching import closest, plain
from tests.sentences import pattern_of, raises_problem


@pytest.mark.parametrize(
    ("name", "loss"),
    [("MNRL", "info_nce"), ("CachedMultipleNegativesRankingLoss", "info_nce"), ("RankNet",
     "pairwise_logistic"), ("CosineSimilarityLoss", "cosine_mse"), ("nt-xent", "nt_xent"),
     ("sentence_transformers.losses.CoSENTLoss", "cosent"), ("MSELoss", "embedding_mse"),
     ("EmbedDistillLoss", "embedding_mse"), ("MatryoshkaLoss", "matryoshka(info_nce)"),
     ("MRL", "matryoshka(info_nce)"), ("MoCo", "queue(info_nce)"), ("XBM", "queue(info_nce)"),
     ("CrossBatchMemory", "queue(info_nce)"), ("NDCGLoss1Scheme", "lambda_loss"),
     ("NDCGLoss2PPScheme", "lambda_loss"), ("DPO", "pairwise_logistic"), ("ibn", "info_nce"),
     ("KaLM", "focal_info_nce"), ("Piccolo", "info_nce+cosent"),
     ("AnglE's trainer", "info_nce+angle"), ("AnglE", "angle"), ("cross entropy", "softmax"),
     ("KD", "distill_kl"), ("KL divergence", "distill_kl"),
     ("CMNRL", "info_nce"), ("CPC", "info_nce"), ("DPR", "info_nce"), ("E5", "info_nce"),
     ("jina-embeddings", "info_nce"), ("supervised SimCSE", "info_nce"),
     ("semi-hard triplet", "triplet"), ("FaceNet", "triplet"),
     ("hinge loss", "pairwise_hinge"), ("MoCo v2", "queue(info_nce)"), ("queue", "queue(info_nce)"),
     ("alignment and uniformity", "alignment+uniformity"), ("NoWeightingScheme", "lambda_loss"),
     ("KaLM-Embedding", "focal_info_nce"), ("matryoshka(MNRL)", "matryoshka(info_nce)"),
     ("Matryoshka(CoSENTLoss, 64,16)", "matryoshka(cosent,64,16)"),
     ("queue(SupConLoss)", "queue(supcon)"), ("MNRL+CoSENT", "info_nce+cosent")],
)  # fmt: skip
def test_a_loss_goes_by_many_names(name, loss):
    assert [spec.name for spec in losses_called(name)] == [loss]


def test_recipes_are_listed_by_their_names():
    listed = {one["name"]: one for one in list_losses(detail="full")}
    assert "Piccolo" in listed["info_nce+cosent"]["aliases"]
    assert listed["info_nce+angle"]["parameters"][1]["default"] == 0.02
    title = title_word(LOSSES["info_nce+cosent"])
    assert say("en", title["key"], **title["values"]) == "InfoNCE + CoSENT (Piccolo2)"


def test_what_nobody_is_called_is_refused():
    with raises_problem("unknown_loss", name="nothing like it"):
        losses_called("nothing like it")
    for name in ("VSE++", "matryoshka(nothing like it)", "queue(cosent)"):
        with pytest.raises(Problem):
            losses_called(name)


@pytest.mark.parametrize(
    ("name", "instead", "key"),
    [("AdaptiveLayerLoss", "matryoshka(info_nce)", "related_layers"),
     ("losses.Matryoshka2dLoss", "matryoshka(info_nce)", "related_layers_and_prefixes"),
     ("ContrastiveTensionLoss", "binary_cross_entropy", "related_two_models"),
     ("contrastive tension", "binary_cross_entropy", "related_two_models"),
     ("ContrastiveTensionLossInBatchNegatives", "info_nce", "related_two_models_in_batch"),
     ("DenoisingAutoEncoderLoss", "info_nce", "related_decoder"),
     ("TSDAE", "info_nce", "related_decoder")],
)  # fmt: skip
def test_a_class_without_a_loss_gets_a_reason_and_the_nearest_one(name, instead, key):
    said = pattern_of(f"problem.{key}")
    problems = []
    for ask in (losses_called, loss_called, compute):
        with raises_problem(key) as refused:
            ask(name)
        problems.append(refused.value.to_json())
    assert problems[0] == problems[1] == problems[2]
    word = title_word(LOSSES[instead])
    for language in LANGUAGES:
        sentence = say(language, refused.value.key, **refused.value.values)
        assert name in sentence
        assert say(language, word["key"], **word.get("values", {})) in sentence
    wanted = plain(name) if plain(name) != "tsdae" else "denoisingautoencoder"
    related = {one["name"]: one["related_classes"] for one in list_losses(detail="full")}[instead]
    assert any(plain(one["name"]) == wanted and said.search(one["about"]) for one in related)


def compute(name):
    return compute_loss(name, ["a", "b"], ["c", "d"], [0, 1])


def test_a_class_whose_name_another_library_has_asks_which_is_meant():
    for name, losses, nearest, key in (
        ("SoftmaxLoss", ["softmax_rank"], "multitask_cosent", "classifier"),
        ("CrossEntropyLoss", ["softmax"], "binary_cross_entropy", "classifier_of_pairs"),
    ):
        said = pattern_of(f"problem.related_{key}")
        assert [one.name for one in losses_called(name)] == losses
        with pytest.raises(Problem, match=", ".join([*losses, nearest])):
            loss_called(name)
        related = {one["name"]: one["related_classes"] for one in list_losses(detail="full")}[
            nearest
        ]
        assert any(one["name"] == name and said.search(one["about"]) for one in related)


def test_what_is_looked_at_instead_is_listed():
    listed = {spec.name for spec in LOSSES.known()}
    assert {one.loss for one in RELATED_CLASSES} <= listed
    every = {alias for spec in LOSSES.known() for alias in spec.aliases}
    assert {one.name for one in RELATED_CLASSES if one.is_shared} <= every
    assert not {one.name for one in RELATED_CLASSES if not one.is_shared} & every


def test_one_loss_and_the_convention_of_the_class_that_is_named():
    assert loss_called("MNRL") == ("info_nce", "")
    assert loss_called("info_nce+angle") == ("info_nce+angle", "")
    assert loss_called("BatchHardTripletLoss") == (
        "triplet",
        "sentence-transformers 6.2 BatchHard",
    )
    with pytest.raises(Problem, match="lambda_loss, approx_ndcg"):
        loss_called("NDCG")


@pytest.mark.parametrize("name", ["a+" * 500_000, "INFO_NCE+" * 500_000, " " * 2000 + "cosent"])
def test_a_name_longer_than_any_is_refused_unread(name):
    common = say("en", "problem.unknown_loss").partition("{")[0]
    began = time.process_time()
    with pytest.raises(Problem, match=common):
        losses_called(name)
    assert time.process_time() - began < 0.1


def test_other_names_lead_to_a_loss_and_a_convention_of_it():
    found = other_names()
    assert {loss for _, loss, _ in found} >= {s.name for s in LOSSES.known() if s.aliases}
    for name, loss, convention in found:
        assert LOSSES[loss].under(convention).name == loss
        assert LOSSES[loss] in losses_called(name)
        assert plain(name)
    meant = {name: convention for name, _, convention in found if convention}
    assert meant["BatchHardSoftMarginTripletLoss"].endswith("BatchHardSoftMargin")
    assert {"ClipLoss", "DCLWLoss", "listNet", "MarginRankingLoss"} <= meant.keys()


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("cosnet", "cosent"),
        ("inonce", "info_nce"),
        ("nt-xnet", "nt_xent"),
        ("MultipleNegativeRankingLoss", "MultipleNegativesRankingLoss"),
        ("tripplet", "triplet"),
    ],
)
def test_a_name_that_is_written_wrongly_is_met_by_the_one_that_was_meant(written, meant):
    assert closest(written, LOSSES.known())[0] == (meant, losses_called(meant)[0].name)
    with raises_problem("unknown_loss_close") as refused:
        losses_called(written)
    assert meant in str(refused.value)


def test_one_letter_less_is_understood_of_every_loss():
    """Names that are other losses' too, such as n_pair without a letter, may mean either."""
    for name in LOSSES:
        if len(name) >= 6:
            assert any(one.name == name for close, _ in closest(name[:-1], LOSSES.known())
                       for one in losses_called(close)), name  # fmt: skip


@pytest.mark.parametrize("written", ["nowhere", "xx", "完全", "0.5"])
def test_a_name_like_no_other_is_met_by_all_that_there_are(written):
    assert closest(written, LOSSES.known()) == []
    with pytest.raises(Problem, match="Known: cosent, "):
        losses_called(written)
