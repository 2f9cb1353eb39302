"""How a page that tests hand on to one another is opened, led to another scenario, and brought back
to its first one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from playwright.sync_api import Page


@dataclass(frozen=True)
class Way:
    """How a page is opened, and how it is brought back to the scenario that it was opened with,
    which stands after the "#" of its address. It goes on if all of it is `whole` again; else with
    that scenario, no complaint and its own scripts, and what it has seen, as for a reader who goes
    on."""

    path: str
    name: str  # of its state
    opened: Callable[[Page, str], None]
    back: Callable[[Page, str], None]
    whole: bool = True


def way_by_address(
    name: str, open_page: Callable[[Page, str], object], complete: str, path: str = ""
) -> Way:
    """To a page whose address has its scenario, and back as Back leads there; `complete` is where
    all of it is there and nothing moves. Its `path` is its name, unless another is given."""
    history = f"window.lossprism.page('{name}').history"

    def opened(page: Page, address: str) -> None:
        open_page(page, address)
        page.wait_for_function(complete)

    def back(page: Page, scenario: str) -> None:
        rests = f"!{history}.pending && {complete}"
        page.wait_for_function(rests)
        page.evaluate("scene => { location.hash = scene; }", scenario)
        page.wait_for_function(
            f"scene => {history}.text === scene.slice(1) && {rests}", arg=scenario
        )

    return Way(path or name, name, opened, back, whole=False)


def led(page: Page, name: str, scenario: str, complete: str) -> Page:
    """The page of this name that is open, led to the place of another address."""
    page.evaluate("scenario => { location.hash = scenario; }", scenario)
    page.wait_for_function(
        f"text => window.lossprism.page('{name}').history.text === text && {complete}",
        arg=scenario,
    )
    return page
