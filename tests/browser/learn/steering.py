"""How the Map and the Sphere are opened."""

from __future__ import annotations

from playwright.sync_api import Page

MAP_DRAWN = (
    "window.lossprism?.page('sentence_map')?.drawn && document.querySelector('.lp-plot .main-svg')"
)
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
