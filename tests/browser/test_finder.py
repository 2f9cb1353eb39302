"""A loss by any of its names: those of papers and of libraries' classes."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.sentences import wording

pytestmark = pytest.mark.browser

BOX, SAID = "#lp-loss-name", ".lp-finder p"


def test_a_loss_is_found_by_another_name(page: Page) -> None:
    box, message = page.locator(BOX), page.locator(SAID)
    box.fill("losses.CachedMultipleNegativesRankingLoss")
    box.press("Enter")
    expect(page.locator("#lp-loss")).to_have_value("info_nce")
    expect(message).to_contain_text("is InfoNCE here")
    expect(box).to_have_value("")
    box.fill("BatchHardSoftMarginTripletLoss")
    box.press("Enter")
    expect(page.locator("#lp-convention")).to_have_value(re.compile("BatchHardSoftMargin$"))
    box.fill("<b>batch</b>hard")
    box.press("Enter")
    expect(message).to_contain_text("No loss is called <b>batch</b>hard here.")
    expect(page.locator("#lp-loss")).to_have_value("triplet")


def test_a_class_without_a_loss_here_gets_a_reason(page: Page) -> None:
    box, message = page.locator(BOX), page.locator(SAID)
    box.fill("AdaptiveLayerLoss")
    box.press("Enter")
    reason = {"name": "AdaptiveLayerLoss", "instead": "InfoNCE on prefixes (MRL)"}
    expect(message).to_contain_text(wording("problem.related_layers", **reason))
    expect(page.locator("#lp-loss")).to_have_value("cosent")
    box.fill("SoftmaxLoss")
    box.press("Enter")
    expect(message).to_contain_text("is Softmax loss of lists here. SoftmaxLoss of sentence-trans")
    expect(page.locator("#lp-loss")).to_have_value("softmax_rank")
