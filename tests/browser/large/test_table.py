"""The table of all pairs, and the page on a telephone and in another language."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from explorer.lab.large.methods import offered
from explorer.locale import say
from tests.browser.large.steering import CHANNEL, PROBLEM, opened_page, redrawn
from tests.browser.reading import number
from tests.browser.serving import Server

pytestmark = pytest.mark.browser


def test_the_table_is_sorted_searched_and_turned(large: Page) -> None:
    rows = large.locator("#large-large_pairs tbody tr")

    def column(place: int) -> list[float]:
        texts = rows.locator(f"td:nth-child({place})").all_inner_texts()
        return [number(text.replace("#", "").replace("\u202f", "")) for text in texts]

    def redone(act: Callable[[], None]) -> None:
        body = large.locator("#large-large_pairs tbody")
        before = body.get_attribute("data-drawn")
        act()
        expect(body).not_to_have_attribute("data-drawn", before)

    assert column(5) == sorted(column(5))
    assert column(5)[0] < 0
    redone(lambda: large.locator("#large-large_pairs th[data-column=score] button").click())
    assert column(4) == sorted(column(4), reverse=True)
    highest = column(4)
    redone(lambda: large.click("#lp-large-next"))
    assert max(column(4)) <= min(highest)
    redone(lambda: large.fill("#lp-large-search", "label = 3"))
    assert set(column(3)) == {3}
    redone(lambda: large.fill("#lp-large-search", "label = 3, gradient < 0"))
    assert set(column(3)) == {3}
    assert max(column(5)) < 0
    large.fill("#lp-large-search", "gradient <")
    expect(large.locator(".lp-search")).to_contain_text("“gradient <” is no condition")
    redone(lambda: large.fill("#lp-large-search", "#777"))
    assert column(1) == [777]
    redone(lambda: large.fill("#lp-large-search", "no such words"))
    expect(large.locator("#large-large_pairs")).to_contain_text("0 pairs")


def test_both_languages_and_a_telephone(new_page, server: Server) -> None:
    page = opened_page(new_page(width=390, height=800, locale="zh-CN"), server.address)
    seen = page.evaluate("document.body.innerText")
    assert "大批次" in seen
    assert not re.search(r"\blarge\.[a-z_.]+", seen)  # no key without its words
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.click("#lp-language")
    expect(page.locator("#large-large_terms h2")).to_have_text("Heaviest terms")


def test_losses_are_named_in_the_language_of_the_page(new_page, server: Server) -> None:
    page = new_page(locale="zh-CN")
    page.goto(f"{server.address}/large#loss=info_nce&pairs=20000")
    expect(page.locator(PROBLEM)).to_contain_text("InfoNCE 在")
    page.select_option("#lp-large-loss", "pairwise_hinge")
    page.wait_for_function(f"{CHANNEL}.details")
    options = page.locator("#lp-large-loss option")
    for language in ("zh", "en"):
        names = {name: say(language, f"loss.{name}.title") for name in offered()}
        heading = page.locator("#large-large_figures h1")
        expect(heading).to_have_text(names["pairwise_hinge"])  # its words are fetched first
        shown = options.evaluate_all("all => all.map((one) => [one.value, one.textContent])")
        assert dict(shown) == names
        page.select_option("#lp-large-loss", "siglip")  # takes fewer
        expect(page.locator(PROBLEM)).to_contain_text(names["pairwise_hinge"])  # what is in view
        with redrawn(page):
            page.select_option("#lp-large-loss", "pairwise_hinge")
        page.click("#lp-language")


def test_a_telephone_shows_every_number_of_a_row(new_page, server: Server) -> None:
    page = opened_page(new_page(width=390, height=800), server.address)
    for part in ("large_pairs", "large_terms"):
        for cell in page.locator(f"#large-{part} tbody tr").first.locator("td").all():
            box = cell.bounding_box()
            assert box["width"] > 0
            assert box["x"] + box["width"] <= 390
