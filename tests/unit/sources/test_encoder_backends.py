"""A kind of encoder is one module of the package: every page, command and call then knows it."""

from __future__ import annotations

import base64
import json
import sys

import numpy as np
import pytest

from lossprism.explorer import cli
from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.lab.compare.loss_comparison import Side, compare
from lossprism.explorer.lab.doctor.pair_dataset_checks_by_encoder import encode_pairs
from lossprism.explorer.lab.doctor.pair_table_profile import profiled
from lossprism.explorer.runtime.owner_consent import with_consent
from lossprism.explorer.sources import encoders
from lossprism.explorer.sources.encoders import check_consent, encode, is_here, is_trainable, locate
from lossprism.explorer.sources.encoders.safe_model_loading import ModelFolder
from lossprism.explorer.sources.pairs import Pairs
from lossprism.explorer.web.pages.large import request_handlers as large
from lossprism.explorer.web.pages.large import uploaded_file_description
from tests.sentences import raises_problem

PATIENCE = 900  # seconds, on a machine that has other things to do
MODULE = '''
"""Encoders called "letters of WORD": how often a sentence has each letter of the word."""

import numpy as np

from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.encoders.encoder_interface import Backend, Encoder

START = "letters of "


class Letters(Encoder):
    def encode(self, sentences, device=None):
        word = self.name.removeprefix(START)
        return np.array([[s.count(one) for one in word] for s in sentences], dtype=np.float32)


def find(name):
    if name == START.strip():
        raise Problem("encoder_id", about="encoder", encoder=name)
    return Letters(name, identity=name)


BACKEND = Backend(takes=lambda name: name.startswith(START.strip()), find=find)
'''
NAME = "letters of abcdef"
ROWS = (("abc", "abd", "1"), ("fad", "fee", "0.5"), ("decaf", "beef", "0"))
FIRST, SECOND, LABELS = zip(*ROWS, strict=True)


def vectors_of(sentences):
    return np.array([[s.count(one) for one in "abcdef"] for s in sentences], dtype=np.float32)


def cosines():
    one, other = vectors_of(FIRST), vectors_of(SECOND)
    lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    return (one * other).sum(axis=1) / lengths


@pytest.fixture
def letters(tmp_path, monkeypatch):
    """A further module of the package, in a folder of its own."""
    (tmp_path / "letters_of_tests.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.setattr(encoders, "__path__", [*encoders.__path__, str(tmp_path)])
    monkeypatch.setattr(encoders, "BACKENDS", encoders.discovered())
    monkeypatch.setenv("LOSSPRISM_CACHE", str(tmp_path / "cache"))
    yield
    del sys.modules[f"{encoders.__name__}.letters_of_tests"]


def test_explore_and_compare_know_it(letters):
    scenario = Scenario(data=Data(source="table", rows=ROWS, encoder=NAME))
    np.testing.assert_allclose(explore(scenario).batch.plain_scores, cosines(), atol=1e-6)
    found = compare(scenario, (Side("cosent"), Side("circle")))
    np.testing.assert_allclose(found.batch.plain_scores, cosines(), atol=1e-6)
    assert all(outcome.stands for outcome in found.sides)


def test_a_guide_and_a_teacher_may_be_of_it(letters):
    data = Data(example="graded_lists", guide=NAME, teacher_model=NAME)
    batch = explore(Scenario(data=data, loss="gist")).batch
    np.testing.assert_array_equal(batch.guide, vectors_of(batch.pairs.sentences))
    np.testing.assert_array_equal(batch.teacher_vectors, vectors_of(batch.pairs.sentences))


def test_large_knows_it(letters):
    text = "".join(
        f"{a},{b},{label}\n" for a, b, label in (("sentence1", "sentence2", "score"), *ROWS)
    )
    content = base64.b64encode(text.encode()).decode()
    file = uploaded_file_description.hand_in({"name": "rows.csv", "content": content}).file
    source = {"kind": "file", "file": file, "name": "rows.csv", "encoder": NAME}
    query = large.read_query({"source": source})
    job = large.start_opening(query)
    assert job.wait(PATIENCE)
    batch = job.result().batch
    np.testing.assert_allclose(batch.scores, cosines()[batch.entry], atol=1e-6)


def test_doctor_knows_it(letters, tmp_path, monkeypatch, capsys):
    file = tmp_path / "rows.jsonl"
    pairs = [
        {"sentence1": f"{a} {n}", "sentence2": f"{b} {n}"} for n in range(8) for a, b, _ in ROWS
    ]
    file.write_text("\n".join(map(json.dumps, pairs)), encoding="utf-8")
    command = ["app.py", "doctor", str(file), "--loss", "info_nce", "--encoder", NAME, "--json"]
    monkeypatch.setattr(sys, "argv", command)
    cli.main()
    answer = json.loads(capsys.readouterr().out)
    assert answer["encoded"]["encoder"] == NAME
    assert answer["encoded"]["bands"][0]["mean"] == pytest.approx(cosines().mean(), abs=1e-3)


def test_its_own_refusals_reach_the_user(letters):
    with raises_problem("encoder_id", encoder="letters of"):
        explore(Scenario(data=Data(source="table", rows=ROWS, encoder="letters of")))


def test_what_it_does_not_say_has_an_answer(letters):
    with with_consent({}):
        check_consent(NAME)  # nothing of it is fetched
    assert is_here(NAME)
    assert not is_trainable(NAME)
    with raises_problem("cross_not_cross"):
        locate(NAME).score(["a"], ["b"])
    assert locate(NAME).token_lengths(["a"]) is None


def test_a_module_gone_is_a_name_like_any_other():
    with raises_problem("encoder_id"):
        encode(["a"], NAME)


def test_vectors_that_depend_on_the_whole_batch_are_made_of_the_whole():
    """With "all apart" each sentence has a dimension: no part of a dataset has its vectors."""
    first = tuple(f"query {place}" for place in range(600))
    second = tuple(f"key {place}" for place in range(600))
    pairs = Pairs(first, second, (1.0,) * 600, labelled=False)
    seen = encode_pairs(profiled(pairs), "all apart", 600, lambda *far: None)
    assert not seen.cosines.any()
    assert not seen.near.any()
    assert not np.nan_to_num(seen.negatives).any()


@pytest.mark.parametrize("name", ["all-MiniLM-L6-v2", " sentence-transformers/all-MiniLM-L6-v2 "])
def test_the_embedded_encoder_has_one_identity_under_its_names(name):
    found = locate(name)
    assert isinstance(found, ModelFolder)
    assert (found, is_here(name), is_trainable(name)) == (locate("all-MiniLM-L6-v2"), True, True)
