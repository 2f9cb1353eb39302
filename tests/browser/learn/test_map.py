"""The map, walked as a reader walks it: sentences are found, pairs are marked and opened."""

from __future__ import annotations

import io
import math
from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from lossprism.explorer.core.explore import Exploration, explore
from lossprism.explorer.core.pair_gradients import gradient_share
from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.lab.map.projections import is_installed
from lossprism.explorer.lab.map.sentence_map import cell_of_pairs
from lossprism.explorer.locale import say
from tests.browser.axe import script, violations
from tests.browser.first_screen import words_and_controls
from tests.browser.learn.steering import MAP_DRAWN as DRAWN
from tests.browser.learn.steering import open_map
from tests.browser.serving import Server
from tests.browser.ways import led
from tests.sentences import pattern_of, wording

pytestmark = pytest.mark.browser

PAGE = "window.lossprism.page('sentence_map')"
EXPLORE = "window.lossprism.page()"
EXPLORE_DRAWN = "window.lossprism?.page()?.drawn"
MOST_WORDS, MOST_CONTROLS = 90, 15
RANGES = (
    "(({ xaxis, yaxis }) => [xaxis.range, yaxis.range])(document.querySelector('.lp-plot').layout)"
)


def opened(page: Page, server: Server) -> Page:
    open_map(page, server.address)
    return page


def at_place(page: Page, scenario: str) -> Page:
    return led(page, "sentence_map", scenario, DRAWN)


def place_on_screen(page: Page, x: float, y: float) -> tuple[float, float]:
    """Where a point of the map is on the screen."""
    return tuple(
        page.evaluate(
            """([x, y]) => {
              const plot = document.querySelector(".lp-plot");
              const box = plot.getBoundingClientRect();
              const { xaxis, yaxis } = plot._fullLayout;
              const scale = box.width / plot._fullLayout.width;
              return [
                box.left + scale * (xaxis._offset + xaxis.l2p(x)),
                box.top + scale * (yaxis._offset + yaxis.l2p(y)),
              ];
            }""",
            [x, y],
        )
    )


def point(page: Page, sentence: int) -> tuple[float, float]:
    of = f"Array.from({PAGE}.frame().points).slice({2 * sentence}, {2 * sentence + 2})"
    return place_on_screen(page, *page.evaluate(of))


def heaviest(page: Page) -> int:
    return page.evaluate(f"{PAGE}.heaviest()[0]")


def test_a_reader_comes_from_learn_marks_a_pair_and_opens_it_on_explore(
    new_page: Callable[..., Page], server: Server
) -> None:
    page = new_page()
    page.goto(f"{server.address}/learn", wait_until="domcontentloaded")
    page.locator(".lp-below a", has_text="Map").click()
    page.wait_for_function(DRAWN)
    assert page.url.startswith(f"{server.address}/learn/map")
    expect(page.locator(".lp-map-page")).to_contain_text(wording("sentence_map.kept"))

    pair = heaviest(page)
    first = page.evaluate(f"{PAGE}.map.first[{pair}]")
    page.mouse.move(*point(page, first))
    expect(page.locator(".lp-plot .hovertext")).to_be_visible()
    page.mouse.down()
    page.mouse.up()
    page.wait_for_function(f"{PAGE}.pairs.join() === '{pair}'")
    page.wait_for_function(f"location.hash.includes('pair={pair}')")
    expect(page.locator(".lp-map-marked")).to_contain_text(
        page.evaluate(f"{PAGE}.map.sentences[{first}]")
    )

    page.click("#lp-on-explore")
    page.wait_for_function(EXPLORE_DRAWN)
    pinned = page.evaluate(f"{EXPLORE}.scenario.view.pinned")
    assert tuple(pinned) == cell_of_pairs(explore(Scenario()), [pair])


def press(page: Page, sentence: int) -> None:
    page.mouse.move(*point(page, sentence))
    words = page.evaluate(f"{PAGE}.map.sentences[{sentence}]")
    expect(page.locator(".lp-plot .hovertext")).to_contain_text(words[:30])
    page.mouse.down()
    page.mouse.up()


def marked(page: Page) -> list[int]:
    return page.evaluate(f"{PAGE}.pairs")


