"""The first screen of each check: few words and controls, and nothing that axe finds."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import script, violations
from tests.browser.doctor.test_number import opened
from tests.browser.first_screen import words_and_controls
from tests.browser.serving import Server

pytestmark = pytest.mark.browser

WORDS, CONTROLS = 200, 15
SCENES = (
    "",
    "value=0.693",
    "door=data",
    "door=data&set=practice_english",
    "door=data&set=graded_english&for=cosine_mse",
    "door=run",
    "door=run&log=learned_by_heart",
)


@pytest.mark.parametrize("locale", ["en-US", "zh-CN"])
def test_each_check_opens_with_one_answer(
    new_page: Callable[..., Page], server: Server, locale: str, subtests: pytest.Subtests
) -> None:
    page = new_page(locale=locale)
    for scenario in SCENES:
        with subtests.test(scene=scenario):
            opened(page, server.address, scenario)
            expect(page.locator("#doctor-main .lp-finding").first).to_be_visible()
            page.wait_for_function("window.lossprism.page('doctor').flying === 0")
            words, controls = words_and_controls(page)
            assert words <= WORDS
            assert controls <= CONTROLS
            # One sentence, with a remedy of one sentence; the rest is behind ⓘ or folded.
            first = page.locator("#doctor-main .lp-finding").first
            assert first.locator(".lp-finding-sentence").count() == 1
            assert first.locator("details[open]").count() == 0


QUESTIONS = {"": "#lp-doctor-value", "door=data": "#lp-doctor-from", "door=run": "#lp-doctor-by"}


@pytest.mark.parametrize("locale", ["en-US", "zh-CN"])
@pytest.mark.parametrize(("width", "height"), [(720, 450), (390, 844)])
def test_heading_answer_and_question_are_on_one_narrow_screen(
    new_page: Callable[..., Page], server: Server, locale: str, width: int, height: int
) -> None:
    """At 200 % zoom and on a phone; what is known beside the question is in a drawer."""
    page = new_page(width=width, height=height, locale=locale)
    for scenario, question in QUESTIONS.items():
        opened(page, server.address, scenario)
        for name in ("[role=tab]", question, "h1", ".lp-finding-sentence"):
            box = page.locator(f"main {name}").first.bounding_box()
            assert box is not None
            assert 0 <= box["y"] <= box["y"] + box["height"] <= height, (scenario, name)
    batch = page.locator("#lp-run-batch")
    expect(batch).to_be_hidden()
    page.click("#lp-drawer")
    expect(batch).to_be_in_viewport()


@pytest.mark.thorough
@pytest.mark.parametrize("locale", ["en-US", "zh-CN"])
@pytest.mark.parametrize(("width", "height"), [(1440, 900), (390, 844)])
def test_axe_finds_nothing(
    new_page: Callable[..., Page], server: Server, locale: str, width: int, height: int
) -> None:
    axe = script()
    page = new_page(width=width, height=height, locale=locale)
    for scenario in ("", "door=data", "door=run"):
        opened(page, server.address, scenario)
        expect(page.locator("#doctor-main .lp-finding").first).to_be_visible()
        assert violations(page, axe) == [], scenario
