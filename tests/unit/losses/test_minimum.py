"""The least values that losses reach, against an independent minimiser."""

import numpy as np
import pytest
import torch
from scipy.optimize import minimize

from lossprism.losses import LOSSES
from lossprism.losses.minimum import least_over_levels

SETS, MOST = 120, 12


def drawn(seed):
    """Label sets of 5 to 12 levels with 1 to 9 pairs each, some levels 0.3 apart."""
    draw = np.random.default_rng(seed)
    for _ in range(SETS):
        levels = np.arange(draw.integers(5, MOST + 1)) * draw.choice([1.0, 0.3])
        yield np.repeat(levels, draw.integers(1, 10, len(levels)))


def least_by_scipy(label_sets, scale, lowest, highest, weighted):
    """All sets at once: their problems share no unknown, so the least sum has each at its least.

    A set of fewer levels leaves the last of its places without a term.
    """
    log_weights = np.full((SETS, MOST, MOST), -np.inf)
    start = np.zeros((SETS, MOST))
    for place, labels in enumerate(label_sets):
        levels, counts = np.unique(labels, return_counts=True)
        gaps = levels[None, :] - levels[:, None]
        weights = np.outer(counts, counts) * (gaps if weighted else gaps > 0)
        above = np.triu_indices(len(levels), 1)
        log_weights[place][above] = np.log(weights[above])
        start[place, : len(levels)] = np.linspace(lowest, highest, len(levels))

    def value_and_slopes(points):
        points = points.reshape(SETS, MOST)
        terms = log_weights + scale * (points[:, :, None] - points[:, None, :])
        largest = terms.max(axis=(1, 2), keepdims=True)
        shares = np.exp(terms - largest)
        total = shares.sum(axis=(1, 2), keepdims=True)
        shares /= total
        values = (largest + np.log(total))[:, 0, 0]
        return values, scale * (shares.sum(axis=2) - shares.sum(axis=1))

    def objective(points):
        values, slopes = value_and_slopes(points)
        return values.sum(), slopes.ravel()

    found = minimize(
        objective,
        start.ravel(),
        jac=True,
        method="L-BFGS-B",
        bounds=[(lowest, highest)] * start.size,
        options={"ftol": 0, "gtol": 1e-8, "maxiter": 5_000},
    )
    return np.logaddexp(0, value_and_slopes(found.x)[0])


COSINE, COMPLEX = (-1.0, 1.0), (0.0, 2**0.5)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("scale", "ends", "weighted"),
    [
        *((scale, COSINE, False) for scale in (0.1, 0.3, 1.0, 2.0, 5.0)),
        *((scale, COSINE, True) for scale in (0.3, 2.0)),
        (1.0, COMPLEX, False),
    ],
)
def test_the_least_over_levels_is_that_of_a_bounded_minimiser(scale, ends, weighted):
    lowest, highest = ends
    label_sets = list(drawn(seed=int(10 * scale)))
    found = [
        least_over_levels(
            torch.from_numpy(labels), scale, lowest=lowest, highest=highest, weighted=weighted
        )
        for labels in label_sets
    ]
    expected = least_by_scipy(label_sets, scale, lowest, highest, weighted)
    np.testing.assert_allclose(found, expected, rtol=1e-10)


LEVELS = ((3, 9), (4, 6), (6, 6), (7, 5), (1, 5), (5, 3), (2, 3), (0, 1))
BY_LEVEL = torch.tensor([-1, -1, -1, -0.575202, 0.204046, 0.678912, 1, 1]).double()


def test_levels_at_an_end_of_the_cosine_do_not_stop_the_search():
    """Three of eight levels stand at −1 and two at 1; the floor once lay above that loss."""
    labels = torch.tensor([level for level, count in LEVELS for _ in range(count)])
    scores = BY_LEVEL[labels]
    for name in ("cosent", "hierarchical_cosent"):
        spec = LOSSES[name]
        given = {"scores": scores, "labels": labels}
        settings = {"scale": 1.0}
        if name == "hierarchical_cosent":
            given = {"level_scores": scores.expand(3, -1), "labels": labels}
            settings["weights"] = (1.0, 0.0, 0.0)
        loss = spec.definition(**given, **settings)
        assert loss == pytest.approx(5.558660, abs=1e-6)
        assert spec.floor(given, **settings) == pytest.approx(5.5586599, abs=1e-7)
        assert spec.floor(given, **settings) <= loss
