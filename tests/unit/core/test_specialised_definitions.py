"""A definition without what its options leave out is the same function, and shorter."""

from __future__ import annotations

import ast
import inspect

import pytest
import torch

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.core.specialised_definitions import (
    accepted,
    definition_at,
    is_specialised,
    specialised,
)
from lossprism.explorer.export.code import standalone_code
from lossprism.losses import LOSSES
from lossprism.losses.combined.combined_loss_names import RECIPES
from lossprism.losses.combined.combined_loss_spec import parts_of
from lossprism.losses.contrastive.triplet import triplet_by_options
from tests.unit.export.explored import ENGLISH, SMALL, run_code, seen

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
            requested = (
                ast.unparse(node.test.left)
                in inspect.signature(function).parameters.keys() - assigned
            )
            if requested and isinstance(node.test.ops[0], ast.Is | ast.IsNot):
                yield ast.unparse(node.test)


@pytest.mark.parametrize("data", [SMALL, ENGLISH])
@pytest.mark.parametrize(("loss", "convention"), settings())
def test_it_gives_the_same_number_and_tests_no_argument(loss, convention, data):
    found = seen(data, loss, convention)
    whole = found.spec.definition(**found.given, **found.parameters)
    assert float(whole) == found.loss
    assert not list(presence_tests(found.definition))


def of_triplets(**options):
    return definition_at(triplet_by_options, {"anchors": VECTORS, "classes": CLASSES, **options})


@pytest.mark.parametrize("soft_margin", [False, True])
@pytest.mark.parametrize("mining", ["all", "semi_hard", "hard"])
def test_it_drops_branches_assignments_and_arguments(mining, soft_margin):
    options = {"mining": mining, "soft_margin": soft_margin}
    short = of_triplets(**options)
    source = inspect.getsource(short)
    assert is_specialised(short)
    assert not is_specialised(triplet_by_options)
    assert "if " not in source
    assert "else" not in source
    assert not {"mining", "soft_margin", "positives"} & set(inspect.signature(short).parameters)
    called = {"anchors": VECTORS, "classes": CLASSES, "margin": 0.2, **options}
    assert short(**accepted(short, called)) == triplet_by_options(**called)
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


def test_rules_are_written_where_they_are_called():
    """A rule of one line as its expression, another as a call; settings become arguments."""
    spec = LOSSES["info_nce"]
    texts = torch.arange(5)
    options = {**spec.defaults, "mask_above": 0.1, "query_texts": texts, "key_texts": texts + 5}
    short = definition_at(spec.definition, {"queries": VECTORS, "keys": VECTORS, **options})
    source = " ".join(inspect.getsource(short).split())
    assert "~torch.eye(*similarities.shape" in source
    assert "& texts_differ(similarities, query_texts, key_texts)" in source
    assert "& below_own(similarities, own, mask_above)" in source
    assert {"mask_above", "query_texts"} <= set(inspect.signature(short).parameters)
    assert not {"where", "similarity", "negatives"} & set(inspect.signature(short).parameters)


def test_directions_that_are_off_are_left_out():
    spec = LOSSES["info_nce"]
    options = {**spec.defaults, "directions": "query_to_key,query_to_query"}
    short = definition_at(spec.definition, {"queries": VECTORS, "keys": VECTORS, **options})
    source = inspect.getsource(short)
    assert "softmaxes = (terms, query_terms)" in source
    assert "key_terms" not in source.replace("query_terms", "")


def test_functions_from_elsewhere_are_returned_as_they_are():
    def own(scores, labels=None):
        return scores.sum() if labels is None else (scores * labels).sum()

    assert specialised(own, {"scores": VECTORS[0]}) is own
    assert specialised(torch.nn.functional.relu, {}) is torch.nn.functional.relu


LISTS = Data(example="graded_lists")
SUMS = [
    *((f"{name}+cosent", {}) for name, spec in LOSSES.items() if spec.negatives_of_batch),
    *((f"matryoshka({name})", {}) for name in ("info_nce", "gist", "angle", "cosent")),
    *((f"queue({name})", {}) for name in ("info_nce", "supcon")),
    *((name, {}) for name in RECIPES),
    ("info_nce+gist", {"mask_above_of_info_nce": 0.1, "hardness_of_info_nce": 2.0}),
    ("info_nce+focal_info_nce", {"symmetric_of_info_nce": True}),
    ("lambda_loss+list_net", {"k_of_lambda_loss": 2.0, "scheme_of_lambda_loss": "ndcg1"}),
    ("lambda_loss+cosent", {}),
]


@pytest.mark.parametrize(("loss", "parameters"), SUMS)
def test_a_sum_is_written_with_its_parts_specialised(loss, parameters, tmp_path, capsys):
    data = LISTS if "list" in loss or "lambda" in loss else ENGLISH
    found = explore(Scenario(data=data, loss=loss, parameters=tuple(parameters.items())))
    whole = found.spec.definition(**found.given, **found.parameters)
    assert found.loss == pytest.approx(float(whole), rel=1e-12)
    for part in parts_of(found.definition):
        assert not list(presence_tests(part.spec.definition))
        assert part.spec.definition.__name__ in found.trace.listing
    off = {name for name, value in found.parameters.items() if value is None}
    assert not off & set(inspect.signature(found.definition).parameters)
    assert not [name for name in off if name in found.trace.listing]
    code = standalone_code(found)
    assert not [name for name in off if name in code.text]
    run_code(code, tmp_path)
    assert float(capsys.readouterr().out) == pytest.approx(found.loss, rel=1e-9)


@pytest.mark.parametrize("loss", ["info_nce+cosent", "gist+angle", "queue(info_nce)"])
def test_the_code_of_a_sum_is_that_of_its_parts_and_their_sum(loss):
    found = explore(Scenario(data=ENGLISH, loss=loss))
    parts = [explore(Scenario(data=ENGLISH, loss=part.spec.name)) for part in found.spec.parts]
    assert lines_of(found) <= sum(map(lines_of, parts)) + 50


def lines_of(found):
    return len(standalone_code(found).text.splitlines())
