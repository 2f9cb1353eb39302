"""Tables that the reader sorts, with the mouse and without."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.reading import PAGE, choose, number, redrawn, rows_lit, slider
from tests.sentences import wording

pytestmark = pytest.mark.browser


TERMS = "#main-terms table >> nth=0"
SUSPECTS = "#main-terms table >> nth=1"


def head(page: Page, table: str, name: str) -> Locator:
    return page.locator(table).locator("th", has_text=name)


def column(page: Page, table: str, place: int) -> list[str]:
    lines = page.locator(table).locator("tbody tr:visible")
    return [line.locator("td").nth(place).inner_text() for line in lines.all()]


def numbers(page: Page, table: str, place: int) -> list[float]:
    return [number(message.split(" ·")[0]) for message in column(page, table, place)]


def sorted_by(page: Page, table: str) -> list[str]:
    heads = page.locator(table).locator("th")
    return heads.evaluate_all("all => all.map((one) => one.getAttribute('aria-sort'))")


# Counts how often what stands in heads and on buttons is written.
WRITINGS = """() => {
  window.writings = 0;
  const counting = new MutationObserver((all) => { window.writings += all.length; });
  for (const one of document.querySelectorAll("#main-terms th, #main-terms button"))
    counting.observe(one, { childList: true, subtree: true, characterData: true });
}"""


def test_a_table_is_sorted_by_mouse_and_keyboard_and_keeps_its_order(untouched: Page) -> None:
    page = untouched
    assert sorted_by(page, TERMS) == ["none", "none", "none", "descending"]
    shares = numbers(page, TERMS, 3)
    assert shares == sorted(shares, reverse=True)
    head(page, TERMS, "Value").get_by_role("button").click()
    assert sorted_by(page, TERMS) == ["none", "none", "descending", "none"]
    expect(head(page, TERMS, "Value")).to_contain_text("▼")
    values = numbers(page, TERMS, 2)
    assert values == sorted(values, reverse=True)
    head(page, TERMS, "Value").get_by_role("button").click()
    assert sorted_by(page, TERMS) == ["none", "none", "ascending", "none"]
    expect(head(page, TERMS, "Value")).to_contain_text("▲")
    # The smallest of all twenty come up, not those of the eight that were shown.
    before = numbers(page, TERMS, 2)
    assert before == sorted(before)
    assert max(before) < min(values)
    # The order outlives a movement of the slider.
    page.evaluate(WRITINGS)
    with redrawn(page):
        slider(page, "scale")[1].fill("40")
    assert page.evaluate("window.writings") == 0  # to write what stands there lays the page out
    after = numbers(page, TERMS, 2)
    assert after == sorted(after)
    assert after != before
    assert sorted_by(page, TERMS)[2] == "ascending"
    sorted_and_walked_by_keyboard(page)
    # And the language.
    page.locator("#lp-language").click()
    expect(head(page, TERMS, "值")).to_have_attribute("aria-sort", "ascending")
    expect(page.locator("#main-terms .lp-more-rows").first).to_have_text(
        wording("ui.all_rows", "zh", count=20)
    )


def sorted_and_walked_by_keyboard(page: Page) -> None:
    name = head(page, SUSPECTS, "Label").get_by_role("button")
    name.focus()
    page.keyboard.press("Enter")
    # The fourth column, of a second opinion, is hidden until one is asked for.
    assert sorted_by(page, SUSPECTS) == ["none", "descending", "none", "none", "none"]
    labels = numbers(page, SUSPECTS, 1)
    assert labels == sorted(labels, reverse=True)
    assert len(labels) == 3
    page.keyboard.press("Space")
    assert numbers(page, SUSPECTS, 1) == sorted(labels)
    # One stop of the tab key for all rows; the arrows walk them, and the pair is pointed at.
    rows = page.locator(SUSPECTS).locator("tbody tr")
    stops = rows.evaluate_all("all => all.map((one) => one.tabIndex)")
    assert sorted(stops) == [-1, -1, 0]
    rows.first.focus()
    page.keyboard.press("ArrowDown")
    expect(rows.nth(1)).to_be_focused()
    assert rows_lit(page)["bars"]
    expect(rows.nth(1)).to_have_class("lp-lit")
    expect(rows.first).not_to_have_class("lp-lit")


def test_all_rows_can_be_shown(page: Page) -> None:
    assert len(column(page, TERMS, 0)) == 8
    more = page.locator("#main-terms .lp-more-rows").first
    more.click()
    assert len(column(page, TERMS, 0)) == 20
    more.click()
    assert len(column(page, TERMS, 0)) == 8
    expect(page.locator("#main-terms .lp-more-rows").last).to_be_hidden()


def test_labels_are_not_doubted_on_the_word_of_an_encoder_that_cannot_read(page: Page) -> None:
    warning = page.locator("#main-terms .lp-doubtful")
    expect(warning).to_be_hidden()
    with redrawn(page):
        page.select_option("#lp-example", "graded_chinese")
    expect(warning).to_be_visible()
    expect(page.locator("#lp-main :is(.lp-verdict, .lp-remarks li)").first).to_contain_text(
        wording("remark.language")
    )
    with redrawn(page):
        page.select_option("#lp-example", "graded_english")
    expect(warning).to_be_hidden()


def test_bars_and_their_list_are_walked_by_keyboard(page: Page) -> None:
    chart = page.locator("#main-bars canvas")
    chart.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    column = page.evaluate(f"{PAGE}.picture.shown.column_axis.pairs")
    assert page.evaluate(f"{PAGE}.pointed.pairs") == [column[1]]
    gradient = page.evaluate(f"lossprism.floats({PAGE}.picture.pairs.gradient)[{column[1]}]")
    text = page.locator("#main-bars .lp-spoken").inner_text()
    assert text.startswith(f"pair {column[1] + 1}: ")
    assert number(text.split(": ")[1]) == pytest.approx(gradient, rel=1e-3)
    lines = page.locator("#main-bars .lp-felt")
    lines.first.focus()
    page.keyboard.press("ArrowDown")
    expect(lines.nth(1)).to_be_focused()
    assert rows_lit(page)["bars"] == [1]
    page.keyboard.press("Tab")
    assert rows_lit(page)["bars"] == []


def test_terms_of_single_pairs_have_one_column_for_them(page: Page) -> None:
    heads = page.locator("#main-terms table").first.locator("th:visible")
    assert heads.all_inner_texts()[:2] == ["Row", "Column"]
    choose(page, "binary_cross_entropy")
    assert heads.all_inner_texts()[0] == "Pair"
    expect(heads).to_have_count(3)
    choose(page, "cosent")
    expect(heads).to_have_count(4)
