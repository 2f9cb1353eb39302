"""What the tests of the Compare page do to it and read of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Page

from tests.browser.reading import TWO_FRAMES, number

PAGE = "window.lossprism.page('compare')"
STILL = f"(({PAGE}).drawn > 0 && !({PAGE}).flying && !({PAGE}).waiting)"
TABLE = "#compare-numbers .lp-compared tbody tr"
PROBLEM = "#compare-main .lp-problem"
FORMULA = "#compare-formula"
STRIPS = "#compare-gradients .lp-strips"
AGREEMENT = "#compare-agreement .lp-agreement"
MATRICES = "#compare-matrices .lp-matrix-box:visible"
SECTIONS = ("agreement", "matrices", "numbers", "formula")
SIDES = tuple(f"side-{place}" for place in range(6))
TWO_LOSSES = "1=cosent&2=info_nce"


def opened_page(page: Page, address: str, scenario: str = TWO_LOSSES) -> Page:
    page.goto(f"{address}/compare{scenario and '#'}{scenario}", wait_until="domcontentloaded")
    page.wait_for_function(f"window.lossprism && {PAGE} && {STILL}")
    return unfolded(page)


def unfolded(page: Page, *names: str) -> Page:
    """The page with these sections open, by default what the tests read most."""
    page.evaluate(
        f"names => {{ for (const name of names) {PAGE}.unfold(name, true); }}",
        ["others", "options", "collapse-details", *(names or (*SECTIONS, *SIDES, "data"))],
    )
    page.evaluate(TWO_FRAMES)
    page.wait_for_function(STILL)
    return page


@contextmanager
def redrawn(page: Page) -> Iterator[None]:
    """What is done inside leads to a new picture; afterwards it has been drawn."""
    before = page.evaluate(f"{PAGE}.drawn")
    yield
    page.wait_for_function(f"before => {PAGE}.drawn > before && {STILL}", arg=before)


def led(page: Page, scenario: str) -> Page:
    """The page that is open, led to the scenario of another address; it has been drawn."""
    with redrawn(page):
        page.evaluate("scene => { location.hash = scene; }", scenario)
    return unfolded(page)


def values(page: Page) -> list[float]:
    """The loss of each side that stands."""
    return [
        number(text) for text in page.locator(f"{TABLE} .lp-loss-cell strong").all_inner_texts()
    ]


def linked(page: Page) -> str:
    """The address, once it has followed the state."""
    page.wait_for_function(f"{STILL} && !{PAGE}.linking")
    return page.url.partition("#")[2]
