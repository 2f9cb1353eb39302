"""Where the points of a film start."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.lab.sphere.film import MAX_POINTS
from lossprism.explorer.lab.sphere.starting_points import MAX_PAIRS, Start, placed, principal_places
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.random_batch import RandomBatch
from lossprism.explorer.sources.textbook import load_example


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("kind", ["classes", "random", "sentences"])
def test_points_have_length_one(kind: str, dimension: int) -> None:
    vectors = placed(Start(kind=kind, dimension=dimension)).batch.vectors
    assert vectors.shape[1] == dimension
    assert len(vectors) <= MAX_POINTS
    assert torch.allclose(vectors.norm(dim=1), torch.ones(len(vectors)).double(), atol=1e-6)


@pytest.mark.parametrize(("points", "classes"), [(24, 4), (25, 4), (64, 32), (6, 1)])
def test_classes_are_the_connected_positive_pairs(points: int, classes: int) -> None:
    batch = placed(Start(points=points, classes=classes)).batch
    assert len(batch.vectors) == points
    assert int(batch.classes.max()) + 1 == classes
    sizes = torch.bincount(batch.classes)
    assert int(sizes.max() - sizes.min()) <= 1
    assert int(batch.positive.sum()) == points - classes
    apart = batch.classes[batch.first] != batch.classes[batch.second]
    assert bool((apart == ~batch.positive).all())
    assert int(apart.sum()) == (points - classes if classes > 1 else 0)


def test_without_spread_a_class_is_one_point_and_with_all_of_it_anywhere() -> None:
    def within(spread: float) -> float:
        batch = placed(Start(points=60, classes=4, spread=spread, dimension=3)).batch
        alike = batch.classes[:, None] == batch.classes
        return float((batch.vectors @ batch.vectors.T)[alike].mean())

    assert within(0.0) == pytest.approx(1)
    assert 0.6 < within(0.4) < 0.99
    assert within(1.0) < 0.2


def test_too_many_classes_are_refused() -> None:
    with pytest.raises(Problem) as caught:
        placed(Start(points=10, classes=6))
    assert caught.value.key == "problem.sphere_classes"


def test_the_plane_that_is_kept_is_that_of_the_largest_variance() -> None:
    stream = np.random.default_rng(5)
    flat = stream.normal(size=(40, 2)) @ stream.normal(size=(2, 30))
    flat /= np.linalg.norm(flat, axis=1, keepdims=True)
    places, share = principal_places(flat, 2)
    assert share == pytest.approx(1, abs=1e-6)
    assert np.allclose(np.linalg.norm(places, axis=1), 1)
    noisy = flat + 0.05 * stream.normal(size=flat.shape)
    _, with_noise = principal_places(noisy, 2)
    units = noisy / np.linalg.norm(noisy, axis=1, keepdims=True)
    shares = np.linalg.eigvalsh(np.cov(units.T))[::-1]
    assert with_noise == pytest.approx(shares[:2].sum() / shares.sum(), rel=1e-5)
    assert principal_places(noisy, 3)[1] > with_noise


def test_sentences_are_those_of_the_example_and_of_a_scenario() -> None:
    found = placed(Start(kind="sentences", example="hard_negatives", dimension=3))
    pairs = load_example("hard_negatives")
    assert found.batch.pairs.sentences == pairs.sentences
    assert 0.1 < found.variance_share < 0.9
    assert found.left_out == 0
    scenario = Scenario(data=Data(source="random", random=RandomBatch(pairs=40, dimension=16)))
    many = placed(Start(kind="sentences", scene=scenario.to_link()))
    assert len(many.batch) == MAX_POINTS // 2
    assert many.left_out == 40 - MAX_POINTS // 2
    assert many.batch.pairs.sentences[0] == "#1 a"
    rows = tuple((f"{i % 20}", f"{20 + i % 21}", str(i % 2)) for i in range(400))
    often = Start(kind="sentences", scene=Scenario(data=Data(source="table", rows=rows)).to_link())
    found = placed(often)
    assert len(found.batch) == MAX_PAIRS
    assert found.left_out == 400 - MAX_PAIRS


@pytest.mark.parametrize("example", ["cosent_batch"])
def test_scores_without_vectors_are_refused(example: str) -> None:
    with pytest.raises(Problem) as caught:
        placed(Start(kind="sentences", example=example))
    assert caught.value.key == "problem.no_vectors"
