"""How much stands on the screen at once."""

from __future__ import annotations

from playwright.sync_api import Page

# Words, by the rules of the language, and controls on the screen, beside navigation, formulas and
# the rows of the data themselves.
COUNTED = """() => {
  const onScreen = ({ top, bottom, left, right, width, height }) =>
    width > 1 && height > 1 && top < innerHeight && bottom > 0 && left < innerWidth && right > 0;
  // Not what is scrolled out of an element around it.
  const isWithin = (box, { top, bottom, left, right }) =>
    box.bottom > top && box.top < bottom && box.right > left && box.left < right;
  const isClipped = (one, box) => {
    for (let around = one.parentElement; around; around = around.parentElement) {
      const { overflowX, overflowY } = getComputedStyle(around);
      const clips = overflowX !== "visible" || overflowY !== "visible";
      if (clips && !isWithin(box, around.getBoundingClientRect())) return true;
    }
    return false;
  };
  const seen = (one, box) =>
    one.checkVisibility({ opacityProperty: true, visibilityProperty: true })
    && onScreen(box) && !isClipped(one, box);
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
    if (seen(owner, range.getBoundingClientRect()))
      words += [...segmenter.segment(text.textContent)].filter((one) => one.isWordLike).length;
  }
  const controls = [...document.querySelectorAll(
    "button, input, select, textarea, a[href], summary, [role=tab]")]
    .filter((one) => !one.closest("nav") && seen(one, one.getBoundingClientRect()));
  return [words, controls.length];
}"""


def words_and_controls(page: Page) -> tuple[int, int]:
    """The number of words and of controls on the screen."""
    words, controls = page.evaluate(COUNTED)
    return words, controls
