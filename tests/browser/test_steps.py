"""What the page shows of single steps: the source's own numbers, numbers that stand alone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from lossprism.explorer.locale import say
from tests.browser.reading import (
    PAGE,
    formulas,
    hover_cell,
    loss_shown,
    number,
    redrawn,
)

pytestmark = pytest.mark.browser

LONE = "#main-matrix .lp-lone"
FRAME = "#main-matrix .lp-frame"

# What S0 prints for its batch; a step of no number there is masked (S0 subtracts 10¹²).
MASKED = "·"
PRINTED = {
    "scaled": [[2, 4, 16, 18]],
    "differences": [[0, -2, -14, -16], [2, 0, -12, -14], [14, 12, 0, -2], [16, 14, 2, 0]],
    "ordered": [[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 0], [0, 0, 0, 0]],
    "terms": [[MASKED, MASKED, -14, -16], [MASKED, MASKED, -12, -14], [MASKED] * 4, [MASKED] * 4],
}


def go_to(page: Page, name: str) -> None:
    """Choose a step of the derivation by its name in the definition."""
    names = page.evaluate(f"{PAGE}.picture.steps.map((step) => step.name)")
    with redrawn(page):
        page.locator("#main-derivation .lp-step").nth(names.index(name)).click()


def table_shown(page: Page) -> list[list[float | str]]:
    lines = page.locator("#main-matrix .lp-cells tbody tr").all()
    read = [line.locator("td").all_inner_texts() for line in lines]
    return [
        [message if message == MASKED else number(message) for message in line] for line in read
    ]


def test_the_textbook_batch_shows_the_numbers_its_source_prints(page: Page) -> None:
    with redrawn(page):
        page.select_option("#lp-example", "cosent_batch")
    with redrawn(page):
        page.locator("#main-matrix .lp-tab", has_text="Value").click()
    page.locator("#main-matrix [data-say='ui.as_table']").click()
    for name, printed in PRINTED.items():
        go_to(page, name)
        assert table_shown(page) == printed, name


def test_the_loss_is_alone_with_its_reference_values(page: Page) -> None:
    go_to(page, "loss")
    expect(page.locator(FRAME)).to_be_hidden()
    alone = page.locator(f"{LONE} strong")
    assert number(alone.inner_text()) == loss_shown(page)
    figures = page.evaluate(f"{PAGE}.picture.figures")
    texts = page.locator(f"{LONE} .lp-reference-value").all_inner_texts()
    assert [number(text.split("=")[-1].strip()) for text in texts] == pytest.approx(
        [figures["collapse"], figures["floor"]], rel=1e-3
    )
    assert r"\ln(1 + |P|) = 5.598" in formulas(page, LONE)
    marks = {
        kind: page.locator(f"{LONE} i.lp-{kind}").bounding_box()["x"]
        for kind in ("floor", "collapse", "now")
    }
    assert marks["floor"] < marks["collapse"] < marks["now"]
    # The names stand in the order of the marks, and none covers the other.
    names = [
        page.locator(f"{LONE} span.lp-{kind}").bounding_box() for kind in ("floor", "collapse")
    ]
    assert names[0]["x"] + names[0]["width"] <= names[1]["x"]
    # And with a matrix the matrix comes back.
    go_to(page, "terms")
    expect(page.locator(FRAME)).to_be_visible()
    expect(page.locator(LONE)).to_be_hidden()


def test_a_number_on_the_way_stands_alone_too(page: Page) -> None:
    with redrawn(page):
        page.select_option("#lp-loss", "multitask_cosent")
    go_to(page, "classification")
    expect(page.locator(f"{LONE} strong")).to_be_visible()
    expect(page.locator(f"{LONE} .lp-ruler")).to_have_count(0)
    # It enters the loss with the factor α = 1.
    assert page.locator(f"{LONE} .lp-note").inner_text().endswith("= 1")


# ---- The formula and where its numbers come from -----------------------------------------------

LIVE = "#main-cell .lp-card .lp-live"
ROW, COLUMN = (f"#main-matrix .lp-band.lp-of-{side}" for side in ("row", "column"))


def lit_steps(page: Page) -> list[str]:
    return page.evaluate(
        f"""() => Array.from(document.querySelectorAll("#main-derivation .lp-step"))
          .flatMap((row, i) => row.classList.contains("lp-lit")
            ? [{PAGE}.picture.steps[i].name] : [])"""
    )


def test_a_number_of_the_formula_lights_up_what_it_came_from(page: Page) -> None:
    hover_cell(page, 4, 20)
    live = page.locator(LIVE)
    expect(live.locator("[data-at]")).to_have_count(3)
    scores = page.evaluate(f"Array.from(lossprism.floats({PAGE}.picture.pairs.score))")
    shown = page.evaluate(f"{PAGE}.picture.shown")
    pair = shown["row_axis"]["items"][4]
    low = live.locator("[data-at=row]")
    assert number(low.inner_text()) == pytest.approx(scores[pair], rel=1e-3)
    # The number of the row: its row and its pair everywhere, and the step that made it.
    low.hover()
    expect(page.locator(ROW)).to_be_visible()
    expect(page.locator(COLUMN)).to_be_hidden()
    assert page.evaluate(f"{PAGE}.pointed.pairs") == [pair]
    assert lit_steps(page) == ["scores"]
    live.locator("[data-at=column]").hover()
    expect(page.locator(COLUMN)).to_be_visible()
    expect(page.locator(ROW)).to_be_hidden()
    # The number of a parameter: its slider.
    slider = page.locator("#main-lever .lp-slider", has=page.locator("[data-parameter=scale]"))
    live.locator("[data-at=parameter]").hover()
    expect(slider).to_have_class("lp-slider lp-lit")
    page.mouse.move(5, 5)
    expect(slider).to_have_class("lp-slider")
    assert lit_steps(page) == []


def test_the_terms_of_a_sum_lead_to_the_pairs_they_came_from(page: Page) -> None:
    with redrawn(page):
        page.select_option("#lp-loss", "info_nce")
    go_to(page, "per_query")
    hover_cell(page, 0, 3)
    parts = page.locator(LIVE).locator("[data-pair]")
    assert parts.count() == 3
    pair = int(parts.first.get_attribute("data-pair"))
    parts.first.hover()
    assert page.evaluate(f"{PAGE}.pointed.pairs") == [pair]
    assert lit_steps(page) == ["terms"]
    # The rest is one number that says how many it stands for.
    rest = page.locator(LIVE).locator("[data-more]")
    keys = page.evaluate(f"{PAGE}.picture.steps.find((s) => s.name === 'terms').shape[1]")
    assert rest.get_attribute("title") == say("en", "ui.live_rest", count=keys - 4)
    # And so for the loss, which is a number alone.
    go_to(page, "loss")
    put = page.locator(LONE).locator(".lp-put")
    expect(put.locator("[data-pair]")).to_have_count(0)  # InfoNCE's has two forms
    with redrawn(page):
        page.select_option("#lp-loss", "cosent")
    go_to(page, "loss")
    expect(put.locator("[data-pair]")).to_have_count(3)


def test_a_cell_that_takes_no_part_is_described_as_zero(page: Page) -> None:
    masked = page.evaluate(
        f"""() => {{
          const {{ mask, columns }} = {PAGE}.picture.shown;
          const at = lossprism.bytes(mask).indexOf(0);
          return [Math.floor(at / columns), at % columns];
        }}"""
    )
    hover_cell(page, *masked)
    assert "\\to" in formulas(page, LIVE)[0]
    go_to(page, "ordered")
    hover_cell(page, *masked)
    assert formulas(page, LIVE)[0].count("<") == 1
    expect(page.locator("#main-cell .lp-absent")).to_be_visible()


def test_the_sides_of_a_cell_and_their_numbers_share_a_colour(page: Page) -> None:
    hover_cell(page, 4, 20)
    colour = "one => getComputedStyle(one).color"
    seen = set()
    for side, letter in (("row", "j"), ("column", "i")):
        head = page.locator(f"#main-cell .lp-side.lp-of-{side} b")
        assert head.inner_text().endswith(f"({letter})")
        number_of_it = page.locator(LIVE).locator(f"[data-at={side}]")
        assert head.evaluate(colour) == number_of_it.evaluate(colour)
        band = page.locator(ROW if side == "row" else COLUMN)
        assert band.evaluate("one => getComputedStyle(one).outlineColor") == head.evaluate(colour)
        seen.add(head.evaluate(colour))
    assert len(seen) == 2


def test_the_formula_is_walked_by_keyboard(page: Page) -> None:
    hover_cell(page, 4, 20)
    page.mouse.move(5, 5)
    part = page.locator(LIVE).locator("[data-at=row]")
    part.focus()
    expect(page.locator(ROW)).to_be_visible()
    with redrawn(page):
        page.keyboard.press("Enter")
    assert page.evaluate(f"{PAGE}.picture.shown.name") == "scores"
    # What has the focus is not hidden from whoever hears the page.
    assert page.locator(f"{LIVE} [aria-hidden=true] [tabindex]").count() == 0


def test_a_parameter_in_the_formula_leads_to_its_slider(page: Page) -> None:
    hover_cell(page, 4, 20)
    page.locator(LIVE).locator("[data-at=parameter]").click()
    expect(page.locator("input[type=range][data-parameter=scale]")).to_be_focused()


def test_a_cell_of_another_matrix_is_framed(page: Page) -> None:
    with redrawn(page):
        page.select_option("#lp-loss", "info_nce")
    hover_cell(page, 0, 1)
    page.locator(LIVE).locator("[data-at=cell]").hover()
    expect(page.locator("#main-matrix .lp-cell:not(.lp-pin)")).to_be_visible()
    expect(page.locator(ROW)).to_be_hidden()
    assert lit_steps(page) == ["logits"]


def test_the_names_in_a_line_of_code_lead_to_their_steps(page: Page) -> None:
    lines = page.locator("#main-derivation .lp-line")
    name = lines.nth(5).locator(".lp-ref", has_text="ordered")
    name.hover()
    assert lit_steps(page) == ["ordered"]
    with redrawn(page):
        name.click()
    assert page.evaluate(f"{PAGE}.picture.shown.name") == "ordered"
    # The name that a line gives, and what belongs to torch, are no references.
    assert lines.nth(5).locator(".lp-ref").all_inner_texts() == ["differences", "ordered"]
    assert lines.nth(5).inner_text() == "terms = differences.masked_fill(~ordered, -torch.inf)"


def test_the_legend_says_what_is_measured(page: Page) -> None:
    measured = page.locator("#main-matrix .lp-measured")
    expect(page.locator("#main-matrix .lp-swatch", has_text="masked")).to_be_visible()
    seen = []
    for facet in ("Value", "Mask", "Weight", "Gradient"):
        page.locator("#main-matrix .lp-tab", has_text=facet).click()
        expect(page.locator("#main-matrix .lp-tab[aria-selected=true]")).to_have_text(facet)
        seen.append(measured.inner_text())
    named = [say("en", f"legend.{facet}") for facet in ("value", "mask", "weight")]
    assert seen == [*named, "∂L/∂(cell)"]
    go_to(page, "scores")
    expect(page.locator("#main-matrix .lp-swatch", has_text="masked")).to_be_hidden()