def test_several_pairs_are_marked_on_the_map_and_on_explore(sentence_map: Page) -> None:
    page = sentence_map
    ends = page.evaluate(f"[{PAGE}.map.first, {PAGE}.map.second]")
    one, other = page.evaluate(f"{PAGE}.heaviest().slice(0, 2)")
    press(page, ends[0][one])
    page.wait_for_function(f"{PAGE}.pairs.join() === '{one}'")
    page.keyboard.down("Shift")
    press(page, ends[0][other])
    page.wait_for_function(f"{PAGE}.pairs.join() === '{one},{other}'")

    # A box adds the pairs of the points inside, and the map does not move.
    before = page.evaluate(RANGES)
    x, y = point(page, ends[1][(one + 5) % 24])
    page.mouse.move(x - 20, y - 20)
    page.mouse.down()
    page.mouse.move(x + 20, y + 20, steps=4)
    expect(page.locator(".lp-lasso")).to_be_visible()
    page.mouse.up()
    page.keyboard.up("Shift")
    expect(page.locator(".lp-lasso")).to_be_hidden()
    places = [point(page, place) for place in range(48)]
    inside = {place for place, (a, b) in enumerate(places) if max(abs(a - x), abs(b - y)) < 20}
    of_points = {pair for pair in range(24) if {ends[0][pair], ends[1][pair]} & inside}
    boxed = marked(page)
    assert set(boxed) == {one, other} | of_points
    assert len(boxed) > 2
    assert page.evaluate(RANGES) == before
    page.wait_for_function(f"location.hash.includes('pair={'-'.join(map(str, boxed))}')")
    rows = page.locator(".lp-map-marked li")
    expect(rows).to_have_count(len(boxed))
    rows.last.locator("button").click()
    expect(rows).to_have_count(len(boxed) - 1)

    # The same without a pointer: what a search finds, and the list of the heaviest.
    page.locator("#lp-unmark-all").focus()
    page.keyboard.press("Enter")
    expect(rows).to_have_count(0)
    page.fill("#lp-search", page.evaluate(f"{PAGE}.map.sentences[{ends[0][other]}]"))
    page.locator("#lp-mark-hits").focus()
    page.keyboard.press("Enter")
    assert marked(page) == [other]
    page.locator(".lp-map-more summary").first.click()
    page.locator(".lp-map-more li .lp-link").first.focus()
    page.keyboard.press("Enter")
    assert marked(page) == [other, one]

    # On Explore the same pairs are marked, with their share of the gradient.
    page.click("#lp-on-explore")
    page.wait_for_function(EXPLORE_DRAWN)
    assert page.evaluate(f"{EXPLORE}.scenario.view.marked") == [other, one]
    found = explore(Scenario())
    words = {"mark": "•", "count": 2, "pairs": ", ".join(map(str, sorted((one + 1, other + 1))))}
    share = gradient_share(found.pair_gradient, [one, other])
    line = page.locator(".lp-marked-pairs")
    expect(line).to_contain_text(say("en", "ui.marked_pairs", share=f"{share:.0%}", **words))
    names = page.locator(".lp-row-ticks .lp-marked")
    expect(names).to_have_text([f"•{number}" for number in marked_rows(found, {one, other})])
    page.wait_for_function("location.hash.startsWith('#1.')")
    page.wait_for_function(f"!{EXPLORE}.linking")
    page.reload()
    page.wait_for_function(EXPLORE_DRAWN)
    expect(names).to_have_count(2)
    page.locator("#main-pairs summary").first.click()
    expect(page.locator(".lp-table tr.lp-marked")).to_have_count(2)
    # Marks stay under another loss, and go with the pairs that they are of.
    page.evaluate(f"{EXPLORE}.choose('pairwise_hinge')")
    page.wait_for_function(f"{EXPLORE}.picture.figures.loss !== {found.loss} && {EXPLORE_DRAWN}")
    expect(line).to_be_visible()
    # What is chosen again is no change.
    data = f"{EXPLORE}.scenario.data"
    again = f"{{ source: {data}.source, encoder: {data}.encoder }}"
    page.evaluate(f"{EXPLORE}.set({{ data: {again} }})")
    assert page.evaluate(f"{EXPLORE}.scenario.view.marked") == [other, one]
    line.locator("button").click()
    expect(line).to_be_hidden()
    expect(page.locator(".lp-row-ticks .lp-marked")).to_have_count(0)
    expect(page.locator(".lp-table tr.lp-marked")).to_have_count(0)
    page.evaluate(f"{EXPLORE}.set({{ view: {{ marked: [3] }} }})")
    page.evaluate(f"{EXPLORE}.set({{ data: {{ example: 'hard_negatives' }} }})")
    assert page.evaluate(f"{EXPLORE}.scenario.view.marked") == []


