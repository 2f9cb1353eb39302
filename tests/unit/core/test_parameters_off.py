"""Parameters that may be off: None at every door, and the number that stood for it before; and the
one that stands below the picture."""

from __future__ import annotations

import dataclasses

import pytest

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.parameter_values import checked
from lossprism.explorer.core.resolved_scenario import parameters_for, spec_for
from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.export.caption import caption, parameter_words
from lossprism.explorer.export.code import module_code, package_code, standalone_code
from lossprism.explorer.lab.compare import compared_loss_from_text
from lossprism.explorer.lab.compare.comparison_results import Side
from lossprism.explorer.lab.training.plan import TrainingPlan
from lossprism.explorer.locale import LANGUAGES
from lossprism.explorer.runtime.problem import Problem
from lossprism.losses import LOSSES

LISTS = tuple((f"query {n}", f"key {n} {k}", str(k / 2)) for n in range(2) for k in range(3))
SUM = "info_nce+cosent"
SWIFT = "ms-swift 3.12.6 (Qwen3-Embedding)"
EVERY = [
    (loss, convention, parameter)
    for loss in (*LOSSES, SUM)
    for convention in ("", *(one.name for one in LOSSES[loss].conventions))
    for parameter in LOSSES[loss].under(convention).parameters
]
OPTIONAL = [one for one in EVERY if one[2].on_value is not None]
DOORS = [
    lambda loss, convention, chosen: Scenario(
        loss=loss, convention=convention, parameters=tuple(chosen.items())
    ),
    lambda loss, convention, chosen: Scenario.from_json(
        {"loss": loss, "convention": convention, "parameters": chosen}
    ),
    lambda loss, convention, chosen: Side(loss, convention, tuple(chosen.items())),
    lambda loss, convention, chosen: TrainingPlan.from_run(
        {"loss": loss, "convention": convention, "parameters": chosen}
    ),
]


def test_there_are_such_parameters_in_losses_conventions_and_sums():
    found = {(loss, convention) for loss, convention, _ in OPTIONAL}
    assert {("info_nce", ""), ("info_nce", SWIFT), (SUM, "")} <= found
    assert {("lambda_loss", ""), ("distill_kl", "")} <= found


def test_no_number_in_a_range_means_off():
    """A reader takes the former number for off, so that it can be none of the values."""
    for _, _, parameter in OPTIONAL:
        assert parameter.former_off is not None
        assert not parameter.minimum <= parameter.former_off <= parameter.maximum
        assert parameter.minimum <= parameter.on_value <= parameter.maximum
    for _, _, parameter in EVERY:
        assert "0:" not in parameter.label


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("off", [None, "off", "OFF", "none", "None", "null", "former"])
def test_off_is_none_behind_every_door(door, off):
    for loss, convention, parameter in OPTIONAL:
        written = parameter.former_off if off == "former" else off
        made = door(loss, convention, {parameter.name: written})
        assert made.parameters == ((parameter.name, None),)
        settings = parameters_for(
            spec_for(Scenario(loss=loss, convention=convention)), dict(made.parameters)
        )
        assert settings[parameter.name] is None


def test_other_parameters_keep_what_they_are_given():
    """1000 is a scale, and "off" is no value of one."""
    others = [one for one in EVERY if one[2].on_value is None]
    for loss, convention, parameter in others:
        for value in (1000.0, "off", None):
            made = Scenario(loss=loss, convention=convention, parameters=((parameter.name, value),))
            assert made.parameters == ((parameter.name, value),)
        with pytest.raises(Problem):
            checked(parameter, None)


def test_what_is_neither_a_number_in_range_nor_off_is_refused_with_both():
    for _, _, parameter in OPTIONAL:
        for value in (
            parameter.maximum + 1,
            parameter.minimum / 2,
            "on",
            True,
            [1.0],
            float("nan"),
        ):
            with pytest.raises(Problem) as refused:
                checked(parameter, value)
            kind = "whole" if parameter.whole else "range"
            assert refused.value.key == f"problem.parameter_{kind}_or_off"


