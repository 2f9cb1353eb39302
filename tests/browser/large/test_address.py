"""Windows and losses in the address: reloaded, copied, walked through."""

from __future__ import annotations

import re

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from lossprism.explorer.lab.large.window_blocks import Window
from lossprism.explorer.web.pages.large.request_handlers import FIRST_BATCH
from tests.browser.large.steering import (
    PAGE,
    PROBLEM,
    centre,
    expected,
    figure,
    redrawn,
    window,
)
from tests.browser.serving import Server
from tests.sentences import wording

pytestmark = pytest.mark.browser


WHAT = f"[{PAGE}.request, {PAGE}.window]"


def test_reload_and_a_copied_link_bring_everything_back(
    large: Page, new_page, server: Server
) -> None:
    with redrawn(large):
        large.select_option("#lp-large-loss", "weighted_cosent")
    with redrawn(large):
        large.locator(".lp-lever input.lp-number").fill("7")
    with redrawn(large):
        large.mouse.click(*centre(large, 30, 150))
    seen, shown = large.evaluate(WHAT), figure(large, "loss")
    assert window(large)
    large.wait_for_function("location.hash.includes('window')")
    large.context.grant_permissions(["clipboard-read", "clipboard-write"])
    copy = large.locator("[data-say='ui.copy_link']")
    copy.click()
    expect(copy).to_have_text("Copied")
    link = large.evaluate("navigator.clipboard.readText()")
    large.context.clear_permissions()
    assert link.startswith(f"{server.address}/large#")

    def brought(page: Page) -> None:
        page.wait_for_function(f"window.lossprism && {PAGE}.details")
        assert page.evaluate(WHAT) == seen
        assert figure(page, "loss") == shown
        assert page.locator("#lp-large-loss").input_value() == "weighted_cosent"
        # The way back to the whole is there, too.
        page.locator(".lp-crumb", has_text="All").click()
        page.wait_for_function(f"{PAGE}.answer.window[1] === {FIRST_BATCH.pairs}")
        assert window(page) is None

    large.reload(wait_until="domcontentloaded")
    brought(large)
    other = new_page()
    other.goto(link, wait_until="domcontentloaded")
    brought(other)


def test_back_and_forward_walk_between_windows_and_losses(large: Page) -> None:
    large.wait_for_function("location.hash")
    with redrawn(large):
        large.mouse.click(*centre(large, 30, 150))
    seen = window(large)
    large.wait_for_function("location.hash.includes('window')")
    with redrawn(large):
        large.select_option("#lp-large-loss", "weighted_cosent")
    large.wait_for_function("location.hash.includes('weighted')")
    with redrawn(large):
        large.go_back()
    assert large.locator("#lp-large-loss").input_value() == "cosent"
    assert window(large) == seen
    with redrawn(large):
        large.go_back()
    assert window(large) is None
    for _ in range(2):
        with redrawn(large):
            large.go_forward()
    assert large.locator("#lp-large-loss").input_value() == "weighted_cosent"
    assert window(large) == seen


def test_steps_that_follow_fast_are_steps_of_the_browser_too(large: Page) -> None:
    large.wait_for_function("location.hash")
    first, second = [0, 50_000, 50_000, 100_000], [100, 900, 60_000, 61_000]
    large.evaluate(f"{PAGE}.zoom({first}); {PAGE}.zoom({second})")
    for expected_window in (first, None):
        large.go_back()
        large.wait_for_function(
            f"wanted => String({PAGE}.window) === String(wanted)", arg=expected_window
        )
    with redrawn(large):
        large.go_forward()
    assert window(large) == first


REFUSED = (
    ("#loss=none", wording("problem.large_loss")),
    ("#window=5-2-0-1", wording("problem.large_window")),
    ("#window=a-b", "window"),
    ("#p.scale=-4", "scale is -4"),
    ("#pairs=1e9", "at most 1\u202f048\u202f576 pairs"),
    ("#source=file&file=00000000000000000000000000000000&name=mine.csv", "“mine.csv”"),
    ("#source=explore&link=9.x", "link"),
)


def test_an_address_that_cannot_be_opened_says_why(
    new_page, server: Server, subtests: pytest.Subtests
) -> None:
    """That which the page is opened with, and those that follow it."""
    page = new_page()
    for turn, (place, message) in enumerate(REFUSED):
        with subtests.test(place=place):
            if turn:
                page.evaluate("place => { location.hash = place; }", place)
            else:
                page.goto(f"{server.address}/large{place}")
            expect(page.locator(PROBLEM)).to_contain_text(message)


def test_words_say_where_the_weight_is(large: Page) -> None:
    """The fewest blocks that hold nine tenths of it, counted here."""
    truth = expected().matrix.blocks(Window(0, FIRST_BATCH.pairs, 0, FIRST_BATCH.pairs))
    falling = np.sort(truth.share.ravel())[::-1]
    count = np.searchsorted(np.cumsum(falling), 0.9 * falling.sum()) + 1
    text = large.locator("#large-large_map p b").inner_text()
    share = float(re.match(r"([\d.]+)\s*%", text)[1]) / 100
    assert share == pytest.approx(count / (truth.present > 0).sum(), rel=0.05, abs=6e-5)
