"""Sentence vectors at length 1."""

import numpy as np
import pytest
import torch

from lossprism.explorer.lab.large.batch import cosines
from lossprism.explorer.lab.vector_normalisation import directions
from lossprism.losses.geometry import unit


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_they_are_those_that_the_losses_compare(kind):
    rows = np.random.default_rng(1).standard_normal((5, 384)).astype(kind)
    rows[2] = 0
    found = directions(rows)
    assert found.dtype == np.float32
    expected = unit(torch.from_numpy(rows.astype(np.float64))).numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("size", [1e-6, 1e18])
def test_vectors_of_which_only_the_squares_leave_the_range_keep_their_cosines(size):
    first, second = np.random.default_rng(2).standard_normal((2, 6, 384)).astype(np.float32)
    far = cosines(np.float32(size) * first, second)
    np.testing.assert_allclose(far, cosines(first, second), atol=1e-6)
