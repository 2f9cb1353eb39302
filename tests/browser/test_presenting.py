"""On a projector: everything larger, the sidebar in a drawer; and a page that keeps still."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.reading import (
    CANVAS,
    PAGE,
    cell_centre,
    hover_cell,
    redrawn,
    slider,
    visit,
)
from tests.browser.serving import Server

pytestmark = pytest.mark.browser

SIDE = "#lp-side"


def height(page: Page, selector: str) -> float:
    return page.locator(selector).first.bounding_box()["height"]


def presenting(page: Page) -> bool:
    return page.evaluate("document.body.classList.contains('lp-presenting')")


def test_everything_grows_and_the_sidebar_goes(page: Page) -> None:
    texts = ("#main-figures h1", "#main-figures .lp-verdict", "#main-cell .lp-side p")
    before = [height(page, text) for text in texts]
    page.click("#lp-present")
    expect(page.locator(SIDE)).to_be_hidden()
    after = [height(page, text) for text in texts]
    assert all(large > 1.3 * small for small, large in zip(before, after, strict=True))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    # As sharp as the screen allows: a pixel of the canvas for a pixel of the screen.
    page.wait_for_function(
        """(selector) => {
          const canvas = document.querySelector(selector);
          return Math.abs(canvas.width - canvas.getBoundingClientRect().width) <= 2;
        }""",
        arg=CANVAS,
    )


# The buttons of the bar that lie over another control.
COVERED = """() => {
  const bar = document.querySelector(".lp-present-bar");
  const boxes = [...bar.querySelectorAll("button")].filter((one) => one.checkVisibility());
  const around = [...document.querySelectorAll("nav :is(a, button)")];
  const meet = (one, other) => one.left < other.right && other.left < one.right
    && one.top < other.bottom && other.top < one.bottom;
  const isCovered = (one) =>
    boxes.some((box) => meet(box.getBoundingClientRect(), one.getBoundingClientRect()));
  return around.filter((one) => one.checkVisibility() && isCovered(one)).map((one) => one.id);
}"""


def test_the_bar_lies_over_nothing_and_opens_only_a_drawer_that_is_there(
    new_page: Callable[..., Page], server: Server, subtests: pytest.Subtests
) -> None:
    page = new_page()
    for path in ("doctor", "learn", "learn/margin", "learn/landscape", "learn/claims"):
        with subtests.test(path=path):
            page.goto(f"{server.address}/{path}", wait_until="domcontentloaded")
            expect(page.locator("#lp-present")).to_be_attached()
            if not presenting(page):
                page.click("#lp-present")
            expect(page.locator("#lp-leave")).to_be_visible()
            assert page.evaluate(COVERED) == []
            has_drawer = page.locator(SIDE).count() > 0
            expect(page.locator("#lp-drawer")).to_be_visible(visible=has_drawer)


def test_cells_are_still_found_under_the_pointer(page: Page) -> None:
    page.click("#lp-present")
    expect(page.locator(SIDE)).to_be_hidden()
    hover_cell(page, 4, 20)
    shown = page.evaluate(f"{PAGE}.picture.shown")
    expected = [shown["row_axis"]["items"][4], shown["column_axis"]["items"][20]]
    assert page.evaluate(f"{PAGE}.pointed.cell") == expected
    x, y = cell_centre(page, 4, 20)
    frame = page.locator("#main-matrix .lp-cell:not(.lp-pin)").bounding_box()
    assert frame["x"] < x < frame["x"] + frame["width"]
    assert frame["y"] < y < frame["y"] + frame["height"]
    # A drag marks the part that is looked at next.
    page.mouse.move(*cell_centre(page, 2, 2))
    page.mouse.down()
    page.mouse.move(*cell_centre(page, 9, 9), steps=4)
    lasso = page.locator("#main-matrix .lp-lasso").bounding_box()
    assert lasso["x"] == pytest.approx(cell_centre(page, 2, 2)[0], abs=3)
    assert lasso["x"] + lasso["width"] == pytest.approx(cell_centre(page, 9, 9)[0], abs=4)
    page.mouse.up()


def test_the_controls_are_in_a_drawer(page: Page) -> None:
    page.click("#lp-present")
    drawer = page.locator("#lp-drawer")
    expect(drawer).to_have_attribute("aria-expanded", "false")
    drawer.click()
    expect(drawer).to_have_attribute("aria-expanded", "true")
    expect(page.locator(SIDE)).to_be_visible()
    with redrawn(page):
        slider(page, "scale")[1].fill("5")
    # Esc goes back one thing at a time.
    page.keyboard.press("Escape")
    expect(page.locator(SIDE)).to_be_hidden()
    assert presenting(page)
    page.keyboard.press("Escape")
    assert not presenting(page)
    expect(page.locator(SIDE)).to_be_visible()


def test_esc_on_the_matrix_takes_the_pin_first(page: Page) -> None:
    page.click("#lp-present")
    expect(page.locator(SIDE)).to_be_hidden()
    page.mouse.click(*cell_centre(page, 3, 3))
    card = page.locator("#main-cell .lp-card")
    expect(card).to_contain_text("pinned")
    page.locator(CANVAS).focus()
    page.keyboard.press("Escape")
    expect(card).not_to_contain_text("pinned")
    assert presenting(page)
    page.keyboard.press("Escape")
    assert not presenting(page)


def test_it_is_entered_by_keyboard_and_remembered(page: Page, server: Server) -> None:
    page.keyboard.press("Alt+KeyP")
    assert presenting(page)
    visit(page, server.address)
    assert presenting(page)
    page.click("#lp-leave")
    visit(page, server.address)
    assert not presenting(page)


def test_nothing_moves_under_reduced_motion(page: Page) -> None:
    page.emulate_media(reduced_motion="reduce")  # also while the page is open
    moving = """(all) => Array.from(document.querySelectorAll(all))
      .filter((one) => {
        const { transitionDuration, animationName, scrollBehavior } = getComputedStyle(one);
        const lasts = transitionDuration.split(",").some((part) => parseFloat(part) > 0);
        return lasts || animationName !== "none" || scrollBehavior === "smooth";
      }).map((one) => one.className || one.id || one.tagName)"""
    assert page.evaluate(moving, ".lp *") == []
    page.evaluate("document.querySelector('#lp-present').click()")
    assert page.evaluate(moving, "#lp-page, #lp-page *, .lp-present-bar *") == []
    page.emulate_media(reduced_motion="null")


def test_walking_brings_the_derivation_to_the_top(page: Page) -> None:
    page.click("#lp-present")
    assert page.locator("#lp-middle").bounding_box()["y"] > 200
    with redrawn(page):
        page.locator("#main-matrix [data-title='ui.previous_step']").click()
    page.wait_for_function("document.querySelector('#lp-middle').getBoundingClientRect().top < 60")
    # The matrix and what its cell says stand on the screen together.
    hover_cell(page, 2, 3)
    card = page.locator("#main-cell .lp-live").bounding_box()
    assert card["y"] + card["height"] < 900


def test_the_keys_of_a_clicker_walk_from_anywhere(page: Page) -> None:
    def step() -> int:
        return page.evaluate(f"{PAGE}.picture.chosen")

    first = step()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("PageUp")
    assert step() == first  # only on a projector
    page.click("#lp-present")
    for key, by in {"ArrowLeft": -1, "PageUp": -1, "PageDown": 1, "ArrowRight": 1}.items():
        before = step()
        page.keyboard.press(key)
        page.wait_for_function(f"{PAGE}.picture.chosen === {before + by}")
    # Where a key means something else it keeps its meaning.
    order = page.locator("#lp-order")
    order.focus()
    page.keyboard.press("ArrowRight")
    page.locator(CANVAS).focus()
    page.keyboard.press("ArrowRight")
    expect(order).not_to_have_value("label")
    assert step() == first
    page.locator(".lp-steps").focus()
    for key, at in {"Home": "0", "End": f"{PAGE}.picture.steps.length - 1"}.items():
        page.keyboard.press(key)
        page.wait_for_function(f"{PAGE}.picture.chosen === {at}")


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1024, 768), (390, 844)])
def test_a_step_is_seen_with_its_matrix_and_the_bar_covers_no_control_of_what_is_walked(
    page: Page, width: int, height: int
) -> None:
    page.set_viewport_size({"width": width, "height": height})
    steps_and_their_matrix_are_seen_together(page, height)
    with redrawn(page):
        page.keyboard.press("PageUp")
    bar = page.locator(".lp-present-bar").bounding_box()
    assert page.locator("#lp-middle").bounding_box()["y"] < 60
    walked = page.locator("#lp-middle :is(button:not(.lp-ref), select, .lp-place):visible")
    for control in walked.all():
        assert control.bounding_box()["y"] >= bar["y"] + bar["height"], control.inner_text()


def steps_and_their_matrix_are_seen_together(page: Page, height: int) -> None:
    """As it is opened, and then on a projector."""
    for presented in (False, True):
        if presented:
            page.evaluate("document.querySelector('#lp-present').click()")
        with redrawn(page):
            page.locator("#main-matrix [data-title='ui.previous_step']").click()
        page.evaluate("document.querySelector('#lp-middle').scrollIntoView()")
        step = page.locator("#main-matrix .lp-title").bounding_box()  # its formula, and the walk
        matrix = page.locator("#main-matrix .lp-stage").bounding_box()
        assert step["y"] >= 0, presented
        assert step["y"] + step["height"] <= height, presented
        assert matrix["y"] >= 0, presented
        assert matrix["y"] + matrix["height"] / 3 <= height, presented


def test_the_chosen_step_stays_in_sight(page: Page) -> None:
    page.click("#lp-present")
    expect(page.locator(SIDE)).to_be_hidden()
    page.wait_for_function(
        """() => {
          const row = document.querySelector(".lp-step[aria-current]").getBoundingClientRect();
          const list = document.querySelector(".lp-steps").getBoundingClientRect();
          return row.top >= list.top - 2 && row.bottom <= list.bottom + 2;
        }"""
    )


def test_names_of_rows_fit_their_width(page: Page) -> None:
    page.set_viewport_size({"width": 1920, "height": 1080})
    page.click("#lp-present")
    page.wait_for_selector("#main-matrix .lp-row-ticks.lp-worded i")
    overlapping = page.evaluate(
        """() => {
          const box = (one) => one.getBoundingClientRect();
          const axis = box(document.querySelector("#main-matrix .lp-row-axis")).right;
          return [...document.querySelectorAll("#main-matrix .lp-row-ticks span")]
            .filter((one) => box(one).left < axis).map((one) => one.textContent);
        }"""
    )
    assert overlapping == []
