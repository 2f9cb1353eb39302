"""What the bare address of a page stands for in figures."""

from __future__ import annotations

import re

import numpy as np
import pytest

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import OPENING, Data, Rules, Scenario
from lossprism.explorer.lab.compare.comparison_results import Side
from lossprism.explorer.lab.learn.lessons import BY_NAME
from lossprism.explorer.lab.map.sentence_map import map_of_scenario
from lossprism.explorer.locale import LANGUAGES
from lossprism.explorer.sources.practice_sentences import practice_pairs
from lossprism.explorer.sources.textbook import IN_LANGUAGE
from lossprism.explorer.web import site
from lossprism.explorer.web.api.endpoint_functions import figure
from lossprism.explorer.web.pages.compare.questions import OPENING as FIRST
from lossprism.explorer.web.pages.compare.questions import QUESTIONS
from lossprism.explorer.web.pages.doctor.state_entries import EXAMPLES
from lossprism.explorer.web.pages.figure_of_scenario_or_page import opening, write_figure
from lossprism.explorer.web.pages.finetune.state_entries import first_plan
from lossprism.explorer.web.pages.opening_scenarios import opening_scenarios
from lossprism.explorer.web.pages.svg_of_opening_views import FIGURES, sentences, sphere
from tests.sentences import raises_problem

OPENED = ("", "compare", "doctor", "finetune", "learn", *(f"learn/{name}" for name in BY_NAME))
HOSTS = ("/", "http://127.0.0.1:7860/", "https://huggingface.co/spaces/somebody/losses/")


@pytest.mark.parametrize("host", HOSTS)
def test_every_page_is_drawn_by_its_address(host):
    paths = {path for paths in site.paths_of_pages().values() for path in paths}
    assert paths == {*OPENED, *FIGURES}
    for path in OPENED:
        assert opening(host + path) == opening_scenarios(path)[0]
    for path, draw in FIGURES.items():
        assert opening(host + path) is draw


@pytest.mark.parametrize(
    "text",
    ["#1.abc", "1.abc", "/doctor#value=1", "/?scene=1.abc", "scene.json", "/compare#1=cosent"],
)
def test_a_link_and_a_file_are_no_bare_address(text):
    assert opening(text) is None


def test_each_page_opens_with_its_own_scenario():
    assert opening_scenarios("") == [OPENING]
    compared = opening_scenarios("compare")
    assert [one.loss for one in compared] == [one.loss for one in QUESTIONS[FIRST["en"]].sides]
    number = float(EXAMPLES[0]["value"])
    explored = explore(opening_scenarios("doctor")[0])
    assert float(explored.trace.loss) == pytest.approx(number, abs=5e-4)
    lever = BY_NAME["temperature"].steps[0].lever
    [taught] = opening_scenarios("learn/temperature")
    assert taught.loss == "info_nce"
    assert dict(taught.parameters)["temperature"] == lever.stops[lever.goal]


@pytest.mark.parametrize("language", LANGUAGES)
def test_compare_opens_on_pairs_of_which_some_are_pulled_and_some_are_pushed(language):
    question = QUESTIONS[FIRST[language]]
    example = IN_LANGUAGE.get(language, {}).get(question.example, question.example)
    rules = Rules(extra_negatives=question.extra_negatives)
    for one in question.sides[:2]:
        side = Side(one.loss, one.convention, tuple(one.parameters.items()))
        scenario = side.applied_to(Scenario(data=Data(example=example), rules=rules))
        gradient = explore(scenario).pair_gradient
        assert min((gradient < 0).sum(), (gradient > 0).sum()) >= len(gradient) / 4


def test_each_language_opens_with_its_own_examples():
    [explore_en], [explore_zh] = opening_scenarios(""), opening_scenarios("", "zh")
    assert explore_zh.data.example == IN_LANGUAGE["zh"][explore_en.data.example]
    compared = opening_scenarios("compare", "zh")
    assert [one.loss for one in compared] == [one.loss for one in QUESTIONS[FIRST["zh"]].sides]
    [practised] = opening_scenarios("finetune", "zh")
    assert practised.data.rows[0][:2] == practice_pairs("practice_chinese")[0][:2]


def test_finetune_opens_with_the_first_practice_pairs():
    [practised] = opening_scenarios("finetune")
    assert practised.loss == first_plan()["loss"]
    explored = explore(practised)
    pairs = explored.batch.pairs
    assert [*zip(pairs.first, pairs.second, pairs.labels, strict=True)] == [
        *practice_pairs(first_plan()["data"]["practice"])[: len(pairs)]
    ]


@pytest.mark.parametrize("path", OPENED)
def test_every_opening_can_be_drawn(path):
    drawn = figure(scene=f"/{path}")
    assert drawn["svg"].startswith("<svg")
    assert drawn["scene"]


@pytest.mark.parametrize("path", FIGURES)
def test_a_page_without_a_scenario_is_drawn_as_what_it_shows(path):
    english = figure(scene=f"/{path}")
    assert english["kind"] == "page"
    assert not english["scene"]
    chinese = figure(scene=f"/{path}", language="zh", dark=True, format="html")["html"]
    assert "<svg" in chinese
    assert re.search("[一-鿿]", chinese)
    assert not re.search("[一-鿿]", english["svg"])


@pytest.mark.parametrize("path", ["", "compare", "learn/claims"])
def test_the_file_of_a_page_is_what_the_api_answers(path, tmp_path):
    out = tmp_path / "figure.html"
    assert write_figure(f"/{path}", out) == ""
    assert out.read_text(encoding="utf-8") == figure(scene=f"/{path}", format="html")["html"]


def test_pictures_show_their_numbers():
    """The points after the film are in one place, and the widest line is of the largest
    gradient."""
    dots = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)" fill="#[^>]* r="5"', sphere())
    before, after = dots[: len(dots) // 2], dots[len(dots) // 2 :]
    assert len({*before}) > 20
    assert max(float(x) for x, _ in after) - min(float(x) for x, _ in after) < 2
    widths = [float(one) for one in re.findall(r'<line [^>]*stroke-width="([\d.]+)"', sentences())]
    gradients = map_of_scenario(Scenario(), "pca").frames[0].gradient
    lines = widths[: len(gradients)]
    assert lines.index(max(lines)) == np.abs(gradients).argmax()


def test_a_page_that_does_not_exist_is_refused_in_words():
    with raises_problem("figure_page"):
        figure(scene="/learn/nothing")
