"""What the bare address of a page stands for in figures."""

from __future__ import annotations

import pytest

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import OPENING
from lossprism.explorer.lab.learn.lessons import BY_NAME
from lossprism.explorer.web import site
from lossprism.explorer.web.api.endpoints import figure
from lossprism.explorer.web.pages.compare.questions import OPENING as FIRST
from lossprism.explorer.web.pages.compare.questions import QUESTIONS
from lossprism.explorer.web.pages.doctor.state_entries import EXAMPLES
from lossprism.explorer.web.pages.opening_scenarios import opening_scenario, opening_scenarios
from tests.sentences import raises_problem

DRAWN = {"", "compare", "doctor", "learn", *(f"learn/{name}" for name in BY_NAME)}
HOSTS = ("/", "http://127.0.0.1:7860/", "https://huggingface.co/spaces/somebody/losses/")


@pytest.mark.parametrize("host", HOSTS)
def test_a_page_is_drawn_or_refused(host):
    for path in (path for paths in site.paths_of_pages().values() for path in paths):
        if path in DRAWN:
            assert opening_scenario(host + path) == opening_scenarios(path)[0]
        else:
            with raises_problem("figure_page"):
                opening_scenario(host + path)


@pytest.mark.parametrize(
    "text",
    ["#1.abc", "1.abc", "/doctor#value=1", "/?scene=1.abc", "scene.json", "/compare#1=cosent"],
)
def test_a_link_and_a_file_are_no_bare_address(text):
    assert opening_scenario(text) is None


def test_each_page_opens_with_its_own_scenario():
    assert opening_scenarios("") == [OPENING]
    compared = opening_scenarios("compare")
    assert [one.loss for one in compared] == [one.loss for one in QUESTIONS[FIRST].sides]
    number = float(EXAMPLES[0]["value"])
    explored = explore(opening_scenarios("doctor")[0])
    assert float(explored.trace.loss) == pytest.approx(number, abs=5e-4)
    lever = BY_NAME["temperature"].steps[0].lever
    [taught] = opening_scenarios("learn/temperature")
    assert taught.loss == "info_nce"
    assert dict(taught.parameters)["temperature"] == lever.stops[lever.goal]


@pytest.mark.parametrize("path", sorted(DRAWN))
def test_every_opening_can_be_drawn(path):
    drawn = figure(scene=f"/{path}")
    assert drawn["svg"].startswith("<svg")


def test_a_page_without_a_scenario_is_refused_in_words():
    with raises_problem("figure_page"):
        figure(scene="/large")
