"""The same text twice in a batch: told, left out of the loss, and called alike on all pages."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from explorer.core.scenario import Data, Scenario
from tests.browser.compare.steering import opened_page as beside
from tests.browser.compare.steering import redrawn as beside_redrawn
from tests.browser.compare.steering import values
from tests.browser.large.steering import opened_page
from tests.browser.reading import CHANNEL, redrawn, still, visit
from tests.browser.serving import Server

pytestmark = [pytest.mark.browser, pytest.mark.encoder]

ROWS = (
    ("A man plays a guitar.", "Someone makes music.", "5"),
    ("Someone makes music.", "A man plays a guitar.", "5"),
    ("It is raining.", "The weather is wet.", "5"),
    ("Rain falls.", "The weather is wet.", "5"),
    ("A dog runs.", "A cat sleeps.", "0"),
)
SCENE = Scenario(data=Data(source="table", rows=ROWS), loss="info_nce")
FINETUNE = "window.lossprism.page('finetune')"


def named(page: Page, field: str) -> tuple[str, list[str]]:
    """What a field is called, and what it offers."""
    page.wait_for_function(f"document.querySelector('{field}')?.options.length > 1")
    label = page.locator(f"label:has({field}) > span").text_content() or ""
    return label, page.locator(f"{field} option").all_text_contents()


def test_they_are_left_out_by_one_name_on_all_pages(new_page, server: Server) -> None:
    page = visit(new_page(), f"{server.address}/#{SCENE.to_link()}")
    remarks = page.locator("#main-figures .lp-remarks")
    # Rows 1 and 2 are each other's query; rows 3 and 4 have one key.
    expect(remarks).to_contain_text("Of 16 negatives, 2 hold the text of their own query and 2 the")
    before = page.evaluate(f"{CHANNEL}.picture.figures.loss")
    with redrawn(page):
        page.evaluate("document.querySelector('#lp-twins').closest('details').open = true")
        page.select_option("#lp-twins", "leave_out")
    expect(remarks).to_contain_text("Left out of the loss: of 16 negatives the 2 that hold")
    assert page.evaluate(f"{CHANNEL}.picture.figures.loss") < before
    expect(page.locator("#main-figures .lp-headline annotation")).to_contain_text("\\notin")
    still(page)
    page.reload()
    page.wait_for_function(f"window.lossprism && {CHANNEL}?.picture")
    expect(page.locator("#lp-twins")).to_have_value("leave_out")
    name, offered = named(page, "#lp-twins")
    assert name == "The same text twice in a batch"
    # A loss that tells no texts apart does not ask.
    with redrawn(page):
        page.select_option("#lp-loss", "cosent")
    expect(page.locator("#lp-twins")).to_be_hidden()

    beside(page, server.address, f"1=info_nce&2=cosent&scene={SCENE.to_link()}")
    assert named(page, "#lp-compare-twins") == (name, offered)
    (before, _), hidden = values(page), page.locator("#lp-compare-twins")
    with beside_redrawn(page):
        page.select_option("#lp-compare-twins", "leave_out")
    assert values(page)[0] < before
    with beside_redrawn(page):
        page.select_option("#lp-side-0", "cosent")
    expect(hidden).to_be_hidden()

    opened_page(page, server.address, "#loss=info_nce&pairs=40&twins=leave_out")
    expect(page.locator("#lp-large-twins")).to_have_value("leave_out")
    assert named(page, "#lp-large-twins") == (name, offered)

    page.goto(f"{server.address}/finetune", wait_until="domcontentloaded")
    page.wait_for_function(f"window.lossprism && {FINETUNE}?.checked")
    page.evaluate(f"{FINETUNE}.setPlan({{ loss: 'info_nce', convention: '', parameters: {{}} }})")
    there, choices = named(page, "#lp-finetune-twins")
    assert there == name
    assert choices == ["Kept out of the batch (no_duplicates)", *reversed(offered)]
    expect(page.locator("#lp-finetune-twins")).to_have_value("apart")
