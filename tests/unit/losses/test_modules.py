"""Every loss as a module: equal to its function, named, printed, saved, learned."""

import copy
import pickle

import pytest
import torch

from lossprism import losses
from lossprism.losses import LOSSES
from lossprism.losses.modules import (
    MODULES,
    ArcfaceLoss,
    CosentLoss,
    InfoNceLoss,
    LossModule,
    SoftmaxLoss,
    TripletLoss,
)
from tests.unit.losses.made import CLASSES, EVERY, WIDTH, inputs_for


def made(spec, **settings):
    if "prototypes" in spec.reads:
        return MODULES[spec.name](CLASSES, WIDTH, **settings)
    return MODULES[spec.name](**settings)


def test_every_loss_has_its_module_under_its_own_name():
    assert list(MODULES) == list(LOSSES)
    for name, module in MODULES.items():
        assert getattr(losses.modules, module.__name__) is module
        assert module.__name__.lower() == name.removesuffix("_loss").replace("_", "") + "loss"
        assert issubclass(module, LossModule)


@pytest.mark.parametrize("spec", EVERY)
def test_a_module_computes_its_function(spec):
    given = inputs_for(spec, seed=1)
    module = made(spec, **spec.defaults)
    if "prototypes" in given:
        module.prototypes.data = given["prototypes"]
    tensors = {name: tensor for name, tensor in given.items() if name != "prototypes"}
    torch.testing.assert_close(
        module(**tensors), spec.function(**given, **spec.defaults), rtol=0, atol=0
    )


@pytest.mark.parametrize("spec", EVERY)
def test_a_module_prints_its_parameters(spec):
    shown = repr(made(spec))
    assert shown.startswith(MODULES[spec.name].__name__ + "(")
    for parameter in spec.parameters:
        assert f"{parameter.name}=" in shown


@pytest.mark.parametrize("spec", EVERY)
def test_a_module_survives_pickling(spec):
    module = made(spec)
    again = pickle.loads(pickle.dumps(module))
    assert type(again) is type(module)
    assert repr(again) == repr(module)


def test_parameters_are_kept_and_the_unknown_refused():
    assert repr(CosentLoss(scale=3.0)) == "CosentLoss(scale=3.0)"
    scores, labels = torch.tensor([0.0, 0.5]), torch.tensor([1, 0])
    assert CosentLoss(scale=3.0)(scores, labels) == losses.cosent(scores, labels, scale=3.0)
    with pytest.raises(TypeError, match="CosentLoss has no parameter 'margin'; it has: scale"):
        CosentLoss(margin=1.0)


def test_triplets_are_given_unless_mining_is_requested():
    anchors, positives, negatives = torch.randn(3, 4, 5)
    found = TripletLoss(margin=2.0)(anchors, positives, negatives)
    assert found == losses.triplet(anchors, positives, negatives, margin=2.0)
    classes = torch.tensor([0, 0, 1, 1])
    found = TripletLoss(mining="hard")(anchors, classes=classes)
    assert found == losses.triplet(anchors, classes=classes, mining="hard")


@pytest.mark.parametrize("module", [SoftmaxLoss, ArcfaceLoss])
def test_prototypes_are_learned(module):
    torch.manual_seed(0)
    loss = module(3, 8)
    assert [tuple(p.shape) for p in loss.parameters()] == [(3, 8)]
    embeddings, classes = torch.randn(12, 8), torch.arange(12) % 3
    descent = torch.optim.SGD(loss.parameters(), lr=0.05)
    before = loss(embeddings, classes).item()
    for _ in range(20):
        descent.zero_grad()
        loss(embeddings, classes).backward()
        descent.step()
    assert loss(embeddings, classes).item() < 0.8 * before
    again = module(3, 8)
    again.load_state_dict(loss.state_dict())
    assert again(embeddings, classes) == loss(embeddings, classes)


def test_a_temperature_may_be_learned_with_its_module():
    queries, keys = torch.randn(2, 6, 4, generator=torch.Generator().manual_seed(0))
    module = InfoNceLoss(temperature=torch.nn.Parameter(torch.tensor(0.5)))
    again = InfoNceLoss(temperature=torch.nn.Parameter(torch.tensor(1.0)))
    again.load_state_dict(module.state_dict(), assign=True)
    for one in (module, copy.deepcopy(module), pickle.loads(pickle.dumps(module)), again):
        (temperature,) = one.parameters()
        before = one(queries, keys)
        before.backward()
        torch.optim.SGD([temperature], lr=0.01).step()
        assert one(queries, keys) < before
        assert one.double().settings["temperature"].dtype == torch.float64
