"""Back and forward walk between the scenarios that were opened, and every tab is by itself."""

from __future__ import annotations

import random

import pytest
from playwright.sync_api import Page, expect

from lossprism.explorer.core.scenario import Scenario
from tests.browser.reading import (
    PAGE,
    PROBLEM,
    choose,
    clear_table,
    loss_shown,
    paste,
    pixels,
    redrawn,
    reload,
    slider,
    sound,
    still,
    visit,
)
from tests.browser.serving import Server
from tests.sentences import wording

pytestmark = pytest.mark.browser


TITLE = "h1"


def entries(page: Page) -> int:
    return page.evaluate("history.length")


def test_back_and_forward_walk_between_scenarios(page: Page) -> None:
    still(page)
    begun = entries(page)
    first = loss_shown(page)
    choose(page, "siglip")
    still(page)
    second = loss_shown(page)
    with redrawn(page):
        page.select_option("#lp-example", "hard_negatives")
    still(page)
    assert entries(page) == begun + 2
    with redrawn(page):
        page.go_back()
    expect(page.locator(TITLE)).to_contain_text("SigLIP")
    assert page.locator("#lp-example").input_value() == "graded_english"
    assert loss_shown(page) == second
    with redrawn(page):
        page.go_back()
    expect(page.locator(TITLE)).to_have_text("CoSENT")
    assert page.locator("#lp-loss").input_value() == "cosent"
    assert loss_shown(page) == first
    with redrawn(page):
        page.go_forward()
    assert loss_shown(page) == second
    sound(page)
    still(page)
    assert entries(page) == begun + 2


def test_a_slider_stays_in_its_entry(page: Page) -> None:
    choose(page, "siglip")
    still(page)
    begun = entries(page)
    for scale in ("3", "5", "9"):
        with redrawn(page):
            slider(page, "scale")[1].fill(scale)
        still(page)
    assert entries(page) == begun
    choose(page, "info_nce")
    still(page)
    # Back returns to the scenario as it was left.
    with redrawn(page):
        page.go_back()
    assert slider(page, "scale")[1].input_value() == "9"


def test_a_link_put_into_the_address_opens_and_back_returns(page: Page) -> None:
    still(page)
    before = loss_shown(page)
    choose(page, "siglip")
    still(page)
    link, there = page.evaluate("location.hash"), loss_shown(page)
    with redrawn(page):
        page.go_back()
    still(page)
    with redrawn(page):
        page.evaluate("link => { location.hash = link }", link)
    assert loss_shown(page) == there
    still(page)
    with redrawn(page):
        page.go_back()
    assert loss_shown(page) == before
    still(page)
    page.evaluate("link => { location.hash = link }", link[: len(link) // 2])
    expect(page.locator(PROBLEM)).to_contain_text("damaged")
    assert loss_shown(page) == before


@pytest.mark.encoder
def test_a_scenario_too_large_for_a_link_is_kept_in_the_tab(
    untouched: Page,
) -> None:
    page = untouched
    letters = random.Random(0)
    rows = [
        # One long word each, which is one token.
        ["".join(letters.choices("abcdefghijklmnopqrstuvwxyz", k=600)), f"short {i}", str(i % 3)]
        for i in range(60)
    ]
    clear_table(page)
    with redrawn(page):
        paste(page, 1, 1, "\n".join("\t".join(row) for row in rows))
    still(page)
    assert page.evaluate("location.hash") == ""
    large = loss_shown(page)
    page.click("#main-header [data-say='ui.copy_link']")
    expect(page.locator(PROBLEM)).to_contain_text(wording("ui.link_too_long"))
    reload(page)
    assert page.evaluate(f"{PAGE}.scenario.data.rows") == rows
    assert loss_shown(page) == large
    with redrawn(page):
        page.click("#lp-source-example")
    still(page)
    assert page.evaluate("location.hash").startswith("#1.")
    # Nobody who gets the example's link gets the rows, but the tab still has them.
    assert Scenario.from_link(page.evaluate("location.hash.slice(1)")).data.rows == ()
    reload(page)
    assert page.evaluate(f"{PAGE}.scenario.data.rows") == rows
    with redrawn(page):
        page.go_back()
    assert loss_shown(page) == large
    assert page.evaluate(f"{PAGE}.scenario.data.rows") == rows


def test_two_tabs_do_not_know_each_other(page: Page, server: Server) -> None:
    one, two = page, visit(page.context.new_page(), server.address)
    before, light = loss_shown(one), pixels(one)
    choose(two, "siglip")
    with redrawn(two):
        two.select_option("#lp-example", "nli_triplets")
    with redrawn(one):
        slider(one, "scale")[1].fill("7")
    still(two)
    assert one.locator("#lp-loss").input_value() == "cosent"
    assert one.locator("#lp-example").input_value() == "graded_english"
    assert two.locator("#lp-loss").input_value() == "siglip"
    assert loss_shown(one) != before
    with redrawn(one):
        slider(one, "scale")[1].fill("20")
    assert loss_shown(one) == before
    # Language and theme are the reader's, and each tab keeps its own.
    two.click("#lp-language")
    two.click("#lp-theme")
    expect(one.locator("#lp-source-table")).to_have_text("Table")
    assert pixels(one)["mark"] == light["mark"]
    two.close()
