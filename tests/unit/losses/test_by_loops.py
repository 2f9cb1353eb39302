"""Every loss against loops over pairs of Python floats, written from its formula alone."""

import itertools
from functools import partial

import pytest
import torch

from lossprism import losses
from lossprism.losses import LOSSES, SHIPPED
from tests.unit.losses import by_loops
from tests.unit.losses.by_loops.cases import cases, gradient, moving
from tests.unit.losses.made import case

WHOLE = dict.fromkeys(("classes", "queue_classes", "same_text"), torch.int64)
TYPES = {**WHOLE, "mask": torch.bool}
# Their loops take the weights that carry no gradient from inputs that stay where they are.
WEIGHTS_HELD_STILL = ("info_nce", "circle_self_paced")

CASES = {
    name: [(inputs, parameters) for _, inputs, parameters in those]
    for name, those in itertools.groupby(
        sorted(cases(), key=lambda one: one[0]), lambda one: one[0]
    )
}


def tensors(inputs):
    return {
        name: torch.tensor(value, dtype=TYPES.get(name, torch.float64))
        for name, value in inputs.items()
    }


def written(name):
    """The fast form and the definition; a loss without a page has a function alone."""
    spec = LOSSES.get(name)
    return (spec.function, spec.definition) if spec else (getattr(losses, name),)


@pytest.mark.parametrize("name", CASES)
def test_value(name):
    for (inputs, parameters), form in itertools.product(CASES[name], written(name)):
        with case(inputs=inputs, parameters=parameters, form=form):
            loss = form(**tensors(inputs), **parameters)
            assert loss.shape == ()
            expected = by_loops.LOSSES[name](**inputs, **parameters)
            assert loss.item() == pytest.approx(expected, rel=1e-10, abs=1e-13)


@pytest.mark.parametrize("name", CASES)
def test_gradients(name):
    for inputs, parameters in CASES[name]:
        still = {"still": inputs} if name in WEIGHTS_HELD_STILL else {}
        loops = partial(by_loops.LOSSES[name], **parameters, **still)
        expected = {
            one: torch.tensor(gradient(loops, inputs, one), dtype=torch.float64)
            for one in moving(inputs)
        }
        # Central differences lose digits in proportion to the loss: 1e-16 · loss / 1e-6.
        atol = 1e-9 * max(1.0, abs(loops(**inputs)))
        for form in written(name):
            with case(inputs=inputs, parameters=parameters, form=form):
                leaves = tensors(inputs)
                ends = [leaves[one].requires_grad_() for one in expected]
                loss = form(**leaves, **parameters)
                found = torch.autograd.grad(loss, ends, allow_unused=True, materialize_grads=True)
                for (one, slope), got in zip(expected.items(), found, strict=True):
                    torch.testing.assert_close(got, slope, rtol=1e-5, atol=atol, msg=one)


def test_the_cases_cover_the_registry():
    without = {"multitask_cosent", "angle", "nce"}  # held by gradcheck and by hand
    without_page = {"embedding_mse"}
    assert CASES.keys() | without == {spec.name for spec in SHIPPED} | without_page
