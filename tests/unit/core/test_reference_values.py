"""The formula beside a reference value is that of the number: also under a convention with a
definition of its own."""

from __future__ import annotations

import pytest

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.random_batch import RandomBatch
from lossprism.losses import LOSSES

BATCHES = {
    "graded": Data(),
    "lists": Data(source="random", random=RandomBatch(pairs=12, candidates=4, seed=1)),
    "binary": Data(source="random", random=RandomBatch(pairs=10, labels="binary", seed=2)),
}
OWN = [
    (name, convention)
    for name, spec in LOSSES.items()
    for convention in spec.conventions
    if convention.definition is not None
]


def reference_values(loss, convention, parameters, data):
    scenario = Scenario(
        loss=loss, convention=convention, parameters=tuple(parameters.items()), data=data
    )
    found = explore(scenario)
    return {"collapse": found.collapse, "floor": found.floor}


@pytest.mark.parametrize(("loss", "convention"), OWN, ids=[f"{a} {b.name}" for a, b in OWN])
def test_a_formula_that_a_convention_takes_over_is_that_of_its_number(loss, convention):
    spec, under = LOSSES[loss], LOSSES[loss].under(convention.name)
    taken_over = {
        kind
        for kind in ("collapse", "floor")
        if getattr(under, kind) and getattr(convention, f"{kind}_formula") is None
    }
    if not taken_over:
        return
    known = {one.name for one in spec.parameters}
    same = {one.name: one.default for one in under.parameters if one.name in known}
    compared = 0
    for data in BATCHES.values():
        try:
            theirs = reference_values(loss, convention.name, {}, data)
            ours = reference_values(loss, "", same, data)
        except Problem:  # the batch has nothing for this loss
            continue
        compared += 1
        for kind in taken_over:
            assert theirs[kind] == pytest.approx(ours[kind], abs=1e-4), kind
    assert compared


@pytest.mark.parametrize(("loss", "convention"), OWN, ids=[f"{a} {b.name}" for a, b in OWN])
def test_a_formula_of_its_own_names_each_parameter_that_moves_its_number(loss, convention):
    under = LOSSES[loss].under(convention.name)
    own = {kind: getattr(convention, f"{kind}_formula") for kind in ("collapse", "floor")}
    own = {
        kind: formula for kind, formula in own.items() if formula and r"\mathcal L" not in formula
    }
    for one in under.parameters:
        if not own or isinstance(one.default, bool) or not isinstance(one.default, int | float):
            continue
        apart = (one.minimum + 2 * one.maximum) / 3
        for data in BATCHES.values():
            try:
                usual = reference_values(loss, convention.name, {}, data)
                moved = reference_values(loss, convention.name, {one.name: apart}, data)
            except Problem:  # the batch has nothing for this loss
                continue
            for kind, formula in own.items():
                assert usual[kind] == moved[kind] or one.symbol in formula, (kind, one.name)
