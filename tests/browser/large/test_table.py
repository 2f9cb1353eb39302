"""The table of all pairs, and the page on a telephone and in another language."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from lossprism.explorer.lab.large.loss_matrix_methods import offered
from lossprism.explorer.locale import say
from tests.browser.large.steering import PROBLEM, opened_page, redrawn
from tests.browser.reading import number
from tests.browser.serving import Server
from tests.sentences import wording

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

    assert column(4) == sorted(column(4))
    assert column(4)[0] < 0
    redone(lambda: large.locator("#large-large_pairs th[data-column=score] button").click())
    assert column(3) == sorted(column(3), reverse=True)
    highest = column(3)
    redone(lambda: large.click("#lp-large-next"))
    assert max(column(3)) <= min(highest)
    redone(lambda: large.fill("#lp-large-search", "label = 3"))
    assert set(column(2)) == {3}
    redone(lambda: large.fill("#lp-large-search", "label = 3, gradient < 0"))
    assert set(column(2)) == {3}
    assert max(column(4)) < 0
    large.fill("#lp-large-search", "gradient <")
    expect(large.locator(".lp-search")).to_contain_text(
        wording("problem.large_search", text="gradient <")
    )
    redone(lambda: large.fill("#lp-large-search", "#777"))
    assert column(1) == [777]
    redone(lambda: large.fill("#lp-large-search", "no such words"))
    expect(large.locator("#large-large_pairs")).to_contain_text("0 pairs")


def test_both_languages_and_a_telephone(new_page, server: Server) -> None:
    page = opened_page(new_page(width=390, height=800, locale="zh-CN"), server.address)
    seen = page.evaluate("document.body.innerText")
    assert say("zh", "page.large") in seen
    assert not re.search(r"\blarge\.[a-z_.]+", seen)  # no key without its words
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.click("#lp-language")
    expect(page.locator("#large-large_terms h2")).to_have_text(say("en", "ui.heaviest"))
    # Every number of a row is in sight.
    for part in ("large_pairs", "large_terms"):
        for cell in page.locator(f"#large-{part} tbody tr").first.locator("td").all():
            box = cell.bounding_box()
            assert box["width"] > 0
            assert box["x"] + box["width"] <= 390


def test_losses_are_named_in_the_language_of_the_page(large: Page) -> None:
    with redrawn(large):
        large.select_option("#lp-large-loss", "pairwise_hinge")
    options = large.locator("#lp-large-loss option")
    for language in ("zh", "en"):
        large.click("#lp-language")
        names = {name: say(language, f"loss.{name}.title") for name in offered()}
        heading = large.locator("#large-large_figures h1")
        expect(heading).to_have_text(names["pairwise_hinge"])  # its words are fetched first
        shown = options.evaluate_all("all => all.map((one) => [one.value, one.textContent])")
        assert dict(shown) == names
        large.select_option("#lp-large-loss", "info_nce")  # takes fewer
        problem = large.locator(PROBLEM)
        expect(problem).to_contain_text(names["info_nce"])
        expect(problem).to_contain_text(names["pairwise_hinge"])  # what is in view
        with redrawn(large):
            large.select_option("#lp-large-loss", "pairwise_hinge")
