"""Laws of the projections, and of what they keep."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lossprism.explorer.lab.map import projections
from lossprism.explorer.lab.map.projections import embedded, is_installed, principal_components


def made(rows: int = 30, width: int = 12, seed: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(rows, width))


def distances(rows: np.ndarray) -> np.ndarray:
    return np.linalg.norm(rows[:, None] - rows, axis=2)


@pytest.mark.parametrize("rows", [4, 12, 40])
def test_the_shares_and_points_are_those_of_torchs_svd(rows: int) -> None:
    vectors = made(rows)
    found = principal_components(vectors)
    centred = torch.from_numpy(vectors - vectors.mean(axis=0))
    left, values, _ = torch.linalg.svd(centred, full_matrices=False)
    shares = values.square() / values.square().sum()
    assert found.shares == pytest.approx(shares[:2].tolist(), rel=1e-9)
    assert float(shares.sum()) == pytest.approx(1)
    assert found.shares[0] >= found.shares[1] > 0
    assert np.allclose(np.abs(found.points), (left * values)[:, :2].abs().numpy(), atol=1e-9)
    variances = np.square(found.points).sum(axis=0) / np.square(centred.numpy()).sum()
    assert variances == pytest.approx(np.array(found.shares))


def test_distances_in_a_plane_are_kept_and_all_of_the_variance() -> None:
    flat = made(25, 2) @ np.linalg.qr(made(12, 12))[0][:2] + 3.0
    found = principal_components(flat)
    assert sum(found.shares) == pytest.approx(1)
    assert np.allclose(distances(found.points), distances(flat), atol=1e-9)


def test_distances_beyond_a_plane_only_shrink() -> None:
    vectors = made()
    found = principal_components(vectors)
    assert sum(found.shares) < 0.6
    assert bool((distances(found.points) <= distances(vectors) + 1e-9).all())


def test_a_turn_of_the_vectors_changes_no_point() -> None:
    vectors = made()
    turned = vectors @ np.linalg.qr(made(12, 12, seed=8))[0]
    points = principal_components(vectors).points
    assert np.allclose(points, principal_components(turned).points, atol=1e-9)


def test_vectors_that_are_all_one_are_one_point() -> None:
    found = principal_components(np.ones((5, 3)))
    assert np.abs(found.points).max() == 0
    assert found.shares == (1.0, 0.0)


METHODS = [
    pytest.param(
        name, marks=pytest.mark.skipif(not is_installed(name), reason=f"no library for {name}")
    )
    for name in ("tsne", "umap")
]


@pytest.mark.parametrize("method", METHODS)
def test_the_same_seed_gives_the_same_map_and_classes_stay_together(method: str) -> None:
    of_class = np.repeat(np.arange(3), 12)
    vectors = (10 * np.eye(3, 8)[of_class] + made(36, 8)).astype(np.float32)
    found, again = (embedded(method, vectors, seed=5) for _ in range(2))
    assert np.array_equal(found.points, again.points)
    near = distances(found.points) + 1e9 * np.eye(36)
    assert (of_class[near.argmin(axis=1)] == of_class).mean() > 0.9
    assert 0.8 < found.trustworthiness <= 1


def test_few_points_are_embedded_and_not_judged() -> None:
    found = embedded("tsne", made(6, 5).astype(np.float32), seed=0)
    assert found.points.shape == (6, 2)
    assert found.trustworthiness is None


def test_only_what_is_installed_is_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projections, "find_spec", lambda _: None)
    assert [one for one in projections.METHODS if is_installed(one)] == ["pca"]
