"""Signature and docstring of the classes that are made from each `LossSpec`."""

from __future__ import annotations

import inspect

import pytest
import torch
from torch import nn

from lossprism.losses import LOSSES
from lossprism.losses.modules import MODULES, CosentLoss, PrototypeLoss, loss_module
from lossprism.losses.sentence_transformers.generated_training_loss_classes import (
    EXPORTED,
    TRAINING_LOSSES,
)

KEYWORD = inspect.Parameter.KEYWORD_ONLY


def keywords(made: type) -> dict[str, object]:
    """The keywords of a class with their defaults, as `help` and an editor show them."""
    arguments = inspect.signature(made).parameters.values()
    assert {one.kind for one in arguments} <= {KEYWORD, inspect.Parameter.POSITIONAL_OR_KEYWORD}
    return {one.name: one.default for one in arguments if one.kind is KEYWORD}


@pytest.mark.parametrize("name", [*LOSSES, "info_nce+angle", "queue(info_nce)"])
def test_the_signature_of_a_module_is_what_it_takes(name):
    made = loss_module(name)
    sizes = (3, 4) if issubclass(made, PrototypeLoss) else ()
    shown = keywords(made)
    own = made(*sizes)
    assert {n: value for n, value in shown.items() if n != "gather"} == own.settings
    made(*sizes, **shown)  # each is accepted
    assert shown.get("gather", False) is False


class Encoder(nn.Module):
    def get_embedding_dimension(self) -> int:
        return 4


@pytest.mark.parametrize("classes", [TRAINING_LOSSES, EXPORTED], ids=["by name", "exported"])
@pytest.mark.parametrize("name", LOSSES)
def test_the_signature_of_a_trainers_class_is_what_it_takes(name, classes):
    made = classes[name]
    shown = keywords(made)
    needed = {"class_count": 3} if "class_count" in shown else {}
    needed |= {"levels": ("sentence",)} if "levels" in shown else {}
    own = made(Encoder(), **needed)
    for parameter, value in own.settings.items():
        if parameter not in ("threshold", "similarity"):  # of the rules, or of the convention
            assert shown[parameter] == value
    again = made(Encoder(), **{**shown, **needed})
    assert again.settings == own.settings
    with pytest.raises(TypeError, match="has no parameter 'scael'"):
        made(Encoder(), **needed, scael=1.0)


@pytest.mark.parametrize("name", LOSSES)
def test_the_docstring_says_what_the_loss_is_and_names_its_parameters(name):
    spec = LOSSES[name]
    for made in (MODULES[name], EXPORTED[name]):
        text = inspect.getdoc(made) or ""
        assert text.startswith(spec.title)
        assert " ".join(spec.about.split()) in " ".join(text.split())
        named = [one for one in spec.parameters if made is MODULES[name]]
        assert all(f"\n    {one.name}: " in text for one in named)


def test_a_subclass_has_its_own_signature():
    class Mine(CosentLoss):
        def __init__(self, temperature: float) -> None:
            super().__init__(scale=1 / temperature)

    assert list(inspect.signature(Mine).parameters) == ["temperature"]
    assert Mine(0.05).settings == {"scale": 20.0}


def test_a_number_may_be_learned():
    annotation = inspect.signature(CosentLoss).parameters["scale"].annotation
    assert isinstance(nn.Parameter(torch.ones(())), annotation)
    assert isinstance(20.0, annotation)
