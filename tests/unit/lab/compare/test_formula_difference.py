"""The difference of two formulas is read off two traces, and has its laws."""

from __future__ import annotations

import functools
import re

import pytest
import torch

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.own_loss_from_python_file import add_own_loss
from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.core.trace import function_of
from lossprism.explorer.lab.compare.formula_difference import difference, number_of
from lossprism.explorer.sources.random_batch import RandomBatch
from lossprism.losses import LOSSES
from tests.scenes import data_for

RANDOM = Data(source="random", random=RandomBatch(pairs=10, dimension=6, seed=1))
SIDES = [(name, "") for name in LOSSES]
CONVENTIONS = [(name, one.name) for name in LOSSES for one in LOSSES[name].conventions]
TURNED = {"base": "other", "other": "base"}


@functools.cache
def explored(loss, convention="", parameters=(), data=RANDOM):
    scenario = Scenario(
        data_for(loss, data, convention), loss=loss, convention=convention, parameters=parameters
    )
    return explore(scenario)


def steps_of(exploration):
    return [*exploration.trace.inputs, *exploration.trace.steps]


def reported(parts, turned=False):
    """Return the findings on each piece, step, parameter or line, sorted; with swapped sides."""
    found = []
    for part in parts:
        sides = [part.base, part.other]
        kind = TURNED.get(part.kind, part.kind) if turned else part.kind
        found.append((kind, *(reversed(sides) if turned else sides)))
    return sorted(map(repr, found))


@pytest.mark.parametrize("side", [*SIDES, *CONVENTIONS])
def test_a_loss_does_not_differ_from_itself(side):
    found = difference(explored(*side), explored(*side))
    assert found.is_empty
    assert "ink=base" not in "".join(found.formula)


@pytest.mark.thorough
@pytest.mark.parametrize("place", range(len(SIDES)))
def test_two_losses_are_reported_in_full_from_both_sides(place):
    base = explored(*SIDES[place])
    for apart in (1, 8):  # each loss with two others
        other = explored(*SIDES[(place + apart) % len(SIDES)])
        found, turned = difference(base, other), difference(other, base)
        assert not found.is_empty
        for name, side in (("base", base), ("other", other)):
            places = [getattr(part, name) for part in found.steps]
            assert sorted(p for p in places if p is not None) == [*range(len(steps_of(side)))]
            lines = [getattr(part, name) for part in found.code]
            shown = range(len(side.trace.listing.splitlines()))
            assert [line for line in lines if line is not None] == [*shown]
            names = [getattr(part, name) for part in found.parameters]
            assert sorted(filter(None, names)) == sorted(side.parameters)
        for what in ("pieces", "steps", "parameters", "code"):
            assert reported(getattr(found, what)) == reported(getattr(turned, what), turned=True), (
                what
            )


def kinds_by_name(found, side, name="base"):
    steps = steps_of(side)
    places = [(part.kind, getattr(part, name)) for part in found.steps]
    return {steps[place].name: kind for kind, place in places if place is not None}


# Signs that are set like names, and an operation of the tables of several candidates.
NAMED = {"mean", "unit", "where", "gather"}


def test_a_formula_calls_by_name_only_functions_of_its_definition():
    """Plain numbers, Python's own functions and indices are written out."""
    wrong, marks = {}, re.compile(r"\\htmlData\{[^}]*\}")
    for loss, _ in SIDES:
        formula = marks.sub("", " ".join(difference(explored(loss), explored("cosent")).formula))
        called = set(re.findall(r"\\operatorname\{([^}]*)\}", formula.replace(r"\_", "_")))
        own = function_of(explored(loss).definition).__globals__
        if called - NAMED - {*own} or "()" in formula or r"\\infty" in formula:
            wrong[loss] = called, formula
    assert not wrong


def test_angle_is_cosent_of_other_scores():
    base, other = explored("cosent"), explored("angle")
    found = difference(base, other)
    mine, theirs = kinds_by_name(found, base), kinds_by_name(found, other, "other")
    alike = ("labels", "scaled", "differences", "ordered", "terms", "loss")
    assert {mine[name] for name in alike} == {theirs[name] for name in alike} == {"shared"}
    assert mine["scores"] == "base"
    assert theirs["scores"] == theirs["in_phase"] == theirs["first"] == "other"
    # The score that one is given stands where the other makes its own.
    given = next(p for p in found.pieces if p.operation == "input" and p.kind == "base")
    assert found.pieces[given.instead].operation == "abs"
    assert [p.kind for p in found.parameters] == ["shared"]
    assert len(found.formula) > 2


