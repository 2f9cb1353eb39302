"""Every loss against values computed by explicit loops over pairs, without torch."""

import itertools
import json

import pytest
import torch

import losses
from losses import LOSSES, SHIPPED
from tests.unit.losses import by_loops
from tests.unit.losses.by_loops.__main__ import FILE, SEED, Draws, recipes
from tests.unit.losses.made import case as told
from tests.unit.losses.made import golden_cases

CASES = golden_cases()
NUMBERS = range(len(CASES))
WITH_GRADIENT = [n for n in NUMBERS if CASES[n]["grad_scores"] is not None]
WITH_GRADIENTS = [n for n in NUMBERS if "gradients" in CASES[n]]
OF_ITS_OWN = {"classes": torch.int64, "queue_classes": torch.int64, "same_text": torch.int64}
OF_ITS_OWN |= {"mask": torch.bool}


def tensors(case):
    return {
        name: torch.tensor(value, dtype=OF_ITS_OWN.get(name, torch.float64))
        for name, value in case["inputs"].items()
    }


def form(case, written):
    """A loss without a page has a function alone."""
    name = case["loss"]
    return getattr(LOSSES[name], written) if name in LOSSES else getattr(losses, name)


def of_each_loss(numbers):
    """The cases of each loss in one test."""
    by_loss = {}
    for number in numbers:
        by_loss.setdefault(CASES[number]["loss"], []).append(number)
    return pytest.mark.parametrize("numbers", by_loss.values(), ids=by_loss)


WRITTEN = ("function", "definition")


@of_each_loss(NUMBERS)
def test_value(numbers):
    for number, written in itertools.product(numbers, WRITTEN):
        case = CASES[number]
        with told(number=number, written=written):
            loss = form(case, written)(**tensors(case), **case["params"])
            assert loss.shape == ()
            assert loss.item() == pytest.approx(case["value"], rel=1e-10, abs=1e-14)


@of_each_loss(WITH_GRADIENT)
def test_gradient_of_the_scores(numbers):
    for number, written in itertools.product(numbers, WRITTEN):
        case = CASES[number]
        with told(number=number, written=written):
            given = tensors(case)
            scores = given["scores" if "scores" in given else "level_scores"].requires_grad_()
            getattr(LOSSES[case["loss"]], written)(**given, **case["params"]).backward()
            expected = torch.tensor(case["grad_scores"], dtype=torch.float64)
            found = scores.grad.reshape(expected.shape)
            # Central differences lose digits in proportion to the loss: 1e-16 · loss / 1e-6.
            atol = 1e-9 * abs(case["value"])
            torch.testing.assert_close(found, expected, rtol=1e-5, atol=atol)


@of_each_loss(WITH_GRADIENTS)
def test_gradients(numbers):
    for number, written in itertools.product(numbers, WRITTEN):
        case = CASES[number]
        largest = max(1.0, abs(case["value"]))
        given = tensors(case)
        moving = [given[name].requires_grad_() for name in case["gradients"]]
        with told(number=number, written=written):
            loss = form(case, written)(**given, **case["params"])
            found = torch.autograd.grad(loss, moving, allow_unused=True, materialize_grads=True)
            for name, one in zip(case["gradients"], found, strict=True):
                expected = torch.tensor(case["gradients"][name], dtype=torch.float64)
                torch.testing.assert_close(one, expected, rtol=1e-5, atol=1e-9 * largest, msg=name)


def test_the_file_is_what_the_loops_give():
    kept = json.loads(FILE.read_text(encoding="utf-8"))["cases"]
    for one, (name, given, parameters) in zip(kept, recipes(Draws(SEED)), strict=True):
        assert (name, given, parameters) == (one["loss"], one["inputs"], one["params"])
        assert by_loops.LOSSES[name](**given, **parameters) == pytest.approx(one["value"], 1e-12)


def test_the_cases_cover_the_registry():
    without = {"multitask_cosent", "angle", "nce"}  # held by gradcheck and by hand
    without_page = {"embedding_mse"}
    covered = {case["loss"] for case in CASES} | without
    assert covered == {spec.name for spec in SHIPPED} | without_page
