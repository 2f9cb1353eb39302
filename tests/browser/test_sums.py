"""Losses put together in the sidebar are one loss: on Explore, in its link, on the other pages."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.locale import say
from tests.browser.compare.steering import opened_page, values
from tests.browser.reading import loss_shown, redrawn, slider, still, visit
from tests.browser.serving import Server
from tests.sentences import wording

pytestmark = pytest.mark.browser

PARTS = "#main-parts .lp-part-table >> nth=0"
NAME = "matryoshka(cosent)+angle"


def test_two_losses_are_put_together(page: Page) -> None:
    with redrawn(page):
        slider(page, "scale")[1].fill("5")
        slider(page, "scale")[1].press("Enter")
    alone = loss_shown(page)
    expect(page.locator("#main-parts")).to_be_hidden()
    with redrawn(page):
        page.select_option("#lp-combine-add", "angle")
    expect(page.locator("h1")).to_have_text("CoSENT + AnglE")
    # What was chosen for the loss is kept in the sum.
    expect(slider(page, "scale_of_cosent")[1]).to_have_value("5")
    rows = page.locator(PARTS).locator("tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.nth(0).locator("td").nth(0)).to_contain_text(f"{alone:.4g}")
    # The weight for an equal say is set, and each has half of the gradient.
    with redrawn(page):
        rows.nth(1).locator("button").click()
    shares = rows.locator("td:nth-of-type(2)").all_text_contents()
    assert shares == ["50%", "50%"]
    # On prefixes.
    with redrawn(page):
        page.locator("#lp-combine input[type=checkbox]").first.check()
    expect(page.locator("h1")).to_have_text("CoSENT on prefixes + AnglE")
    # The keyboard stays where it was.
    expect(page.locator("#lp-combine-0-prefixes")).to_be_focused()
    expect(rows).to_have_count(4)
    expect(page.locator("#main-parts")).to_contain_text(say("en", "ui.parts.dimensions"))
    weight = slider(page, "weight_of_angle")[1].input_value()
    assert float(weight) != 1
    # The link has all of it; whoever opens it has never heard of the sum.
    still(page)
    shown = loss_shown(page)
    link = page.url
    page.goto("about:blank")
    visit(page, link)
    expect(page.locator("h1")).to_have_text("CoSENT on prefixes + AnglE")
    assert loss_shown(page) == shown
    expect(slider(page, "weight_of_angle")[1]).to_have_value(weight)
    # One part is taken out again: a loss by itself.
    with redrawn(page):
        page.locator("#lp-combine .lp-part button").nth(0).click()
    expect(page.locator("h1")).to_have_text("AnglE")
    expect(page.locator("#lp-combine-add")).to_be_focused()
    expect(page.locator("#main-parts")).to_be_hidden()


def test_a_weight_beyond_the_slider_is_reported_and_not_set(page: Page, server: Server) -> None:
    """Set as far as the slider goes it would give no equal say."""
    page = visit(page, f"{server.address}/#{Scenario(loss='cosent+orthogonal').to_link()}")
    rows = page.locator(PARTS).locator("tbody tr")
    expect(rows).to_have_count(2)
    for row in range(2):  # each in terms of the other: one too small, one too large
        expect(rows.nth(row)).to_contain_text(wording("ui.parts.equal.beyond", low="0.001", high=1))
        expect(rows.nth(row).locator("button")).to_be_hidden()


def test_other_pages_know_a_sum_that_an_address_names(new_page, server: Server) -> None:
    page = new_page()
    opened_page(page, server.address, f"1=cosent&2={quote(NAME)}&2.weight_of_angle=3")
    assert len(values(page)) == 2
    expect(page.locator("body")).to_contain_text("CoSENT on prefixes + AnglE")
    page.goto(f"{server.address}/finetune#loss={quote(NAME)}&example=graded_english")
    expect(page.locator("#lp-finetune-loss")).to_have_value(NAME)
    expect(page.locator(".lp-parameters").first).to_contain_text("weight · AnglE")


def test_a_link_with_an_unknown_sum_is_reported(page: Page, server: Server) -> None:
    page.goto(f"{server.address}/#{Scenario(loss='cosent+nothing').to_link()}")
    expect(page.locator("#main-figures .lp-problem")).to_contain_text("cosent+nothing")
