"""A loss of one's own: read again when its file changes, and edited in the page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.reading import PROBLEM, loss_shown, redrawn, visit
from tests.browser.serving import Server

pytestmark = pytest.mark.browser

OWN = "def steep(scores, labels, *, slope=2.0):\n    gaps = slope * scores\n    return gaps.sum()\n"
EDITOR = ".lp-own textarea"


def test_it_is_read_again_and_edited(
    new_page: Callable[..., Page], own_server: Callable[..., Server], tmp_path: Path
) -> None:
    path = tmp_path / "mine.py"
    path.write_text(OWN)
    address = own_server("--loss", f"{path}:steep").address
    page = visit(new_page(address=address), address)
    once = loss_shown(page)
    # By another editor.
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