def marked_rows(found: Exploration, pairs: set[int]) -> list[int]:
    """The numbers of these pairs in the order of the rows, by label."""
    order = found.batch.plain_labels.argsort(kind="stable")
    return [pair + 1 for pair in order.tolist() if pair in pairs]


def test_a_link_of_one_pair_marks_it_and_one_of_none_marks_none(sentence_map: Page) -> None:
    # Links of earlier versions have one pair.
    links = {"pair=7": [7], "pair=-1": [], "pair=99": [], "pair=x": []}
    assert {link: marked(at_place(sentence_map, link)) for link in links} == links


def test_the_middle_of_a_line_marks_its_pair_and_the_link_keeps_it(sentence_map: Page) -> None:
    page = sentence_map
    pair = heaviest(page)
    ends = page.evaluate(f"[{PAGE}.map.first[{pair}], {PAGE}.map.second[{pair}]]")
    (x, y), (other_x, other_y) = (point(page, end) for end in ends)
    page.mouse.move((x + other_x) / 2, (y + other_y) / 2)
    expect(page.locator(".lp-plot .hovertext")).to_contain_text("gradient")
    page.mouse.down()
    page.mouse.up()
    page.wait_for_function(f"location.hash.includes('pair={pair}')")
    page.reload()
    page.wait_for_function(DRAWN)
    assert marked(page) == [pair]
    page.locator(".lp-map-marked li button").click()
    expect(page.locator("#lp-on-explore")).to_have_count(0)


def test_a_search_marks_what_it_finds_and_text_stays_text(sentence_map: Page) -> None:
    rows = (("<b>bold</b><img src=x>", "plain", "1"), ("c d", "d c", "0"), ("e", "f", "1"))
    scenario = Scenario(data=Data(source="table", rows=rows)).to_link()
    page = at_place(sentence_map, f"scene={scenario}")
    expect(page.locator(".lp-map-labels span", has_text="<b>bold</b>")).to_have_count(1)
    assert page.locator("#lp-main img").count() == 0
    page.fill("#lp-search", "D")
    assert page.evaluate(f"{PAGE}.hits") == [0, 2, 3]
    expect(page.locator("output[for=lp-search]")).to_have_text("3 found")
    page.wait_for_function("location.hash.includes('search=D')")


def test_tsne_says_how_far_it_can_be_trusted_and_can_be_cancelled(sentence_map: Page) -> None:
    page = sentence_map
    before = page.evaluate(f"Array.from({PAGE}.frame().points)")
    page.get_by_role("tab", name="t-SNE").click()
    cancel = page.locator(".lp-busy button")
    expect(page.locator(".lp-busy")).to_contain_text(wording("progress.embedding"))
    cancel.click()
    expect(page.locator(".lp-problem")).to_contain_text(wording("problem.cancelled"))
    assert page.evaluate(f"Array.from({PAGE}.frame().points)") == before
    page.locator(".lp-problem button").click()
    page.wait_for_function(f"{PAGE}.drawn")
    expect(page.locator(".lp-map-page")).to_contain_text("Trustworthiness 0.")
    expect(page.locator(".lp-problem")).to_be_hidden()
    page.wait_for_function("location.hash.includes('method=tsne')")
    assert page.evaluate(f"Array.from({PAGE}.frame().points)") != before


TITLES = {"en": "Map · Graded English pairs", "zh-CN": "句子地图 · 英文分级句对"}


