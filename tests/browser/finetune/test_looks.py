"""The looks: nothing too wide, nothing unreadable, all of it reachable and named."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser import axe
from tests.browser.finetune.steering import led, settled
from tests.browser.reading import TWO_FRAMES, walk_by_keyboard

pytestmark = pytest.mark.browser


# The narrowest and the widest in both languages, those between in one.
WIDTHS = {"en": (1440, 760, 390), "zh": (1440, 1100, 390)}


# What can be used or read aloud and has no name.
NAMELESS = """() => Array.from(document.querySelectorAll(
    ".lp button, .lp input, .lp select, .lp [role=img]"))
  .filter((one) => one.offsetParent && !one.labels?.length && !one.textContent.trim()
    && !one.ariaLabel && !one.getAttribute("aria-label") && !one.title)
  .map((one) => one.outerHTML.slice(0, 120))"""


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


@pytest.mark.thorough
@pytest.mark.parametrize("state", ["empty", "finished", "beside"])
def test_nothing_is_too_wide_or_unreadable_and_all_of_it_is_named_and_reached_by_keyboard(
    finetune: Page, request: pytest.FixtureRequest, axe_script: str, state: str
) -> None:
    page = finetune if state == "empty" else led(finetune, request.getfixturevalue(state))
    for language in ("en", "zh"):
        expect(page.locator("html")).to_have_attribute("lang", re.compile(f"^{language}"))
        settled(page, state)
        if state == "beside":
            assert page.locator(".lp-printed td").count() > 20
        for width in WIDTHS[language]:
            page.set_viewport_size({"width": width, "height": 900})
            page.evaluate(TWO_FRAMES)  # figures follow the width
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (language, width)
            assert page.evaluate(UNREADABLE) == [], (language, width)
        if language == "zh" and state != "finished":
            no_violation(page, axe_script, state)
        page.set_viewport_size({"width": 1440, "height": 900})
        page.click("#lp-language")
    settled(page, state)
    assert page.evaluate(NAMELESS) == []
    if state == "finished":  # with another run beside it nothing is missing of what one run has
        return
    count, missed, unseen = walk_by_keyboard(page)
    assert count > 30
    assert missed == []
    assert unseen == []
    page.click("#lp-theme")
    assert page.evaluate("document.body.classList.contains('dark')")
    no_violation(page, axe_script, state)


def no_violation(page: Page, axe_script: str, state: str) -> None:
    """Of what axe calls serious, a curve being read as a table."""
    table = page.locator(".lp-chart").first.get_by_role("button").first
    if state != "empty":
        table.click()
    assert axe.violations(page, axe_script) == []
    if state != "empty":
        table.click()
