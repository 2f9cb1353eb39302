"""On a GPU a batch is shown as on the processor, its reference values included."""

from __future__ import annotations

import math

import pytest
import torch

from lossprism.explorer.core.batch import _cached_batch
from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Data, Rules, Scenario
from lossprism.explorer.runtime import device
from lossprism.explorer.sources.random_batch import RandomBatch
from lossprism.losses import LOSSES
from tests.scenes import data_for
from tests.unit.losses.made import case

RANDOM = Data(source="random", random=RandomBatch(pairs=24, dimension=16, seed=5))
TWINS = Data(example="twins")


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("twins", ["keep", "leave_out"])
@pytest.mark.parametrize("data", [Data(), Data(example="graded_lists"), TWINS, RANDOM])
def test_a_gpu_shows_what_the_processor_shows(data, twins, monkeypatch):
    for loss in LOSSES:
        scenario = Scenario(data=data_for(loss, data), loss=loss, rules=Rules(twins=twins))
        shown = []
        for where in ("cpu", "cuda"):
            monkeypatch.setattr(device, "_chosen", where)
            _cached_batch.cache_clear()
            found = explore(scenario)
            assert found.pair_gradient.device.type == where
            marks = (found.loss, found.gradient_norm, found.floor, found.collapse)
            numbers = [math.nan if mark is None else mark for mark in marks]
            shown.append(
                torch.cat((torch.tensor(numbers, dtype=torch.float64), found.pair_gradient.cpu()))
            )
        with case(loss=loss):
            torch.testing.assert_close(*shown, rtol=1e-9, atol=1e-12, equal_nan=True)
    _cached_batch.cache_clear()
