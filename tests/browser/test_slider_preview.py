"""A slider's range comes once; what is drawn of it is the answer's to a step of a byte, and the
answer follows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page

from benchmarks.slow_link_proxy import slow_link
from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Scenario
from tests.browser.reading import PAGE, choose, loss_shown, redrawn, slider, still, visit

pytestmark = pytest.mark.browser

RANGE = f"{PAGE}.sliderPreview"


@pytest.fixture
def far(new_page, server) -> Iterator[Page]:
    """Explore over a link of a tenth of a second."""
    with slow_link(urlsplit(server.address).port, 0.1) as address:
        page = visit(new_page(address=address), address)
        choose(page, "cosent")
        yield page


def move(page: Page, *shares: float, then: str = "null") -> Any:
    """Move the slider to each share of its length within one task of the page; return `then`."""
    track = slider(page, "scale")[0].first
    return track.evaluate(
        f"""async (track, shares) => {{
          const page = {PAGE};
          for (const share of shares) {{
            track.value = 1000 * share;
            track.dispatchEvent(new Event("input", {{ bubbles: true }}));
          }}
          return {then};
        }}""",
        shares,
    )


def touch(page: Page) -> None:
    """A first movement, with which the range comes."""
    with redrawn(page):
        move(page, 0.3)
    page.wait_for_function(f"{RANGE}.covers('scale')")
    still(page)


def test_a_range_comes_once_and_is_drawn_before_the_answer(far: Page) -> None:
    requests: list[str] = []
    far.on("request", lambda request: requests.append(request.url.rsplit("/", 1)[-1]))
    touch(far)
    far.evaluate(f"""() => {{
        window.drawn = [];
        const [canvas] = document.querySelectorAll("#main-matrix canvas");
        const look = (what) => window.drawn.push([what, canvas.toDataURL()]);
        for (const what of ["moving", "picture"]) {PAGE}.on(what, () => look(what));
    }}""")
    at_hand = move(far, 0.31, 0.45, 0.6, 0.52, then="[...window.drawn]")
    assert [what for what, _ in at_hand] == ["moving"] * 4
    assert len({cells for _, cells in at_hand}) == 4
    still(far)
    # An answer to an earlier value puts no earlier cells back.
    answered = [cells for what, cells in far.evaluate("window.drawn") if what == "picture"]
    assert len(answered) >= 2
    assert set(answered[:-1]) == {at_hand[-1][1]}
    assert far.evaluate(f"{PAGE}.moving") is None
    assert requests.count("slider_preview") == 1
    scale = far.evaluate(f"{PAGE}.scenario.parameters.scale")
    assert float(slider(far, "scale")[1].first.input_value()) == scale
    exact = explore(Scenario(loss="cosent", parameters=(("scale", scale),))).loss
    assert loss_shown(far) == pytest.approx(exact, rel=1e-4)


# How far the cells at hand are from those of the answer, in steps of a byte of the colours.
APART = """(async () => {
    const { facet } = page.scenario.view, drawn = page.moving[facet];
    while (page.moving) await new Promise((done) => setTimeout(done, 5));
    const colour = facet === "weight" ? Math.cbrt : Number;
    const exact = lossprism.floats(page.picture.shown[facet]).map(colour);
    const finite = exact.filter(Number.isFinite);
    const step = (facet === "weight" ? 1 : 2 * Math.max(...finite.map(Math.abs))) / 253;
    const apart = (cell, i) => (cell === drawn[i] ? 0 : Math.abs(cell - colour(drawn[i])));
    return Math.max(...exact.map(apart)) / step;
})()"""


@pytest.mark.parametrize("facet", ["value", "weight", "gradient"])
def test_what_is_drawn_at_hand_is_the_answer_to_a_step_of_a_byte(page: Page, facet: str) -> None:
    choose(page, "cosent")
    page.evaluate(f"{PAGE}.set({{ view: {{ facet: '{facet}' }} }})")
    touch(page)
    for share in (0.2, 0.417, 0.5, 0.555, 0.803):  # at stops and between them
        assert move(page, share, then=APART) <= 1
        still(page)


@pytest.mark.parametrize(
    "change",
    ["{ view: { facet: 'gradient' } }", "{ loss: 'angle' }", "{ data: { source: 'random' } }"],
)
def test_another_facet_loss_or_batch_has_another_range(page: Page, change: str) -> None:
    choose(page, "cosent")
    touch(page)
    with redrawn(page):
        page.evaluate(f"{PAGE}.set({change})")
    still(page)
    assert not page.evaluate(f"{RANGE}.covers('scale')")
    assert move(page, 0.4, then="page.moving") is None
    page.wait_for_function(f"{RANGE}.covers('scale')")


def test_a_value_beyond_the_slider_waits_for_its_answer(page: Page) -> None:
    choose(page, "cosent")
    touch(page)
    page.evaluate(f"{PAGE}.setParameter('scale', 1e6)")
    assert page.evaluate(f"{PAGE}.moving") is None
