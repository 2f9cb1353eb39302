"""Every name that the field has for a loss is that loss wherever one is named."""

from __future__ import annotations

import base64
import json
import zlib

import pytest

from lossprism.explorer.cli import argument_parser
from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.resolved_scenario import Resolved, resolve
from lossprism.explorer.core.scenario import LINK_VERSION, Scenario
from lossprism.explorer.lab.compare import compared_loss_from_text
from lossprism.explorer.lab.training import train_and_compare_commands
from lossprism.explorer.lab.training.plan import TrainingPlan
from lossprism.explorer.notebook.inputs import read_inputs
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.web import site
from lossprism.explorer.web.api import endpoint_functions
from lossprism.losses import LOSSES, loss_name_matching
from lossprism.losses.modules import loss_module
from lossprism.losses.sentence_transformers import training_loss

SIMILARITIES = [0.9, 0.4, 0.2]
PAIRS = {"sentences1": ["a", "b", "c"], "sentences2": ["d", "e", "f"], "scores": [1.0, 0.0, 1.0]}
MNRL = "sentence-transformers 6.2 MultipleNegativesRankingLoss"
NAMES = [
    ("MultipleNegativesRankingLoss", "info_nce", MNRL),
    ("CoSENTLoss", "cosent", "sentence-transformers 6.2 CoSENTLoss"),
    ("sentence_transformers.losses.CoSENTLoss", "cosent", "sentence-transformers 6.2 CoSENTLoss"),
    ("BatchHardTripletLoss", "triplet", "sentence-transformers 6.2 BatchHard"),
    ("InfoNCE", "info_nce", ""),
    ("NT-Xent", "nt_xent", ""),
    ("RankNet", "pairwise_logistic", ""),
    ("Piccolo", "info_nce+cosent", ""),
    ("cosent", "cosent", ""),
]


class Found(Exception):
    """Raised in place of the computation, with what was to be computed."""


def of_call(patch, call, **arguments):
    def explored(resolved: Resolved, *_: object) -> None:
        raise Found(resolved.scenario)

    patch.setattr(endpoint_functions, "_explored", explored)
    with pytest.raises(Found) as found:
        call(**arguments, **PAIRS)
    return found.value.args[0]


def of_comparison(patch, name):
    return resolve(compared_loss_from_text.read(name).applied_to(Scenario())).scenario


def of_compared(patch, name):
    sides = [{"loss": name}, {"loss": "cosent"}]
    first, _ = endpoint_functions.compare_losses(sides, **PAIRS, similarities=SIMILARITIES)[
        "losses"
    ]
    if first["problem"] and not first["loss"]:
        with pytest.raises(Problem) as refused:
            explore(Scenario(loss=name))
        assert first["problem"] == str(refused.value)
        raise refused.value
    return Scenario(loss=first["of"]["loss"], convention=first["of"]["convention"])


def of_training(patch, name):
    def start(runs: object, plan: TrainingPlan) -> None:
        raise Found(plan)

    patch.setattr(endpoint_functions.Runs, "start", start)
    with pytest.raises(Found) as found:
        endpoint_functions.start_training(name, **PAIRS)
    return found.value.args[0]


def of_command(patch, name):
    chosen = argument_parser().parse_args(["train", "--loss", name, "--example", "cosent_batch"])
    return train_and_compare_commands._plan(chosen, chosen.loss, 0)


def of_cell(patch, name):
    return read_inputs("show", *PAIRS.values(), loss=name).resolved.scenario


def of_link(patch, name):
    text = zlib.compress(json.dumps({"loss": name}).encode())
    link = f"{LINK_VERSION}.{base64.urlsafe_b64encode(text).decode().rstrip('=')}"
    return resolve(Scenario.from_link(link)).scenario


def of_spec(spec):
    return Scenario(loss=spec.name, convention=spec.convention)


DOORS = {
    "compute_loss": lambda patch, name: of_call(patch, endpoint_functions.compute_loss, loss=name),
    "trace_loss": lambda patch, name: of_call(patch, endpoint_functions.trace_loss, loss=name),
    "compare_losses": of_compared,
    "figure": lambda patch, name: of_call(patch, endpoint_functions.figure, loss=name),
    "list_losses": lambda patch, name: Scenario(
        loss=endpoint_functions.list_losses(name)["name"],
        convention=endpoint_functions.list_losses(name)["convention"],
    ),
    "start_training": of_training,
    "compare-losses": of_comparison,
    "train": of_command,
    "LOSSES": lambda patch, name: of_spec(LOSSES[name]),
    "loss_module": lambda patch, name: of_spec(loss_module(name).spec),
    "training_loss": lambda patch, name: Scenario(
        loss=training_loss(name).name, convention=training_loss(name).library_convention
    ),
    "show": of_cell,
    "app.py --loss": lambda patch, name: site.first_scenario(None, name),
    "link": of_link,
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(("name", "loss", "convention"), NAMES)
def test_a_name_is_the_loss_at_every_door(monkeypatch, door, name, loss, convention):
    found = DOORS[door](monkeypatch, name)
    assert (found.loss, found.convention) == (loss, convention)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    ("name", "choices"),
    [
        ("NTXentLoss", ["SimCLR", "pytorch-metric-learning"]),
        ("NDCG", ["lambda_loss", "approx_ndcg"]),
    ],
)
def test_an_ambiguous_name_asks_back_at_every_door(monkeypatch, door, name, choices):
    with pytest.raises((Problem, loss_name_matching.AmbiguousLoss)) as refused:
        DOORS[door](monkeypatch, name)
    assert all(choice in str(refused.value) for choice in (name, *choices))


TRAINS = {"start_training", "train", "training_loss"}


@pytest.mark.parametrize("door", sorted(TRAINS))
def test_a_class_of_several_libraries_is_the_trainers_own_where_it_trains(monkeypatch, door):
    found = DOORS[door](monkeypatch, "ContrastiveLoss")
    assert found.loss == "contrastive"
    assert found.convention == "sentence-transformers 6.2 ContrastiveLoss"


@pytest.mark.parametrize("door", [door for door in DOORS if door not in TRAINS])
def test_a_class_of_several_libraries_asks_back_elsewhere(monkeypatch, door):
    with pytest.raises(
        (Problem, loss_name_matching.AmbiguousLoss), match="pytorch-metric-learning"
    ):
        DOORS[door](monkeypatch, "ContrastiveLoss")
