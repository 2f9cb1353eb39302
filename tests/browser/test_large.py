"""The Large batch page: a map of what nobody could store, entered down to single cells."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from explorer.lab.large.batch import drawn as drawn_batch
from explorer.lab.large.blocks import Window
from explorer.lab.large.opened import OFFERED, Opened, checked, open_batch
from explorer.locale import say
from explorer.pages.large import FIRST
from losses import LOSSES
from tests.browser.reading import number, still, touch, visit
from tests.browser.serving import Server

pytestmark = pytest.mark.browser

CHANNEL = "window.LossPrism.channel('large')"
MAP = "#large-large_map .lp-stage canvas"
PROBLEM = "#large-large_scene .lp-problem"
UNDERWAY = "#large-large_scene .lp-underway"
CARD = "#large-large_map .lp-card"


def opened_page(page: Page, address: str, place: str = "") -> Page:
    page.goto(f"{address}/large{place}", wait_until="domcontentloaded")
    page.wait_for_function(f"window.LossPrism && {CHANNEL}.details")
    page.wait_for_selector("#large-large_pairs tbody tr")
    return page


@contextmanager
def redrawn(page: Page) -> Iterator[None]:
    before = page.evaluate(f"{CHANNEL}.drawn ?? 0")
    yield
    page.wait_for_function(f"before => {CHANNEL}.drawn > before", arg=before)


@pytest.fixture
def large(new_page: Callable[..., Page], server: Server) -> Page:
    return opened_page(new_page(), server.address)


def shape(page: Page) -> list[int]:
    """Block rows and block columns in view."""
    return page.evaluate(
        f"[{CHANNEL}.answer.rows.edges.length - 1, {CHANNEL}.answer.columns.edges.length - 1]"
    )


def centre(page: Page, row: int, column: int) -> tuple[float, float]:
    page.locator(MAP).scroll_into_view_if_needed()
    box, (rows, columns) = page.locator(MAP).bounding_box(), shape(page)
    return (
        box["x"] + (column + 0.5) * box["width"] / columns,
        box["y"] + (row + 0.5) * box["height"] / rows,
    )


def window(page: Page) -> list[int] | None:
    return page.evaluate(f"{CHANNEL}.window")


def colours(page: Page) -> int:
    return page.evaluate(
        """(selector) => {
          const canvas = document.querySelector(selector);
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          return new Set(new Uint32Array(data.buffer)).size;
        }""",
        MAP,
    )


def figure(page: Page, name: str) -> str:
    return page.locator(f"#lp-large-figure-{name} strong").inner_text()


@cache
def expected() -> Opened:
    """What the page opens with, computed here."""
    batch = drawn_batch(FIRST)
    return open_batch(batch, "cosent", checked("cosent", {}), lambda done, total: None)


# ---- The overview ------------------------------------------------------------------------------


def test_it_opens_with_something_to_see(large: Page) -> None:
    truth = expected()
    assert number(figure(large, "loss")) == pytest.approx(truth.loss, rel=1e-5)
    assert figure(large, "violated").endswith("%")
    assert "MB" in figure(large, "memory")
    assert shape(large) == [256, 256]
    assert colours(large) > 50
    expect(large.locator(PROBLEM)).to_be_hidden()
    first = large.locator("#large-large_terms tbody tr").first.locator("td").all_inner_texts()
    assert number(first[3]) == pytest.approx(truth.heaviest.values[0], rel=1e-3)


@pytest.mark.parametrize("facet", ["share", "largest", "masked"])
def test_every_facet_is_drawn(large: Page, facet: str) -> None:
    large.locator("#large-large_map .lp-tab", has_text=say("en", f"large.facet.{facet}")).click()
    assert colours(large) > 3


def test_pointing_at_a_block_tells_what_it_holds(large: Page) -> None:
    truth = expected()
    x, y = centre(large, 10, 200)
    large.mouse.move(x, y)
    said = large.locator(CARD).inner_text()
    width = -(-FIRST.pairs // 256)
    assert f"Rows {10 * width + 1:,}–{11 * width:,}" in said
    rows = np.arange(10 * width, 11 * width)
    columns = np.arange(200 * width, 201 * width)
    cells = truth.split.cells(rows, columns)
    total = np.logaddexp.reduce(cells.ravel())
    shown = number(re.search(r"log of the sum ([−\d.e]+)", said)[1])
    assert shown == pytest.approx(total, rel=1e-3)
    assert "none masked" in said
    x, y = centre(large, 200, 10)
    large.mouse.move(x, y)
    assert say("en", "large.all_masked") in large.locator(CARD).inner_text()


# ---- Nearer and back ---------------------------------------------------------------------------


def test_from_the_overview_to_single_cells_and_back(large: Page) -> None:
    with redrawn(large):
        large.mouse.click(*centre(large, 10, 200))
    width = -(-FIRST.pairs // 256)
    assert window(large) == [10 * width, 11 * width, 200 * width, 201 * width]
    with redrawn(large):
        large.mouse.click(*centre(large, 3, 5))
    assert large.evaluate(f"{CHANNEL}.answer.rows.items.length") > 0
    truth = expected()
    large.mouse.move(*centre(large, 0, 1))
    top, _, left, _ = window(large)
    said = large.locator(CARD).inner_text()
    for place in (top, left + 1):
        entry = truth.batch.entry[place]
        assert f"#{entry + 1:,} a" in said
        assert f"#{entry + 1:,} b" in said
    term = number(re.search(r"term ([−\d.e]+)", said)[1])
    value = truth.split.cells(np.array([top]), np.array([left + 1]))[0, 0]
    assert term == pytest.approx(value, rel=1e-3)
    # The way back, step by step and at once.
    with redrawn(large):
        large.click("#lp-large-back")
    assert window(large) == [10 * width, 11 * width, 200 * width, 201 * width]
    with redrawn(large):
        large.locator(".lp-crumb", has_text="All").click()
    assert window(large) is None


def test_a_rectangle_is_dragged(large: Page) -> None:
    from_x, from_y = centre(large, 20, 100)
    to_x, to_y = centre(large, 59, 179)
    with redrawn(large):
        large.mouse.move(from_x, from_y)
        large.mouse.down()
        large.mouse.move(to_x, to_y, steps=5)
        expect(large.locator("#large-large_map .lp-lasso")).to_be_visible()
        large.mouse.up()
    width = -(-FIRST.pairs // 256)
    assert window(large) == [20 * width, 60 * width, 100 * width, 180 * width]
    expect(large.locator("#large-large_map .lp-lasso")).to_be_hidden()


def test_a_masked_block_is_not_entered(large: Page) -> None:
    large.mouse.click(*centre(large, 200, 10))
    assert window(large) is None


def test_the_keyboard_walks_enters_and_returns(large: Page) -> None:
    large.locator(MAP).focus()
    spoken = large.locator("#large-large_map .lp-spoken")
    large.keyboard.press("ArrowDown")  # the walk begins at the heaviest block
    expect(spoken).to_contain_text("of all weight")
    before = spoken.inner_text()
    large.keyboard.press("ArrowUp")
    assert spoken.inner_text() != before
    with redrawn(large):
        large.keyboard.press("Enter")
    assert window(large) is not None
    expect(spoken).to_contain_text("rows")
    with redrawn(large):
        large.keyboard.press("Backspace")
    assert window(large) is None


def test_a_heavy_term_is_shown_on_the_map(large: Page) -> None:
    cell = large.evaluate(f"{CHANNEL}.details.heaviest[0].cell")
    with redrawn(large):
        large.locator("#large-large_terms tbody tr").first.click()
    top, bottom, left, right = window(large)
    assert top <= cell[0] < bottom
    assert left <= cell[1] < right
    expect(large.locator("#large-large_terms tr.lp-lit")).to_have_count(1)
    expect(large.locator("#large-large_map .lp-cell")).to_be_visible()
    value = large.evaluate(f"{CHANNEL}.details.heaviest[0].value")
    said = large.locator(CARD).inner_text()
    assert number(re.search(r"term ([−\d.e]+)", said)[1]) == pytest.approx(value, rel=1e-3)


def test_a_few_cells_make_a_square_with_a_legend_that_tells_them_apart(large: Page) -> None:
    row, column = large.evaluate(f"{CHANNEL}.details.heaviest[0].cell")
    with redrawn(large):
        large.evaluate(f"{CHANNEL}.zoom([{row - 1}, {row + 1}, {column - 1}, {column + 1}])")
    box = large.locator(MAP).bounding_box()
    assert box["height"] == pytest.approx(box["width"], rel=0.01)
    marks = large.locator("#large-large_map .lp-scale span").all_inner_texts()
    assert len(set(marks)) == 3


def test_the_map_as_a_table(large: Page) -> None:
    large.locator("#large-large_map .lp-button", has_text="As a table").click()
    rows = large.locator("#large-large_map tbody tr:visible")
    expect(rows).to_have_count(20)
    with redrawn(large):
        rows.first.click()
    assert window(large) is not None


# ---- Two fingers -------------------------------------------------------------------------------


@pytest.fixture
def telephone(new_page: Callable[..., Page], server: Server) -> Page:
    return opened_page(new_page(width=390, height=800, has_touch=True), server.address)


def test_two_fingers_go_nearer_to_what_is_under_them_and_back(telephone: Page) -> None:
    page, count = telephone, FIRST.pairs
    # From a quarter of the map to half of it, about the same middle: (0.7, 0.3) stays.
    with redrawn(page):
        touch(page, MAP, [(0.6, 0.3), (0.8, 0.3)], [(0.5, 0.3), (0.9, 0.3)])
    rows, columns = window(page)[:2], window(page)[2:]
    assert rows == pytest.approx([0.15 * count, 0.65 * count], abs=0.01 * count)
    assert columns == pytest.approx([0.35 * count, 0.85 * count], abs=0.01 * count)
    assert page.locator(MAP).evaluate("canvas => canvas.style.transform") == ""
    # What was under the fingers follows them.
    with redrawn(page):
        touch(page, MAP, [(0.3, 0.3), (0.5, 0.3)], [(0.5, 0.4), (0.7, 0.4)])
    assert window(page)[2] == pytest.approx(columns[0] - 0.2 * 0.5 * count, abs=0.01 * count)
    assert window(page)[0] == pytest.approx(rows[0] - 0.1 * 0.5 * count, abs=0.01 * count)
    with redrawn(page):
        touch(page, MAP, [(0.1, 0.5), (0.9, 0.5)], [(0.4, 0.5), (0.6, 0.5)])
    assert window(page) is None  # further out than all of it there is nothing
    with redrawn(page):
        page.locator("#lp-large-back").tap()
    assert window(page) is not None


def test_one_finger_scrolls_the_page_and_a_tap_enters(telephone: Page) -> None:
    page = telephone
    page.locator(MAP).scroll_into_view_if_needed()
    before = page.evaluate("window.scrollY")
    touch(page, MAP, [(0.5, 0.9)], [(0.5, 0.1)])
    page.wait_for_function("before => window.scrollY > before + 50", arg=before)
    assert window(page) is None
    with redrawn(page):
        page.touchscreen.tap(*centre(page, 10, 200))
    assert window(page) is not None


# ---- The address -------------------------------------------------------------------------------


def test_reload_and_a_copied_link_return_to_the_same_window(new_page, server: Server) -> None:
    permitted = {"permissions": ["clipboard-read", "clipboard-write"]}
    page = opened_page(new_page(**permitted), server.address)
    with redrawn(page):
        page.mouse.click(*centre(page, 30, 150))
    seen = window(page)
    page.wait_for_function("location.hash.includes('window')")
    page.locator("[data-say='ui.copy_link']").click()
    link = page.evaluate("navigator.clipboard.readText()")
    assert link.startswith(f"{server.address}/large#")
    page.reload(wait_until="domcontentloaded")
    page.wait_for_function(f"window.LossPrism && {CHANNEL}.details")
    assert window(page) == seen
    page.locator(".lp-crumb", has_text="All").click()  # the way there is kept too
    page.wait_for_function(f"{CHANNEL}.answer.window[1] === {FIRST.pairs}")
    other = new_page()
    other.goto(link)
    other.wait_for_function(f"window.LossPrism && {CHANNEL}.details")
    assert window(other) == seen


def test_back_and_forward_walk_between_windows_and_losses(large: Page) -> None:
    large.wait_for_function("location.hash")
    with redrawn(large):
        large.mouse.click(*centre(large, 30, 150))
    seen = window(large)
    large.wait_for_function("location.hash.includes('window')")
    with redrawn(large):
        large.select_option("#lp-large-loss", "weighted_cosent")
    large.wait_for_function("location.hash.includes('weighted')")
    with redrawn(large):
        large.go_back()
    assert large.locator("#lp-large-loss").input_value() == "cosent"
    assert window(large) == seen
    with redrawn(large):
        large.go_back()
    assert window(large) is None
    for _ in range(2):
        with redrawn(large):
            large.go_forward()
    assert large.locator("#lp-large-loss").input_value() == "weighted_cosent"
    assert window(large) == seen


def test_steps_that_follow_fast_are_steps_of_the_browser_too(large: Page) -> None:
    large.wait_for_function("location.hash")
    first, second = [0, 50_000, 50_000, 100_000], [100, 900, 60_000, 61_000]
    large.evaluate(f"{CHANNEL}.zoom({first}); {CHANNEL}.zoom({second})")
    for expected_window in (first, None):
        large.go_back()
        large.wait_for_function(
            f"wanted => String({CHANNEL}.window) === String(wanted)", arg=expected_window
        )
    with redrawn(large):
        large.go_forward()
    assert window(large) == first


def test_the_address_brings_everything_back(large: Page, new_page, server: Server) -> None:
    with redrawn(large):
        large.select_option("#lp-large-loss", "weighted_cosent")
    with redrawn(large):
        large.locator("input.lp-number").first.fill("7")
    with redrawn(large):
        large.mouse.click(*centre(large, 30, 150))
    large.wait_for_function("location.hash.includes('window')")
    again = opened_page(new_page(), server.address, large.evaluate("location.hash"))
    for what in ("asked", "window"):
        assert again.evaluate(f"{CHANNEL}.{what}") == large.evaluate(f"{CHANNEL}.{what}")
    assert figure(again, "loss") == figure(large, "loss")
    assert again.locator("#lp-large-loss").input_value() == "weighted_cosent"


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("#loss=none", "is not offered"),
        ("#window=5-2-0-1", "lies outside"),
        ("#window=a-b", "window"),
        ("#p.scale=-4", "scale is -4"),
        ("#pairs=1e9", "at most 1,048,576 pairs"),
        ("#source=file&file=00000000000000000000000000000000&name=mine.csv", "“mine.csv”"),
        ("#source=explore&link=9.x", "link"),
    ],
)
def test_an_address_that_cannot_be_opened_says_why(new_page, server, place, said) -> None:
    page = new_page()
    page.goto(f"{server.address}/large{place}")
    expect(page.locator(PROBLEM)).to_contain_text(said)


def test_who_comes_by_a_link_finds_the_way_to_the_whole(new_page, server: Server) -> None:
    page = opened_page(new_page(), server.address, "#pairs=10000&window=100-900-4000-5000")
    with redrawn(page):
        page.locator(".lp-crumb", has_text="All").click()
    assert window(page) is None


def test_words_say_where_the_weight_is(large: Page) -> None:
    """The fewest blocks that hold nine tenths of it, counted here."""
    truth = expected().blocks(Window(0, FIRST.pairs, 0, FIRST.pairs))
    falling = np.sort(truth.share.ravel())[::-1]
    count = np.searchsorted(np.cumsum(falling), 0.9 * falling.sum()) + 1
    said = large.locator("#large-large_map p b").inner_text()
    share = float(re.match(r"([\d.]+)\s*%", said)[1]) / 100
    assert share == pytest.approx(count / (truth.present > 0).sum(), rel=0.05, abs=6e-5)


# ---- Losses and sources ------------------------------------------------------------------------


def test_both_directions_are_offered_and_kept_in_the_address(new_page, server: Server) -> None:
    page = opened_page(new_page(), server.address, "#loss=info_nce&pairs=400")
    one_way = figure(page, "loss")
    with redrawn(page):
        page.locator("input[data-parameter=symmetric]").check()
    assert figure(page, "loss") != one_way
    expect(page.locator("#large-large_map")).to_contain_text("both directions")
    page.wait_for_function("location.hash.includes('p.symmetric=true')")
    again = opened_page(new_page(), server.address, page.evaluate("location.hash"))
    assert figure(again, "loss") == figure(page, "loss")
    assert again.locator("input[data-parameter=symmetric]").is_checked()


def test_what_comes_after_the_map_is_said_to_be_on_its_way(large: Page) -> None:
    large.evaluate(
        f"""() => {{
          const {{ server }} = {CHANNEL}, {{ details }} = server;
          const held = new Promise((done) => {{ window.letGo = done; }});
          server.details = async (request) => {{ await held; return details(request); }};
        }}"""
    )
    with redrawn(large):
        large.select_option("#lp-large-loss", "weighted_cosent")
    effective = large.locator("#lp-large-figure-effective")
    expect(effective).to_contain_text(say("en", "large.computing"))
    expect(large.locator(".lp-search")).to_contain_text(say("en", "large.doing.gradient"))
    large.evaluate("letGo()")
    expect(effective).to_contain_text("of 4,166,649,072")
    expect(large.locator(".lp-search")).to_contain_text("100,000 pairs")
    expect(large.locator("body")).not_to_have_class(re.compile("lp-learning"))


def test_work_on_other_data_is_stopped(new_page, server: Server) -> None:
    page = new_page()
    page.goto(f"{server.address}/large#loss=nt_xent&pairs=16384&dimension=256")
    expect(page.locator(UNDERWAY)).to_contain_text(re.compile(r"[1-9][\d,]* of"))
    expect(page.locator("#lp-large")).to_be_hidden()  # there is nothing to see yet
    page.evaluate(
        f"""() => {{
          const {{ server }} = {CHANNEL}, {{ stop }} = server;
          server.stop = (request) => {{ window.stopped = request.loss; return stop(request); }};
        }}"""
    )
    page.select_option("#lp-large-loss", "cosent")
    page.wait_for_function(f"{CHANNEL}.of?.loss === 'cosent'")
    assert page.evaluate("window.stopped") == "nt_xent"
    expect(page.locator("#lp-large")).to_be_visible()


def test_what_another_visitor_stops_goes_on(large: Page) -> None:
    large.evaluate(
        f"""() => {{
          const {{ server }} = {CHANNEL}, {{ blocks }} = server;
          server.blocks = async () => {{
            server.blocks = blocks;
            return {{ error: {{ key: "problem.large_cancelled", values: {{}} }} }};
          }};
        }}"""
    )
    with redrawn(large):
        large.select_option("#lp-large-loss", "pairwise_hinge")
    expect(large.locator(PROBLEM)).to_be_hidden()
    assert large.evaluate(f"{CHANNEL}.of.loss") == "pairwise_hinge"


def test_angle_scores_come_from_vectors(large: Page) -> None:
    large.select_option("#lp-large-loss", "angle")
    expect(large.locator(PROBLEM)).to_contain_text("65,536")
    with redrawn(large):
        large.locator(f"{PROBLEM} button").click()  # as many as it takes
    assert large.evaluate(f"{CHANNEL}.answer.figures.pairs") == 2**16
    settings = dataclasses.replace(FIRST, pairs=2**16)
    truth = open_batch(drawn_batch(settings, "angles"), "angle", checked("angle", {}), print)
    assert number(figure(large, "loss")) == pytest.approx(truth.loss, rel=1e-5)


def test_more_pairs_than_can_be_compared_one_with_one(new_page, server: Server) -> None:
    page = opened_page(new_page(), server.address, "#loss=pairwise_logistic&pairs=40000")
    expect(page.locator("#large-large_map")).to_contain_text("a millionth of its value")
    with redrawn(page):
        page.mouse.click(*centre(page, 10, 200))
    assert window(page) is not None
    page.locator("input.lp-number").first.fill("400")
    expect(page.locator(PROBLEM)).to_contain_text("at most 1")


def test_every_loss_on_pair_scores_is_there_or_has_its_reason(large: Page) -> None:
    offered = set(large.evaluate("Object.keys(LossPrismData.large.losses)"))
    missing = {name for name, spec in LOSSES.items() if spec.group == "pair_scores"} - offered
    large.locator(".lp-not-here summary").click()
    said = large.locator(".lp-not-here").inner_text()
    words = {
        "hierarchical_cosent": "Hierarchical CoSENT",
        "multitask_cosent": "Multi-task CoSENT",
        "max_violation": "largest violation",
        "cosine_mse": "Cosine MSE",
        "binary_cross_entropy": "binary cross-entropy",
    }
    assert missing == set(words)
    assert all(word in said for word in words.values())


def test_a_loss_that_takes_fewer_pairs_says_so_and_helps(large: Page) -> None:
    large.select_option("#lp-large-loss", "info_nce")
    expect(large.locator(PROBLEM)).to_contain_text("16,384")
    # What is still in view is another loss's, and says so.
    expect(large.locator(PROBLEM)).to_contain_text("still CoSENT with 100,000 pairs")
    expect(large.locator("body")).to_have_class(re.compile("lp-stale"))
    large.locator("input[data-parameter=random-pairs] >> xpath=.. >> input.lp-number").fill("500")
    expect(large.locator(PROBLEM)).to_be_hidden()
    large.wait_for_function(f"{CHANNEL}.answer.rows.name === 'query'")
    expect(large.locator("body")).not_to_have_class(re.compile("lp-stale"))
    assert colours(large) > 50
    expect(large.locator("#lp-large-figure-violated")).to_contain_text(
        say("en", "figure.first_key")
    )
    expect(large.locator("input[data-parameter=symmetric]")).to_have_attribute("type", "checkbox")


def upload(page: Page, name: str, text: str) -> None:
    page.click("button#lp-large-file")
    page.set_input_files(
        "input#lp-large-file", {"name": name, "mimeType": "text/csv", "buffer": text.encode()}
    )


HOSTILE = "<img src=x onerror=alert(1)>"


def scored(count: int) -> str:
    stream = np.random.RandomState(0)
    rows = [
        f"{HOSTILE} {k},second {k},{k % 5},{0.1 * (k % 5) + stream.normal() / 5:.4f}"
        for k in range(count)
    ]
    return "\n".join(["sentence1,sentence2,label,similarity", *rows])


def test_a_file_with_similarities_needs_no_encoder(large: Page) -> None:
    upload(large, "scored.csv", scored(3000))
    large.wait_for_function(f"{CHANNEL}.answer.figures.pairs === 3000")
    expect(large.locator("#large-large_controls")).to_contain_text("scored.csv: 3,000 pairs")
    large.wait_for_function(f"{CHANNEL}.details")
    large.fill("#lp-large-search", "second 2999")
    found = large.locator("#large-large_pairs tbody tr")
    expect(found).to_have_count(1)
    assert HOSTILE in found.inner_text()  # as text, and nothing ran
    assert large.locator("#large-large_pairs img").count() == 0


def test_columns_that_nothing_recognises_can_be_chosen(large: Page) -> None:
    upload(large, "known.csv", scored(2000))
    large.wait_for_function(f"{CHANNEL}.answer.figures.pairs === 2000")
    rows = "\n".join(f"one {k},two {k},{k % 4},{k % 7 / 7:.3f},{k}" for k in range(1200))
    upload(large, "odd.csv", f"left,right,human,machine,place\n{rows}")
    expect(large.locator(PROBLEM)).to_contain_text("“left”, “right”, “human”")
    controls = large.locator("#large-large_controls")
    expect(controls).to_contain_text("odd.csv: choose its columns below.")
    # No answer is awaited between them: what was chosen before counts all the same.
    large.evaluate(
        """() => {
          const selects = document.querySelectorAll("#large-large_controls .lp-columns select");
          ["left", "right", "human", "machine"].forEach((column, role) => {
            selects[role].value = column;
            selects[role].dispatchEvent(new Event("change"));
          });
        }"""
    )
    for role, column in enumerate(("left", "right", "human", "machine")):
        expect(controls.locator(".lp-columns select").nth(role)).to_have_value(column)
    large.wait_for_function(f"{CHANNEL}.answer.figures.pairs === 1200")
    expect(controls).to_contain_text("odd.csv: 1,200 pairs")
    expect(large.locator(PROBLEM)).to_be_hidden()


def test_choosing_a_source_that_was_there_before_returns_to_it(large: Page) -> None:
    upload(large, "scored.csv", scored(3000))
    large.wait_for_function(f"{CHANNEL}.answer.figures.pairs === 3000")
    with redrawn(large):
        large.click("#lp-large-random")
    assert large.evaluate(f"{CHANNEL}.answer.figures.pairs") == FIRST.pairs
    large.click("#lp-large-explore")  # no link was opened yet, which is said
    expect(large.locator("#large-large_controls")).to_contain_text("still shows “Random”")
    with redrawn(large):
        large.click("button#lp-large-file")
    assert large.evaluate(f"{CHANNEL}.answer.figures.pairs") == 3000


def test_a_good_file_takes_the_complaint_about_a_bad_one_away(large: Page) -> None:
    upload(large, "bad.csv", "sentence1,sentence2,label\nonly,one,row")
    expect(large.locator(PROBLEM)).to_be_visible()
    expect(large.locator(f"{PROBLEM} button")).to_have_count(0)  # it would end the same way
    large.evaluate(
        f"""() => {{ window.both = 0; {CHANNEL}.on("problem", () => {{
          const busy = !document.querySelector("{UNDERWAY}").hidden;
          if (busy && {CHANNEL}.problem) window.both += 1; }}); }}"""
    )
    upload(large, "good.csv", scored(2000))
    large.wait_for_function(f"{CHANNEL}.answer.figures.pairs === 2000")
    expect(large.locator(PROBLEM)).to_be_hidden()
    assert large.evaluate("window.both") == 0


# How many of the file's pairs are encoded, as the page says it.
ENCODED = """(() => {
  const said = document.querySelector(".lp-underway").innerText.match(/([\\d,]+) of 4,000/);
  return said ? Number(said[1].replace(",", "")) : 0;
})()"""


def parts_on_disk(server: Server) -> dict[str, int]:
    """What the server keeps of encodings, and when each part was written."""
    found = (server.cache / "scores").glob("*.npy")
    return {path.name: path.stat().st_mtime_ns for path in found}


@pytest.mark.encoder
def test_encoding_can_be_stopped_and_goes_on(large: Page, server: Server) -> None:
    rows = [f"word {k} here,word {k + 1} there,{k % 4}" for k in range(4000)]
    upload(large, "long.csv", "\n".join(["sentence1,sentence2,score", *rows]))
    expect(large.locator(UNDERWAY)).to_contain_text("Encoding")
    large.wait_for_function(f"{ENCODED} > 0")
    large.click("#lp-stop")
    expect(large.locator(PROBLEM)).to_contain_text("Stopped")
    expect(large.locator(UNDERWAY)).to_be_hidden()
    kept = parts_on_disk(server)
    assert kept
    large.locator(f"{PROBLEM} button").click()
    large.wait_for_function(f"{ENCODED} > {256 * len(kept)}")
    large.click("#lp-stop")
    # Not from the beginning: what was encoded before was not written again.
    assert kept.items() <= parts_on_disk(server).items()


def test_the_batch_of_the_explore_page(new_page, server: Server) -> None:
    page = new_page()
    still(visit(page, server.address))
    loss = page.evaluate("window.LossPrism.channel().picture.figures.loss")
    page.locator(".lp-pages a", has_text="Large batch").click()
    page.wait_for_function(f"window.LossPrism && {CHANNEL}.details")
    page.click("#lp-large-explore")
    page.get_by_role("button", name="Open this batch").click()
    page.wait_for_function(f"{CHANNEL}.answer.figures.pairs === 24")
    assert number(figure(page, "loss")) == pytest.approx(loss, rel=1e-4)


# ---- The table of all pairs --------------------------------------------------------------------


def test_the_table_is_sorted_searched_and_turned(large: Page) -> None:
    rows = large.locator("#large-large_pairs tbody tr")

    def column(place: int) -> list[float]:
        texts = rows.locator(f"td:nth-child({place})").all_inner_texts()
        return [number(text.replace("#", "").replace(",", "")) for text in texts]

    def redone(act: Callable[[], None]) -> None:
        body = large.locator("#large-large_pairs tbody")
        before = body.get_attribute("data-drawn")
        act()
        expect(body).not_to_have_attribute("data-drawn", before)

    assert column(5) == sorted(column(5))
    assert column(5)[0] < 0
    redone(lambda: large.locator("#large-large_pairs th[data-column=score] button").click())
    assert column(4) == sorted(column(4), reverse=True)
    highest = column(4)
    redone(lambda: large.click("#lp-large-next"))
    assert max(column(4)) <= min(highest)
    redone(lambda: large.fill("#lp-large-search", "label = 3"))
    assert set(column(3)) == {3}
    redone(lambda: large.fill("#lp-large-search", "label = 3, gradient < 0"))
    assert set(column(3)) == {3}
    assert max(column(5)) < 0
    large.fill("#lp-large-search", "gradient <")
    expect(large.locator(".lp-search")).to_contain_text("“gradient <” is no condition")
    redone(lambda: large.fill("#lp-large-search", "#777"))
    assert column(1) == [777]
    redone(lambda: large.fill("#lp-large-search", "no such words"))
    expect(large.locator("#large-large_pairs")).to_contain_text("0 pairs")


def test_both_languages_and_a_telephone(new_page, server: Server) -> None:
    page = opened_page(new_page(width=390, height=800, locale="zh-CN"), server.address)
    seen = page.evaluate("document.body.innerText")
    assert "大批次" in seen
    assert not re.search(r"\blarge\.[a-z_.]+", seen)  # no key without its words
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.click("#lp-language")
    expect(page.locator("#large-large_terms h2")).to_have_text("Heaviest terms")


def test_losses_are_named_in_the_language_of_the_page(new_page, server: Server) -> None:
    page = new_page(locale="zh-CN")
    page.goto(f"{server.address}/large#loss=info_nce&pairs=20000")
    expect(page.locator(PROBLEM)).to_contain_text("InfoNCE 在")
    page.select_option("#lp-large-loss", "pairwise_hinge")
    page.wait_for_function(f"{CHANNEL}.details")
    options = page.locator("#lp-large-loss option")
    for language in ("zh", "en"):
        names = {name: say(language, f"loss.{name}.title") for name in OFFERED}
        shown = options.evaluate_all("all => all.map((one) => [one.value, one.textContent])")
        assert dict(shown) == names
        heading = page.locator("#large-large_figures h1")
        expect(heading).to_have_text(names["pairwise_hinge"])
        page.select_option("#lp-large-loss", "siglip")  # takes fewer
        expect(page.locator(PROBLEM)).to_contain_text(names["pairwise_hinge"])  # what is in view
        with redrawn(page):
            page.select_option("#lp-large-loss", "pairwise_hinge")
        page.click("#lp-language")


def test_a_hinge_on_very_many_pairs(new_page, server: Server) -> None:
    page = opened_page(new_page(), server.address, "#loss=pairwise_hinge&pairs=300000")
    batch = drawn_batch(dataclasses.replace(FIRST, pairs=300_000))
    truth = open_batch(batch, "pairwise_hinge", checked("pairwise_hinge", {}), print)
    assert number(figure(page, "loss")) == pytest.approx(truth.loss, rel=1e-4)
    assert number(figure(page, "gradient")) == pytest.approx(truth.gradient_norm, rel=1e-2)
    # Of the effective terms bounds are known: how far they are apart is said.
    expect(page.locator("#lp-large-figure-effective")).to_contain_text("±")
    # A window of very many pairs is widened to whole blocks, and says which it shows.
    with redrawn(page):
        page.evaluate(f"{CHANNEL}.zoom([1001, 250001, 40001, 300000])")
    seen = window(page)
    assert seen == page.evaluate(f"{CHANNEL}.answer.window")
    assert 0 <= 1001 - seen[0] < 256
    assert 0 <= seen[1] - 250_001 < 256
    expect(page.locator(".lp-crumbs b")).to_contain_text(f"rows {seen[0] + 1:,}–{seen[1]:,}")
    assert number(figure(page, "loss")) == pytest.approx(truth.loss, rel=1e-4)


def test_a_telephone_shows_every_number_of_a_row(new_page, server: Server) -> None:
    page = opened_page(new_page(width=390, height=800), server.address)
    for part in ("large_pairs", "large_terms"):
        for cell in page.locator(f"#large-{part} tbody tr").first.locator("td").all():
            box = cell.bounding_box()
            assert box["width"] > 0
            assert box["x"] + box["width"] <= 390
