"""What the page shows of single steps: the source's own numbers, numbers that stand alone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.reading import CHANNEL, formulas, loss_shown, number, redrawn

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
    names = page.evaluate(f"{CHANNEL}.picture.steps.map((step) => step.name)")
    with redrawn(page):
        page.locator("#main-derivation .lp-step").nth(names.index(name)).click()


def table_shown(page: Page) -> list[list[float | str]]:
    lines = page.locator("#main-matrix .lp-cells tbody tr").all()
    read = [line.locator("td").all_inner_texts() for line in lines]
    return [[said if said == MASKED else number(said) for said in line] for line in read]


def test_the_textbook_batch_shows_the_numbers_its_source_prints(page: Page) -> None:
    with redrawn(page):
        page.select_option("#lp-example", "cosent_batch")
    page.locator("#main-matrix [data-say='ui.as_table']").click()
    for name, printed in PRINTED.items():
        go_to(page, name)
        assert table_shown(page) == printed, name


def test_the_loss_stands_alone_with_its_landmarks(page: Page) -> None:
    go_to(page, "loss")
    expect(page.locator(FRAME)).to_be_hidden()
    alone = page.locator(f"{LONE} strong")
    assert number(alone.inner_text()) == loss_shown(page)
    figures = page.evaluate(f"{CHANNEL}.picture.figures")
    said = page.locator(f"{LONE} .lp-landmark").all_inner_texts()
    assert [number(text.split("=")[-1].strip()) for text in said] == pytest.approx(
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
