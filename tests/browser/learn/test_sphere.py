"""The sphere, walked as a reader walks it: films are chosen, played, led by hand and shared."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.lab.sphere.presets import PRESETS
from lossprism.explorer.locale import say
from tests.browser.axe import script, violations
from tests.browser.first_screen import words_and_controls
from tests.browser.learn.steering import FILMED, open_sphere
from tests.browser.reading import TWO_FRAMES
from tests.browser.serving import Server
from tests.browser.ways import led
from tests.sentences import wording

pytestmark = pytest.mark.browser

PAGE = "window.lossprism.page('sphere')"
DRAWN = "window.lossprism?.page('sphere')?.drawn"
MOST_WORDS, MOST_CONTROLS = 90, 15
FRAME_MS = 16  # of script, at 64 points under two losses
BALLS = ".lp-ball"


def at_place(page: Page, scenario: str) -> Page:
    return led(page, "sphere", scenario, FILMED)


def settled(page: Page) -> None:
    page.wait_for_function(FILMED)


def at(page: Page) -> int:
    return page.evaluate(f"{PAGE}.at")


def place_of(page: Page, point: int, ball: int = 0) -> tuple[float, float]:
    """Where a point of a circle is on the screen."""
    box = page.locator(BALLS).nth(ball).bounding_box()
    x, y = page.evaluate(
        f"""([point, ball]) => {{
          const {{ films, filmed, at }} = {PAGE};
          const from = (at * filmed.names.length + point) * 2;
          return Array.from(films[ball].points.slice(from, from + 2));
        }}""",
        [point, ball],
    )
    radius = box["width"] / 2 - 14
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    return middle[0] + x * radius, middle[1] - y * radius


def preset(page: Page, name: str) -> Locator:
    return page.locator(f"#lp-preset-{name}")


def test_a_reader_comes_from_learn_and_plays_a_film(
    new_page: Callable[..., Page], server: Server
) -> None:
    page = new_page()
    page.goto(f"{server.address}/learn", wait_until="domcontentloaded")
    page.locator(".lp-below a", has_text="Sphere").click()
    page.wait_for_function(DRAWN)
    assert page.url.startswith(f"{server.address}/learn/sphere")
    expect(page.locator(".lp-pages a[aria-current=page]")).to_have_text("Learn")
    expect(page.locator(".lp-pages a")).to_have_count(6)  # it is no page of the navigation
    expect(page.locator("#lp-step, .lp-step")).to_have_text("Step 0 of 200")

    preset(page, "spread").click()
    expect(page.locator(BALLS)).to_have_count(2)
    expect(page.locator(".lp-watch")).to_have_text(say("en", "sphere.watch.spread"))
    page.wait_for_function(f"{PAGE}.isPlaying && {PAGE}.at > 5")
    page.click("#lp-play")
    stopped = at(page)
    page.click("#lp-back")
    assert at(page) == stopped - 1
    page.click("#lp-on")
    page.click("#lp-on")
    assert at(page) == stopped + 1
    page.locator("#lp-frame").fill("150")
    expect(page.locator(".lp-step")).to_have_text("Step 150 of 200")
    losses = page.locator(".lp-stage-of-points figcaption > b:last-child").all_inner_texts()
    settled(page)

    # The link opens the same film at the same frame.
    page.reload()
    page.wait_for_function(DRAWN)
    expect(page.locator(".lp-step")).to_have_text("Step 150 of 200")
    assert page.locator(".lp-stage-of-points figcaption > b:last-child").all_inner_texts() == losses
    expect(preset(page, "spread")).to_have_attribute("aria-pressed", "true")
    # At its end a film stops, and begins anew.
    page.locator("#lp-frame").fill("198")
    page.click("#lp-play")
    page.wait_for_function(f"!{PAGE}.isPlaying && {PAGE}.at === 200")
    page.click("#lp-play")
    page.wait_for_function(f"{PAGE}.at < 100")
    page.click("#lp-play")
    page.go_back()  # to the film before
    expect(preset(page, "collapse")).to_have_attribute("aria-pressed", "true")


def test_a_hand_moves_a_point_and_both_films_go_on_from_there(sphere: Page) -> None:
    page = sphere
    preset(page, "spread").click()
    page.wait_for_function(f"{PAGE}.isPlaying")
    page.locator("#lp-frame").fill("40")
    before = page.evaluate(f"{PAGE}.films.map(({{ points }}) => Array.from(points))")
    x, y = place_of(page, 4)
    box = page.locator(BALLS).first.bounding_box()
    page.mouse.move(x, y)
    expect(page.locator(".lp-show [data-batch-text]")).to_have_text("3.1")  # what it is called
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 20, steps=5)  # to the top
    page.mouse.up()
    expect(page.locator("#lp-put-back")).to_have_text(wording("sphere.put_back"))
    settled(page)
    after = page.evaluate(f"{PAGE}.films.map(({{ points }}) => Array.from(points))")
    frame = 32 * 2
    for one, other in zip(before, after, strict=True):
        assert one[: 40 * frame] == other[: 40 * frame]
        assert other[40 * frame + 8 : 40 * frame + 10] == pytest.approx([0, 1], abs=0.02)
        assert one[-frame:] != pytest.approx(other[-frame:], abs=1e-3)
    expect(page.locator(".lp-watch")).to_have_text(wording("sphere.own"))
    assert "moves=40-4-" in page.evaluate("location.hash")
    page.reload()
    page.wait_for_function(DRAWN)
    again = page.evaluate(f"{PAGE}.films.map(({{ points }}) => Array.from(points))")
    assert again == after
    page.click("#lp-put-back")
    settled(page)
    assert page.evaluate(f"{PAGE}.films.map(({{ points }}) => Array.from(points))") == before

    # The same by keys: one chooses a point, with Shift it moves.
    page.locator(BALLS).first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    expect(page.locator("#lp-put-back")).to_be_visible()
    page.wait_for_function("location.hash.includes('moves=40-1-')")


def test_the_frame_in_sight_is_saved_as_a_figure_and_dragging_rotates_the_sphere(
    sphere: Page,
) -> None:
    page = sphere
    page.locator("#lp-frame").fill("60")
    fold = page.locator("#sphere-main summary").first
    fold.click()
    with page.expect_download() as taken:
        page.locator(".lp-downloads [data-say='take.svg']").click()
    drawn = taken.value.path().read_text(encoding="utf-8")
    assert taken.value.suggested_filename == "lossprism-sphere.svg"
    assert drawn.count("<circle") >= 24 + 1  # the points, and the outline
    assert "Step 60 of 200" in drawn
    assert say("en", "sphere.curve.effective_rank") in drawn
    fold.click()

    box = page.locator(BALLS).bounding_box()
    page.locator("#lp-frame").fill("200")  # all in one point, so that there is place beside it
    shown = page.locator(BALLS).screenshot()
    page.mouse.move(box["x"] + 0.4 * box["width"], box["y"] + 0.3 * box["height"])
    page.mouse.down()
    page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 0.3 * box["height"], steps=4)
    page.mouse.up()
    page.wait_for_function("location.hash.includes('turn=')")
    assert page.locator(BALLS).screenshot() != shown
    assert page.evaluate(f"{PAGE}.moves.length") == 0
    turn = page.evaluate(f"{PAGE}.turn")
    page.reload()
    page.wait_for_function(DRAWN)
    assert page.evaluate(f"{PAGE}.turn") == turn


def test_a_loss_that_needs_no_points_is_reported_and_leaves_the_other(sphere: Page) -> None:
    page = at_place(sphere, "1=info_nce&2=gist&kind=classes&points=16&classes=8")
    element = page.locator("#sphere-main .lp-problem")
    expect(element).to_contain_text("GISTEmbed needs a second encoder to find false negatives")
    expect(page.locator(BALLS)).to_have_count(1)
    for fold in page.locator("#sphere-controls summary").all():
        fold.click()
    page.select_option("#lp-side-1", "supcon")
    expect(element).to_be_hidden()
    expect(page.locator(BALLS)).to_have_count(2)
    page.uncheck("#lp-second")
    expect(page.locator(BALLS)).to_have_count(1)
    page.select_option("#lp-dimension", "3")
    settled(page)
    assert page.evaluate(f"{PAGE}.filmed.dimension") == 3
    page.click("#lp-start-random")
    page.select_option("#lp-labels", "continuous")
    settled(page)
    assert "labels=continuous" in page.evaluate("location.hash")
    assert page.evaluate(f"{PAGE}.problem") is None


def test_sentences_say_how_much_of_them_is_seen_and_stay_text(sphere: Page) -> None:
    rows = (("<img src=x onerror=alert(1)>", "b", "1"), ("c", "d", "0"), ("e", "f", "1"))
    scenario = Scenario(data=Data(source="table", rows=rows)).to_link()
    page = at_place(sphere, f"kind=sentences&1=cosent&rate=0.01&dimension=2&scene={scenario}")
    expect(page.locator(".lp-variance-share")).to_contain_text(wording("sphere.kept"))
    page.mouse.move(*place_of(page, 0))
    expect(page.locator(".lp-show [data-batch-text]")).to_have_text(rows[0][0])
    assert page.locator("#lp-main img").count() == 0


SCREENS = {"en": (1440, 900), "zh": (390, 844)}
PROJECTOR = {"width": 1920, "height": 1080}


@pytest.mark.thorough
def test_every_film_fits_the_screen_in_few_words_and_axe_finds_nothing(sphere: Page) -> None:
    page, axe = sphere, script()
    transport = page.locator(".lp-transport")
    for one in PRESETS:
        preset(page, one.name).click()
        expect(preset(page, one.name)).to_have_attribute("aria-pressed", "true")
        settled(page)
        page.evaluate(f"{PAGE}.pause()")  # what moves changes nothing of what is looked at
        for language, (width, height) in SCREENS.items():
            page.wait_for_function(f"document.documentElement.lang.startsWith('{language}')")
            page.set_viewport_size({"width": width, "height": height})
            page.wait_for_function("document.documentElement.scrollWidth <= innerWidth")
            words, controls = words_and_controls(page)
            assert words <= MOST_WORDS, (one.name, words)
            assert controls <= MOST_CONTROLS, one.name
            if width == 1440:  # without scrolling, but for the files to save
                assert transport.bounding_box()["y"] < height - 40
            if one is PRESETS[-1]:
                assert violations(page, axe) == []
            page.click("#lp-language")
        # On a projector all of it, without scrolling.
        page.set_viewport_size(PROJECTOR)
        page.click("#lp-present")
        page.evaluate(TWO_FRAMES)
        box = transport.bounding_box()
        assert box["y"] + box["height"] <= PROJECTOR["height"], one.name
        page.click("#lp-leave")


@pytest.mark.thorough
def test_less_motion_is_a_few_stills(new_page: Callable[..., Page], server: Server) -> None:
    page = new_page(reduced_motion="reduce")
    open_sphere(page, server.address)
    page.evaluate(
        f"""() => {{
          window.seen = new Set();
          {PAGE}.on("frame", ({{ at }}) => window.seen.add(at));
        }}"""
    )
    page.click("#lp-play")
    page.wait_for_function(f"{PAGE}.at === 200 && !{PAGE}.isPlaying")
    assert sorted(page.evaluate("[...window.seen]")) == list(range(0, 201, 25))


def test_a_frame_takes_little_script(sphere: Page) -> None:
    link = "kind=classes&points=64&classes=32&dimension=3&optimiser=adam&rate=0.03"
    page = at_place(sphere, f"{link}&1=info_nce&1.temperature=0.1&2=supcon")
    page.wait_for_function("document.querySelector('.lp-curves .main-svg')")
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")

    def script_s() -> float:
        found = session.send("Performance.getMetrics")["metrics"]
        return next(one["value"] for one in found if one["name"] == "ScriptDuration")

    before = script_s()
    page.evaluate(
        f"""async () => {{
          for (let frame = 1; frame <= 60; frame += 1) {{
            {PAGE}.step(frame);
            await new Promise((done) => {{ requestAnimationFrame(() => setTimeout(done)); }});
          }}
        }}"""
    )
    assert 1000 * (script_s() - before) / 60 < FRAME_MS


def test_it_stands_in_a_frame_without_navigation(
    new_page: Callable[..., Page], server: Server
) -> None:
    page = new_page()
    page.goto(f"{server.address}/learn/sphere?embed", wait_until="domcontentloaded")
    expect(page.locator("#sphere-header")).to_be_hidden()
    expect(page.locator(BALLS)).to_be_visible()
