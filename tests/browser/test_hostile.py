"""Text that wants to be code stays text, and text that breaks things breaks nothing."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.reading import (
    PROBLEM,
    clear_table,
    hover_cell,
    redrawn,
    shape,
    sound,
    table_rows,
    type_pair,
    unfold,
    upload,
)

pytestmark = [pytest.mark.browser, pytest.mark.encoder]

HOSTILE = [
    "<img src=x onerror=window.pwned=1>",
    "${window.pwned=1}",
    "{{constructor}}",
    "</script><script>window.pwned=1</script>",
    "javascript:window.pwned=1",
    "\u202eright to left\u202c and \x01\x1b[31m control",
    "👩‍👩‍👧‍👦 🏳️‍🌈 emoji",
    "$\\href{javascript:window.pwned=1}{x}$ \\text{a}",
]


def untouched(page: Page) -> None:
    assert page.evaluate("window.pwned") is None
    assert page.locator(".lp img, .lp script, .lp a[href^=javascript]").count() == 0


def test_hostile_sentences_in_the_table(page: Page) -> None:
    clear_table(page)
    rows = [[text, f"harmless {place}", str(place)] for place, text in enumerate(HOSTILE)]
    with redrawn(page):
        for row, cells in enumerate(rows, 1):
            type_pair(page, row, *cells)
    expect(page.locator("#main-pairs summary .lp-note")).to_have_text(f"{len(rows)} pairs")
    sound(page)
    assert table_rows(page) == rows
    # Read in the bars, the terms and the card, letter by letter.
    listed = page.locator("#main-bars .lp-felt:not([hidden]) .lp-two span").all_text_contents()
    assert any(text in listed for text in HOSTILE)
    result = set()
    for cell in range(len(rows)):
        hover_cell(page, cell, (cell + 1) % shape(page)[1])
        result.update(page.locator("#main-cell .lp-card .lp-side p").all_text_contents())
    assert result >= set(HOSTILE)
    untouched(page)


def test_hostile_files(page: Page) -> None:
    name = HOSTILE[0] + ".csv"
    quoted = [text.replace('"', '""') for text in HOSTILE]
    lines = [f'"{text}","plain {place}",{place}' for place, text in enumerate(quoted)]
    bad = ['"<img src=x onerror=window.pwned=2>","b","<b onclick=window.pwned=3>"']
    content = "\n".join(["sentence1,sentence2,score", *lines, *bad])
    with redrawn(page):
        upload(page, name, content.encode())
    expect(page.locator("#lp-source-panel .lp-note").first).to_contain_text(name)
    expect(page.locator("#main-controls .lp-skipped")).to_contain_text("<b onclick")
    unfold(page, "ui.pairs")
    assert [row[0] for row in table_rows(page)] == HOSTILE
    untouched(page)
    upload(page, "<img src=x onerror=window.pwned=4>.parquet", b"no")
    expect(page.locator(PROBLEM)).to_contain_text("<img src=x")
    columns = '"<img src=x onerror=window.pwned=5>","{{x}}",score\na,b,1\nc,d,0\n'
    with redrawn(page):
        upload(page, "columns.csv", columns.encode())
    expect(page.locator("#main-controls .lp-columns")).to_contain_text("{{x}}")
    untouched(page)


def test_half_a_character(page: Page) -> None:
    clear_table(page)
    with redrawn(page):
        type_pair(page, 1, "a good row", "another", "1")
        type_pair(page, 2, "to be broken", "second", "0")
        page.locator("#main-pairs tbody tr").nth(1).locator("textarea").first.evaluate(
            "cell => { cell.value = 'half \\ud83d here';"
            " cell.dispatchEvent(new Event('input', { bubbles: true })); }"
        )
    expect(page.locator("#main-controls .lp-skipped")).to_contain_text("Row 2")
    expect(page.locator("#main-pairs summary .lp-note")).to_have_text("1 pair")


def test_a_hundred_thousand_characters(page: Page) -> None:
    clear_table(page)
    long = "A very long sentence. " * 4546
    with redrawn(page):
        type_pair(page, 1, long, "short", "1")
        type_pair(page, 2, "also short", "short too", "0")
    sound(page)
    assert len(table_rows(page)[0][0]) > 100_000
    hover_cell(page, 0, 1)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert len(page.locator("#main-cell .lp-card").inner_text()) < 2000
