"""The first screen of each check: few words and controls, and nothing that axe finds."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import script, violations
from tests.browser.doctor.test_number import opened
from tests.browser.serving import Server

pytestmark = pytest.mark.browser

WORDS, CONTROLS = 200, 20
SCENES = (
    "",
    "value=0.693",
    "door=data",
    "door=data&set=practice_english",
    "door=data&set=graded_english&for=cosine_mse",
    "door=run",
    "door=run&log=learned_by_heart",
)
# Words, by the rules of the language, and controls on the screen, beside navigation, formulas and
# the rows of the data themselves.
COUNTED = """() => {
  const onScreen = ({ top, bottom, width, height }) =>
    width > 1 && height > 1 && top < innerHeight && bottom > 0;
  const seen = (one) => one.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const { lang } = document.documentElement;
  const segmenter = new Intl.Segmenter(lang, { granularity: "word" });
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let words = 0;
  while (walker.nextNode()) {
    const { currentNode: text } = walker;
    const owner = text.parentElement;
    if (owner.closest("script, style, option, nav, .katex, [data-batch-text]")) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    if (seen(owner) && onScreen(range.getBoundingClientRect()))
      words += [...segmenter.segment(text.textContent)].filter((one) => one.isWordLike).length;
  }
  const controls = [...document.querySelectorAll(
    "button, input, select, textarea, a[href], summary, [role=tab]")]
    .filter((one) => !one.closest("nav") && seen(one) && onScreen(one.getBoundingClientRect()));
  return [words, controls.length];
}"""


@pytest.mark.parametrize("locale", ["en-US", "zh-CN"])
def test_each_check_opens_with_one_answer(
    new_page: Callable[..., Page], server: Server, locale: str, subtests: pytest.Subtests
) -> None:
    page = new_page(locale=locale)
    for scene in SCENES:
        with subtests.test(scene=scene):
            opened(page, server.address, scene)
            expect(page.locator("#doctor-main .lp-finding").first).to_be_visible()
            page.wait_for_function("window.lossprism.page('doctor').flying === 0")
            words, controls = page.evaluate(COUNTED)
            assert words <= WORDS
            assert controls <= CONTROLS
            # One sentence, with a remedy of one sentence; the rest is behind ⓘ or folded.
            first = page.locator("#doctor-main .lp-finding").first
            assert first.locator(".lp-finding-said").count() == 1
            assert first.locator("details[open]").count() == 0


@pytest.mark.parametrize("locale", ["en-US", "zh-CN"])
@pytest.mark.parametrize(("width", "height"), [(1440, 900), (390, 844)])
def test_axe_finds_nothing(
    new_page: Callable[..., Page], server: Server, locale: str, width: int, height: int
) -> None:
    axe = script()
    page = new_page(width=width, height=height, locale=locale)
    for scene in ("", "door=data", "door=run"):
        opened(page, server.address, scene)
        expect(page.locator("#doctor-main .lp-finding").first).to_be_visible()
        assert violations(page, axe) == [], scene
