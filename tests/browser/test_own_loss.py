"""A loss of one's own: shown by its lines, read again when its file changes, and edited in the
page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.reading import PROBLEM, loss_shown, redrawn, slider, visit
from tests.browser.serving import Server

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


def test_it_is_shown_read_again_and_edited(
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
    expect(page.locator("#main-own")).to_contain_text("mine.py changed: read again at")
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
    expect(page.locator(".lp-own .lp-fault")).to_contain_text("changed on disk")
    expect(page.locator(EDITOR)).to_have_value(typed)
    assert path.read_text() == OWN.replace("2.0", "4.0")
