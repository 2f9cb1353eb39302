"""A loss of one's own: shown by its lines, read again when its file changes, and edited in the
page; what it gives that is no number is marked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.reading import (
    CANVAS,
    PROBLEM,
    cell_colours,
    hover_cell,
    loss_shown,
    redrawn,
    shape,
    slider,
    visit,
)
from tests.browser.serving import Server
from tests.browser.test_steps import LIVE, go_to
from tests.sentences import wording

pytestmark = pytest.mark.browser

FIRST = '''
"""A loss of one's own."""


def mine(scores, labels, *, weight=0.5):
    """Half the squared difference of score and label, weighted."""
    gaps = scores - labels
    loss = weight * (gaps * gaps).mean()
    return loss
'''
OWN = "def mine(scores, labels, *, slope=2.0):\n    gaps = slope * scores\n    return gaps.sum()\n"
EDITOR = ".lp-own textarea"
# Of which some cells are no numbers.
BROKEN = """
def mine(scores, labels, *, scale=2.0):
    differences = scale * (scores[:, None] - scores[None, :])
    ratios = differences / differences
    inverses = 1 / differences.abs()
    loss = differences.exp().mean()
    return loss
"""


def test_it_is_shown_read_again_and_edited_and_marked_where_it_is_no_number(
    new_page: Callable[..., Page], own_server: Callable[..., Server], tmp_path: Path
) -> None:
    path = tmp_path / "mine.py"
    path.write_text(FIRST)
    address = own_server("--loss", f"{path}:mine").address
    page = visit(new_page(address=address), address)
    expect(page.locator(PROBLEM)).to_be_hidden()
    lines = page.locator("#main-derivation .lp-line").all_text_contents()
    assert "gaps = scores - labels" in lines
    assert "loss = weight * (gaps * gaps).mean()" in lines
    with redrawn(page):
        page.select_option("#lp-example", "cosent_batch")
    gaps = page.evaluate(
        """() => {
          const { picture, batch } = window.lossprism.page();
          return Array.from(window.lossprism.floats(picture.pairs.score),
            (score, i) => score - batch.labels[i]);
        }"""
    )
    assert loss_shown(page) == pytest.approx(0.5 * sum(g * g for g in gaps) / len(gaps), rel=1e-4)
    with redrawn(page):
        slider(page, "weight")[1].fill("1")
    assert loss_shown(page) == pytest.approx(sum(g * g for g in gaps) / len(gaps), rel=1e-4)
    # By another editor.
    with redrawn(page):
        path.write_text(OWN)
    once = loss_shown(page)
    with redrawn(page):
        path.write_text(OWN.replace("slope * scores", "2 * slope * scores").replace("2.0", "3.0"))
    assert loss_shown(page) == pytest.approx(3 * once, rel=1e-4)
    expect(page.locator("#main-own")).to_contain_text("mine.py changed and was read again at")
    expect(page.get_by_role("spinbutton", name="slope")).to_have_value("3")
    # In the page.
    page.click(".lp-own summary")
    expect(page.locator(EDITOR)).to_have_value(path.read_text())
    page.fill(EDITOR, OWN.replace("slope * scores", "slope * scores +"))
    page.press(EDITOR, "Control+s")
    expect(page.locator(PROBLEM).first).to_contain_text("SyntaxError")
    expect(page.locator(".lp-own .lp-wrong")).to_have_text("2\n")
    assert page.evaluate("document.body.classList.contains('lp-stale')")
    page.fill(EDITOR, OWN)
    with redrawn(page):
        page.press(EDITOR, "Control+s")
    assert path.read_text() == OWN
    assert loss_shown(page) == pytest.approx(once, rel=1e-4)
    expect(page.locator(".lp-own .lp-wrong")).to_have_count(0)
    # In both.
    page.focus(EDITOR)
    page.keyboard.press("Control+Home")
    page.keyboard.press("Tab")
    typed = f"    {OWN}"
    expect(page.locator(EDITOR)).to_have_value(typed)
    with redrawn(page):
        path.write_text(OWN.replace("2.0", "4.0"))
    page.click(".lp-own [data-say='ui.own_save']")
    expect(page.locator(".lp-own .lp-fault")).to_contain_text(wording("problem.own_loss_changed"))
    expect(page.locator(EDITOR)).to_have_value(typed)
    assert path.read_text() == OWN.replace("2.0", "4.0")
    # Saved by the other editor again, with steps that are no numbers everywhere.
    with redrawn(page):
        path.write_text(BROKEN)
    cells_that_are_no_numbers_are_marked_and_explained(page)


def cells_that_are_no_numbers_are_marked_and_explained(page: Page) -> None:
    legend = page.locator("#main-matrix .lp-swatch", has_text=wording("legend.broken"))
    go_to(page, "differences")
    expect(legend).to_be_hidden()
    colour = page.evaluate("lossprism.kit('colours').then(({ palette }) => palette().broken)")
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    for name, message in (("ratios", "NaN"), ("inverses", "∞")):
        go_to(page, name)
        expect(legend).to_be_visible()
        # All cells of the diagonal, and no others; in the corner of a cell no cross is drawn.
        corners = page.evaluate(
            """([selector, count]) => {
              const canvas = document.querySelector(selector);
              const { width, height } = canvas;
              const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
              const place = (i) => Math.floor(((i + 0.12) * width) / count);
              const at = (r, c) => 4 * (place(r) * width + place(c));
              const range = [...Array(count).keys()];
              return range.map((r) => range.map((c) =>
                Array.from(data.slice(at(r, c), at(r, c) + 3))));
            }""",
            [CANVAS, shape(page)[0]],
        )
        for row, line in enumerate(corners):
            for column, seen in enumerate(line):
                assert (seen == [red, green, blue]) == (row == column), (name, row, column)
        # Its middle is crossed out, so that it does not depend on the colour.
        assert cell_colours(page)[0][0] != f"{red},{green},{blue},255"
        hover_cell(page, 0, 0)
        expect(page.locator(LIVE)).to_contain_text(message)
