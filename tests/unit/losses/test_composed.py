"""Losses made of losses are losses: what they are called, what they compute, what they train."""

import math

import pytest
import torch

from lossprism.explorer.core.batch import make_batch
from lossprism.explorer.core.loss_lookup import loss_called
from lossprism.explorer.core.resolved_scenario import parameters_for
from lossprism.explorer.core.scenario import Data, Rules, Scenario
from lossprism.explorer.lab.parameter_sweep import sweep
from lossprism.explorer.lab.training.parameter_trial_plans import offers
from lossprism.explorer.lab.training.plan import TrainingPlan
from lossprism.explorer.runtime.problem import Problem
from lossprism.losses import LOSSES, matryoshka
from lossprism.losses.combined.combined_loss_names import (
    MAX_NAME_LETTERS,
    RECIPES,
    name_of,
    summands_of,
    takes_prefixes,
)
from lossprism.losses.combined.combined_loss_spec import part_inputs, part_values
from lossprism.losses.combined.first_dimensions_of_vectors import length_of, prefix
from lossprism.losses.inputs_that_losses_may_read import READABLE
from lossprism.losses.modules import loss_module
from lossprism.losses.sentence_transformers import training_loss
from tests.scenes import data_for
from tests.tiny import static_model
from tests.unit.losses.test_sentence_transformers import batch as rows_of

NESTED = [f"matryoshka({name})" for name, spec in LOSSES.items() if takes_prefixes(spec)]
PLAIN = dict(LOSSES)


def given_for(name):
    """What the loss reads of an example that has it, as leaves."""
    parts = LOSSES[name].parts
    of_lists = next(
        (p.spec.name for p in parts if "lists" in p.spec.needs or p.spec.reads_teacher), "cosent"
    )
    batch = make_batch(data_for(of_lists, Data()), Rules())
    given = {what: batch.read(what, batch.vectors, batch.scores) for what in LOSSES[name].reads}
    return {
        what: one.detach().clone().requires_grad_(one.is_floating_point())
        for what, one in given.items()
        if one is not None
    }


def gradients(value, given):
    made_of = {what: READABLE[what].made_of for what in given}
    leaves = [one for what, one in given.items() if one.requires_grad and made_of[what] != "labels"]
    return torch.autograd.grad(value, leaves, allow_unused=True, materialize_grads=True)


@pytest.mark.parametrize("name", ["info_nce+angle", "matryoshka(cosent)", "a+b"])
def test_a_name_is_read_as_it_is_written(name):
    found = summands_of(name, {"a": PLAIN["cosent"], "b": PLAIN["angle"], **PLAIN})
    assert name_of(found) == name
    assert summands_of(name_of(found), {**PLAIN, "a": PLAIN["cosent"], "b": PLAIN["angle"]})


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("cosent + angle", "cosent+angle"),
        (" matryoshka( info_nce , 64,\t32 ) ", "matryoshka(info_nce,64,32)"),
        ("queue (info_nce)+ cosent", "queue(info_nce)+cosent"),
    ],
)
def test_blanks_beside_a_sign_are_read_over(written, name):
    assert written in LOSSES
    assert LOSSES[written] is LOSSES[name]
    assert name_of(summands_of(written, PLAIN)) == LOSSES[written].name == name
    assert training_loss(written).name == name
    assert loss_module(written).spec is LOSSES[name]
    assert Scenario(loss=written) == Scenario(loss=name)
    assert Scenario.from_link(f"{Scenario().to_link()}.{written}").loss == name
    assert TrainingPlan(loss=written) == TrainingPlan(loss=name)
    assert loss_called(written) == (name, "")


@pytest.mark.parametrize(
    "name",
    [
        "cosent",
        "cosent angle",
        "matryoshka(info_nce,6 4)",
        "cosent+cosent",
        "cosent+nothing",
        "matryoshka(embedding_mse)",
        "matryoshka(arcface)",
        "matryoshka(info_nce,3)",
        "matryoshka(info_nce,64,64)",
        "matryoshka(info_nce,0)",
        "matryoshka(matryoshka(info_nce))",
        "matryoshka(info_nce,2,4,6,8,10,12,14)",
        "matryoshka(info_nce,9999999999)",
        f"matryoshka(info_nce,{'9' * 5000})",
        "+".join(["info_nce"] * 10_000),
        "cosent+angle+siglip+supcon+triplet",
        "info_nce+__import__('os')",
        "queue(cosent)",
        "queue(info_nce,64)",
        "queue(info_nce)+info_nce",
        "matryoshka(queue(info_nce))",
        "",
    ],
)
def test_what_is_no_name_of_a_sum_is_none(name):
    assert summands_of(name, PLAIN) == ()
    if name not in PLAIN:
        assert name not in LOSSES
        assert LOSSES.get(name) is None
        with pytest.raises(KeyError):
            LOSSES[name]