def test_the_first_screen_is_short_and_axe_finds_nothing(sentence_map: Page) -> None:
    page = at_place(sentence_map, "pair=0")
    for language, width, height in (("en", 1440, 900), ("zh-CN", 390, 844)):
        if language != "en":
            page.click("#lp-language")
            page.set_viewport_size({"width": width, "height": height})
        expect(page).to_have_title(f"{TITLES[language]} · LossPrism")
        page.wait_for_function("document.documentElement.scrollWidth <= innerWidth")
        words, controls = words_and_controls(page)
        assert words <= MOST_WORDS
        assert controls <= MOST_CONTROLS
        assert violations(page, script()) == []


def test_the_map_is_saved_as_a_figure_and_a_missing_library_is_named(
    sentence_map: Page, subtests: pytest.Subtests
) -> None:
    page = sentence_map
    page.get_by_text(wording("ui.save_figure")).click()
    with page.expect_download() as taken:
        page.locator(".lp-downloads [data-say='take.svg']").click()
    drawn = taken.value.path().read_text(encoding="utf-8")
    assert taken.value.suggested_filename == "lossprism-map.svg"
    assert drawn.count("<circle") >= page.evaluate(f"{PAGE}.map.sentences.length")
    assert pattern_of("sentence_map.kept").search(drawn)
    assert say("en", "sentence_map.pull") in drawn
    with subtests.test("library"):
        if is_installed("umap"):
            pytest.skip("UMAP is installed here")
        page.get_by_role("tab", name="UMAP").click()
        expect(page.locator(".lp-problem")).to_contain_text(wording("problem.map_without_umap"))
        page.get_by_role("tab", name="PCA").click()
        page.wait_for_function(f"{PAGE}.drawn")


def test_a_map_of_many_pairs_draws_the_heaviest_and_is_moved_as_it_is(
    new_page: Callable[..., Page], server: Server
) -> None:
    pairs, most = 1200, 1000
    first, second = np.random.RandomState(0).randn(2, pairs, 16).astype(np.float32)
    texts = {side: np.array([f"{side} {one}" for one in range(pairs)]) for side in ("a", "b")}
    score = np.arange(pairs, dtype=np.float32) % 2
    held = io.BytesIO()
    np.savez(held, a_embeds=first, b_embeds=second, score=score, **texts)
    page = new_page()
    page.goto(f"{server.address}/large#source=file", wait_until="domcontentloaded")
    file = {"name": "mine.npz", "mimeType": "application/zip", "buffer": held.getvalue()}
    page.locator("input[type=file]").first.set_input_files(file)
    page.locator("#lp-large-on-map").click()
    page.wait_for_function(DRAWN)
    expect(page.locator(".lp-map-legend")).to_contain_text("the 1 000 pairs")
    lines = page.evaluate(
        """() => document.querySelector(".lp-plot").data.filter(({ mode }) => mode === "lines")
          .reduce((count, { x }) => count + x.length / 3, 0)"""
    )
    assert lines == most

    # A drag moves the picture as it is; nothing is drawn or computed anew before it rests.
    plot = "document.querySelector('.lp-plot')"
    page.evaluate(f"window.points = {plot}.calcdata")
    before = page.evaluate(RANGES)
    box = page.locator(".lp-plot").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 3, box["y"] + box["height"] / 3, steps=5)
    moved = page.locator(".lp-plot").bounding_box()
    assert moved["x"] - box["x"] == pytest.approx(-box["width"] / 6, abs=2)
    assert moved["y"] - box["y"] == pytest.approx(-box["height"] / 6, abs=2)
    assert page.evaluate(RANGES) == before
    page.mouse.up()
    page.wait_for_function(f"{plot}.layout.xaxis.range[0] !== {before[0][0]}")
    (left, right), (low, high) = before
    assert page.evaluate(RANGES) == [
        pytest.approx([one + (right - left) / 6 for one in (left, right)], rel=0.02),
        pytest.approx([one - (high - low) / 6 for one in (low, high)], rel=0.02),
    ]
    assert page.locator(".lp-plot").bounding_box() == box
    assert page.evaluate(f"window.points === {plot}.calcdata")
    assert marked(page) == []  # a drag is no click


def span(page: Page) -> float:
    """How far the picture reaches across."""
    left, right = page.evaluate(RANGES)[0]
    return right - left


