"""Every name that the field uses for a loss is the loss at every door, in that library's form."""

from __future__ import annotations

import argparse

import pytest

from lossprism.explorer import notebook
from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.loss_lookup import as_registered, other_names
from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.lab.compare import compared_loss_from_text
from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import Known
from lossprism.explorer.lab.doctor.losses_with_known_name_and_settings import (
    possible_losses,
    single_loss,
)
from lossprism.explorer.lab.training import train_and_compare_commands
from lossprism.explorer.lab.training.plan import TrainingPlan
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.web import site
from lossprism.explorer.web.api import endpoint_functions
from lossprism.explorer.web.pages.doctor import dataset_requests as doctor_page
from lossprism.explorer.web.pages.explore.loss_facts import described
from lossprism.losses import LOSSES
from lossprism.losses.library_peer_record import METRIC_LEARNING
from lossprism.losses.loss_name_matching import (
    LIBRARY,
    SHARED_CLASSES,
    AmbiguousLoss,
    conventions_called,
    names_of,
)
from lossprism.losses.modules import loss_module
from lossprism.losses.sentence_transformers import training_loss
from tests.tiny import static_model

OF_LIBRARIES = {
    "MultipleNegativesRankingLoss": (
        "info_nce",
        "sentence-transformers 6.2 MultipleNegativesRankingLoss",
    ),
    "sentence_transformers.losses.CoSENTLoss": ("cosent", "sentence-transformers 6.2 CoSENTLoss"),
    "BatchHardSoftMarginTripletLoss": ("triplet", "sentence-transformers 6.2 BatchHardSoftMargin"),
    "TripletLoss": ("triplet", "sentence-transformers 6.2 TripletLoss"),
    "GISTEmbedLoss": ("gist", "sentence-transformers 6.2"),
    "LambdaLoss": ("lambda_loss", "sentence-transformers 6.2 LambdaLoss"),
    "lambdaLoss": ("lambda_loss", "allRank 1.4.3 lambdaLoss, ndcgLoss2PP_scheme"),
    "rankNet": ("pairwise_logistic", "allRank 1.4.3, TF-Ranking 0.5.5"),
    "approxNDCGLoss": ("approx_ndcg", "allRank 1.4.3 approxNDCGLoss (α = 1)"),
    "ApproxNDCGLoss": ("approx_ndcg", "TF-Ranking 0.5.5 ApproxNDCGLoss"),
    "rax.softmax_loss": ("softmax_rank", "rax 0.4.0 softmax_loss"),
    "ClipLoss": ("info_nce", "CLIP (initial temperature), open_clip 3.3.0 ClipLoss"),
    "InfonceLoss": ("info_nce", "ms-swift 3.12.6 (Qwen3-Embedding)"),
    "DCLWLoss": ("decoupled", "lightly 1.6.0 DCLWLoss"),
    "lightly.loss.NTXentLoss": ("nt_xent", "SimCLR"),
    "pytorch_metric_learning.losses.NTXentLoss": (
        "nt_xent",
        "pytorch-metric-learning 2.9 (several positives)",
    ),
    "pytorch_metric_learning.losses.CircleLoss": (
        "circle_self_paced",
        "pytorch-metric-learning 2.9 CircleLoss (per anchor)",
    ),
    "CosineEmbeddingLoss": ("contrastive", "torch 2.13 CosineEmbeddingLoss"),
    "MarginRankingLoss": ("pairwise_hinge", "torch 2.13 MarginRankingLoss"),
    "TripletMarginWithDistanceLoss": ("triplet", "torch 2.13 TripletMarginLoss (given triplets)"),
    "InfoNCE": ("info_nce", ""),
    "RankNet": ("pairwise_logistic", ""),
}
# Names of several losses, or of classes whose numbers differ; of these last, sentence-transformers
# has some, which its trainer means.
AMBIGUOUS = ("NDCG", "CircleLoss", "NTXentLoss", "InfoNCELoss", "SupConLoss", "TripletMarginLoss")
OF_TRAINER = {
    "ContrastiveLoss": ("contrastive", "sentence-transformers 6.2 ContrastiveLoss"),
    "ListMLELoss": ("list_mle", "sentence-transformers 6.2 ListMLELoss"),
}
ROWS = (["a", "a", "c"], ["b", "d", "e"], [1.0, 0.0, 1.0])


def of_spec(spec):
    return spec.name, spec.convention


def by_link(name):
    scenario = Scenario.from_link(Scenario().with_loss("cosent").to_link())
    return of_scenario(Scenario.from_json({**scenario.to_json(), "loss": name, "convention": ""}))


def of_scenario(scenario):
    explore_or_refuse(scenario)
    return scenario.loss, scenario.convention


def explore_or_refuse(scenario):
    """Raise what the page would say of the name; the rows may be of no use to the loss."""
    if scenario.loss not in LOSSES:
        explore(scenario)


