"""Sentence encoders that OpenVINO runs: "openvino:" before their name."""

from __future__ import annotations

import importlib.util
import itertools

import numpy as np
import pytest

from lossprism.explorer.core.cosine_error_of_approximate_encoders import (
    MAX_SENTENCES,
    largest_error,
)
from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.remarks import remarks
from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.sources.encoders import (
    approximated_by,
    encode,
    is_here,
    is_trainable,
    locate,
)
from lossprism.explorer.sources.encoders.bundled_encoder import (
    EMBEDDED,
    OPENVINO,
    OPENVINO_INT8,
    has_embedded_weights,
    is_embedded,
)
from lossprism.explorer.sources.encoders.safe_model_loading import forget
from tests.sentences import raises_problem

NAME, NAME_INT8 = OPENVINO + EMBEDDED, OPENVINO_INT8 + EMBEDDED
WORDS = ("small", "old", "third"), ("fox", "tax form", "river"), ("sleeps", "is late", "grew")
TEXTS = [f"the {' '.join(words)}" for words in itertools.product(*WORDS)]
MODULE = "lossprism.explorer.core.cosine_error_of_approximate_encoders"
PACKAGES = ("openvino", "nncf")
LENGTHS = (0, 1, 2, 5, 40, 41, 120, 254, 255, 256, 900)  # words; the model reads 256 tokens


@pytest.fixture
def installed(monkeypatch):
    """As if the package were there: nothing is loaded by looking for an encoder."""
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name in PACKAGES or find(name))


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


def test_8_bits_move_cosines_and_the_page_says_by_how_much():
    pytest.importorskip("openvino")
    pytest.importorskip("nncf")
    given, exact = (vectors @ vectors.T for vectors in (encode(TEXTS, NAME_INT8), encode(TEXTS)))
    error = largest_error(TEXTS, NAME_INT8)
    assert error is not None
    assert error.sentences == len(TEXTS)
    assert error.largest == pytest.approx(np.abs(given - exact).max(), abs=1e-6)
    assert 1e-4 < error.largest < 0.05
    rows = tuple((text, text + " again", "1") for text in TEXTS)
    found = explore(Scenario(Data("table", rows=rows, encoder=NAME_INT8), loss="info_nce"))
    assert "encoder_error" in {one.key for one in remarks(found)}


def test_the_error_is_the_largest_difference_of_cosines(monkeypatch):
    """On the first sentences, each once; of an encoder that rounds none it is None."""
    exact = np.eye(3, 4, dtype=np.float32)
    rounded = exact + np.float32([0.1, 0, 0, 0])
    given = {NAME_INT8: rounded, EMBEDDED: exact}
    asked = []
    monkeypatch.setattr(f"{MODULE}.locate", lambda name: name)

    def vectors_of(sentences, name):
        asked.append(sentences)
        return given[name]

    monkeypatch.setattr(f"{MODULE}.vectors_of", vectors_of)
    unit = rounded / np.linalg.norm(rounded, axis=1, keepdims=True)
    error = largest_error(["a", "b", "a", "c"], NAME_INT8)
    assert error.largest == pytest.approx(np.abs(unit @ unit.T - exact @ exact.T).max())
    assert asked == [("a", "b", "c")] * 2
    largest_error([str(place) for place in range(MAX_SENTENCES + 5)], NAME_INT8)
    assert len(asked[-1]) == MAX_SENTENCES
    assert largest_error(["a"], EMBEDDED) is None
    assert largest_error(["a"], NAME) is None


@pytest.mark.parametrize(("name", "exact"), [(NAME, ""), (NAME_INT8, EMBEDDED)])
def test_its_name_says_by_what_it_runs(installed, name, exact):
    found = locate(name)
    assert found.name == name
    assert len({locate(one).identity for one in (NAME, NAME_INT8, EMBEDDED)}) == 3
    assert is_here(name)
    assert not is_trainable(name)
    assert has_embedded_weights(name)
    assert not is_embedded(name)
    assert approximated_by(name) == exact


@pytest.mark.parametrize("prefix", [OPENVINO, OPENVINO_INT8])
@pytest.mark.parametrize("name", ["all alike 8", NAME])
def test_it_runs_sentence_encoders_alone(installed, prefix, name):
    with raises_problem("openvino_encoder", encoder=name, prefix=prefix):
        locate(prefix + name)


@pytest.mark.parametrize(("missing", "name"), [("openvino", NAME), ("nncf", NAME_INT8)])
def test_without_a_package_the_name_says_what_to_install(installed, monkeypatch, missing, name):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda one: None if one == missing else find(one)
    )
    with raises_problem("openvino_missing", package=missing):
        locate(name)
