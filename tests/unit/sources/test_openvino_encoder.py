"""Sentence encoders that OpenVINO runs: "openvino:" before their name."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from lossprism.explorer.sources.encoders import encode, is_here, is_trainable, locate
from lossprism.explorer.sources.encoders.bundled_encoder import (
    EMBEDDED,
    OPENVINO,
    has_embedded_weights,
    is_embedded,
)
from lossprism.explorer.sources.encoders.safe_model_loading import forget
from tests.sentences import raises_problem

NAME = OPENVINO + EMBEDDED
LENGTHS = (0, 1, 2, 5, 40, 41, 120, 254, 255, 256, 900)  # words; the model reads 256 tokens


@pytest.fixture
def installed(monkeypatch):
    """As if the package were there: nothing is loaded by looking for an encoder."""
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name == "openvino" or find(name))


def test_vectors_are_those_of_pytorch_but_for_rounding():
    pytest.importorskip("openvino")
    texts = [" ".join(["price", "of", "a", "river"] * 225)[: 5 * count] for count in LENGTHS]
    texts += ["河流的价格", "a"]
    expected = encode(texts)
    forget()
    found = encode(texts, NAME)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)
    assert not np.array_equal(found, expected)  # OpenVINO ran, and the cache keeps the two apart


def test_its_name_says_by_what_it_runs(installed):
    found = locate(NAME)
    assert found.name == NAME
    assert found.identity != locate(EMBEDDED).identity
    assert is_here(NAME)
    assert not is_trainable(NAME)
    assert has_embedded_weights(NAME)
    assert not is_embedded(NAME)


@pytest.mark.parametrize("name", ["all alike 8", NAME])
def test_it_runs_sentence_encoders_alone(installed, name):
    with raises_problem("openvino_encoder", encoder=name):
        locate(OPENVINO + name)


def test_without_the_package_the_name_says_what_to_install(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with raises_problem("openvino_missing"):
        locate(NAME)
