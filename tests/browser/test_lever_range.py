"""A slider over a slow link: its range comes once, and what is drawn of it is exact on release."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from benchmarks.slow_link import slow_link
from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Scenario
from tests.browser.reading import CHANNEL, choose, loss_shown, redrawn, slider, still, visit

pytestmark = pytest.mark.browser

HIDDEN = "#main-cell > .lp"  # numbers that a stop has not
FILM = f"[{CHANNEL}.drawn, {CHANNEL}.scenario.parameters.scale]"


@pytest.fixture
def far(new_page, server) -> Iterator[Page]:
    """Explore over a link of a tenth of a second."""
    with slow_link(urlsplit(server.address).port, 0.1) as address:
        page = visit(new_page(address=address), address)
        choose(page, "cosent")
        for place in (0.2, 0.4, 0.3):  # three answers were slow
            with redrawn(page):
                move(page, place)
        still(page)
        yield page


def move(page: Page, share: float) -> None:
    track = slider(page, "scale")[0].first
    track.evaluate(
        """(track, share) => {
          track.value = 1000 * share;
          track.dispatchEvent(new Event("input", { bubbles: true }));
        }""",
        share,
    )


def pressed(page: Page) -> list[str]:
    """A pointer takes the slider where it stands; the names of all requests from now on."""
    track = slider(page, "scale")[0].first
    track.scroll_into_view_if_needed()
    box, share = track.bounding_box(), float(track.input_value()) / 1000
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url.rsplit("/", 1)[-1]))
    page.mouse.move(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
    page.mouse.down()
    page.wait_for_function(f"{CHANNEL}.leverRange.covers('scale')")
    return requests


def test_a_range_is_drawn_at_hand_and_exact_on_release(far: Page) -> None:
    requested = pressed(far)
    still(far)
    assert requested.count("lever_range") == 1
    requested.clear()
    before = far.evaluate(FILM)[0]
    for share in (0.31, 0.45, 0.6, 0.52):
        move(far, share)
    drawn, scale = far.evaluate(FILM)
    assert drawn == before + 4
    assert requested == []
    # The number is that of the value in the box, and what the range has not is not shown.
    exact = explore(far_scenario(scale)).loss
    assert loss_shown(far) == pytest.approx(exact, rel=1e-4)
    assert float(slider(far, "scale")[1].first.input_value()) == scale
    expect(far.locator(HIDDEN)).to_be_hidden()
    with redrawn(far):
        far.mouse.up()
    still(far)
    assert "explore" in requested
    assert "lever_range" not in requested
    assert far.evaluate(FILM)[1] == scale
    assert loss_shown(far) == pytest.approx(exact, rel=1e-4)
    expect(far.locator(HIDDEN)).to_be_visible()


def far_scenario(scale: float) -> Scenario:
    return Scenario(loss="cosent", parameters=(("scale", scale),))


@pytest.mark.parametrize(
    "change",
    ["{ view: { facet: 'gradient' } }", "{ loss: 'angle' }", "{ data: { source: 'random' } }"],
)
def test_another_facet_loss_or_batch_drops_the_range(far: Page, change: str) -> None:
    pressed(far)
    far.mouse.up()
    still(far)
    far.evaluate(f"window.before = {CHANNEL}.leverRange.known")
    with redrawn(far):
        far.evaluate(f"{CHANNEL}.set({change})")
    still(far)
    # The pointer may still be over the slider: then another range is there.
    assert not far.evaluate(f"""(({{ leverRange }}) =>
        leverRange.covers("scale") && leverRange.known === before)({CHANNEL})""")


def test_a_fast_link_has_no_range(page: Page) -> None:
    still(page)
    page.evaluate(f"{CHANNEL}.leverRange.times = [1000, 20, 1000]")
    slider(page, "scale")[0].first.hover()
    page.mouse.down()
    page.mouse.up()
    still(page)
    assert not page.evaluate(f"{CHANNEL}.leverRange.covers('scale')")
