"""A definition without what its options leave out is the same function, and shorter."""

from __future__ import annotations

import ast
import inspect

import pytest
import torch

from explorer.core.specialise import accepted, is_specialised, specialised
from losses import LOSSES
from losses.contrastive.triplet import triplet_definition
from tests.unit.export.explored import ENGLISH, SMALL, seen

CLASSES = torch.tensor([0, 0, 1, 1, 2])
VECTORS = torch.eye(5, dtype=torch.float64)


def settings():
    for name, spec in LOSSES.items():
        yield name, ""
        yield from ((name, convention.name) for convention in spec.conventions)


def presence_tests(function):
    """Tests whether an argument is None; those of a name that is assigned anew are left open."""
    nodes = list(ast.walk(ast.parse(inspect.getsource(function))))
    assigned = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    for node in nodes:
        if isinstance(node, ast.If | ast.IfExp) and isinstance(node.test, ast.Compare):
            asked = (
                ast.unparse(node.test.left)
                in inspect.signature(function).parameters.keys() - assigned
            )
            if asked and isinstance(node.test.ops[0], ast.Is | ast.IsNot):
                yield ast.unparse(node.test)


@pytest.mark.parametrize("data", [SMALL, ENGLISH])
@pytest.mark.parametrize(("loss", "convention"), settings())
def test_it_gives_the_same_number_and_tests_no_argument(loss, convention, data):
    found = seen(data, loss, convention)
    whole = found.spec.definition(**found.given, **found.parameters)
    assert float(whole) == found.loss
    assert not list(presence_tests(found.definition))


def of_triplets(**options):
    return specialised(triplet_definition, {"anchors": VECTORS, "classes": CLASSES, **options})


@pytest.mark.parametrize("soft_margin", [False, True])
@pytest.mark.parametrize("mining", ["all", "semi_hard", "hard"])
def test_it_drops_branches_assignments_and_arguments(mining, soft_margin):
    options = {"mining": mining, "soft_margin": soft_margin}
    short = of_triplets(**options)
    source = inspect.getsource(short)
    assert is_specialised(short)
    assert not is_specialised(triplet_definition)
    assert "if " not in source
    assert "else" not in source
    assert not {"mining", "soft_margin", "positives"} & set(inspect.signature(short).parameters)
    called = {"anchors": VECTORS, "classes": CLASSES, "margin": 0.2, **options}
    assert short(**accepted(short, called)) == triplet_definition(**called)
    tree = ast.parse(source)
    stored = {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    read = {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    assert stored <= read


def test_equal_answers_give_one_function():
    assert of_triplets(margin=0.1, mining="hard") is of_triplets(margin=0.7, mining="hard")
    assert of_triplets(mining="all") is not of_triplets(mining="hard")


def test_a_test_of_numbers_in_a_tensor_stays():
    short = specialised(
        triplet_definition,
        {"anchors": VECTORS, "classes": CLASSES, "soft_margin": torch.tensor(1.0)},
    )
    assert "soft_margin" in inspect.signature(short).parameters


def test_functions_from_elsewhere_are_returned_as_they_are():
    def own(scores, labels=None):
        return scores.sum() if labels is None else (scores * labels).sum()

    assert specialised(own, {"scores": VECTORS[0]}) is own
    assert specialised(torch.nn.functional.relu, {}) is torch.nn.functional.relu
