"""The Landscape page, walked as a student walks it, and the same picture on Compare and in a
lesson."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from lossprism.explorer.locale import say
from tests.browser.conftest import Contexts, HandedOn, handing
from tests.browser.first_screen import words_and_controls
from tests.browser.serving import Server
from tests.browser.ways import led, way_by_address
from tests.sentences import wording

DRAWN = (
    "window.lossprism?.page('landscape')?.drawn"
    " && document.querySelectorAll('.lp-plot .main-svg').length > 3"
)
MOST_WORDS, MOST_CONTROLS = 90, 15
REPAINT_MS = 50  # of the page's processor time: 20 repaints a second
# Moves the lever by a stop in each frame, and counts what is painted.
MOVES = """async (moves) => {
  const lever = document.querySelector(".lp-landscape-lever input");
  let painted = 0;
  const plot = document.querySelector(".lp-landscape-sides .lp-plot");
  plot.on("plotly_afterplot", () => { painted += 1; });
  for (let move = 1; move <= moves; move += 1) {
    lever.value = Number(lever.min) + Number(lever.step) * move;
    lever.dispatchEvent(new Event("input", { bubbles: true }));
    await new Promise((done) => { requestAnimationFrame(() => setTimeout(done)); });
  }
  return painted;
}"""


def opened(page: Page, address: str) -> None:
    page.goto(f"{address}/learn/landscape", wait_until="domcontentloaded")
    page.wait_for_function(DRAWN)


@pytest.fixture(scope="session")
def handed_on_landscape(contexts: Contexts, server: Server) -> HandedOn:
    way = way_by_address("landscape", opened, DRAWN, "learn/landscape")
    return HandedOn(contexts, server, way)


@pytest.fixture
def page(handed_on_landscape: HandedOn, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The landscape, opened."""
    with handing(handed_on_landscape, request) as page:
        yield page


def test_a_landscape_is_walked(page: Page) -> None:
    expect(page).to_have_title("Landscape · Circle, self-paced vs CoSENT · LossPrism")
    words, controls = words_and_controls(page)
    assert (words <= MOST_WORDS, controls <= MOST_CONTROLS) == (True, True), (words, controls)
    notes = page.locator(".lp-landscape-sides .lp-note")
    expect(notes.nth(0)).to_contain_text(wording("landscape.arc", radius="0.354"))
    expect(notes.nth(1)).to_contain_text(wording("landscape.line"))

    # The whole range of the lever is there: what follows the hand waits for no answer.
    requests: list[str] = []
    page.once("request", lambda request: requests.append(request.url))
    lever = page.locator(".lp-landscape-lever input")
    lever.focus()
    for _ in range(6):
        page.keyboard.press("ArrowRight")
    expect(notes.nth(0)).to_contain_text("radius 0.566")
    expect(page.locator(".lp-landscape-lever output")).to_have_text("0.4")
    assert requests == []

    # A click cuts the landscape there; the link has all of it.
    plot = page.locator(".lp-landscape-sides .nsewdrag").first
    box = plot.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 4)
    page.mouse.down()
    page.mouse.up()
    expect(page.locator(".lp-landscape-cut output")).to_have_text("0.5")
    page.wait_for_function("location.hash.includes('negative=0.5')")
    page.wait_for_function("location.hash.includes('1.margin=0.4')")
    page.reload()
    page.wait_for_function(DRAWN)
    expect(notes.nth(0)).to_contain_text("radius 0.566")
    expect(page.locator(".lp-landscape-cut output")).to_have_text("0.5")

    page.locator("#lp-view-surface").click()  # a file has the level lines, whatever is shown
    page.locator(".lp-landscape-more summary").nth(1).click()
    with page.expect_download() as taken:
        page.locator(".lp-downloads [data-say='take.svg']").click()
    drawn = taken.value.path().read_text(encoding="utf-8")
    assert say("en", "loss.circle_self_paced.title") in drawn
    assert drawn.count('class="curve"') > 10


def test_the_lever_is_followed_20_times_a_second(page: Page) -> None:
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})  # whatever else is running

    def processor_s() -> float:
        found = session.send("Performance.getMetrics")["metrics"]
        return next(one["value"] for one in found if one["name"] == "TaskDuration")

    moves = 15
    before = processor_s()
    painted = page.evaluate(MOVES, moves)
    assert painted == moves  # none is left out
    assert 1000 * (processor_s() - before) / moves <= REPAINT_MS


def test_another_loss_another_batch_and_the_surface(page: Page, server: Server) -> None:
    led(page, "landscape", "1=circle&1.positive_margin=0.3&2=list_net", DRAWN)
    page.click("#lp-language")
    page.wait_for_function("document.documentElement.lang.startsWith('zh')")
    notes = page.locator(".lp-landscape-sides .lp-note")
    expect(notes.nth(0)).to_contain_text("0.3")
    expect(notes.nth(1)).to_have_text("")
    page.select_option("#lp-loss-2", "pairwise_hinge")
    page.wait_for_function(DRAWN)
    page.select_option("#lp-lever", "margin")
    page.select_option("#lp-batch", "nli_triplets")
    page.wait_for_function(DRAWN)
    page.wait_for_function("location.hash.includes('example=nli_triplets')")
    page.locator("#lp-view-surface").click()
    page.wait_for_selector(".lp-plot .gl-container", state="attached")
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function("document.documentElement.scrollWidth <= 390")

    # A missing batch is reported until there is one, whatever else is answered.
    problem = page.locator(".lp-problem")
    page.goto(f"{server.address}/learn/landscape?lang=en#example=nothing")
    expect(page.locator(".lp-landscape-cuts .main-svg").first).to_be_attached()
    expect(problem).to_contain_text("nothing")
    page.select_option("#lp-batch", "nli_triplets")
    expect(problem).to_be_hidden()

    # A loss that two scores do not determine says so, and leaves the other as it is.
    led(page, "landscape", "1=info_nce&2=cosent", DRAWN)
    expect(notes.nth(0)).to_contain_text("InfoNCE has no landscape")
    expect(notes.nth(1)).to_contain_text(wording("landscape.line"))


def test_compare_and_a_lesson_show_the_same(new_page: Callable[..., Page], server: Server) -> None:
    page = new_page()
    scenario = "1=cosent&2=circle_self_paced&3=info_nce&picture=vary&vary=landscape"
    page.goto(f"{server.address}/compare#{scenario}", wait_until="domcontentloaded")
    drawn = page.locator(".lp-landscape-sides .lp-plot .main-svg")
    expect(drawn.nth(2)).to_be_attached()
    expect(page.locator(".lp-landscape-sides")).to_contain_text(
        wording("landscape.arc", radius="0.354")
    )
    expect(page.locator("#lp-vary-panel table")).to_contain_text("InfoNCE has no landscape")
    page.get_by_role("link", name=wording("landscape.open")).click()
    page.wait_for_function(DRAWN)
    expect(page.locator("#lp-loss-1")).to_have_value("cosent")
    expect(page.locator("#lp-loss-2")).to_have_value("circle_self_paced")

    page.goto(f"{server.address}/learn/margin#at=6&guess=3&shown=true")
    page.locator("a[href*='landscape']").click()
    page.wait_for_function(DRAWN)
    expect(page.locator("#lp-loss-1")).to_have_value("pairwise_hinge")
    expect(page.locator(".lp-landscape-lever output")).to_have_text("2")
