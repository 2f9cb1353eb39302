"""The first screen of each check: few words and controls, and nothing that axe finds."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import script, violations
from tests.browser.doctor.test_number import PAGE, opened
from tests.browser.first_screen import words_and_controls
from tests.browser.reading import TWO_FRAMES
from tests.browser.serving import Server

pytestmark = pytest.mark.browser

WORDS, CONTROLS = 200, 15
WIDE = {"width": 1440, "height": 900}
SCENES = (
    "",
    "value=0.693",
    "door=data",
    "door=data&set=practice_english",
    "door=data&set=graded_english&for=cosine_mse",
    "door=run",
    "door=run&log=learned_by_heart",
)


# What is asked in each check, at its first scenario.
QUESTIONS = {"": "#lp-doctor-value", "door=data": "#lp-doctor-from", "door=run": "#lp-doctor-by"}
# At 200 % zoom and on a phone.
NARROW = ((720, 450), (390, 844))


CHINESE = pytest.param("zh-CN", marks=pytest.mark.thorough)


@pytest.mark.parametrize("locale", ["en-US", CHINESE])
def test_each_check_opens_with_one_answer_that_a_narrow_screen_has_beside_its_question(
    new_page: Callable[..., Page], server: Server, locale: str, subtests: pytest.Subtests
) -> None:
    page = new_page(locale=locale)
    for scenario in SCENES:
        with subtests.test(scene=scenario):
            answered(page, server.address, scenario)
            words, controls = words_and_controls(page)
            assert words <= WORDS
            assert controls <= CONTROLS
            # One sentence, with a remedy of one sentence; the rest is behind ⓘ or folded.
            first = page.locator("#doctor-main .lp-finding").first
            assert first.locator(".lp-finding-sentence").count() == 1
            assert first.locator("details[open]").count() == 0
            for width, height in NARROW if scenario in QUESTIONS else ():
                page.set_viewport_size({"width": width, "height": height})
                answered_on_one_screen(page, QUESTIONS[scenario], height)
                if scenario == "door=run":
                    what_is_known_is_in_the_drawer(page)
            page.set_viewport_size(WIDE)


# Of an address that differs after the # alone, the answer to the scenario before would do.
ANSWERED = f"""(scenario) => {{
  const {{ history, flying, requests, data, run }} = {PAGE};
  const due = [requests, data.requests, run.requests].some((one) => one.due || one.waiting);
  return history.text === scenario && !flying && !due;
}}"""


def answered(page: Page, address: str, scenario: str) -> None:
    """Open the scenario and wait for its own answer."""
    opened(page, address, scenario)
    page.wait_for_function(ANSWERED, arg=scenario)
    expect(page.locator("#doctor-main .lp-finding").first).to_be_visible()


def answered_on_one_screen(page: Page, question: str, height: int) -> None:
    page.evaluate(TWO_FRAMES)
    for name in ("[role=tab]", question, "h1", ".lp-finding-sentence"):
        box = page.locator(f"main {name}").first.bounding_box()
        assert box is not None
        assert 0 <= box["y"] <= box["y"] + box["height"] <= height, name


def what_is_known_is_in_the_drawer(page: Page) -> None:
    batch = page.locator("#lp-run-batch")
    expect(batch).to_be_hidden()
    page.click("#lp-drawer")
    expect(batch).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(batch).to_be_hidden()


@pytest.mark.thorough
@pytest.mark.parametrize("locale", ["en-US", "zh-CN"])
@pytest.mark.parametrize(("width", "height"), [(1440, 900), (390, 844)])
def test_axe_finds_nothing(
    new_page: Callable[..., Page], server: Server, locale: str, width: int, height: int
) -> None:
    axe = script()
    page = new_page(width=width, height=height, locale=locale)
    for scenario in ("", "door=data", "door=run"):
        answered(page, server.address, scenario)
        assert violations(page, axe) == [], scenario
