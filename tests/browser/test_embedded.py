"""On the hub the page stands in a frame of another origin: the address that is copied is the hub's,
and opens the same scenario there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import APIResponse, Browser, BrowserContext, Frame, Page, Route, expect

from tests.browser.conftest import PATIENCE_MS
from tests.browser.reading import PAGE, PROBLEM, choose, loss_shown, still
from tests.browser.serving import Server
from tests.sentences import wording

pytestmark = pytest.mark.browser

SPACE = "somebody/lossprism"
HUB, WITHIN = f"https://huggingface.co/spaces/{SPACE}", "https://somebody-lossprism.hf.space"
COPY = "#main-header [data-say='ui.copy_link']"
# As the hub does it: what follows the "#" is handed on at load. `?closed` is a page that does not
# let its frame copy.
OUTER = """<!doctype html><title>The hub</title><body></body><script>
  const frame = document.createElement("iframe");
  if (location.search !== "?closed") frame.allow = "clipboard-write";
  frame.width = 1300; frame.height = 800;
  frame.src = "%s/?__theme=light" + location.hash;
  document.body.append(frame);
</script>"""


@pytest.fixture
def hub(
    browser: Browser, own_server: Callable[..., Server], monkeypatch: pytest.MonkeyPatch
) -> Iterator[BrowserContext]:
    """A browser that finds the hub and the Space by their own names, encrypted."""
    monkeypatch.setenv("SPACE_ID", SPACE)
    server = own_server()
    kept: dict[str, APIResponse] = {}  # scripts and styles, which a browser asks for once

    def of_the_space(route: Route) -> None:
        requested = route.request
        if "/heartbeat/" in requested.url:  # never ends, so nothing could be handed on
            route.fulfill(status=200, content_type="text/event-stream", body="")
            return
        proxied = {"x-forwarded-proto": "https", "x-forwarded-host": urlsplit(WITHIN).netloc}
        url = requested.url.replace(WITHIN, server.address, 1)
        answer = kept.get(url)
        if answer is None:
            # A connection that was kept may have been closed just now.
            answer = route.fetch(url=url, headers=requested.headers | proxied, max_retries=3)
        if requested.resource_type in ("script", "stylesheet", "font", "image"):
            kept[url] = answer
        route.fulfill(response=answer)

    context = browser.new_context(
        viewport={"width": 1440, "height": 900},
        locale="en-US",
        permissions=["clipboard-read", "clipboard-write"],  # as far as the page lets its frame
    )
    context.set_default_timeout(PATIENCE_MS)
    context.route("https://huggingface.co/**", lambda route: route.fulfill(
        content_type="text/html", body=OUTER % WITHIN
    ))  # fmt: skip
    context.route(f"{WITHIN}/**", of_the_space)
    yield context
    for page in context.pages:
        page.unroute_all(behavior="ignoreErrors")
    context.unroute_all(behavior="ignoreErrors")
    context.close()


def framed(page: Page, address: str) -> Frame:
    """The page within the hub's page at this address, with its first picture."""
    page.goto(address, wait_until="domcontentloaded")
    within = page.wait_for_selector("iframe").content_frame()
    within.wait_for_function(f"window.lossprism && {PAGE}.drawn >= 1", polling=50)
    return within


def test_the_link_of_the_hubs_page_opens_the_scenario_within_it(hub: BrowserContext) -> None:
    faults: list[str] = []
    page = hub.new_page()
    page.on("pageerror", lambda error: faults.append(str(error)))
    within = framed(page, HUB)
    assert within.evaluate("location.ancestorOrigins[0]") == "https://huggingface.co"
    choose(within, "siglip")
    still(within)
    within.click(COPY)
    expect(within.locator(COPY)).to_have_text("Copied")
    page.locator("body").click(position={"x": 2, "y": 2})  # whoever reads it has to be looked at
    link = page.evaluate("navigator.clipboard.readText()")
    assert link.startswith(f"{HUB}#1.")
    loss = loss_shown(within)
    # There the same scenario opens; where the frame may not copy, the same address is shown.
    page.goto("about:blank")
    again = framed(page, link.replace("#", "?closed#"))
    assert again.locator("#lp-loss").input_value() == "siglip"
    assert loss_shown(again) == loss
    assert faults == []
    still(again)
    again.click(COPY)
    expect(again.locator(PROBLEM)).to_contain_text(wording("ui.copy_refused"))
    text = again.locator(PROBLEM).inner_text()
    assert next(word for word in text.split() if word.startswith("https://")) == link