def test_the_wheel_zooms_the_map_that_has_the_focus_and_scrolls_the_page_otherwise(
    new_page: Callable[..., Page], server: Server
) -> None:
    page = opened(new_page(width=1440, height=560), server)
    whole = span(page)
    box = page.locator(".lp-map-picture").bounding_box()
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(*middle)
    page.mouse.wheel(0, 60)
    page.wait_for_function("scrollY > 0")
    assert span(page) == whole

    page.evaluate("scrollTo(0, 0)")
    page.keyboard.down("Control")
    page.mouse.wheel(0, -300)
    page.keyboard.up("Control")
    zoomed(page, whole / math.exp(0.6))
    page.locator(".lp-map-zoom button").last.click()
    zoomed(page, whole)

    page.locator(".lp-plot-box").focus()
    page.mouse.move(*middle)
    page.mouse.wheel(0, -300)
    zoomed(page, whole / math.exp(0.6))
    assert page.evaluate("scrollY") == 0
    page.keyboard.press("-")
    zoomed(page, whole / math.exp(0.6) * 1.5)
    before = page.evaluate(RANGES)[0]
    page.keyboard.press("ArrowRight")
    page.wait_for_function(f"{RANGES}[0][0] > {before[0]}")
    for _ in range(3):
        page.locator(".lp-map-zoom button").nth(1).click()
    zoomed(page, 2 * whole)  # no farther: all of it would be a dot


def test_the_link_keeps_what_is_in_sight_of_this_map(sentence_map: Page) -> None:
    page = sentence_map
    whole = page.evaluate(RANGES)
    page.locator(".lp-map-zoom button").first.click()
    zoomed(page, (whole[0][1] - whole[0][0]) / 1.5)
    page.wait_for_function("location.hash.includes('sight=')")
    before, zoomed_link = page.evaluate(f"[{RANGES}, location.hash]")
    page.locator(".lp-plot-box").focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_function(f"{RANGES}[0][0] < {before[0][0]}")
    left = page.evaluate(RANGES)
    page.wait_for_function("zoomed => location.hash !== zoomed", arg=zoomed_link)
    link = page.evaluate("location.hash")
    page.reload()
    page.wait_for_function(DRAWN)
    assert page.evaluate(RANGES) == left
    # On a smaller screen the same middle, as far across.
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function(f"{RANGES}[1][1] - {RANGES}[1][0] > {left[1][1] - left[1][0]}")
    assert page.evaluate(RANGES)[0] == left[0]
    # Another map is seen whole.
    page.set_viewport_size({"width": 1440, "height": 900})
    page.select_option("#lp-batch", "hard_negatives")
    page.wait_for_function(f"!location.hash.includes('sight=') && {DRAWN}")
    page.go_back()
    page.wait_for_function(f"location.hash === '{link}' && {DRAWN}")
    page.wait_for_function(f"{RANGES}[0][0] === {left[0][0]}")
    at_place(page, "sight=1-2-0")  # what no hand leaves is all of it
    page.wait_for_function(f"whole => String({RANGES}) === String(whole)", arg=whole)


def zoomed(page: Page, span: float) -> None:
    page.wait_for_function(f"Math.abs({RANGES}[0][1] - {RANGES}[0][0] - {span}) < 1e-5 * {span}")


def test_one_finger_scrolls_the_page_and_two_zoom_the_map(
    new_page: Callable[..., Page], server: Server
) -> None:
    page = opened(new_page(width=390, height=600, has_touch=True, is_mobile=True), server)
    whole = span(page)
    session = page.context.new_cdp_session(page)

    def touch(kind: str, *fingers: tuple[float, float]) -> None:
        points = [{"x": x, "y": y, "id": at} for at, (x, y) in enumerate(fingers)]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    box = page.locator(".lp-map-picture").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    touch("touchStart", (x - 40, y), (x + 40, y))
    for far in (50, 65, 80):
        touch("touchMove", (x - far, y), (x + far, y))
    touch("touchEnd")
    zoomed(page, whole / 2)
    assert page.evaluate("visualViewport.scale") == 1

    touch("touchStart", (x, y))
    for far in range(20, 120, 20):
        touch("touchMove", (x, y - far))
    touch("touchEnd")
    page.wait_for_function("scrollY > 0")
    assert span(page) == pytest.approx(whole / 2)
