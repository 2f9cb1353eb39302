"""A batch of the size one trains with, from a whole file, and how its figures vary."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from lossprism.explorer.locale import say
from tests.browser.reading import PAGE, choose, redrawn, settle, unfold, upload
from tests.sentences import wording

pytestmark = [pytest.mark.browser, pytest.mark.encoder]

NOTE = "#lp-source-panel > .lp-note"
SPREAD = ".lp-spread svg"


def rows(page: Page) -> list[list[str]]:
    return page.evaluate(f"{PAGE}.scenario.data.rows")


def test_batches_of_a_file_follow_one_another_and_are_compared(page: Page) -> None:
    lines = [f"word {i % 130},term {i % 80},{i % 5}" for i in range(600)]
    page.click("#lp-source-file")
    with redrawn(page):
        upload(page, "many.csv", "\n".join(["sentence1,sentence2,score", *lines]).encode())
    expect(page.locator(NOTE)).to_contain_text("600 pairs")
    expect(page.locator(NOTE)).to_contain_text("batch 1: 64 pairs")
    first = rows(page)
    previous, following = (
        page.get_by_role("button", name=name) for name in (say("en", "sampler.previous"), "Next ›")
    )
    expect(previous).to_be_disabled()
    with redrawn(page):
        following.click()
    assert not {*map(tuple, first)} & {*map(tuple, rows(page))}
    with redrawn(page):
        previous.click()
    assert rows(page) == first
    with redrawn(page):
        page.select_option("#lp-sampler", "no_duplicates")
    assert len({text for a, b, _ in rows(page) for text in (a, b)}) == 2 * len(rows(page))
    size = page.get_by_role("spinbutton", name=wording("sampler.size"))
    with redrawn(page):
        size.fill("8")
    assert len(rows(page)) == 8
    # Over many batches each figure has its spread, with this batch in it.
    unfold(page, "ui.more_metrics")
    page.click("#lp-spread")
    expect(page.locator(SPREAD).first).to_be_visible()
    loss = page.locator(".lp-loss .lp-spread svg").first
    expect(loss).to_have_attribute("aria-label", re.compile("Over 200 batches"))
    # Another batch of the same draw is marked at once; another loss is computed anew.
    before = loss.get_attribute("aria-label")
    with redrawn(page):
        following.click()
    expect(loss).not_to_have_attribute("aria-label", before or "")
    choose(page, "info_nce")
    expect(page.locator(SPREAD).first).to_be_visible()
    with page.expect_download() as taken:
        page.get_by_role("button", name=wording("ui.spread_csv")).click()
    table = taken.value.path().read_text(encoding="utf-8-sig").splitlines()
    assert table[0].startswith("batch,loss,")
    assert len(table) == 201
    # Who opens the link sees this batch, and that there are others.
    settle(page)
    link = page.url
    page.goto("about:blank")
    page.goto(link)
    expect(page.locator(NOTE)).to_contain_text("batch 2: 8 pairs")
    expect(following).to_be_hidden()
    expect(page.locator("#lp-spread")).to_be_hidden()
