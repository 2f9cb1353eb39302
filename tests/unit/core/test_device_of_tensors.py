"""Facts of a batch on a device are computed where its tensors are, or after a copy."""

from __future__ import annotations

import math

import pytest
import torch

from lossprism.explorer.core.batch import make_batch
from lossprism.explorer.core.parameter_values import parameters_read_by
from lossprism.explorer.core.resolved_scenario import parameters_for, spec_for
from lossprism.explorer.core.scenario import Data, Rules, Scenario
from lossprism.explorer.sources.random_batch import RandomBatch
from lossprism.losses import LOSSES
from tests.elsewhere import Elsewhere
from tests.scenes import data_for
from tests.unit.losses.made import case

RANDOM = Data(source="random", random=RandomBatch(pairs=12, dimension=8, seed=5))
BATCHES = [Data(), Data(example="graded_lists"), Data(example="twins"), RANDOM]


@pytest.mark.thorough
@pytest.mark.parametrize("twins", ["keep", "leave_out"])
@pytest.mark.parametrize("data", BATCHES)
def test_reference_values_of_a_batch_elsewhere_are_those_of_one_here(data, twins):
    seen = set()
    for loss, plain in LOSSES.items():
        for convention in ("", *(one.name for one in plain.conventions)):
            chosen = {"loss": loss, "convention": convention}
            with case(**chosen):
                used = data_for(loss, data, convention)
                scenario = Scenario(used, rules=Rules(twins=twins), **chosen)
                must_have_the_same_landmarks(scenario, seen)


def must_have_the_same_landmarks(scenario, seen):
    """Of a convention, where its formulas hear of anything that was not `seen`."""
    spec, batch = spec_for(scenario), make_batch(scenario.data, scenario.rules)
    parameters = parameters_for(spec, {})
    marks = {
        (mark, parameters_read_by(mark, parameters), tuple(spec.reads.items()), scenario.data): mark
        for mark in filter(None, (spec.collapse, spec.floor))
    }
    new = {key: mark for key, mark in marks.items() if key not in seen}
    if not new:
        return
    seen |= new.keys()
    given = {
        name: value
        for name, what in spec.reads.items()
        if (value := batch.read(what, batch.vectors, batch.scores)) is not None
    }
    for mark in new.values():
        expected = mark(given, **parameters)
        with Elsewhere() as mode:
            found = mark({name: mode.sent(one) for name, one in given.items()}, **parameters)
        assert (found is None) == (expected is None)
        assert found is None or math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-12)


def test_what_is_elsewhere_does_not_meet_what_is_here():
    here = torch.ones(3)
    with Elsewhere() as mode:
        there = mode.sent(here)
        assert there.device.type == (there * 2).device.type == "cuda"
        assert (there.cpu() + here).tolist() == [2, 2, 2]
        assert not torch.zeros(3, device=there.device).is_cpu
        with pytest.raises(RuntimeError, match="same device"):
            there + here
        with pytest.raises(RuntimeError, match="same device"):
            torch.where(there > 0, here, there)
    assert here.is_cpu