def by_plan(name):
    plan = TrainingPlan.from_json({"loss": name})
    return plan.loss, plan.convention


def by_train(name):
    parser = argparse.ArgumentParser()
    train_and_compare_commands.add_to(parser.add_subparsers(dest="command"))
    chosen = parser.parse_args(["train", "--example", "practice", "--out", "x", "--loss", name])
    plan = train_and_compare_commands._plan(chosen, chosen.loss, 0)
    return plan.loss, plan.convention


def by_trainer_class(name):
    return of_spec(training_loss(name)(static_model()).spec)


def by_compared(name):
    return of_scenario(compared_loss_from_text.read(name).applied_to(Scenario()))


def by_doctor(name):
    side = single_loss(Known(loss=name))
    return side.name, side.convention


def by_doctor_page(name):
    request = {"source": {"kind": "example"}, "loss": name}
    _, side, _, _ = doctor_page._common_in(request)
    return side.name, side.convention


def by_compute(name):
    endpoint_functions.compute_loss(name, *ROWS)


DOORS = {
    "LOSSES": lambda name: of_spec(LOSSES[name]),
    "loss_module": lambda name: of_spec(loss_module(name).spec),
    "a link": by_link,
    "compare-losses": by_compared,
    "app.py --loss": lambda name: of_scenario(site.first_scenario(None, name)),
}
FOR_TRAINING = {
    "training_loss": by_trainer_class,
    "start_training": by_plan,
    "train": by_train,
    "doctor": by_doctor,
    "Doctor's page": by_doctor_page,
}
# Doctor explains a number of these by a formula of its own (`values_of_losses_without_definition`).
ASKED_OTHERWISE = {*SHARED_CLASSES, "DPO"}


@pytest.mark.parametrize("door", [*DOORS, *FOR_TRAINING])
def test_a_class_is_the_loss_under_its_library_at_every_door(door):
    assert {name: {**DOORS, **FOR_TRAINING}[door](name) for name in OF_LIBRARIES} == OF_LIBRARIES


@pytest.mark.parametrize("door", [*DOORS, *FOR_TRAINING])
def test_a_name_of_several_asks_which_is_meant(door):
    means = OF_TRAINER if door in FOR_TRAINING else {}
    assert {name: FOR_TRAINING[door](name) for name in means} == means
    for name in {*AMBIGUOUS, *OF_TRAINER} - {*means}:
        with pytest.raises((Problem, AmbiguousLoss)) as refused:
            {**DOORS, **FOR_TRAINING}[door](name)
        choices = {spec.name for spec in LOSSES.all_called(name)}
        assert [one for one in {name, *choices} if one not in str(refused.value)] == []


OF_CROSS_ENCODERS = "sentence_transformers.cross_encoder.losses.CrossEntropyLoss"
OF_BI_ENCODERS = "sentence_transformers.losses.SoftmaxLoss"
CLASSIFIERS = ("problem.related_classifier", "problem.related_classifier_of_pairs")


@pytest.mark.parametrize("name", [OF_CROSS_ENCODERS, OF_BI_ENCODERS])
@pytest.mark.parametrize("door", ["a link", "app.py --loss", "start_training", "train"])
def test_the_librarys_classifier_is_named_and_no_other_loss_is_meant(name, door):
    with pytest.raises(Problem) as refused:
        {**DOORS, **FOR_TRAINING}[door](name)
    assert refused.value.key in CLASSIFIERS


@pytest.mark.parametrize("name", SHARED_CLASSES)
def test_the_trainers_class_without_a_loss_is_refused_where_its_library_is_meant(name):
    with pytest.raises(AmbiguousLoss, match=name):
        training_loss(name)
    for door in ("start_training", "train", "doctor", "Doctor's page"):
        with pytest.raises(Problem) as refused:
            FOR_TRAINING[door](name)
        assert refused.value.key in CLASSIFIERS


def test_every_name_of_several_is_refused_with_its_choices_at_every_door():
    accepted = []
    for name in sorted({*every_name(), *SHARED_CLASSES}):
        try:
            LOSSES.called(name)
            continue
        except AmbiguousLoss as refused:
            choices = refused.choices
        for door, of_name in (*DOORS.items(), ("compute", by_compute), ("a page", described)):
            try:
                of_name(name)
                accepted.append((door, name))
            except (Problem, AmbiguousLoss) as refused:
                accepted += [(door, name, one) for one in choices if one not in str(refused)]
    assert not accepted


def every_name():
    """All other names of all losses, and the classes and functions of libraries."""
    classes = {n for s in LOSSES.values() for c in s.conventions for n in names_of(c)}
    return sorted({*classes, *(name for name, _, _ in other_names())} - ASKED_OTHERWISE)


