"""Lessons, walked as a student and as a lecturer walks them."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from lossprism.explorer.lab.learn.lesson_types import with_parameters
from lossprism.explorer.lab.learn.lessons import BY_NAME, LECTURE, LESSONS, moments
from lossprism.explorer.locale import say
from tests.browser.axe import script, violations
from tests.browser.serving import Server
from tests.sentences import wording

DRAWN = "window.lossprism?.page('learn')?.drawn"
MOST_WORDS, MOST_CONTROLS = 90, 8
# Words and controls in sight, without what leads elsewhere and the names in a picture.
WORDS = """() => {
  const lesson = document.querySelector(".lp-lesson");
  const walker = document.createTreeWalker(lesson, NodeFilter.SHOW_TEXT);
  const words = [];
  while (walker.nextNode()) {
    const { parentElement: of, textContent } = walker.currentNode;
    const counts = of.checkVisibility() && !of.closest(".lp-pictures, .lp-onward, .lp-place");
    if (counts) words.push(...textContent.trim().split(/\\s+/).filter(Boolean));
  }
  return words.length;
}"""
CONTROLS = """() => [...document.querySelectorAll(
    ".lp-lesson :is(button:not(.lp-next), summary, input, select, canvas[tabindex])")]
  .filter((one) => one.checkVisibility() && !one.closest(".lp-plot")).length"""


def opened(page: Page, server: Server, path: str) -> Page:
    page.goto(f"{server.address}/{path}", wait_until="domcontentloaded")
    page.wait_for_function(DRAWN)
    return page


def lever(page: Page) -> Locator:
    return page.locator(".lp-lesson-lever input")


def to_goal(page: Page, name: str, place: int = 0) -> None:
    step = BY_NAME[name].steps[place]
    lever(page).focus()
    for _ in range(step.lever.goal):
        page.keyboard.press("ArrowRight")


def predict(page: Page, name: str, right: bool, place: int = 0) -> None:
    """Choose an answer, or mark a place of the axis, that is right or is not."""
    step = BY_NAME[name].steps[place]
    requested, goal = step.prediction, moments(name, place)[step.lever.goal]
    value = goal.numbers[requested.of]
    if requested.answers:
        wanted = requested.answered_by(value)
        answer = next(at for at, one in enumerate(requested.answers) if (one == wanted) == right)
        page.locator(".lp-answer").nth(answer).click()
        return
    far = requested.low if value - requested.low > requested.near else requested.high
    page.locator(".lp-mark input").fill(str(round(value, 2) if right else far))
    page.locator(".lp-mark .lp-answer").click()


STEPS = [(one.name, place) for one in LESSONS for place in range(len(one.steps))]


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "place"), STEPS)
def test_a_lesson_is_walked_with_a_wrong_and_a_right_prediction(
    new_page: Callable[..., Page], server: Server, name: str, place: int
) -> None:
    page = opened(new_page(), server, f"learn/{name}" + (f"#step={place + 1}" if place else ""))
    verdict, conclusion = page.locator(".lp-verdict-of-guess"), page.locator(".lp-conclusion")
    expect(lever(page)).to_be_disabled()
    predict(page, name, False, place)
    expect(lever(page)).to_be_enabled()
    expect(conclusion).to_have_count(0)
    to_goal(page, name, place)
    expect(verdict).to_contain_text("Measured:")
    assert page.evaluate(WORDS) <= MOST_WORDS
    assert page.evaluate(CONTROLS) <= MOST_CONTROLS
    assert page.evaluate("document.documentElement.scrollHeight") <= 900  # without scrolling
    predict(page, name, True, place)
    expect(verdict).to_contain_text("Right")
    axe = script()
    assert violations(page, axe) == []
    page.click("#lp-theme")
    page.keyboard.press("l")
    expect(verdict).to_have_text(wording("learn.right", "zh"))
    assert "{" not in conclusion.inner_text()
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function("document.documentElement.scrollWidth <= 390")
    assert violations(page, axe) == []
    # The link opens the same: prediction, lever and answer.
    page.wait_for_function("location.hash.includes('shown')")
    page.reload()
    page.wait_for_function(DRAWN)
    expect(verdict).to_be_visible()


def test_a_lecture_is_walked_by_one_key_and_a_lesson_stands_alone_in_a_frame(
    new_page: Callable[..., Page], server: Server
) -> None:
    page = opened(new_page(), server, "learn#list=margin,duplicate")
    cards = page.locator(".lp-cards a")
    expect(cards).to_have_count(2)
    page.locator(".lp-landing > details summary").click()
    chosen = page.locator("#lp-list button")
    chosen.filter(has_text=say("en", "learn.order.title")).click()
    expect(cards).to_have_count(3)
    chosen.filter(has_text=say("en", "learn.order.title")).click()
    expect(chosen.and_(page.locator("[aria-pressed=true]"))).to_have_text(
        [
            f"{at}. {say('en', f'learn.{name}.title')}"
            for at, name in ((2, "duplicate"), (1, "margin"))
        ]
    )
    page.locator("h1").click()
    page.keyboard.press("PageDown")
    page.wait_for_url("**/learn/margin#list=margin*")
    page.wait_for_function(DRAWN)
    expect(lever(page)).to_be_enabled()  # whoever teaches asks the room
    expect(page.locator(".lp-conclusion")).to_have_count(0)
    page.keyboard.press("PageDown")
    expect(page.locator(".lp-conclusion")).to_contain_text(
        wording("learn.margin.1.conclusion", floor=3)
    )
    page.locator(".lp-look summary").first.click()
    with page.expect_download() as taken:
        page.locator(".lp-downloads [data-say='take.svg']").click()
    assert "learn.curve" not in taken.value.path().read_text(encoding="utf-8")
    page.keyboard.press("PageDown")
    page.wait_for_url("**/learn/duplicate#list=margin*")
    page.wait_for_function(DRAWN)
    page.keyboard.press("PageUp")
    page.wait_for_url("**/learn/margin#list=margin*")
    page.wait_for_function(DRAWN)

    # Back to a lesson of two steps: to its last.
    opened(page, server, "learn/margin#list=order,margin")
    page.locator("h1").click()
    page.keyboard.press("PageUp")
    page.wait_for_url("**/learn/order#step=2&list=order*")
    page.wait_for_function(DRAWN)
    page.keyboard.press("PageUp")
    page.wait_for_function("!location.hash.includes('step')")

    opened(page, server, "learn/duplicate?embed")
    expect(page.locator("#learn-header")).to_be_hidden()
    expect(page.locator("h1")).to_be_visible()

    # Progress stays in this browser; the loss of a lesson opens on Explore.
    predict(page, "duplicate", right=True)
    to_goal(page, "duplicate")
    page.locator(".lp-look summary").first.click()
    with page.expect_download() as taken:
        page.locator(".lp-downloads [data-say='take.svg']").click()
    assert taken.value.suggested_filename == "lossprism-duplicate.svg"
    page.locator(".lp-onward a").click()
    page.wait_for_function("window.lossprism?.page()?.drawn")
    scenario = page.evaluate("window.lossprism.page().scenario")
    assert (scenario["loss"], scenario["data"]["example"]) == ("info_nce", "hard_negatives")
    opened(page, server, "learn")
    expect(page.locator(".lp-cards li", has_text="✓")).to_have_count(2)


def test_back_leads_to_the_step_before_with_its_own_numbers(
    new_page: Callable[..., Page], server: Server
) -> None:
    page = opened(new_page(), server, "learn/order")
    question = page.locator(".lp-lesson-question")
    numbers = {"cosent": "19.12"}
    predict(page, "order", right=True)
    to_goal(page, "order")
    page.wait_for_function("location.hash.includes('shown')")
    page.locator(".lp-next").click()
    page.wait_for_function(f"location.hash.includes('step=2') && {DRAWN}")
    page.go_back()
    expect(question).to_have_text(say("en", "learn.order.1.question", **numbers))
    expect(page.locator(".lp-conclusion")).to_contain_text(
        wording("learn.order.1.conclusion", cosent="19.12")
    )
    page.go_forward()
    expect(question).to_have_text(say("en", "learn.order.2.question"))
    expect(page.locator(".lp-lesson-figures dt")).to_have_text(
        ["CoSENT", say("en", "learn.figure.same_scale")]
    )
    expect(page.locator(".lp-conclusion")).to_have_count(0)


@pytest.mark.thorough
def test_a_lecture_of_90_minutes_is_given_without_scrolling(
    new_page: Callable[..., Page], server: Server
) -> None:
    """Each step with its answer is on one screen, by Page Down alone."""
    page = opened(new_page(), server, "learn")
    page.locator(".lp-landing > details summary").click()
    page.get_by_role("button", name=say("en", "learn.lecture")).click()
    expect(page.locator(".lp-cards a")).to_have_count(len(LECTURE))
    page.wait_for_function("location.hash.includes('list')")
    page.reload()  # as the link opens for whoever gives it
    page.wait_for_function(DRAWN)
    too_tall = []
    if page.evaluate("document.documentElement.scrollHeight") > 900:
        too_tall.append(("list", 0))
    page.locator("h1").click()
    for name in LECTURE:
        page.keyboard.press("PageDown")
        page.wait_for_url(f"**/learn/{name}#list=*")
        for place in range(len(BY_NAME[name].steps)):
            if place:
                page.keyboard.press("PageDown")
                page.wait_for_url(f"**/learn/{name}#step={place + 1}*")
            page.wait_for_function(DRAWN)
            page.keyboard.press("PageDown")
            expect(page.locator(".lp-conclusion")).to_be_visible()
            if page.evaluate("document.documentElement.scrollHeight") > 900:
                too_tall.append((name, place))
    assert too_tall == []


def test_a_lesson_opens_on_ones_own_batch_with_the_lever_where_it_stands(
    new_page: Callable[..., Page], server: Server
) -> None:
    page = opened(new_page(), server, "learn/temperature")
    predict(page, "temperature", right=True)
    to_goal(page, "temperature")
    value = BY_NAME["temperature"].steps[0].lever.stops[BY_NAME["temperature"].steps[0].lever.goal]
    link = page.locator(".lp-onward a").first
    expect(link).to_have_attribute("href", re.compile(re.escape(_link_at(value))))
    page.locator(".lp-look summary").first.click()
    with page.expect_download() as taken:
        page.locator(".lp-downloads [data-say='take.page']").click()
    html = taken.value.path().read_text(encoding="utf-8")
    assert html.startswith("<!doctype html>")
    assert html.count("<svg") == 1
    assert "<script" not in html


def _link_at(temperature: float) -> str:
    step = BY_NAME["temperature"].steps[0]
    return with_parameters(step.scenario, temperature=temperature).to_link()