@pytest.mark.parametrize(
    ("name", "loss"),
    [(" cosent", "cosent"), ("co sent+angle", "cosent+angle"), ("+cosent", "cosent")],
)
def test_stray_signs_do_not_hide_a_loss(name, loss):
    assert summands_of(name, PLAIN) == ()
    assert LOSSES[name].name == loss


def test_nothing_is_kept_of_a_name_that_is_too_long():
    before = LOSSES._composed.cache_info().currsize
    assert all(f"{'a' * MAX_NAME_LETTERS}{i}" not in LOSSES for i in range(5))
    assert LOSSES._composed.cache_info().currsize == before


def test_a_sum_is_not_met_on_the_way_through_all_losses():
    before = list(LOSSES)
    assert LOSSES["info_nce+angle"].name == "info_nce+angle"
    assert list(LOSSES) == before
    assert len(LOSSES) == len(before)
    assert LOSSES["info_nce+angle"] is LOSSES["info_nce+angle"]


@pytest.mark.parametrize(
    "name", [f"cosine_mse+{n}" for n in PLAIN if n != "cosine_mse"] + NESTED + list(RECIPES)
)
def test_a_sum_is_the_weighted_sum_of_its_parts(name):
    spec, given = LOSSES[name], given_for(name)
    weights = {part.weight: 0.3 + 0.7 * k for k, part in enumerate(spec.parts) if part.weight}
    settings = {**spec.defaults, **weights}
    every = dict.fromkeys(spec.reads) | given
    by_hand = sum(
        weights.get(part.weight, 1.0)
        * part.spec.definition(**part_inputs(part, every, settings), **part_values(part, settings))
        for part in spec.parts
    )
    expected = gradients(by_hand, given)
    for loss in (spec.definition, spec.function):
        found = loss(**given, **settings)
        torch.testing.assert_close(found, by_hand, rtol=1e-10, atol=1e-10)
        for one, other in zip(gradients(found, given), expected, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-10)


