"""What the tests of the Compare page do to it and read of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Page

from tests.browser.reading import number

CHANNEL = "window.lossprism.page('compare')"
STILL = f"(({CHANNEL}).drawn > 0 && !({CHANNEL}).flying && !({CHANNEL}).waiting)"
TABLE = "#compare-compare_figures .lp-compared tbody tr"
PROBLEM = "#compare-compare_figures .lp-problem"
FORMULA = "#compare-compare_formula"
STRIPS = "#compare-compare_gradients .lp-strips"
AGREEMENT = "#compare-compare_gradients .lp-agreement"
MATRICES = "#compare-compare_matrices .lp-matrix-box:visible"


def opened_page(page: Page, address: str, scene: str = "") -> Page:
    page.goto(f"{address}/compare{scene and '#'}{scene}", wait_until="domcontentloaded")
    page.wait_for_function(f"window.lossprism && {CHANNEL} && {STILL}")
    return page


@contextmanager
def redrawn(page: Page) -> Iterator[None]:
    """What is done inside leads to a new picture; afterwards it has been drawn."""
    before = page.evaluate(f"{CHANNEL}.drawn")
    yield
    page.wait_for_function(f"before => {CHANNEL}.drawn > before && {STILL}", arg=before)


def led(page: Page, scene: str) -> Page:
    """The page that is open, led to the scene of another address; it has been drawn."""
    with redrawn(page):
        page.evaluate("scene => { location.hash = scene; }", scene)
    return page


def values(page: Page) -> list[float]:
    """The loss of each side that stands."""
    return [
        number(text) for text in page.locator(f"{TABLE} .lp-loss-cell strong").all_inner_texts()
    ]


def linked(page: Page) -> str:
    """The address, once it has followed the state."""
    page.wait_for_function(f"{STILL} && !{CHANNEL}.linking")
    return page.url.partition("#")[2]
