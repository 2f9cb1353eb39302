"""A scenario goes to JSON and to a link and comes back the same; anything else is refused."""

from __future__ import annotations

import base64
import dataclasses
import json
import zlib

import pytest

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Data, Reading, Rules, Scenario, View
from lossprism.explorer.lab.compare.loss_comparison import Side
from lossprism.explorer.lab.training.plan import TrainingPlan
from lossprism.explorer.runtime.deployment_policy import HOSTED
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.random_batch import RandomBatch
from lossprism.explorer.web.pages.explore.loss_facts import describe_loss
from lossprism.losses import LOSSES
from tests.hostile import nested
from tests.sentences import raises_problem

FORMER = [
    (name, former, today)
    for name, spec in LOSSES.items()
    for former, today in spec.former_conventions.items()
]

FULL = Scenario(
    data=Data(
        source="table",
        rows=(
            ("A cat sleeps.", "一只猫在睡觉。", "4,5"),
            ('say "hi"\t', "", "x"),
            ("😀", "‮abc", "0"),
        ),
        file="my pairs.csv",
        reading=Reading(
            total=9,
            encoding="UTF-8",
            limited=True,
            drawn=True,
            left_out=6,
            reasons=((2, "problem.score_missing", (("column", "score"),)),),
        ),
        random=RandomBatch(pairs=17, seed=3, labels="binary"),
        encoder="org/model",
        cross_encoder="org/cross",
        guide="org/guide",
        teacher_model="org/teacher",
    ),
    rules=Rules(
        threshold=2.5, label_range=(-1.0, 5.0), extra_negatives=False, prototypes="1 2\n3 4"
    ),
    loss="info_nce",
    convention="",
    parameters=(("temperature", 0.07), ("symmetric", True)),
    view=View(
        step=3,
        facet="gradient",
        order="score",
        pinned=(1, 4),
        marked=(0, 3),
        colour_range=(-0.5, 2.0),
    ),
)


@pytest.mark.parametrize("scenario", [Scenario(), FULL])
def test_to_json_and_back(scenario):
    through_text = json.loads(json.dumps(scenario.to_json()))
    assert Scenario.from_json(through_text) == scenario


@pytest.mark.parametrize("scenario", [Scenario(), FULL])
def test_to_a_link_and_back(scenario):
    link = scenario.to_link()
    assert Scenario.from_link(link) == scenario
    assert set(link) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.")


def test_every_single_entry_survives_a_link():
    """Whatever differs from the default is in the link, also alone."""
    for part in ("data", "rules", "view"):
        for entry in dataclasses.fields(getattr(FULL, part)):
            changed = {entry.name: getattr(getattr(FULL, part), entry.name)}
            scenario = dataclasses.replace(
                Scenario(), **{part: dataclasses.replace(getattr(Scenario(), part), **changed)}
            )
            assert Scenario.from_link(scenario.to_link()) == scenario


def test_a_link_of_before_has_the_scale_that_fits():
    old = {"data": {"example": "graded_chinese"}, "rules": {"threshold": 2.0}}
    text = base64.urlsafe_b64encode(zlib.compress(json.dumps(old).encode())).decode()
    assert Scenario.from_link(f"1.{text}").rules == Rules(threshold=2.0)


@pytest.mark.parametrize(("loss", "former", "today"), FORMER)
def test_a_link_with_the_former_name_of_a_convention_opens_it(loss, former, today):
    text = json.dumps({"loss": loss, "convention": former}).encode()
    link = f"1.{base64.urlsafe_b64encode(zlib.compress(text)).decode()}"
    scenario = Scenario.from_link(link)
    assert scenario == Scenario(loss=loss, convention=today)
    listed = dataclasses.replace(scenario.data, example="graded_lists")
    of_lists = "given" in today or "lists" in LOSSES[loss].needs
    opened = dataclasses.replace(scenario, data=listed) if of_lists else scenario
    under = LOSSES[loss].under(former)  # whose scores are those of the sentences
    assert explore(opened).spec == under.scored_as("dot" if under.score == "dot" else "cosine")
    assert Side(loss, former) == Side(loss, today)
    assert TrainingPlan(loss=loss, convention=former).convention == today
    assert describe_loss(LOSSES[loss]).former[former] == today