def test_on_lengths_it_is_what_the_wrapper_is():
    given = given_for("matryoshka(info_nce,384,128,16)")
    found = LOSSES["matryoshka(info_nce,384,128,16)"].function(**given)
    vectors = {n: one for n, one in given.items() if n in ("queries", "keys", "negatives")}
    texts = {n: one for n, one in given.items() if n not in vectors}
    nested = matryoshka(PLAIN["info_nce"].function, [384, 128, 16])
    torch.testing.assert_close(found, nested(**vectors, **texts), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(("share", "width", "length"), [(1, 5, 5), (0.5, 6, 4), (0.25, 384, 96)])
def test_a_share_of_the_dimensions_is_even_or_all(share, width, length):
    assert length_of(share, width) == length
    cut = prefix(torch.randn(3, width), share)
    assert cut.shape == (3, length)
    torch.testing.assert_close(cut.norm(dim=1), torch.ones(3))


def test_reference_values_add_up():
    spec, given = LOSSES["cosent+info_nce"], given_for("cosent+info_nce")
    settings = {**spec.defaults, "weight_of_info_nce": 2.5}
    ordered = len(given["labels"]) ** 2
    pairs = sum(a > b for a in given["labels"] for b in given["labels"])
    assert pairs < ordered
    keys = len(given["keys"]) + len(given["negatives"])
    assert spec.collapse(given, **settings) == pytest.approx(
        math.log1p(pairs) + 2.5 * math.log(keys)
    )
    floors = [
        PLAIN[name].floor({n: given[n] for n in PLAIN[name].reads if n in given}, **own)
        for name, own in (("cosent", {"scale": 20.0}), ("info_nce", PLAIN["info_nce"].defaults))
    ]
    assert spec.floor(given, **settings) == pytest.approx(floors[0] + 2.5 * floors[1])
    without = next(name for name, one in PLAIN.items() if one.collapse is None)
    assert LOSSES[f"cosent+{without}"].collapse is None
    assert float(spec.function(**given, **settings).detach()) > spec.floor(given, **settings)


def test_a_recipe_brings_its_weights():
    assert LOSSES["info_nce+angle"].defaults["weight_of_angle"] == 0.02
    assert LOSSES["angle+info_nce"].defaults["weight_of_angle"] == 1
    assert all(LOSSES[name].parts for name in RECIPES)


@pytest.mark.parametrize("kind", ["scored", "triplets"])
@pytest.mark.parametrize(
    "name", ["info_nce+angle", "matryoshka(cosent)+supcon", "alignment+uniformity"]
)
def test_it_trains_as_its_parts_do(name, kind):
    from tests.tiny import static_model

    model, spec = static_model(width=8), LOSSES[name]
    weights = {part.weight: 0.5 + k for k, part in enumerate(spec.parts)}
    loss = training_loss(name)(model, threshold=0.5, label_range=(0, 1), **weights)
    texts, labels = rows_of(model, kind)
    columns = [model.preprocess(column) for column in texts]
    found = loss(columns, labels)
    examples = loss.examples(columns, labels, None, None)
    every = dict.fromkeys(spec.reads) | loss.arguments(examples)
    by_hand = sum(
        weights[p.weight]
        * p.spec.definition(**part_inputs(p, every, loss.settings), **part_values(p, loss.settings))
        for p in spec.parts
    )
    torch.testing.assert_close(found, by_hand, rtol=1e-4, atol=1e-5)
    found.backward()
    assert model[0].embedding.weight.grad.abs().sum() > 0


@pytest.mark.parametrize("name", ["cosent+arcface", "cosent+hierarchical_cosent"])
def test_parts_that_need_different_trainings_are_refused(name):
    with pytest.raises(ValueError, match="cannot be trained as one sum"):
        training_loss(name)


def test_a_prefix_longer_than_the_vectors_is_refused_in_training():
    """It would be the whole once more: the library's MatryoshkaLoss refuses it, too."""
    loss = training_loss("matryoshka(cosent,8,4)")(static_model(width=6))
    texts, labels = rows_of(loss.model, "scored")
    with pytest.raises(ValueError, match="a prefix has 8 dimensions, and the vectors 6"):
        loss([loss.model.preprocess(column) for column in texts], labels)


def test_it_is_a_module():
    sum_of_both = loss_module("cosent+cosine_mse")(weight_of_cosine_mse=3.0)
    assert type(sum_of_both).__name__ == "CosentCosineMseLoss"
    scores, labels = torch.tensor([0.0, 0.5]), torch.tensor([0.0, 1.0])
    found = sum_of_both(scores=scores, labels=labels, cosine_labels=labels)
    alone = PLAIN["cosent"].function(scores, labels)
    torch.testing.assert_close(found, alone + 3 * 0.125)
    with pytest.raises(TypeError, match="weight_of_cosent"):
        loss_module("cosent+cosine_mse")(scale=3.0)


@pytest.mark.parametrize("name", [*PLAIN, *RECIPES, "queue(supcon)"])
def test_a_number_is_a_float_wherever_it_is_moved(name):
    for parameter in LOSSES[name].parameters:
        value = parameter.on_value if parameter.default is None else parameter.default
        assert parameter.kind != "number" or type(value) is float, parameter.name


@pytest.mark.parametrize(
    ("name", "parameter"), [("lambda_loss", "k"), ("queue(supcon)", "length_of_supcon")]
)
def test_a_whole_number_is_whole_wherever_it_is_moved(name, parameter):
    spec = LOSSES[name]
    offered = offers(TrainingPlan(loss=name, parameters=((parameter, 3.0),)))
    (values,) = (one.values for one in offered if one.parameter == parameter)
    assert 3.0 in values
    scenario = Scenario(data_for(name, Data()) if not spec.parts else Data(), loss=name)
    for value in (*values, *sweep(scenario, parameter, points=9).values):
        assert value == int(value)
    with pytest.raises(Problem, match=r"2\.5"):
        parameters_for(spec, {parameter: 2.5})
