"""The Compare page: its questions are answered, and what is kept is what it computes."""

from __future__ import annotations

import dataclasses
import json

import pytest

from lossprism.explorer.core.batch import make_batch
from lossprism.explorer.core.scenario import Data, Rules, Scenario
from lossprism.explorer.lab.compare.comparison_results import Side
from lossprism.explorer.lab.compare.loss_comparison import ComparisonCache, compare
from lossprism.explorer.lab.compare.losses_towards_collapse import collapsing
from lossprism.explorer.locale import LANGUAGES, catalogue, say
from lossprism.explorer.sources.textbook import load_example
from lossprism.explorer.web.pages.compare.questions import QUESTIONS
from lossprism.explorer.web.pages.compare.request_handlers import SERVED
from lossprism.explorer.web.pages.compare.state_entries import compare_table
from lossprism.losses import LOSSES
from tests.wire import by_name

ASK = by_name(SERVED)


def of_question(name: str, **more):
    """What the page asks for when it opens a question."""
    question = QUESTIONS[name]
    scenario = Scenario(
        data=Data(example=question.example),
        rules=Rules(extra_negatives=question.extra_negatives),
    )
    sides = [dataclasses.asdict(one) for one in question.sides]
    request = {"scenario": scenario.to_json(), "sides": sides, "question": name, **more}
    return json.loads(json.dumps(ASK["compare"](request)))


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_is_answered_beside_its_losses(name):
    found = of_question(name)
    assert all(one["figures"] for one in found["sides"])
    assert found["answer"]["key"].startswith(f"compare.answer.{name}.")
    for language in LANGUAGES:
        words = say(language, found["answer"]["key"], **found["answer"]["values"])
        assert f"compare.question.{name}" in catalogue(language)
        assert "{" not in words
    entries = {entry.name for entry in compare_table()}
    assert QUESTIONS[name].state.keys() <= entries


def test_other_losses_or_no_question_have_no_answer():
    sides = [{"loss": "cosent", "convention": "", "parameters": {}}] * 2
    assert "answer" not in of_question("temperature", sides=sides)
    for question in ("", "nothing like it", 3, None):
        assert "answer" not in of_question("temperature", question=question)


def test_of_eight_pairs_alone_multi_similarity_falls_as_they_collapse():
    pairs = load_example("hard_negatives")
    rows = tuple((a, b, "1") for a, b, label in pairs.rows if label == "1")
    data = Data(source="table", rows=rows)
    side = Side("multi_similarity", "", (("mined", False),))
    scenario = side.applied_to(Scenario(data=data))
    (way,) = collapsing([scenario], make_batch(data, scenario.rules), 3).ways
    assert len(rows) == 8
    assert [way.values[0], way.values[-1]] == pytest.approx([0.583, 0.401], abs=5e-4)


# ---- What is kept


def test_what_is_kept_is_what_would_be_computed():
    kept, scenario = ComparisonCache(), Scenario()
    first = [Side("cosent"), Side("info_nce"), Side("list_net")]
    moved = [Side("info_nce"), Side("cosent", "", (("scale", 5.0),)), Side("cosent")]
    seen = []
    compare(scenario, first, kept=kept)
    again = compare(scenario, moved, see=lambda place, _: seen.append(place), kept=kept)
    assert seen == [1]  # the others stood there before
    plain = compare(scenario, moved)
    assert [one.figures for one in again.sides] == [one.figures for one in plain.sides]
    assert again.between == plain.between


def test_values_that_are_equal_numbers_are_not_one_side():
    kept = ComparisonCache()
    whole = compare(Scenario(), [Side("cosent", "", (("scale", 1),)), Side("info_nce")], kept=kept)
    odd = compare(Scenario(), [Side("cosent", "", (("scale", True),)), Side("info_nce")], kept=kept)
    assert whole.sides[0].stands
    assert not odd.sides[0].stands


def requested(**more):
    sides = [{"loss": one, "convention": "", "parameters": {}} for one in ("cosent", "circle")]
    return json.loads(
        json.dumps(ASK["compare"]({"scenario": {}, "sides": sides, "look": True, **more}))
    )


def test_a_step_that_the_page_has_goes_by_its_name():
    first = requested()
    names = [one["name"] for one in first["sides"]]
    assert len(set(names)) == 2
    again = requested(held=names[:1])
    assert [one["looked"] is None for one in again["sides"]] == [True, False]
    looked = [one["sides"][1]["looked"]["shown"] for one in (first, again)]
    assert looked[0] == looked[1]
    # Another step, or another order of the pairs, is another one.
    assert requested(at=[0], held=names)["sides"][0]["looked"]["chosen"] == 0
    sorted_by = {"view": {"order": "entry"}}
    assert requested(scenario=sorted_by, held=names)["sides"][0]["looked"] is not None


@pytest.mark.parametrize(
    ("more", "key"),
    [
        ({"sides": []}, "problem.compare_sides"),
        ({"sides": [{"loss": "cosent"}] * 7}, "problem.compare_sides"),
        ({"sides": "cosent"}, "problem.scenario_entry"),
        ({"sides": [{"convention": ""}, {"loss": "cosent"}]}, "problem.scenario_entry"),
        ({"sides": [{"loss": "cosent", "odd": 1}, {"loss": "cosent"}]}, "problem.scenario_entry"),
        ({"at": "1"}, "problem.scenario_entry"),
        ({"at": [1.5]}, "problem.scenario_entry"),
    ],
)
def test_what_is_no_comparison_is_refused(more, key):
    assert requested(**more)["error"]["key"] == key


def test_every_loss_stands_beside_itself():
    """All 48, each against CoSENT: those that cannot run on the example say why."""
    for name in LOSSES:
        sides = [{"loss": one, "convention": "", "parameters": {}} for one in (name, "cosent")]
        first, other = ASK["compare"]({"scenario": {}, "sides": sides})["sides"]
        assert (first["figures"] is None) == (first["problem"] is not None), name
        assert other["figures"] is not None
