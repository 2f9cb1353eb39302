"""What the tests of the Large batch page read of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from playwright.sync_api import Page

from lossprism.explorer.lab.large.batch import drawn as drawn_batch
from lossprism.explorer.lab.large.large_batch_session import LargeSession, checked, open_batch
from lossprism.explorer.web.pages.large.request_handlers import FIRST_BATCH

PAGE = "window.lossprism.page('large')"
MAP = "#large-large_map .lp-stage canvas"
PROBLEM = "#large-large_scene .lp-problem"
UNDERWAY = "#large-large_scene .lp-underway"
CARD = "#large-large_map .lp-card"


def open_folds(page: Page) -> None:
    """Whoever looks for a control opens its fold."""
    page.evaluate(
        "for (const fold of document.querySelectorAll('#lp-side .lp-fold')) fold.open = true"
    )


def opened_page(page: Page, address: str, place: str = "") -> Page:
    page.goto(f"{address}/large{place}", wait_until="domcontentloaded")
    page.wait_for_function(f"window.lossprism && {PAGE}.details")
    page.wait_for_selector("#large-large_pairs tbody tr")
    open_folds(page)
    return page


@contextmanager
def redrawn(page: Page) -> Iterator[None]:
    before = page.evaluate(f"{PAGE}.drawn ?? 0")
    yield
    page.wait_for_function(f"before => {PAGE}.drawn > before", arg=before)


def led(page: Page, place: str) -> Page:
    """The page that is open, led to the place of another address; its map has been drawn."""
    with redrawn(page):
        page.evaluate("place => { location.hash = place; }", place)
    page.wait_for_function(f"{PAGE}.details && !{PAGE}.isStale && !{PAGE}.working")
    return page


def shape(page: Page) -> list[int]:
    """Block rows and block columns in view."""
    return page.evaluate(
        f"[{PAGE}.answer.rows.edges.length - 1, {PAGE}.answer.columns.edges.length - 1]"
    )


def centre(page: Page, row: int, column: int) -> tuple[float, float]:
    page.locator(MAP).scroll_into_view_if_needed()
    box, (rows, columns) = page.locator(MAP).bounding_box(), shape(page)
    return (
        box["x"] + (column + 0.5) * box["width"] / columns,
        box["y"] + (row + 0.5) * box["height"] / rows,
    )


def window(page: Page) -> list[int] | None:
    return page.evaluate(f"{PAGE}.window")


def colours(page: Page) -> int:
    return page.evaluate(
        """(selector) => {
          const canvas = document.querySelector(selector);
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          return new Set(new Uint32Array(data.buffer)).size;
        }""",
        MAP,
    )


def figure(page: Page, name: str) -> str:
    return page.locator(f"#lp-large-figure-{name} strong").text_content() or ""  # may be folded


@cache
def expected() -> LargeSession:
    """What the page opens with, computed here."""
    batch = drawn_batch(FIRST_BATCH)
    return open_batch(batch, "cosent", checked("cosent", {}), lambda done, total: None)