def test_a_convention_that_never_was_stays_unknown():
    scenario = Scenario(loss="info_nce", convention="sentence-transformers 1.0")
    with raises_problem("unknown_convention", name="sentence-transformers 1.0"):
        explore(scenario)


def test_a_loss_after_the_rest_of_a_link_takes_the_place_of_its_own():
    """With its defaults, on the same rows by the same rules."""
    scenario = Scenario.from_link(f"{FULL.to_link()}.siglip")
    assert (scenario.data, scenario.rules) == (FULL.data, FULL.rules)
    assert scenario == Scenario(data=FULL.data, rules=FULL.rules, loss="siglip")
    assert Scenario.from_link(scenario.to_link()) == scenario


def test_the_default_scenario_has_a_short_link():
    assert len(Scenario().to_link()) < 30


def test_lone_surrogates_survive():
    rows = (("\ud800", "b", "1"),)
    scenario = dataclasses.replace(Scenario(), data=Data(source="table", rows=rows))
    assert Scenario.from_link(scenario.to_link()) == scenario


def test_an_unknown_version_is_named():
    with raises_problem("link_version", version="9"):
        Scenario.from_link("9.abcdef")


@pytest.mark.parametrize("cut", [1, 2, 5, 20])
def test_a_link_cut_short_is_called_damaged(cut):
    with raises_problem("link_damaged"):
        Scenario.from_link(FULL.to_link()[:-cut])


@pytest.mark.parametrize("body", ["", "!!!", "AAAA", "eNo=", "中文"])
def test_nonsense_is_called_damaged(body):
    with raises_problem("link_damaged"):
        Scenario.from_link(f"1.{body}")


def test_a_link_that_unpacks_to_very_much_is_refused():
    bomb = base64.urlsafe_b64encode(zlib.compress(b'"' + b"a" * 40_000_000 + b'"', 9)).decode()
    with raises_problem("link_damaged"):
        Scenario.from_link(f"1.{bomb}")


@pytest.mark.parametrize(
    ("chosen", "where"),
    [
        ({"data": {"source": "web"}}, "scenario.data.source"),
        ({"data": {"rows": [["a", "b"]]}}, r"scenario.data.rows\[1\]"),
        ({"data": {"reading": {"left_out": "many"}}}, "scenario.data.reading.left_out"),
        ({"data": {"reading": {"reasons": [1]}}}, "scenario.data.reading.reasons"),
        ({"data": {"reading": {"reasons": [[1, "a", "b"]]}}}, "scenario.data.reading.reasons"),
        ({"data": {"random": {"pairs": "many"}}}, "scenario.data.random.pairs"),
        ({"view": {"facet": "<b>"}}, "scenario.view.facet"),
        ({"view": {"pinned": [1]}}, "scenario.view.pinned"),
        ({"view": {"marked": [1.5]}}, "scenario.view.marked"),
        ({"view": {"marked": 1}}, "scenario.view.marked"),
        ({"view": {"colour_range": [2, 1]}}, "scenario.view.colour_range"),
        ({"view": {"colour_range": [0, "inf"]}}, "scenario.view.colour_range"),
        ({"view": {"colour_range": 3}}, "scenario.view.colour_range"),
        ({"view": {"step": True}}, "scenario.view.step"),
        ({"rules": {"threshold": "high"}}, "scenario.rules.threshold"),
        ({"rules": {"label_range": [1]}}, "scenario.rules.label_range"),
        ({"rules": {"label_range": [1, "5"]}}, "scenario.rules.label_range"),
        ({"rules": {"label_range": [0, float("inf")]}}, "scenario.rules.label_range"),
        ({"rules": {"extra_negatives": 1}}, "scenario.rules.extra_negatives"),
        ({"data": {"reading": {"reasons": [[float("inf"), "a", []]]}}}, "scenario.data.reading.r"),
        ({"data": {"reading": {"draw": {"size": -1}}}}, "scenario.data.reading.draw.size"),
        ({"data": {"reading": {"draw": {"number": 10**12}}}}, "scenario.data.reading.draw.number"),
        ({"data": {"reading": {"draw": {"seed": 10**400}}}}, "scenario.data.reading.draw.seed"),
        ({"data": {"random": {"pairs": 10**400}}}, "scenario.data.random.pairs"),
        ({"view": {"step": 10**400}}, "scenario.view.step"),
        ({"view": {"pinned": [0, 10**20]}}, "scenario.view.pinned"),
        ({"parameters": {"scale": {"deep": 1}}}, "scenario.parameters.scale"),
        ({"parameters": {"scale": [[1]]}}, "scenario.parameters.scale"),
        ({"parameters": {"scale": 10**400}}, "scenario.parameters.scale"),
        ({"loss": nested(200_000)}, "scenario.loss"),
        ({"loss": 7}, "scenario.loss"),
        ({"parameters": [1]}, "scenario.parameters"),
        ({"colour": "red"}, "scenario.colour"),
        ([], "scenario"),
        (None, "scenario"),
    ],
)
def test_what_does_not_fit_is_named_by_its_place(chosen, where):
    with pytest.raises(Problem, match=where):
        Scenario.from_json(chosen)


