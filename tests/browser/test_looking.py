"""Moving a slider, pointing at cells, walking the derivation: what the eye and hand do."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from lossprism.explorer.locale import say
from lossprism.explorer.sources import textbook
from tests.browser.reading import (
    CANVAS,
    PAGE,
    cell_centre,
    cell_colours,
    choose,
    drawn,
    figure_note,
    formulas,
    hover_cell,
    loss_shown,
    number,
    pixels,
    redrawn,
    rows_lit,
    settle,
    shape,
    slider,
    sound,
    touch,
    unfold,
    visit,
)
from tests.browser.serving import Server
from tests.sentences import wording

pytestmark = pytest.mark.browser

CARD = "#main-cell .lp-card"
PIN = "#main-matrix .lp-pin"
LEGEND_COLOURS = """() => {
  const canvas = document.querySelector("#main-matrix .lp-legend");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return Array.from({ length: data.length / 4 }, (_, i) => data.slice(4 * i, 4 * i + 4).join());
}"""


def items(page: Page) -> tuple[list[int], list[int]]:
    """Which pair stands in each row, and in each column."""
    shown = page.evaluate(f"{PAGE}.picture.shown")
    return shown["row_axis"]["items"], shown["column_axis"]["items"]


def heaviest_cell(page: Page) -> tuple[int, int]:
    """The place of the heaviest term in the matrix."""
    pairs = page.evaluate(f"{PAGE}.picture.heaviest[0].items.map((one) => one.item)")
    rows, columns = items(page)
    return rows.index(pairs[0]), columns.index(pairs[1])


# ---- Sliders -----------------------------------------------------------------------------------


def test_dragging_the_slider(page: Page) -> None:
    with redrawn(page):
        page.locator("#main-matrix .lp-tab", has_text="Value").click()
    track, box = slider(page, "scale")
    place = track.bounding_box()
    middle = place["y"] + place["height"] / 2
    thumb = place["x"] + place["width"] * float(track.input_value()) / 1000
    canvas = page.locator(CANVAS)

    def look() -> tuple:
        legend = page.locator("#main-matrix .lp-scale").inner_text()
        drawn_at = int(canvas.get_attribute("data-drawn"))
        return loss_shown(page), float(box.input_value()), drawn_at, ruler(page), legend

    seen = [look()]
    page.mouse.move(thumb, middle)
    page.mouse.down()
    for step in range(1, 5):
        with redrawn(page):
            page.mouse.move(thumb - step * place["width"] / 24, middle, steps=4)
        sound(page)
        seen.append(look())
    page.mouse.up()
    losses, boxes, paintings, rulers, legends = (list(column) for column in zip(*seen, strict=True))
    # Leftwards is a smaller λ, and a smaller λ makes this loss smaller.
    assert boxes == sorted(set(boxes), reverse=True)
    assert losses == sorted(set(losses), reverse=True)
    assert paintings == sorted(set(paintings))
    # Floor and collapse value move with it, and so does the scale of the colours.
    assert len(set(rulers)) == len(set(legends)) == len(seen)


def test_two_fingers_go_nearer_in_the_matrix_and_back(new_page, server: Server) -> None:
    page = visit(new_page(width=390, height=800, has_touch=True), server.address)
    whole = page.get_by_role("button", name=say("en", "ui.whole_matrix"))
    expect(whole).to_be_hidden()
    before = pixels(page)
    touch(page, CANVAS, [(0.4, 0.4), (0.6, 0.6)], [(0.1, 0.1), (0.9, 0.9)])
    expect(whole).to_be_visible()
    assert pixels(page) != before
    touch(page, CANVAS, [(0.1, 0.1), (0.9, 0.9)], [(0.4, 0.4), (0.6, 0.6)])
    expect(whole).to_be_hidden()
    assert pixels(page) == before


def ruler(page: Page) -> tuple[str, ...]:
    """Where floor and collapse value stand beside the loss, and what they say."""
    marks = page.locator("#main-figures .lp-ruler i")
    return (
        *marks.evaluate_all("all => all.map(one => one.style.left)"),
        page.locator("#main-figures .lp-legends").inner_text(),
    )


def test_the_matrix_repaints_with_the_slider(page: Page) -> None:
    before = cell_colours(page)
    with redrawn(page):
        slider(page, "scale")[1].fill("2")
    after = cell_colours(page)
    # With a small λ the weight spreads over many terms, with a large one over few.
    assert (
        sum(
            a != b
            for one, two in zip(before, after, strict=True)
            for a, b in zip(one, two, strict=True)
        )
        > 100
    )


def test_a_picture_is_drawn_without_a_forced_layout(page: Page) -> None:
    """What a script asks of the layout while it draws, the page has to work out once more."""
    devtools = page.context.new_cdp_session(page)
    events: list[dict] = []
    ended: list[dict] = []
    devtools.on("Tracing.dataCollected", lambda result: events.extend(result["value"]))
    devtools.on("Tracing.tracingComplete", lambda result: ended.append(result))
    kinds = "devtools.timeline,disabled-by-default-devtools.timeline.stack"
    devtools.send("Tracing.start", {"categories": kinds, "transferMode": "ReportEvents"})
    with redrawn(page):
        slider(page, "scale")[1].fill("7")
    page.evaluate(
        """function asking() { document.body.append("x"); return document.body.offsetWidth; }"""
    )
    devtools.send("Tracing.end")
    while not ended:
        page.wait_for_timeout(20)
    requests = [
        (frame["functionName"], frame["url"])
        for event in events
        if event["name"] in ("Layout", "UpdateLayoutTree")
        for frame in event["args"].get("beginData", {}).get("stackTrace", ())
    ]
    assert "asking" in [function for function, script in requests]
    assert [one for one in requests if "/explorer/web/" in one[1]] == []


def test_arrow_keys_move_the_slider(page: Page) -> None:
    track, box = slider(page, "scale")
    track.focus()
    before = number(box.input_value()), loss_shown(page)
    with redrawn(page):
        for _ in range(10):
            page.keyboard.press("ArrowRight")
    settle(page)
    assert number(box.input_value()) > before[0]
    assert loss_shown(page) > before[1]


def test_a_small_number_is_written_with_its_power_of_ten(page: Page) -> None:
    choose(page, "pairwise_hinge")
    box = slider(page, "eps")[1]
    assert number(box.input_value()) == 1e-6
    with redrawn(page):
        box.fill("2e-5")
    box.blur()
    assert box.input_value() == "2e-5"


def test_a_number_out_of_range_is_marked(page: Page) -> None:
    box = slider(page, "scale")[1]
    element = page.locator(".lp-slider").filter(has=box).locator(".lp-wrong")
    before, seen = drawn(page), loss_shown(page)
    for wrong in ("100000000", "-3", ""):
        box.fill(wrong)
        assert "lp-bad" in box.get_attribute("class")
        expect(element).to_have_text(wording("ui.accepted_else", low="0.1", high="1000", value=20))
    box.fill("")
    box.press_sequentially("1e9")  # it begins with 1, which would fit
    expect(element).to_be_visible()
    box.blur()
    assert box.input_value() == "20"  # what is in force comes back
    expect(element).to_be_hidden()
    assert (drawn(page), loss_shown(page)) == (before, seen)
    with redrawn(page):
        box.fill("5")
    assert "lp-bad" not in box.get_attribute("class")
    assert loss_shown(page) < seen


# ---- Pointing ----------------------------------------------------------------------------------


def test_hovering_a_cell_shows_its_details(page: Page) -> None:
    pairs = textbook.load_example("graded_english")
    row, column = heaviest_cell(page)
    page.wait_for_function(f"{PAGE}.link")  # the address follows the scenario a moment later
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    hover_cell(page, row, column)
    rows, columns = items(page)
    card = page.locator(CARD).inner_text()
    for pair in (rows[row], columns[column]):
        assert pairs.first[pair][:50] in card
        assert pairs.second[pair][:50] in card
    # λ(s_j − s_i) with the numbers of the two sides put in.
    low, high = (number(message) for message in re.findall(r"similarity ([−\d.e]+)", card))
    formula = formulas(page, CARD)[-1]
    assert number(formula.split("=")[-1].strip()) == pytest.approx(20 * (low - high), rel=2e-3)
    assert "20" in formula
    # Its weight is that of the first row of the table of the heaviest terms.
    share = page.locator("#main-terms tbody tr").first.locator("td").last.inner_text()
    assert f"weight {share}" in card
    # A frame around the cell, its row and its column.
    frame = page.locator("#main-matrix .lp-cell:not(.lp-pin)").bounding_box()
    x, y = cell_centre(page, row, column)
    assert frame["x"] < x < frame["x"] + frame["width"]
    assert frame["y"] < y < frame["y"] + frame["height"]
    bands = [band.bounding_box() for band in page.locator("#main-matrix .lp-band").all()]
    assert bands[0]["y"] < y < bands[0]["y"] + bands[0]["height"]
    assert bands[1]["x"] < x < bands[1]["x"] + bands[1]["width"]
    assert requests == []
    page.mouse.move(5, 5)
    expect(page.locator("#main-matrix .lp-cell:not(.lp-pin)")).to_be_hidden()


def test_a_pair_is_lit_everywhere(page: Page) -> None:
    unfold(page, "ui.pairs")
    row, column = heaviest_cell(page)
    rows, columns = items(page)
    hover_cell(page, row, column)
    lit = rows_lit(page)
    assert set(lit["pairs"]) == {rows[row], columns[column]}
    assert len(lit["bars"]) == 2
    assert 0 in lit["terms"]
    page.locator("#main-terms tbody tr").first.hover()
    frame = page.locator("#main-matrix .lp-cell:not(.lp-pin)")
    expect(frame).to_be_visible()
    assert rows_lit(page)["pairs"] == sorted({rows[row], columns[column]})
    page.locator("#main-pairs tbody tr").nth(3).locator(".lp-index").hover()
    assert rows_lit(page)["pairs"] == [3]
    expect(frame).to_be_hidden()
    expect(page.locator("#main-matrix .lp-band").first).to_be_visible()


def test_a_pin_stays_with_its_pair(page: Page) -> None:
    row, column = heaviest_cell(page)
    page.mouse.click(*cell_centre(page, row, column))
    expect(page.locator(PIN)).to_be_visible()
    page.mouse.move(5, 5)
    expect(page.locator(CARD)).to_contain_text("pinned")
    text = page.locator(f"{CARD} .lp-side").all_inner_texts()
    place = page.locator(PIN).bounding_box()
    for order in ("entry", "score"):
        with redrawn(page):
            page.select_option("#lp-order", order)
        assert page.locator(f"{CARD} .lp-side").all_inner_texts() == text
        x, y = cell_centre(page, *heaviest_cell(page))
        pin = page.locator(PIN).bounding_box()
        assert pin["x"] < x < pin["x"] + pin["width"]
        assert pin["y"] < y < pin["y"] + pin["height"]
        assert pin != place
    page.locator(CANVAS).focus()
    page.keyboard.press("Escape")
    expect(page.locator(CARD)).not_to_contain_text("pinned")


def test_arrow_keys_walk_the_cells(page: Page) -> None:
    page.locator(CANVAS).focus()
    page.keyboard.press("ArrowRight")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowUp"):
        page.keyboard.press(key)
    rows, columns = items(page)
    heads = page.locator(f"{CARD} .lp-side b").all_inner_texts()
    # From the first cell two down, one right, one up: the second row, the second column.
    assert re.findall(r"\d+", heads[0])[0] == str(rows[1] + 1)
    assert re.findall(r"\d+", heads[1])[0] == str(columns[1] + 1)
    page.keyboard.press("Enter")
    expect(page.locator(PIN)).to_be_visible()


# ---- Facets, order, derivation -----------------------------------------------------------------


def test_the_four_facets(page: Page) -> None:
    marks = {}
    for facet in ("Value", "Mask", "Weight", "Gradient"):
        with redrawn(page):
            page.locator("#main-matrix .lp-tab", has_text=facet).click()
        expect(page.locator("#main-matrix .lp-tab[aria-selected=true]")).to_have_text(facet)
        marks[facet] = pixels(page)["mark"]
        assert pixels(page)["colours"] > 1
        if facet == "Mask":
            colours = [colour for row in cell_colours(page) for colour in row]
            counts = sorted(colours.count(colour) for colour in set(colours))
            # Marked are the ordered pairs, as many as the strip says.
            ordered = int(figure_note(page, "violated").split()[-1])
            assert counts == sorted([ordered, 24 * 24 - ordered])
            # There is no half of taking part: the legend has these two colours alone.
            assert set(page.evaluate(LEGEND_COLOURS)) == set(colours)
    assert len(set(marks.values())) == 4
    # On the terms of CoSENT the gradient is the weight: d log(1 + Σ exp(t)) / dt.
    shown = f"{PAGE}.picture.shown"
    weight, gradient = (
        page.evaluate(f"Array.from(lossprism.floats({shown}.{facet}))")
        for facet in ("weight", "gradient")
    )
    total = sum(gradient)
    assert weight == pytest.approx([g / total for g in gradient], rel=1e-4)
    # On the scaled scores it is not, and there the weight of a cell has no meaning.
    with redrawn(page):
        page.locator("#main-derivation .lp-step").nth(2).click()
    expect(page.locator("#main-matrix .lp-tab", has_text="Weight")).to_be_disabled()
    assert pixels(page)["mark"] not in marks.values()


def test_sorting(page: Page) -> None:
    pairs = textbook.load_example("graded_english")
    scores = page.evaluate(f"Array.from(lossprism.floats({PAGE}.picture.pairs.score))")
    marks = set()
    for order, by in (("score", scores), ("entry", range(24)), ("label", pairs.labels)):
        with redrawn(page):
            page.select_option("#lp-order", order)
        for axis in items(page):
            assert [by[pair] for pair in axis] == sorted(by)
        marks.add(pixels(page)["mark"])
    assert len(marks) == 3


def test_walking_the_derivation(page: Page) -> None:
    steps = page.locator("#main-derivation .lp-step")
    place = page.locator("#main-matrix .lp-place")
    title = page.locator("#main-matrix .lp-title")

    def current() -> int:
        marked = steps.evaluate_all("all => all.map(one => one.hasAttribute('aria-current'))")
        assert sum(marked) == 1
        return marked.index(True)

    count, start = steps.count(), current()
    assert place.inner_text() == f"{start + 1} of {count}"
    seen = {title.inner_text()}
    for key, by in (("◀", -1), ("◀", -1), ("▶", 1), ("ArrowUp", -1), ("ArrowRight", 1)):
        before = current()
        with redrawn(page):
            if key.startswith("Arrow"):
                page.locator("#main-derivation .lp-steps").focus()
                page.keyboard.press(key)
            else:
                page.locator("#main-matrix .lp-walk button", has_text=key).click()
        assert current() == before + by
        assert place.inner_text() == f"{current() + 1} of {count}"
        seen.add(title.inner_text())
    assert len(seen) >= 3
    with redrawn(page):
        steps.first.click()
    assert shape(page) == [1, 24]
    assert pixels(page)["colours"] > 2


# ---- Figures -----------------------------------------------------------------------------------


def test_a_loss_is_judged_by_what_it_does(page: Page, subtests: pytest.Subtests) -> None:
    for loss, judged in {
        "cosent": ["violated", "spearman"],
        "info_nce": ["first_key", "reciprocal"],
        "triplet": ["first_class", "reciprocal"],
        "softmax": ["first_prototype", "reciprocal"],
    }.items():
        with subtests.test(loss=loss):
            choose(page, loss)
            heads = page.locator("#lp-main .lp-figure > [data-say]:first-child")
            names = heads.all_text_contents()
            assert [names[1], names[4]] == [say("en", f"figure.{one}") for one in judged]


def test_a_figure_explains_itself_to_pointer_and_keyboard(page: Page) -> None:
    unfold(page, "ui.more_metrics")
    for key in ("violated", "gradient", "loss"):
        box = page.locator(f"[data-figure={key}]")
        tip = box.locator("[role=tooltip]")
        expect(tip).to_be_hidden()
        box.hover()
        expect(tip).to_be_visible()
        assert box.get_attribute("aria-describedby") == tip.get_attribute("id")
        page.mouse.move(5, 5)
        expect(tip).to_be_hidden()
    page.locator("#main-metrics summary").focus()
    page.keyboard.press("Tab")
    expect(page.locator("[data-figure=violated] [role=tooltip]")).to_be_visible()
    box = page.locator("[data-figure=violated] [role=tooltip]").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 1440


def test_the_matrix_is_sharp_at_every_pixel_ratio(
    new_page: Callable[..., Page], server: Server
) -> None:
    page = new_page()
    devtools = page.context.new_cdp_session(page)
    for ratio in (1.5, 3):
        size = {"width": 1440, "height": 900, "deviceScaleFactor": ratio, "mobile": False}
        devtools.send("Emulation.setDeviceMetricsOverride", size)
        page.goto("about:blank")
        visit(page, server.address)
        assert page.evaluate("devicePixelRatio") == ratio
        page.wait_for_function(
            """() => {
              const canvas = document.querySelector("#main-matrix canvas");
              const shown = canvas.getBoundingClientRect().width * devicePixelRatio;
              return Math.abs(canvas.width - shown) <= 1;
            }"""
        )


def test_a_rule_for_the_scale_is_quoted_and_not_offered(page: Page) -> None:
    advice = page.locator("#main-metrics .lp-note", has_text=wording("ui.suggested_scale"))
    expect(advice).to_contain_text("σ = ")
    expect(advice.locator("button, a")).to_have_count(0)
