"""The map of a run: both moments in one projection, and the neighbours that it replaced."""

from __future__ import annotations

import numpy as np
import pytest

from lossprism.explorer.lab.map.neighbours import neighbours_changed
from lossprism.explorer.lab.map.projections import NEIGHBOURS, principal_components
from lossprism.explorer.lab.map.sentence_map import map_of_run
from lossprism.explorer.lab.training.run_control import Runs
from lossprism.explorer.lab.vector_normalisation import directions
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.web.pages.finetune.request_plan import read_plan
from tests.unit.lab.training.conftest import train_here
from tests.unit.web.test_wire import SMALL


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Runs, str]:
    runs = Runs(tmp_path_factory.mktemp("runs"), device="cpu")
    return runs, train_here(runs, read_plan({**SMALL, "learning_rate": 0.5}))


def test_before_and_after_stand_in_one_projection(trained: tuple[Runs, str]) -> None:
    runs, name = trained
    found = map_of_run(runs, name, "pca")
    assert found.steps == (0, SMALL["steps"])
    count = len(found.sentences)
    units = [directions(runs.probe_vectors(name, step)[:count]) for step in found.steps]
    joint = principal_components(np.concatenate(units))
    before, after = found.frames
    assert np.allclose(np.concatenate([before.points, after.points]), joint.points, atol=1e-6)
    assert found.projection.shares == pytest.approx(joint.shares)
    assert not np.allclose(before.points, after.points, atol=1e-3)
    assert not np.allclose(before.gradient, after.gradient)
    assert found.neighbours == min(NEIGHBOURS, count - 1)
    assert found.changed.tolist() == neighbours_changed(*units, found.neighbours).tolist()
    assert found.changed.max() > 0


def test_a_run_whose_first_vectors_are_gone_is_refused(trained: tuple[Runs, str]) -> None:
    runs, name = trained
    runs.folder(name).file("probe/0.npy").unlink()
    with pytest.raises(Problem) as caught:
        map_of_run(runs, name, "pca")
    assert caught.value.key == "problem.map_run_without_vectors"