def test_a_range_of_labels_that_runs_backwards_is_refused():
    with raises_problem("label_range", low=5, high=1):
        Scenario.from_json({"rules": {"label_range": [5, 1]}})


@pytest.mark.parametrize("depth", [900, 200_000])
def test_what_is_too_deep_to_be_read_is_damaged(depth):
    deep = '{"parameters":' * depth + "1" + "}" * depth
    link = f"1.{base64.urlsafe_b64encode(zlib.compress(deep.encode())).decode()}"
    for read, text in ((Scenario.from_text, deep), (Scenario.from_link, link)):
        with pytest.raises(Problem) as caught:
            read(text)
        damaged = ("scene_file_damaged", "link_damaged", "scenario_entry")
        assert caught.value.key.removeprefix("problem.") in damaged


def test_a_scenario_file_may_begin_with_a_mark_of_its_encoding():
    assert Scenario.from_text("\ufeff" + json.dumps(FULL.to_json())) == FULL


def test_what_is_not_shown_is_not_passed_on():
    assert FULL.shown() == FULL
    example = dataclasses.replace(FULL, data=dataclasses.replace(FULL.data, source="example"))
    passed_on = Scenario.from_link(example.shown().to_link())
    assert (passed_on.data.rows, passed_on.data.file) == ((), "")
    assert passed_on.data.reading == Reading()
    assert passed_on.data.encoder == FULL.data.encoder
    assert passed_on.rules == FULL.rules


def test_a_scenario_of_a_shared_page_has_so_many_letters_in_its_rows(monkeypatch):
    rows = [["a" * 1000, "b", "1"]] * 1000
    for name in ("rows", "corrections"):
        scenario = {"data": {"source": "table", name: rows}}
        monkeypatch.delenv(HOSTED, raising=False)
        monkeypatch.delenv("SPACE_ID", raising=False)
        assert len(getattr(Scenario.from_json(scenario).data, name)) == 1000
        monkeypatch.setenv(HOSTED, "1")
        assert len(getattr(Scenario.from_json(scenario).data, name)) == 1000
        monkeypatch.setenv("LOSSPRISM_SCENE_MIB", "1")
        with raises_problem("scene_too_large_here"):
            Scenario.from_json(scenario)
        monkeypatch.delenv("LOSSPRISM_SCENE_MIB")
