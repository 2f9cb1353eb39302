"""The reading of labels is shown beside the controls that change it, on every page."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.large import steering as large
from tests.browser.reading import PROBLEM, choose, loss_shown, redrawn, shape, sound, unfold, upload
from tests.browser.serving import Server
from tests.sentences import wording

pytestmark = [pytest.mark.browser, pytest.mark.encoder]

SAID = ".lp-labels-read"
LOW, HIGH, THRESHOLD = "#lp-label-low", "#lp-label-high", "#lp-threshold"


def test_the_scale_of_labels_is_reported_and_can_be_changed(page: Page, server: Server) -> None:
    rows = "".join(f"This is {k}.\tThat is {k}.\t{1 + k % 5}\n" for k in range(15))
    unfold(page, "ui.rules")
    with redrawn(page):
        upload(page, "graded.tsv", f"sentence1\tsentence2\tscore\n{rows}".encode())
    choose(page, "info_nce")
    expect(page.locator(SAID)).to_have_text(wording("rule.labels", low=1, high=5, threshold=3))
    assert shape(page)[0] == 9
    for box, usual in ((LOW, "1"), (HIGH, "5"), (THRESHOLD, "3")):
        expect(page.locator(box)).to_have_attribute("placeholder", usual)
    with redrawn(page):
        page.fill(HIGH, "7")
    expect(page.locator(SAID)).to_have_text(wording("rule.labels", low=1, high=7, threshold=4))
    expect(page.locator(LOW)).to_have_value("1")
    assert shape(page)[0] == 6
    # An end that passes the other is named and not taken; a threshold of one's own wins.
    page.fill(LOW, "8")
    wrong = page.locator(".lp-label-rules .lp-wrong")
    expect(wrong).to_have_text(wording("problem.label_range", low=8, high=7))
    expect(page.locator(LOW)).to_have_class("lp-number lp-bad")
    with redrawn(page):
        page.fill(LOW, "0")
    expect(wrong).to_be_hidden()
    with redrawn(page):
        page.fill(THRESHOLD, "5")
    expect(page.locator(SAID)).to_have_text(wording("rule.labels", low=0, high=7, threshold=5))
    assert shape(page)[0] == 3
    sound(page)
    # What is emptied follows from the labels again.
    with redrawn(page):
        page.fill(LOW, "")
    with redrawn(page):
        page.fill(THRESHOLD, "")
    expect(page.locator(SAID)).to_have_text(wording("rule.labels", low=1, high=5, threshold=3))
    expect(page.locator(HIGH)).to_have_value("")
    # A loss that regresses on labels cannot reach beyond the scale.
    choose(page, "cosine_mse")
    whole = loss_shown(page)
    page.fill(HIGH, "4")
    expect(page.locator(PROBLEM)).to_contain_text(
        wording("problem.labels_beyond", label=5, low=1, high=4)
    )
    with redrawn(page):
        page.fill(HIGH, "5")
    assert loss_shown(page) == whole

    # The same control on the other pages.
    large.opened_page(page, server.address, "#loss=info_nce&pairs=400&label_range=-5-5")
    message = page.locator(f"#large-large_controls {SAID}")
    expect(message).to_have_text(wording("rule.labels", low="−5", high=5, threshold=0))
    expect(page.locator("#lp-large-label-low")).to_have_value("-5")
    assert page.evaluate(f"{large.PAGE}.answer.shape[0]") == 400
    with large.redrawn(page):
        page.fill("#lp-large-label-low", "")
    expect(message).to_have_text(wording("rule.labels", low=0, high=5, threshold="2.5"))
    half = page.evaluate(f"{large.PAGE}.answer.rules.positives")
    assert page.evaluate(f"{large.PAGE}.answer.shape[0]") == half < 400
    page.goto(f"{server.address}/finetune")
    plan = page.locator(f"#finetune-finetune_controls {SAID}")
    page.locator("details:has(#lp-finetune-threshold) > summary").last.click()
    expect(plan).to_have_text(wording("rule.labels", low=0, high=5, threshold="2.5"))
    page.fill("#lp-finetune-label-low", "1")
    expect(plan).to_have_text(wording("rule.labels", low=1, high=5, threshold=3))
