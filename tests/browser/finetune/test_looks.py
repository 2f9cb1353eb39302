"""The looks: nothing too wide, nothing unreadable, all of it reachable and named."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser import axe
from tests.browser.finetune.steering import TRACE, begin, settled, wait_for
from tests.browser.reading import walk_by_keyboard

pytestmark = pytest.mark.browser


def place_of(request: pytest.FixtureRequest, state: str) -> str:
    return "" if state == "empty" else f"#{request.getfixturevalue(state)}"


STATES = pytest.mark.parametrize("state", ["empty", "finished", "beside"])


# What can be used or read aloud and has no name.
NAMELESS = """() => Array.from(document.querySelectorAll(
    ".lp button, .lp input, .lp select, .lp [role=img]"))
  .filter((one) => one.offsetParent && !one.labels?.length && !one.textContent.trim()
    && !one.ariaLabel && !one.getAttribute("aria-label") && !one.title)
  .map((one) => one.outerHTML.slice(0, 120))"""


@STATES
def test_nothing_is_too_wide_and_all_of_it_is_named_and_reached_by_keyboard(
    open_page: Callable[..., Page], request: pytest.FixtureRequest, state: str
) -> None:
    page = open_page(place_of(request, state))
    for language in ("en", "zh"):
        expect(page.locator("html")).to_have_attribute("lang", re.compile(f"^{language}"))
        settled(page, state)
        for width in (1440, 1100, 760, 390):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (language, width)
        page.set_viewport_size({"width": 1440, "height": 900})
        page.click("#lp-language")
    settled(page, state)
    assert page.evaluate(NAMELESS) == []
    count, missed, unseen = walk_by_keyboard(page)
    assert count > 30
    assert missed == []
    assert unseen == []


# The words of each figure that stand upon each other, and the numbers broken over two lines.
UNREADABLE = """() => {
  const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
  const figures = Array.from(document.querySelectorAll(".lp svg[role=img]"), (figure) => {
    const words = Array.from(figure.querySelectorAll("text"),
      (one) => [one.textContent, one.getBoundingClientRect()]);
    return words.flatMap(([one, a], i) => words.slice(i + 1)
      .filter(([, b]) => meet(a, b)).map(([other]) => `${one} on ${other}`));
  });
  const broken = Array.from(document.querySelectorAll(".lp td")).filter((cell) => {
    const range = document.createRange();
    range.selectNodeContents(cell);
    return /^[-−+±.\\d\\s]+$/.test(cell.textContent) && range.getClientRects().length > 1;
  });
  return [...figures.flat(), ...broken.map((cell) => cell.textContent)];
}"""


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("locale", ["en-US", "zh-CN"])
def test_no_word_stands_on_another_and_no_number_is_broken(
    open_page: Callable[..., Page], beside: str, width: int, locale: str
) -> None:
    page = open_page(f"#{beside}", width, locale)
    settled(page, "beside")
    assert page.locator(".lp-printed td").count() > 20
    assert page.evaluate(UNREADABLE) == []


@STATES
@pytest.mark.parametrize(
    ("width", "locale", "theme"), [(1440, "en-US", "dark"), (390, "zh-CN", "light")]
)
def test_axe_finds_nothing_serious(
    open_page: Callable[..., Page],
    request: pytest.FixtureRequest,
    axe_script: str,
    state: str,
    width: int,
    locale: str,
    theme: str,
) -> None:
    page = open_page(f"?__theme={theme}{place_of(request, state)}", width, locale)
    settled(page, state)
    if state != "empty":
        page.locator(".lp-chart").first.get_by_role("button").first.click()
    assert axe.violations(page, axe_script) == []


def test_axe_finds_nothing_serious_while_it_trains(
    open_page: Callable[..., Page], axe_script: str
) -> None:
    page = open_page("?__theme=dark")
    begin(page, steps=100_000, evaluations=1000)
    page.wait_for_function(f"{TRACE}?.evaluations.length > 2")
    assert axe.violations(page, axe_script) == []
    page.click("#lp-finetune-stop")
    wait_for(page, "stopped")
