"""A hosted page shows nobody a path of the machine."""

from __future__ import annotations

import errno
import os
import sys
import tempfile
from pathlib import Path

import pytest

from lossprism.explorer.runtime.deployment_policy import HOSTED
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.redaction import without_places

PLACES = [Path.home(), Path.cwd(), Path(tempfile.gettempdir()), Path(sys.prefix), Path(__file__)]
SENTENCES = [
    "{}",
    "[Errno 2] No such file: '{}'",
    'File "{}", line 3',
    "in {}: broken",
    "({}), <{}>",
    "file://{}",
    "path={}",
    "{}/",
]


@pytest.mark.parametrize("place", PLACES, ids=str)
@pytest.mark.parametrize("sentence", SENTENCES)
def test_of_a_path_the_last_part_is_left(place, sentence):
    path = place / "deep" / "pairs.csv"
    found = without_places(sentence.replace("{}", str(path)))
    assert found == sentence.replace("{}/", "{}").replace("{}", "pairs.csv")


@pytest.mark.parametrize(
    "text",
    [
        "and/or",
        "a / b",
        "https://example.org/tmp/a",
        "some-org/model",
        "/nowhere/here",
        "\\frac{a}",
    ],
)
def test_what_is_no_place_of_this_machine_stays(text):
    assert without_places(text) == text


@pytest.mark.parametrize("hosted", [True, False])
@pytest.mark.parametrize("kind", ["path", "text", "error"])
def test_a_problem_shows_paths_to_the_owner_alone(hosted, kind, monkeypatch):
    monkeypatch.setenv(HOSTED, "1" if hosted else "")
    path = Path(tempfile.gettempdir()) / "somebody" / "runs"
    values = {
        "path": path,
        "text": f"denied: {path}",
        "error": PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path)),
    }
    problem = Problem("training_no_folder", folder="runs", reason=values[kind])
    for message in (
        str(problem),
        str(problem.to_json()),
        str(Problem.from_json(problem.to_json())),
    ):
        assert (str(path) in message) != hosted
        assert "runs" in message