def test_every_name_is_the_same_loss_at_every_door():
    wrong = []
    for name in every_name():
        try:
            expected = LOSSES.called(name)
        except AmbiguousLoss:
            expected = None
        spec = None if expected is None else LOSSES[name]
        if spec is not None and of_spec(spec) != expected:
            wrong.append(f"LOSSES[{name!r}]")
        if as_registered(name) != (expected or (name, "")):
            wrong.append(f"as_registered({name!r})")
        if spec is None or spec.parts:
            continue
        if of_spec(loss_module(name).spec) != expected:
            wrong.append(f"loss_module({name!r})")
        side = single_loss(Known(loss=name))
        if (side.name, side.convention) != expected:
            wrong.append(f"Doctor: {name}")
        if expected[1] not in [one.convention for one in possible_losses(Known(loss=name))][:2]:
            wrong.append(f"explain: {name}")
        if described(name).loss.title != spec.title:
            wrong.append(f"a page: {name}")
    assert not wrong
    assert len(every_name()) > 150


def test_a_library_or_repository_selects_its_own_conventions():
    """Doctor reads a number of a library with the settings of that library alone."""
    wrong, libraries = [], set()
    for spec in LOSSES.values():
        names = {convention.name: names_of(convention) for convention in spec.conventions}
        libraries |= {name for one in names.values() for name in one if not name.isidentifier()}
        for name in libraries & set().union(*names.values()):
            own = {convention for convention, known in names.items() if name in known}
            if set(conventions_called(spec, name)) != own:
                wrong.append((name, spec.name))
    assert {"ms-swift", "RElbers/info-nce-pytorch", "google-research/simclr"} <= libraries
    assert not wrong


def test_a_class_of_one_library_has_the_convention_of_that_library():
    """A convention is found by whatever computes it, where nothing else goes by that name."""
    wrong = []
    for spec in LOSSES.values():
        for convention in spec.conventions:
            for peer in convention.peers:
                repository = "/" in peer.library  # a package's class of that name is meant first
                if peer.settings or repository or not names_it(spec, peer):
                    continue
                try:
                    found = LOSSES.called(peer.called, peer.library)
                except AmbiguousLoss:
                    continue
                if found[0] != spec.name or not same_numbers(spec, found[1], convention, peer):
                    wrong.append((peer.called, found, convention.name))
    assert not wrong


def names_it(spec, peer):
    """Whether the name is no loss's own: InfoNCE is the loss, InfoNCELoss a class."""
    return f"{peer.called}Loss" not in spec.aliases and peer.called != spec.title


def same_numbers(spec, found, convention, peer):
    """The same convention, or one of the same class that the library has as its default."""
    other = next(one for one in spec.conventions if one.name == found)
    return peer.library in {one.library for one in other.peers} or found.startswith(LIBRARY)


@pytest.mark.parametrize(
    "word", ["margin", "given", "positive", "MarginLoss", "labels", "December", "a8e2aa9"]
)
def test_a_word_that_stands_in_a_convention_is_no_loss(word):
    assert word not in LOSSES
    with pytest.raises(Problem, match=word):
        single_loss(Known(loss=word))


def test_the_library_of_a_class_says_which_is_meant():
    name = "pytorch_metric_learning.losses.ContrastiveLoss"
    assert LOSSES[name].convention == f"{METRIC_LEARNING} 2.9 ContrastiveLoss"
    assert LOSSES["sentence_transformers.losses.ContrastiveLoss"].convention.startswith(LIBRARY)


def test_what_is_no_name_is_refused_with_what_is_near():
    with pytest.raises(KeyError, match="did you mean MultipleNegativesRankingLoss"):
        LOSSES["MultipleNegativeRankingLoss"]
    assert LOSSES.get("nothing like it") is None
    assert "NDCG" not in LOSSES


def test_an_ambiguous_class_is_known_with_its_convention():
    convention = "pytorch-metric-learning 2.9 ContrastiveLoss"
    assert as_registered("ContrastiveLoss", convention) == ("contrastive", convention)


def test_the_api_computes_a_class_as_its_library_does():
    by_class = endpoint_functions.compute_loss("MultipleNegativesRankingLoss", *ROWS[:2])
    convention = OF_LIBRARIES["MultipleNegativesRankingLoss"][1]
    by_name = endpoint_functions.compute_loss("info_nce", *ROWS[:2], convention=convention)
    assert by_class["loss"] == by_name["loss"]


def test_the_api_and_the_notebook_ask_as_the_page_does():
    message = set()
    for ask in (endpoint_functions.compute_loss, endpoint_functions.trace_loss, show):
        with pytest.raises(Problem) as refused:
            ask("SupConLoss", *ROWS)
        message.add(str(refused.value))
    with pytest.raises(Problem) as refused:
        endpoint_functions.figure("", "SupConLoss", *ROWS)
    assert message == {str(refused.value)}


def show(loss, *rows):
    return notebook.show(*rows, loss=loss)