def test_info_nce_and_nt_xent_share_the_logarithm_and_differ_in_temperature_and_views():
    base, other = explored("info_nce"), explored("nt_xent")
    found = difference(base, other)
    mine, theirs = kinds_by_name(found, base), kinds_by_name(found, other, "other")
    assert mine["per_query"] == theirs["per_view"] == "shared"
    assert mine["logits"] == "parameter"
    assert theirs["partner"] == "other"
    temperature = next(p for p in found.parameters if p.base == "temperature")
    assert (temperature.kind, temperature.base_value, temperature.other_value) == (
        "parameter",
        0.05,
        0.5,
    )
    atom = next(p for p in found.pieces if p.kind == "parameter")
    assert (atom.base.number.mean, atom.other.number.mean) == (0.05, 0.5)
    assert steps_of(base)[atom.base.step].name == steps_of(other)[atom.other.step].name == "logits"


def test_one_loss_at_two_scales_differs_by_the_parameter_alone():
    base, other = explored("cosent"), explored("cosent", parameters=(("scale", 5.0),))
    found = difference(base, other)
    assert {p.kind for p in found.pieces} == {"shared", "parameter"}
    assert kinds_by_name(found, base)["scaled"] == "parameter"
    assert kinds_by_name(found, base)["terms"] == "shared"
    assert {line.kind for line in found.code} == {"shared"}  # the listing is one
    assert not found.is_empty


def test_a_scale_and_a_temperature_are_one_parameter():
    found = difference(explored("cosent"), explored("info_nce"))
    pair = next(p for p in found.parameters if p.base == "scale")
    assert (pair.kind, pair.other) == ("parameter", "temperature")


def test_weighted_cosent_adds_the_logarithm_of_the_gap():
    base, other = explored("cosent"), explored("weighted_cosent")
    found = difference(base, other)
    only = {p.operation for p in found.pieces if p.kind == "other"}
    assert {"add", "log", "relu"} <= only
    assert kinds_by_name(found, other, "other")["terms"] == "other"
    code = {line.other_text.strip(): line.kind for line in found.code if line.other is not None}
    assert code["scaled = scale * scores"] == "shared"
    assert code["terms = differences + gaps.log()"] == "other"


def test_supcon_parts_the_logarithm_from_the_pull():
    base, other = explored("info_nce"), explored("supcon")
    found = difference(base, other)
    theirs = kinds_by_name(found, other, "other")
    assert theirs["partition"] == "changed"  # without the 1
    assert theirs["attraction"] == "other"
    one = [p for p in found.pieces if p.kind == "base" and p.operation == "constant"]
    assert "1" in [p.base.says for p in one]  # of log(1 + Σ)


@pytest.mark.parametrize(
    ("convention", "adds"),
    [
        ("sentence-transformers 6.2 RankNetLoss (mean / ln 2)", "divide"),
        ("TF-Ranking 0.5.5, Keras PairwiseLogisticLoss (sum / N)", "count"),
    ],
)
def test_another_librarys_reduction_is_what_only_it_has(convention, adds):
    base = explored("pairwise_logistic", parameters=(("scale", 1.0),))
    found = difference(base, explored("pairwise_logistic", convention))
    assert adds in {p.operation for p in found.pieces if p.kind == "other"}
    # Up to the reduction both are one.
    assert kinds_by_name(found, base)["terms"] == "shared"


def test_each_part_of_the_formula_names_the_steps_it_opens():
    base, other = explored("cosent"), explored("weighted_cosent")
    found = difference(base, other)
    text = "".join(found.formula)
    assert {*re.findall(r"ink=(\w+)", text)} == {"shared", "base", "other"}
    for name, side in (("base", base), ("other", other)):
        places = {int(place) for place in re.findall(rf"\b{name}=(\d+)", text)}
        assert places <= {*range(len(steps_of(side)))}
        assert places
    assert text.count("{") == text.count("}")


def test_numbers_say_what_takes_part():
    number = number_of(torch.tensor([-torch.inf, 1.0, 3.0]))
    assert (number.count, number.present, number.least, number.mean, number.largest) == (
        3,
        2,
        1.0,
        2.0,
        3.0,
    )
    assert number_of("euclidean") is None


def test_a_loss_of_ones_own_is_compared_whatever_it_is_written_with(tmp_path):
    path = tmp_path / "odd.py"
    path.write_text(
        "import torch\n\n\n"
        "def odd_one(scores, labels, *, scale=20.0):\n"
        "    parts = [scores[k] for k in range(len(scores))]\n"
        "    total = sum(parts)\n"
        "    rest = scores * scale\n"
        "    rest += 1\n"
        "    rest[0] = 0\n"
        "    low, high = rest.min(), rest.max()\n"
        "    for mean in [rest.mean()]:\n"
        "        total = total + mean\n"
        "    return total + (high - low if scale > 1 else low)\n"
    )
    spec = add_own_loss(f"{path}:odd_one")
    try:
        own = explore(Scenario(data=RANDOM, loss="odd_one"))
        assert difference(own, own).is_empty
        found = difference(explored("cosent"), own)
        places = [part.other for part in found.steps if part.other is not None]
        assert sorted(places) == [*range(len(steps_of(own)))]
        scaled = next(p for p in found.pieces if p.operation == "scaled")
        assert scaled.kind == "shared"  # scale · s and s · scale
    finally:
        del LOSSES[spec.name]
