"""The map of a batch: its points, gradients, refusals, and the cell that a pair leads to."""

from __future__ import annotations

import numpy as np
import pytest

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.lab.map import sentence_map
from lossprism.explorer.lab.map.projections import principal_components
from lossprism.explorer.lab.map.sentence_map import cell_of_pairs, map_of_scenario, project
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.random_batch import RandomBatch
from tests.sentences import raises_problem


@pytest.mark.parametrize("loss", ["cosent", "info_nce"])
def test_points_are_those_of_the_unit_vectors_and_gradients_those_of_explore(loss: str) -> None:
    scenario = Scenario(loss=loss)
    found, exploration = map_of_scenario(scenario, "pca"), explore(scenario)
    vectors = exploration.batch.vectors.numpy()
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    (frame,) = found.frames
    assert np.allclose(frame.points, principal_components(units).points, atol=1e-5)
    assert np.allclose(frame.gradient, exploration.pair_gradient.numpy())
    assert found.changed is None


@pytest.mark.parametrize("loss", ["cosent", "info_nce", "in_batch_negatives", "siglip"])
def test_the_cell_of_a_pair_is_its_heaviest(loss: str) -> None:
    found = explore(Scenario(loss=loss))
    shares, axes = found.weights.shares, found.spec.symbols[found.spec.terms].axes
    behind = [
        found.batch.axis(name, length)[0].tolist()
        for name, length in zip(axes, shares.shape, strict=True)
    ]
    with_cell, largest = 0, 0.0
    for pair in range(len(found.batch)):
        cells = {
            (row, column): float(shares[row, column])
            for row in range(shares.shape[0])
            for column in range(shares.shape[1])
            if pair in (behind[0][row], behind[1][column])
        }
        heaviest = max(cells.values(), default=0.0)
        cell = cell_of_pairs(found, [pair])
        assert (cell is None) == (heaviest == 0)
        if cell is not None:
            assert cells[cell] == heaviest
            with_cell += 1
            largest = max(largest, cells[cell])
    assert with_cell >= len(found.batch) / 2
    assert float(shares[cell_of_pairs(found, range(len(found.batch)))]) == largest


def test_a_batch_without_an_encoder_has_no_map() -> None:
    scores = Scenario(data=Data(source="table", rows=(("a", "b", "1"), ("c", "b", "0"))))
    with pytest.raises(Problem) as few:
        map_of_scenario(scores, "pca")
    assert few.value.key == "problem.map_few"
    random = Scenario(data=Data(source="random", random=RandomBatch(pairs=8, dimension=4)))
    assert map_of_scenario(random, "pca").projection.points.shape == (16, 2)


def test_a_missing_library_is_named_and_too_many_points_refused(monkeypatch) -> None:
    units = np.eye(6, dtype=np.float32)
    monkeypatch.setattr(sentence_map, "is_installed", lambda _: False)
    with raises_problem("map_without_umap"):
        project(units, "umap", 0)
    monkeypatch.setattr(sentence_map, "is_installed", lambda _: True)
    monkeypatch.setattr(sentence_map, "MAX_EMBEDDED", 5)
    with pytest.raises(Problem, match="at most 5 sentences"):
        project(units, "tsne", 0)
