"""Work that takes long shows how far it is, can be cancelled, and blocks nothing."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from lossprism.explorer.locale import say
from tests.browser.reading import (
    PAGE,
    PROBLEM,
    button,
    choose,
    loss_shown,
    redrawn,
    replacing,
    settle,
    sound,
    table_rows,
    unfold,
    upload,
)
from tests.sentences import wording

pytestmark = [pytest.mark.browser, pytest.mark.encoder]

BUSY = ".lp-busy"
COUNT = "#main-pairs summary .lp-note"
# How many questions were asked, and how many of them the server has answered.
COUNTING = f"""() => {{
  const {{ server }} = {PAGE};
  const {{ explore }} = server;
  window.asked = window.answered = 0;
  server.explore = async (request) => {{
    window.asked += 1;
    try {{ return await explore(request); }} finally {{ window.answered += 1; }}
  }};
}}"""


def many_long_rows(page: Page, seed: str) -> list[list[str]]:
    """A file that keeps the encoder busy for much longer than a test lasts."""
    rows = [
        [f"{seed} {i} {'many words follow ' * 8}", f"{i} {seed} {'as many ' * 20}", str(i % 5)]
        for i in range(512)
    ]
    lines = ["sentence1,sentence2,score", *(",".join(row) for row in rows)]
    upload(page, f"{seed}.csv", "\n".join(lines).encode())
    return [[first.strip(), second.strip(), score] for first, second, score in rows]


def progressed(page: Page) -> tuple[int, int]:
    """How many sentences are encoded, of how many, once the first batch is through."""
    expect(page.locator(BUSY)).to_contain_text(re.compile(r"Encoding [1-9]\d* of [\d\u202f]+ sent"))
    found = re.search(r"Encoding ([\d\u202f]+) of ([\d\u202f]+)", page.locator(BUSY).inner_text())
    done, total = (int(number.replace("\u202f", "")) for number in found.groups())
    bar = page.locator(f"{BUSY} progress")
    assert 0 < bar.evaluate("bar => bar.value") < bar.evaluate("bar => bar.max")
    return done, total


def test_encoding_reports_progress_and_can_be_cancelled(page: Page) -> None:
    before = loss_shown(page)
    rows = many_long_rows(page, "cancelled")
    done, total = progressed(page)
    assert total == 1024
    page.click(f"{BUSY} button")
    expect(page.locator(BUSY)).to_be_hidden()
    expect(page.locator(PROBLEM)).to_contain_text(wording("problem.cancelled"))
    # The old picture is still there, and everything that was entered.
    assert loss_shown(page) == before
    assert page.evaluate(f"{PAGE}.scenario.data.rows") == rows
    # Going on continues where it was: what was encoded is not encoded again.
    button(page, "ui.go_on", PROBLEM).click()
    _, left = progressed(page)
    assert left <= total - done
    # It is in the language of the page.
    page.click("#lp-language")
    expect(page.locator(BUSY)).to_contain_text(wording("progress.encoding", "zh"))
    page.click(f"{BUSY} button")
    expect(page.locator(PROBLEM)).to_contain_text(say("zh", "problem.cancelled"))
    with redrawn(page):
        page.click("#lp-source-example")
    sound(page)
    assert loss_shown(page) == before


def test_the_page_stays_usable_while_it_encodes(page: Page) -> None:
    before = loss_shown(page)
    with replacing(page):
        page.evaluate(COUNTING)
        many_long_rows(page, "usable")
        progressed(page)
        # Other data end the encoding by themselves: nobody waits for what is no longer wanted.
        with redrawn(page):
            page.click("#lp-source-example")
        expect(page.locator(BUSY)).to_be_hidden()
        expect(page.locator(COUNT)).to_have_text("24 pairs")
        assert loss_shown(page) == before
        choose(page, "siglip")
        sound(page)
        # And the late answer to the question that was dropped changes nothing.
        page.wait_for_function("window.answered === window.asked")
        settle(page)
        expect(page.locator(COUNT)).to_have_text("24 pairs")
        unfold(page, "ui.pairs")
        assert len(table_rows(page)) == 24
