"""The address of the page is the whole scenario."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from lossprism.explorer.core.scenario import Scenario
from tests.browser.reading import (
    PROBLEM,
    choose,
    clear_table,
    loss_shown,
    redrawn,
    slider,
    sound,
    still,
    table_rows,
    type_pair,
    unfold,
    visit,
)
from tests.browser.serving import Server

pytestmark = pytest.mark.browser


PAIRS = [["猫在睡觉。", "The cat sleeps.", "1"], ["a “quoted” <b>word</b>", "another", "0"]]


HALF = Scenario(loss="siglip", parameters=(("scale", 7.0),)).to_link()[:-12]


@pytest.mark.encoder
def test_a_link_opens_the_same_scenario(page: Page, new_page: Callable[..., Page]) -> None:
    clear_table(page)
    with redrawn(page):
        for row, cells in enumerate(PAIRS, 1):
            type_pair(page, row, *cells)
    choose(page, "weighted_cosent")
    with redrawn(page):
        slider(page, "scale")[1].fill("7.5")
    with redrawn(page):
        page.locator("#main-derivation .lp-step").nth(3).click()
    still(page)
    other = visit(new_page(), page.url)
    assert loss_shown(other) == loss_shown(page)
    assert other.locator("h1").inner_text() == page.locator("h1").inner_text()
    assert slider(other, "scale")[1].input_value() == "7.5"
    steps = other.locator("#main-derivation .lp-step")
    expect(steps.nth(3)).to_have_attribute("aria-current", "step")
    unfold(other, "ui.pairs")
    assert table_rows(other) == PAIRS


BAD = {
    HALF: "damaged",
    "99.abc": "99",
    "%3Cimg%20src=x%20onerror=window.pwned=1%3E": "damaged",
}


def test_a_bad_link_shows_a_problem_and_the_page_works(
    new_page: Callable[..., Page], server: Server, subtests: pytest.Subtests
) -> None:
    """That which the page is opened with, and those that follow it."""
    page = new_page()
    for turn, (link, message) in enumerate(BAD.items()):
        with subtests.test(link=link):
            if turn:
                page.evaluate("link => { location.hash = link; }", link)
            else:
                visit(page, f"{server.address}/#{link}")
            expect(page.locator(PROBLEM)).to_be_visible()
            assert message in page.locator(PROBLEM).inner_text().lower()
            with redrawn(page):
                slider(page, "scale")[1].fill(str(10 + turn))
            expect(page.locator(PROBLEM)).to_be_hidden()
            sound(page)
            assert page.evaluate("window.pwned") is None
