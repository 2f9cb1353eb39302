"""Duplicate texts in a batch: reported, left out of the loss, and called alike on all pages."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.locale import say
from lossprism.explorer.sources.textbook import load_example
from tests.browser.compare.steering import opened_page as beside
from tests.browser.compare.steering import redrawn as beside_redrawn
from tests.browser.compare.steering import values
from tests.browser.large.steering import opened_page
from tests.browser.reading import PAGE, redrawn, still
from tests.browser.serving import Server
from tests.sentences import wording

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


def tags(page: Page) -> dict[str, list[str]]:
    """What is marked in the table of pairs, by the number of the row."""
    page.evaluate("document.querySelector('#main-pairs details').open = true")
    page.wait_for_function("document.querySelector('#main-pairs .lp-tag')")
    rows = page.locator("#main-pairs tbody tr").evaluate_all(
        """rows => rows.map((row) => [
            row.cells[0].textContent,
            Array.from(row.querySelectorAll(".lp-tag"), (tag) => tag.textContent),
        ])"""
    )
    return {number: message for number, message in rows if message}


def show(page: Page, scenario: Scenario) -> None:
    with redrawn(page):
        page.evaluate("link => { location.hash = link; }", scenario.to_link())


def test_rows_of_the_table_say_whose_text_they_hold(page: Page) -> None:
    show(page, SCENE)
    same = {pair: say("en", "ui.mark.same_text", pair=pair) for pair in (1, 2, 3, 4)}
    assert tags(page) == {"1": [same[2]] * 2, "2": [same[1]] * 2, "3": [same[4]], "4": [same[3]]}
    tag = page.locator("#main-pairs tbody tr").nth(2).locator("td").nth(2).locator(".lp-tag")
    second = say("en", "ui.mark.same_text.second", pair=4)
    assert second in (tag.get_attribute("title") or "")
    page.evaluate("window.lossprism.page().correct('It is raining.', 'The weather is wet.', '')")
    expect(tag).to_have_count(0)
    assert set(tags(page)) == {"1", "2"}  # the row stands there, and is no pair any more
    expect(page.locator("#main-pairs tbody tr").nth(2).locator(".lp-similarity")).to_be_empty()


def test_what_an_example_holds_on_purpose_stays_at_its_rows(page: Page) -> None:
    show(page, Scenario(data=Data(example="twins"), loss="info_nce"))
    before = tags(page)
    assert before["5"] == [say("en", "ui.mark.hidden", pair=4)]
    assert before["15"] == [say("en", "ui.mark.mislabelled")]
    pairs = load_example("twins")
    with redrawn(page):
        page.evaluate(f"([a, b]) => {PAGE}.correct(a, b, '')", [pairs.first[0], pairs.second[0]])
    assert tags(page) == {row: message for row, message in before.items() if int(row) > 3}


def test_they_are_left_out_by_one_name_on_all_pages(page: Page, server: Server) -> None:
    show(page, SCENE)
    remarks = page.locator("#lp-main")
    # Rows 1 and 2 are each other's query; rows 3 and 4 have one key.
    counts = {"name": "InfoNCE", "all": 16, "count": 2}
    expect(remarks).to_contain_text(wording("remark.same_text", **counts))
    before = page.evaluate(f"{PAGE}.picture.figures.loss")
    with redrawn(page):
        page.evaluate("document.querySelector('#lp-twins').closest('details').open = true")
        page.select_option("#lp-twins", "leave_out")
    expect(remarks).to_contain_text(wording("remark.same_text_left_out", **counts))
    assert page.evaluate(f"{PAGE}.picture.figures.loss") < before
    expect(page.locator("#main-figures .lp-headline annotation")).to_contain_text("\\notin")
    still(page)
    page.reload()
    page.wait_for_function(f"window.lossprism && {PAGE}?.picture")
    expect(page.locator("#lp-twins")).to_have_value("leave_out")
    name, offered = named(page, "#lp-twins")
    assert name == say("en", "ui.twins")
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
    assert choices == [say("en", "ui.twins.apart"), *reversed(offered)]
    expect(page.locator("#lp-finetune-twins")).to_have_value("apart")
