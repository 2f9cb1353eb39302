"""Encoders that know nothing."""

from __future__ import annotations

import numpy as np
import pytest

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.sources.encoders import encode
from lossprism.explorer.sources.encoders.constant_and_orthogonal import (
    ALIKE,
    APART,
    is_constant_or_orthogonal,
)
from tests.sentences import raises_problem


def test_all_equal_and_all_orthogonal():
    alike, apart = encode(["a", "b", "c"], ALIKE), encode(["a", "b", "c"], APART)
    np.testing.assert_array_equal(alike @ alike.T, np.ones((3, 3)))
    np.testing.assert_array_equal(apart @ apart.T, np.eye(3))
    assert encode(["a"], f"{ALIKE} 384").shape == (1, 384)


@pytest.mark.parametrize("name", ["all-MiniLM-L6-v2", "all alikes", "all alike 12345", "", "all"])
def test_what_is_no_plain_encoder(name):
    assert not is_constant_or_orthogonal(name)


@pytest.mark.parametrize(
    ("name", "count", "problem"),
    [
        (f"{ALIKE} 1", 3, "encoder_dimensions"),
        (f"{APART} 8", 3, "encoder_dimensions"),
        (APART, 2049, "encoder_apart"),
    ],
)
def test_what_they_cannot_do_is_reported(name, count, problem):
    with raises_problem(problem, encoder=name):
        encode([str(place) for place in range(count)], name)


def test_any_example_collapses():
    scenario = Scenario(Data(example="graded_english", encoder=ALIKE))
    found = explore(scenario)
    assert found.loss == pytest.approx(found.collapse)