# Scenes of an earlier version, of InfoNCE and of a sum with it, with "mask_above" at 1000.
OLD_LINKS = [
    "1.eNoVis0KgCAMgF9Fdg6Z115GViyI1MlcXcR3T4_fT4ckrcHu4C6XxHIybA4qKWU21lU6GOfKSvYqT0Yf5pKpPZEO-"
    "ZYKiOhxjB_4gRjv",
    "1.eNqrVsrJLy5WslJQysxLy4_PS07VTs4vTs0rUdJRUCpILErMTS1JLQIpqFbKTSzOjk9Myi9Ljc9Pi4epB0oZGhgY6"
    "BnU1gIAESsaUw",
]


@pytest.mark.parametrize("link", OLD_LINKS)
def test_a_link_of_before_opens_with_the_parameter_off(link):
    scenario = Scenario.from_link(link)
    (name, value) = scenario.parameters[-1]
    assert (name.split("_of_")[0], value) == ("mask_above", None)
    plain = dataclasses.replace(scenario, parameters=scenario.parameters[:-1])
    assert explore(scenario).loss == explore(plain).loss
    assert Scenario.from_link(scenario.to_link()) == scenario


def test_off_goes_through_link_and_typed_side_and_back():
    for loss, convention, parameter in OPTIONAL:
        scenario = Scenario(loss=loss, convention=convention, parameters=((parameter.name, None),))
        assert Scenario.from_link(scenario.to_link()) == scenario
        side = Side(loss, convention, scenario.parameters)
        assert compared_loss_from_text.read(compared_loss_from_text.written(side)) == side


def test_what_is_off_by_default_stands_in_no_code_and_no_figure():
    e = explore(Scenario(loss="info_nce"))
    module = module_code(e)
    assert module is not None
    for text in (e.trace.listing, standalone_code(e).text, package_code(e).text, module.text):
        assert "mask_above" not in text
    for language in LANGUAGES:
        mask = next(one for one in e.spec.parameters if one.name == "mask_above")
        name = parameter_words(language, mask, 0.5).partition(" = ")[0]
        assert name not in "".join(caption(e, language))


def test_what_a_convention_masks_by_default_is_switched_off_in_its_code():
    chosen = Scenario(loss="info_nce", convention=SWIFT, parameters=(("mask_above", None),))
    off, on = explore(chosen), explore(dataclasses.replace(chosen, parameters=()))
    assert off.loss != on.loss
    assert "mask_above=None" in package_code(off).text
    assert "mask_above" not in off.trace.listing


@pytest.mark.parametrize(
    ("loss", "name", "same"),
    [("lambda_loss", "k", 3), ("distill_kl", "teacher_temperature", 1.0)],
)
def test_off_is_what_zero_was_before(loss, name, same):
    """Of three candidates the first three are all; the student's temperature is 1."""
    data = Data(source="table", rows=LISTS, teacher=LISTS, encoder="all apart")
    off, before, on = (
        explore(Scenario(data=data, loss=loss, parameters=chosen))
        for chosen in ((), ((name, 0),), ((name, same),))
    )
    assert off.loss == before.loss == pytest.approx(on.loss, abs=1e-12)
    assert before.parameters[name] is off.parameters[name] is None
    assert f" {name}=" not in package_code(off).text


@pytest.mark.parametrize("loss", ["cosent", "info_nce", "siglip", "supcon", "pairwise_logistic"])
def test_the_first_parameter_changes_a_fifth_of_the_weights_and_more(loss):
    """By more than anybody overlooks, where the largest has the darkest colour: it is the lever."""
    lever = next(one for one in LOSSES[loss].parameters if not one.choices)
    low, high = (
        explore(Scenario(loss=loss, parameters=((lever.name, end),))).weights.shares
        for end in (lever.minimum, lever.maximum)
    )
    changed = (low / low.max() - high / high.max()).abs() > 0.02
    assert changed.double().mean() >= 0.2
