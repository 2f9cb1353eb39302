"""An encoder that cannot be had says what failed, and one button leads back."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.reading import (
    PAGE,
    PROBLEM,
    button,
    hover_cell,
    loss_shown,
    redrawn,
    settle,
    sound,
    words,
)
from tests.sentences import wording

pytestmark = [pytest.mark.browser, pytest.mark.encoder]

BACK = "ui.embedded_encoder"


def use(page: Page, encoder: str = "", cross: str = "") -> None:
    page.locator("#lp-encoder").evaluate("box => { box.closest('details').open = true; }")
    page.fill("#lp-encoder", encoder)
    page.fill("#lp-cross", cross)
    button(page, "ui.use_encoder").click()


def leads_back(page: Page, loss: float) -> None:
    """The button beside the sentence restores the picture that was there."""
    with redrawn(page):
        button(page, BACK, PROBLEM).click()
    sound(page)
    assert loss_shown(page) == loss
    assert page.evaluate(f"{PAGE}.scenario.data.cross_encoder") == ""
    assert page.input_value("#lp-encoder") == "all-MiniLM-L6-v2"


def test_a_folder_that_holds_no_model(page: Page, tmp_path: Path) -> None:
    before = loss_shown(page)
    for folder, key in ((tmp_path, "no_model"), (tmp_path / "absent", "folder_missing")):
        use(page, str(folder))
        refused = wording(f"problem.encoder_{key}", encoder=str(folder))
        expect(page.locator(PROBLEM)).to_contain_text(refused)
        leads_back(page, before)
    use(page, cross=str(tmp_path))
    expect(page.locator(PROBLEM)).to_contain_text(str(tmp_path))
    leads_back(page, before)


def test_the_sentence_and_its_button_follow_the_language(page: Page, tmp_path: Path) -> None:
    use(page, str(tmp_path / "absent"))
    expect(button(page, BACK, PROBLEM)).to_be_visible()
    page.click("#lp-language")
    expect(page.locator(PROBLEM).get_by_role("button")).to_have_text("改回 all-MiniLM-L6-v2")
    expect(page.locator(PROBLEM)).to_contain_text(str(tmp_path / "absent"))
    page.click("#lp-language")


def test_names_that_can_be_no_model(page: Page, subtests: pytest.Subtests) -> None:
    before = loss_shown(page)
    for name in ("<img src=x onerror=window.pwned=1>", "x" * 100_000, "a b/c"):
        with subtests.test(name=name[:30]):
            use(page, name)
            expect(page.locator(PROBLEM)).to_contain_text(name[:30])
            assert len(page.locator(PROBLEM).inner_text()) < 1000
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            assert page.evaluate("window.pwned") is None
            leads_back(page, before)


def test_a_second_encoder_guides(page: Page, tmp_path: Path) -> None:
    """It is offered where a loss needs one, named, and left out where it cannot be used."""
    expect(page.locator("#lp-guide")).to_be_hidden()
    with redrawn(page):
        page.select_option("#lp-loss", "gist")
    expect(page.get_by_text(wording("ui.guide_own"))).to_be_visible()
    own = loss_shown(page)
    button(page, "ui.choose_guide").click()
    expect(page.locator("#lp-guide")).to_be_focused()
    with redrawn(page):
        page.fill("#lp-guide", "all apart")
        button(page, "ui.use_encoder").click()
    expect(page.get_by_text("Guide: all apart")).to_be_visible()
    guided = loss_shown(page)
    assert guided != own
    page.fill("#lp-guide", str(tmp_path / "absent"))
    button(page, "ui.use_encoder").click()
    expect(page.locator(PROBLEM)).to_contain_text(wording("problem.encoder_folder_missing"))
    expect(button(page, BACK, PROBLEM)).to_be_hidden()
    # The picture is that of the guide before, which is no more the chosen one.
    expect(page.get_by_text("Guide: all apart")).to_be_hidden()
    expect(button(page, "ui.choose_guide")).to_be_visible()
    with redrawn(page):
        button(page, "ui.without_guide", PROBLEM).click()
    assert loss_shown(page) == own
    page.select_option("#lp-example", "nli_triplets")
    page.select_option("#lp-loss", "margin_mse")
    button(page, "ui.choose_teacher", PROBLEM).click()
    expect(page.locator("#lp-teacher")).to_be_focused()
    with redrawn(page):
        page.fill("#lp-teacher", "all alike")
        button(page, "ui.use_encoder").click()
    expect(page.locator(PROBLEM)).to_be_hidden()
    expect(page.get_by_text("Teacher: all alike")).to_be_visible()
    # A cell tells its numbers, though the candidate in its column is no pair.
    hover_cell(page, 0, 0)
    card = page.locator("#main-cell .lp-card")
    expect(card.locator(".lp-side b").last).to_contain_text("candidate 1")
    expect(card).to_contain_text("weight")
    page.mouse.move(5, 5)
    # Its triplets bring each query's own hard negatives, which a batch of pairs has not.
    page.select_option("#lp-loss", "info_nce")
    page.evaluate(f"{PAGE}.setParameter('negatives_seen', 'by_own')")
    settle(page)
    lacking = page.get_by_text(words(page, "ui.no_own_negatives"))
    expect(lacking).to_be_hidden()
    with redrawn(page):
        page.select_option("#lp-example", "graded_english")
    expect(lacking).to_be_visible()
