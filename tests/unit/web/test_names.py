"""Every name that the field uses for a loss is the loss at every door, in that library's form."""

from __future__ import annotations

import contextlib

import pytest

from explorer.core.explore import explore
from explorer.core.named import AmbiguousLoss, as_registered, loss_called, other_names
from explorer.core.scenario import Scenario
from explorer.lab.compare import syntax
from explorer.lab.training.plan import TrainingPlan
from explorer.runtime.problem import Problem
from explorer.web import site
from explorer.web.api import endpoints
from losses import LOSSES

CLASSES = {
    "MultipleNegativesRankingLoss": (
        "info_nce",
        "sentence-transformers 6.2 MultipleNegativesRankingLoss",
    ),
    "BatchHardSoftMarginTripletLoss": ("triplet", "sentence-transformers 6.2 BatchHardSoftMargin"),
    "TripletLoss": ("triplet", "sentence-transformers 6.2 TripletLoss"),
    "GISTEmbedLoss": ("gist", "sentence-transformers 6.2"),
    "CoSENTLoss": ("cosent", "sentence-transformers 6.2 CoSENTLoss"),
    "InfoNCE": ("info_nce", ""),
}
AMBIGUOUS = ("ContrastiveLoss", "InfoNCELoss", "SupConLoss", "NDCG")
ROWS = (["a", "a", "c"], ["b", "d", "e"], [1.0, 0.0, 1.0])


def by_link(name: str) -> tuple[str, str]:
    scene = Scenario.from_link(Scenario().with_loss("cosent").to_link())
    named = Scenario.from_json({**scene.to_json(), "loss": name, "convention": ""})
    return named.loss, named.convention


def by_plan(name: str) -> tuple[str, str]:
    plan = TrainingPlan.from_json({"loss": name})
    return plan.loss, plan.convention


def by_side(name: str) -> tuple[str, str]:
    side = syntax.read(name)
    return side.loss, side.convention


def by_page(name: str) -> tuple[str, str]:
    first = site.first_scenario(None, name)
    return first.loss, first.convention


DOORS = {
    "a link": by_link,
    "a training": by_plan,
    "compare-losses": by_side,
    "app.py --loss": by_page,
    "as registered": as_registered,
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", CLASSES)
def test_a_class_is_the_loss_under_its_library_at_every_door(name, door):
    assert DOORS[door](name) == CLASSES[name]


def test_every_other_name_is_the_same_loss_at_every_door():
    for name, loss, _ in other_names():
        if LOSSES[loss].parts:
            continue
        with contextlib.suppress(AmbiguousLoss):
            expected = loss_called(name)
            assert expected[0] == loss
            for door in (by_link, by_page, as_registered):
                assert door(name) == expected, name


@pytest.mark.parametrize("name", AMBIGUOUS)
def test_a_name_of_several_asks_which_is_meant(name):
    with pytest.raises(Problem) as caught:
        explore(Scenario(loss=name))
    assert name in str(caught.value)
    with pytest.raises(Problem, match=name):
        site.first_scenario(None, name)
    with pytest.raises(Problem) as answer:
        endpoints.compute_loss(name, *ROWS)
    assert str(answer.value) == str(caught.value)


def test_an_ambiguous_class_is_known_with_its_convention():
    convention = "pytorch-metric-learning 2.9 ContrastiveLoss"
    assert as_registered("ContrastiveLoss", convention) == ("contrastive", convention)


def test_the_api_computes_a_class_as_its_library_does():
    by_class = endpoints.compute_loss("MultipleNegativesRankingLoss", *ROWS[:2])
    convention = CLASSES["MultipleNegativesRankingLoss"][1]
    by_name = endpoints.compute_loss("info_nce", *ROWS[:2], convention=convention)
    assert by_class["loss"] == by_name["loss"]
