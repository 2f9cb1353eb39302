"""The map: what it opens with, and the way nearer and back, by mouse, keyboard and fingers."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from lossprism.explorer.locale import grouped, say
from lossprism.explorer.web.pages.large.request_handlers import FIRST_BATCH
from tests.browser.large.steering import (
    CARD,
    MAP,
    PAGE,
    PROBLEM,
    centre,
    colours,
    expected,
    figure,
    opened_page,
    redrawn,
    shape,
    window,
)
from tests.browser.reading import number, touch
from tests.browser.serving import Server
from tests.sentences import pattern_of, wording

pytestmark = pytest.mark.browser


def test_it_opens_with_a_picture_and_names_the_pointed_cell(
    large: Page, subtests: pytest.Subtests
) -> None:
    truth = expected()
    assert number(figure(large, "loss")) == pytest.approx(truth.loss, rel=1e-5)
    assert figure(large, "violated").endswith("%")
    assert "MB" in figure(large, "memory")
    assert shape(large) == [256, 256]
    assert colours(large) > 50
    expect(large.locator(PROBLEM)).to_be_hidden()
    first = large.locator("#large-large_terms tbody tr").first.locator("td").all_inner_texts()
    assert number(first[3]) == pytest.approx(truth.heaviest.values[0], rel=1e-3)
    # Pointing at a block tells what it holds.
    x, y = centre(large, 10, 200)
    large.mouse.move(x, y)
    width = -(-FIRST_BATCH.pairs // 256)
    its_rows = f"Rows {grouped(10 * width + 1)}–{grouped(11 * width)}"
    expect(large.locator(CARD)).to_contain_text(its_rows)
    text = large.locator(CARD).inner_text()
    rows = np.arange(10 * width, 11 * width)
    columns = np.arange(200 * width, 201 * width)
    cells = truth.matrix.split.cells(rows, columns)
    total = np.logaddexp.reduce(cells.ravel())
    shown = number(pattern_of("large.total_is").search(text)["value"])
    assert shown == pytest.approx(total, rel=1e-3)
    assert say("en", "large.none_masked") in text
    x, y = centre(large, 200, 10)
    large.mouse.move(x, y)
    expect(large.locator(CARD)).to_contain_text(say("en", "large.all_masked"))
    # Into a masked one no press leads.
    large.mouse.click(*centre(large, 200, 10))
    assert window(large) is None
    for facet in ("share", "largest", "masked"):
        with subtests.test(facet=facet):
            name = say("en", f"large.facet.{facet}")
            large.locator("#large-large_map .lp-tab", has_text=name).click()
            assert colours(large) > 3


def test_from_the_overview_to_single_cells_and_back(large: Page) -> None:
    with redrawn(large):
        large.mouse.click(*centre(large, 10, 200))
    width = -(-FIRST_BATCH.pairs // 256)
    assert window(large) == [10 * width, 11 * width, 200 * width, 201 * width]
    with redrawn(large):
        large.mouse.click(*centre(large, 3, 5))
    assert large.evaluate(f"{PAGE}.answer.rows.items.length") > 0
    truth = expected()
    large.mouse.move(*centre(large, 0, 1))
    top, _, left, _ = window(large)
    text = large.locator(CARD).inner_text()
    for place in (top, left + 1):
        entry = truth.batch.entry[place]
        assert f"#{grouped(entry + 1)}" in text
    term = number(re.search(r"term ([−\d.e]+)", text)[1])
    value = truth.matrix.split.cells(np.array([top]), np.array([left + 1]))[0, 0]
    assert term == pytest.approx(value, rel=1e-3)
    # The way back, step by step and at once.
    with redrawn(large):
        large.click("#lp-large-back")
    assert window(large) == [10 * width, 11 * width, 200 * width, 201 * width]
    with redrawn(large):
        large.locator(".lp-crumb", has_text="All").click()
    assert window(large) is None


def test_a_rectangle_is_dragged(large: Page) -> None:
    from_x, from_y = centre(large, 20, 100)
    to_x, to_y = centre(large, 59, 179)
    with redrawn(large):
        large.mouse.move(from_x, from_y)
        large.mouse.down()
        large.mouse.move(to_x, to_y, steps=5)
        expect(large.locator("#large-large_map .lp-lasso")).to_be_visible()
        large.mouse.up()
    width = -(-FIRST_BATCH.pairs // 256)
    assert window(large) == [20 * width, 60 * width, 100 * width, 180 * width]
    expect(large.locator("#large-large_map .lp-lasso")).to_be_hidden()


def test_the_keyboard_walks_enters_and_returns(large: Page) -> None:
    large.locator(MAP).focus()
    spoken = large.locator("#large-large_map .lp-spoken")
    large.keyboard.press("ArrowDown")  # the walk begins at the heaviest block
    expect(spoken).to_contain_text(wording("large.share_is"))
    before = spoken.inner_text()
    large.keyboard.press("ArrowUp")
    expect(spoken).not_to_have_text(before)
    with redrawn(large):
        large.keyboard.press("Enter")
    assert window(large) is not None
    expect(spoken).to_contain_text("rows")
    with redrawn(large):
        large.keyboard.press("Backspace")
    assert window(large) is None


def test_a_heavy_term_is_shown_on_the_map(large: Page) -> None:
    cell = large.evaluate(f"{PAGE}.details.heaviest[0].cell")
    with redrawn(large):
        large.locator("#large-large_terms tbody tr").first.click()
    top, bottom, left, right = window(large)
    assert top <= cell[0] < bottom
    assert left <= cell[1] < right
    expect(large.locator("#large-large_terms tr.lp-lit")).to_have_count(1)
    expect(large.locator("#large-large_map .lp-cell")).to_be_visible()
    value = large.evaluate(f"{PAGE}.details.heaviest[0].value")
    text = large.locator(CARD).inner_text()
    assert number(re.search(r"term ([−\d.e]+)", text)[1]) == pytest.approx(value, rel=1e-3)


def test_few_cells_make_a_square_with_a_legend_for_each(large: Page) -> None:
    row, column = large.evaluate(f"{PAGE}.details.heaviest[0].cell")
    with redrawn(large):
        large.evaluate(f"{PAGE}.zoom([{row - 1}, {row + 1}, {column - 1}, {column + 1}])")
    box = large.locator(MAP).bounding_box()
    assert box["height"] == pytest.approx(box["width"], rel=0.01)
    marks = large.locator("#large-large_map .lp-scale span").all_inner_texts()
    assert len(set(marks)) == 3


def test_the_map_as_a_table(large: Page) -> None:
    large.locator("#large-large_map .lp-button", has_text=wording("ui.as_table")).click()
    rows = large.locator("#large-large_map tbody tr:visible")
    expect(rows).to_have_count(20)
    with redrawn(large):
        rows.first.click()
    assert window(large) is not None


AT_REST = """() => new Promise((resolve) => {
  let [last, still] = [scrollY, 0];
  const look = () => {
    still = scrollY === last ? still + 1 : 0;
    last = scrollY;
    still < 10 ? requestAnimationFrame(look) : resolve();
  };
  look();
})"""


def test_one_finger_scrolls_a_tap_enters_and_two_go_nearer_and_back(
    new_page: Callable[..., Page], server: Server
) -> None:
    page = opened_page(new_page(width=390, height=800, has_touch=True), server.address)
    page.locator(MAP).scroll_into_view_if_needed()
    before = page.evaluate("window.scrollY")
    touch(page, MAP, [(0.5, 0.9)], [(0.5, 0.1)])
    page.wait_for_function("before => window.scrollY > before + 50", arg=before)
    page.evaluate(AT_REST)  # what is touched while it glides on only stops
    assert window(page) is None
    with redrawn(page):
        page.touchscreen.tap(*centre(page, 10, 200))
    assert window(page) is not None
    with redrawn(page):
        page.locator("#lp-large-back").tap()
    # Two fingers go nearer to what is under them.
    count = FIRST_BATCH.pairs
    # From a quarter of the map to half of it, about the same middle: (0.7, 0.3) stays.
    with redrawn(page):
        touch(page, MAP, [(0.6, 0.3), (0.8, 0.3)], [(0.5, 0.3), (0.9, 0.3)])
    rows, columns = window(page)[:2], window(page)[2:]
    assert rows == pytest.approx([0.15 * count, 0.65 * count], abs=0.01 * count)
    assert columns == pytest.approx([0.35 * count, 0.85 * count], abs=0.01 * count)
    assert page.locator(MAP).evaluate("canvas => canvas.style.transform") == ""
    # What was under the fingers follows them.
    with redrawn(page):
        touch(page, MAP, [(0.3, 0.3), (0.5, 0.3)], [(0.5, 0.4), (0.7, 0.4)])
    assert window(page)[2] == pytest.approx(columns[0] - 0.2 * 0.5 * count, abs=0.01 * count)
    assert window(page)[0] == pytest.approx(rows[0] - 0.1 * 0.5 * count, abs=0.01 * count)
    with redrawn(page):
        touch(page, MAP, [(0.1, 0.5), (0.9, 0.5)], [(0.4, 0.5), (0.6, 0.5)])
    assert window(page) is None  # further out than all of it there is nothing
    with redrawn(page):
        page.locator("#lp-large-back").tap()
    assert window(page) is not None
