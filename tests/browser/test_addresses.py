"""Every page writes its state behind its own path, also below a path of the host's."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route

from tests.browser.reading import choose, still, visit

pytestmark = pytest.mark.browser

BELOW = "/spaces/lossprism"
LARGE = "window.lossprism.page('large')"


def strip_the_path(route: Route) -> None:
    """What the host does in front of the app; the page does not see it."""
    route.continue_(url=route.request.url.replace(BELOW, "", 1))


def test_every_page_keeps_its_path_below_the_path_of_a_host(
    new_page: Callable[..., Page], own_server: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADIO_ROOT_PATH", BELOW)
    address = own_server().address
    page = new_page(address=address)
    page.route(f"{address}{BELOW}/**", strip_the_path)

    visit(page, f"{address}{BELOW}/?lang=en")
    choose(page, "siglip")
    still(page)
    assert page.url.startswith(f"{address}{BELOW}/?lang=en#")

    page.goto(f"{address}{BELOW}/large?lang=en#pairs=2000")
    page.wait_for_function(f"window.lossprism && {LARGE}.details")
    page.evaluate(f"{LARGE}.zoom([0, 100, 1000, 1200])")
    page.wait_for_function("location.hash.includes('window')")
    assert page.url.startswith(f"{address}{BELOW}/large?lang=en#")

    lost = page.request.get(f"{address}/finetun", headers={"Accept": "text/html"})
    assert lost.status == 404
    assert f'href="{BELOW}/finetune"' in lost.text()

    page.goto(f"{address}{BELOW}/finetune")
    page.wait_for_function("window.lossprism")
    made = "lossprism.kit('history').then(({ addressOf }) => addressOf('run'))"
    assert page.evaluate(made) == f"{BELOW}/finetune#run"
    # What is still on its way through the path above is let in before the page goes.
    page.wait_for_load_state("networkidle")
    page.unroute_all(behavior="ignoreErrors")
