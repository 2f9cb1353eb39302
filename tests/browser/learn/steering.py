"""How the Map and the Sphere are opened, and led to the place of another address."""

from __future__ import annotations

from playwright.sync_api import Page

MAP_DRAWN = "window.lossprism?.page('map')?.drawn && document.querySelector('.lp-plot .main-svg')"
FILMED = """(() => {
  const { drawn, requests, history } = window.lossprism?.page('sphere') ?? {};
  return drawn && !requests.flying && !requests.due && !history.pending;
})()"""


def open_map(page: Page, address: str) -> None:
    page.goto(f"{address}/learn/map", wait_until="domcontentloaded")
    page.wait_for_function(MAP_DRAWN)


def open_sphere(page: Page, address: str) -> None:
    page.goto(f"{address}/learn/sphere", wait_until="domcontentloaded")
    page.wait_for_function(FILMED)


def led(page: Page, name: str, scenario: str, complete: str) -> Page:
    """The page of this name that is open, led to the place of another address."""
    page.evaluate("scenario => { location.hash = scenario; }", scenario)
    page.wait_for_function(
        f"text => window.lossprism.page('{name}').history.text === text && {complete}",
        arg=scenario,
    )
    return page
