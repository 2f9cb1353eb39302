"""What went wrong, and what would put it right, here and in another process."""

from __future__ import annotations

import json

import pytest

from lossprism.explorer.runtime.problem import Problem


def test_a_problem_survives_its_json():
    problem = Problem("encoder_not_found", about="encoder", encoder="nobody/nothing")
    answer = json.loads(json.dumps(problem.to_json()))
    assert answer["about"] == "encoder"
    again = Problem.from_json(answer)
    assert (str(again), again.key, again.about) == (str(problem), problem.key, "encoder")


def test_what_an_older_run_wrote_is_read_too():
    assert Problem.from_json({"key": "problem.no_pairs", "values": {}}).about == ""


def test_what_it_is_about_is_one_of_a_few():
    with pytest.raises(ValueError, match="about is 'weather'; it must be one of"):
        Problem("no_pairs", about="weather")
