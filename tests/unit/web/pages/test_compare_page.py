"""The Compare page: the answers to its questions hold, and what is kept is what it computes."""

from __future__ import annotations

import json
import math

import pytest

from lossprism.explorer.core.batch import make_batch
from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Data, Rules, Scenario
from lossprism.explorer.lab.compare.compared_losses import ComparisonCache, compare
from lossprism.explorer.lab.compare.comparison_results import Side
from lossprism.explorer.lab.compare.split_batch import mechanics
from lossprism.explorer.lab.compare.vector_collapse import collapsing
from lossprism.explorer.lab.compare.what_if import Change, what_if
from lossprism.explorer.lab.sweep import curves
from lossprism.explorer.locale import LANGUAGES, catalogue
from lossprism.explorer.sources.textbook import load_example
from lossprism.explorer.web.pages.compare.questions import QUESTIONS
from lossprism.explorer.web.pages.compare.requests import SERVED
from lossprism.explorer.web.pages.compare.state_entries import compare_table
from lossprism.losses import LOSSES
from tests.wire import by_name

ASK = by_name(SERVED)


def scenes_of(name: str) -> tuple[Scenario, list[Side]]:
    asked = QUESTIONS[name]
    sides = [Side(one.loss, one.convention, tuple(one.parameters.items())) for one in asked.sides]
    return Scenario(data=Data(example=asked.example), rules=Rules(**asked.rules)), sides


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_can_be_asked_and_is_answered_in_words(name):
    scenario, sides = scenes_of(name)
    found = compare(scenario, sides)
    assert all(one.stands for one in found.sides)
    entries = {entry.name for entry in compare_table()}
    assert QUESTIONS[name].state.keys() <= entries
    for language in LANGUAGES:
        assert {f"compare.question.{name}", f"compare.answer.{name}"} <= catalogue(language).keys()


def test_two_temperatures_have_two_scales_and_the_loss_falls_and_rises():
    scenario, sides = scenes_of("temperatures")
    figures = [one.figures for one in compare(scenario, sides).sides]
    assert len({one.floor for one in figures}) == len(figures)
    assert len({one.collapse for one in figures}) == 1
    losses = curves(sides[0].scene(scenario), "temperature", points=41).loss
    least = losses.index(min(losses))
    assert 0 < least < len(losses) - 1


def test_where_losses_end_is_their_collapse_value_and_one_ends_lower_than_it_was():
    scenario, sides = scenes_of("collapse")
    batch = make_batch(scenario.data, scenario.rules)
    found = collapsing([side.scene(scenario) for side in sides], batch, 3)
    assert all(way.arrives for way in found.ways)
    assert {way.loss for way in found.falling} >= {"multi_similarity", "online_contrastive"}
    ends = {way.loss: way.values[-1] for way in found.ways}
    assert ends["info_nce"] == pytest.approx(math.log(8))
    assert ends["siglip"] == pytest.approx(8 * math.log(2))
    assert ends["triplet"] == 1  # the margin


def test_of_eight_pairs_alone_multi_similarity_falls_as_they_collapse():
    pairs = load_example("hard_negatives")
    rows = tuple((a, b, "1") for a, b, label in pairs.rows if label == "1")
    data = Data(source="table", rows=rows)
    side = Side("multi_similarity", "", (("mined", False),))
    scene = side.scene(Scenario(data=data))
    (way,) = collapsing([scene], make_batch(data, scene.rules), 3).ways
    assert len(rows) == 8
    assert [way.values[0], way.values[-1]] == pytest.approx([0.583, 0.401], abs=5e-4)


def test_a_shift_is_noticed_by_those_with_a_target_alone():
    scenario, sides = scenes_of("only_the_order")
    batch = make_batch(scenario.data, scenario.rules)
    change = Change("shift", by=QUESTIONS["only_the_order"].state["by"])
    found = what_if([side.scene(scenario) for side in sides], batch, change)
    assert {one.loss for one in found if one.notices} == {"cosine_mse"}


def test_a_query_alone_has_no_negative_and_a_cached_batch_is_the_whole():
    scenario, sides = scenes_of("small_batches")
    e = explore(sides[0].scene(scenario))
    assert e.loss == pytest.approx(0.0285, abs=5e-5)
    assert mechanics(e, "micro", 1).loss == pytest.approx(0, abs=1e-9)
    cosent = explore(sides[1].scene(scenario))
    cut = mechanics(cosent, "micro", 4)
    assert cut.comparisons < cut.whole_comparisons
    assert not cut.equal


def test_the_four_numbers_of_ranknet_are_one_number():
    scenario, sides = scenes_of("libraries")
    found = compare(scenario, sides)
    total, by_n, mean, per_bit = (one.figures.loss for one in found.sides)
    ordered = found.sides[0].figures.ordered
    assert by_n == pytest.approx(total / len(found.batch), rel=1e-6)
    assert mean == pytest.approx(total / ordered, rel=1e-6)
    assert per_bit == pytest.approx(mean / 0.6931471805599453, rel=1e-6)


def test_contrastive_losses_of_one_name_are_48_times_apart():
    scenario, sides = scenes_of("contrastive")
    losses = [one.figures.loss for one in compare(scenario, sides).sides]
    assert losses == pytest.approx([0.0466, 0.828, 1.058, 2.239], abs=6e-4)
    assert max(losses) / min(losses) == pytest.approx(48, abs=0.5)


def test_a_margin_of_five_keeps_every_triplet():
    scenario, sides = scenes_of("margins")
    wide, middle, narrow = (one.figures for one in compare(scenario, sides).sides)
    assert (wide.moving, middle.moving, narrow.moving) == (12, 8, 3)
    assert {one.terms for one in (wide, middle, narrow)} == {12}
    assert wide.loss == pytest.approx(4.877, abs=5e-4)
    assert wide.floor == 3
    assert (middle.floor, narrow.floor) == (0, 0)


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


def asked(**more):
    sides = [{"loss": one, "convention": "", "parameters": {}} for one in ("cosent", "circle")]
    return json.loads(
        json.dumps(ASK["compare"]({"scenario": {}, "sides": sides, "look": True, **more}))
    )


def test_a_step_that_the_page_has_goes_by_its_name():
    first = asked()
    names = [one["name"] for one in first["sides"]]
    assert len(set(names)) == 2
    again = asked(held=names[:1])
    assert [one["looked"] is None for one in again["sides"]] == [True, False]
    looked = [one["sides"][1]["looked"]["shown"] for one in (first, again)]
    assert looked[0] == looked[1]
    # Another step, or another order of the pairs, is another one.
    assert asked(at=[0], held=names)["sides"][0]["looked"]["chosen"] == 0
    sorted_by = {"view": {"order": "entry"}}
    assert asked(scenario=sorted_by, held=names)["sides"][0]["looked"] is not None


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
    assert asked(**more)["error"]["key"] == key


def test_every_loss_stands_beside_itself():
    """All 48, each against CoSENT: those that cannot run on the example say why."""
    for name in LOSSES:
        sides = [{"loss": one, "convention": "", "parameters": {}} for one in (name, "cosent")]
        first, other = ASK["compare"]({"scenario": {}, "sides": sides})["sides"]
        assert (first["figures"] is None) == (first["problem"] is not None), name
        assert other["figures"] is not None
