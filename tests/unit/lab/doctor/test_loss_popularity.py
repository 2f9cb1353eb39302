"""How common losses and conventions are, and that a number is taken for what people train with."""

from __future__ import annotations

import math

import pytest

from lossprism.explorer.lab.doctor.loss_popularity import USAGES, usage_cost
from lossprism.explorer.lab.doctor.possible_meanings_of_number import explain
from lossprism.losses import LOSSES

RARE = max(usage.cost for usage in USAGES if usage.conventions)
NUMBERS = ["0.693", "0", "1", "0.5", "0.2", "0.3", "0.25", "5", "2", "0.313"]


def test_each_entry_of_the_table_is_there_once():
    losses = [name for usage in USAGES for name in usage.losses]
    assert sorted(losses) == sorted(set(losses))
    assert set(losses) <= set(LOSSES)
    pairs = [
        (loss, name)
        for usage in USAGES
        for loss, names in usage.conventions.items()
        for name in names
    ]
    assert len(pairs) == len(set(pairs))
    known = {(loss, one.name) for loss in LOSSES for one in LOSSES[loss].conventions}
    assert set(pairs) <= known
    assert all(usage.reason for usage in USAGES)


@pytest.mark.parametrize("written", NUMBERS + [f"{math.log(n):.4f}" for n in (3, 4, 8, 32, 100)])
def test_no_rare_convention_comes_before_a_common_loss(written):
    """Of one value, and of the likeliest one."""
    first = explain(float(written), None, written).findings[0].matches
    costs = [usage_cost(fit.loss, fit.convention) for fit in first]
    assert costs[0] < RARE or min(costs) >= RARE
    assert costs[0] <= 0
