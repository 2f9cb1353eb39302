"""Two languages, two themes, a telephone and a desktop."""

from __future__ import annotations

import re
from functools import cache

import pytest
from playwright.sync_api import Page, expect

from lossprism.explorer.locale import catalogue
from lossprism.losses import LOSSES
from tests.browser.reading import (
    choose,
    loss_shown,
    pixels,
    reload,
    settle,
    slider,
    unfold_all,
    upload,
)
from tests.sentences import pattern_of

pytestmark = pytest.mark.browser


@pytest.fixture
def page(untouched: Page) -> Page:
    return untouched


# Every text a person can see, and every title and label that is read aloud.
VISIBLE = """() => {
  const seen = new Set();
  for (const root of document.querySelectorAll(".lp")) {
    const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      const { parentElement: at, textContent } = walk.currentNode;
      if (!textContent.trim() || at.closest(".katex, code, [hidden], #lp-language")) continue;
      const { sentences } = window.lossprism.page().batch;
      if (sentences.some((sentence) => textContent.includes(sentence.slice(0, 20)))) continue;
      seen.add(textContent.trim());
    }
    for (const one of root.querySelectorAll("[data-title]")) seen.add(one.title);
  }
  return [...seen];
}"""


@cache
def patterns(language: str) -> dict[str, re.Pattern]:
    """Each sentence of a catalogue as a pattern, its placeholders open; one that is made of nothing
    else would be every sentence."""
    return {
        key: pattern_of(key, language)
        for key, sentence in catalogue(language).items()
        if re.search(r"\w", re.sub(r"\{\w+\}", "", sentence))
    }


@cache
def telling() -> list[re.Pattern]:
    """The English sentences that are no Chinese ones too."""
    english, chinese = catalogue("en"), catalogue("zh")
    return [
        pattern
        for key, pattern in patterns("en").items()
        if re.search("[A-Za-z]{2}", re.sub(r"\{\w+\}", "", english[key]))
        and english[key] != chinese[key]
    ]


@cache
def is_english(text: str) -> bool:
    """Whether it is a sentence of the English catalogue and not of the Chinese one."""
    return any(pattern.fullmatch(text) for pattern in telling()) and not any(
        pattern.fullmatch(text) for pattern in patterns("zh").values()
    )


def english_left(page: Page) -> set[str]:
    return set(filter(is_english, page.evaluate(VISIBLE)))


# Every text, title, label and placeholder in sight that is not code, formula or the user's own.
READ = """() => {
  const told = new Set();
  const { sentences } = window.lossprism.page().batch;
  const own = (text) => sentences.some(
    (one) => one.includes(text) || text.includes(one.slice(0, 12)));
  // Names of steps and parameters are those of the code in every language.
  const { steps, parameters } = window.lossprism.page().picture;
  const code = [...steps.map(({ name }) => name), ...Object.keys(parameters)];
  const put = (text) => {
    const words = text.split(/\\b/).filter((word) => !code.includes(word)).join("").trim();
    if (words && !own(text.trim())) told.add(words);
  };
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const { parentElement: at, textContent } = walk.currentNode;
    if (at.checkVisibility() && !at.closest(".katex, code, pre, .lp-references")) put(textContent);
  }
  for (const name of ["title", "aria-label", "placeholder", "alt"]) {
    for (const one of document.querySelectorAll(`.lp [${name}]:not(code):not(canvas)`)) {
      if (one.checkVisibility()) put(one.getAttribute(name));
    }
  }
  return [...told];
}"""
# Names that are the same in every language: of file formats, people, libraries and units.
NAMES = {
    "torch",
    "no_duplicates",
    *("nn", "Module"),
    *(
        "LossPrism",
        "English",
        "Hub",
        "CSV",
        "TSV",
        "JSONL",
        "Parquet",
        "NPZ",
        "NPY",
        "safetensors",
        "Arrow",
        "SVG",
        "PNG",
        "PDF",
        "MB",
        "ms",
    ),
    *("CPU", "Python", "Pearson", "Spearman", "Kolmogorov", "Smirnov", "losses", "eq"),
    *(
        "sentence-transformers",
        "all-MiniLM-L6-v2",
        "NaN",
        "UTF",
        "pairs.csv",
        "score",
        "Alt",
        "MRR",
        "HTML",
        "MSE",
        "RankNet",
        "Softmax",
        "SupCon",
    ),
    *("log", "cos", "KL", "Lipschitz"),
}


@cache
def known() -> re.Pattern:
    """Those names, and the names of losses and conventions."""
    named = set(NAMES)
    for spec in LOSSES.values():
        named |= {spec.title, spec.name, *(convention.name for convention in spec.conventions)}
    subscripts = r"\b[a-z]_[a-z]+\b|"  # of a formula in words
    return re.compile(subscripts + "|".join(map(re.escape, sorted(named, key=len, reverse=True))))


def foreign(page: Page) -> dict[str, list[str]]:
    """Texts with Latin words that are none of those names."""
    left = {
        text: re.findall(r"[A-Za-z]{2,}", known().sub(" ", text)) for text in page.evaluate(READ)
    }
    return {text: words for text, words in left.items() if words}


@pytest.mark.thorough
def test_chinese_leaves_no_english_behind_but_names(page: Page) -> None:
    choose(page, "triplet")
    unfold_all(page)
    assert len(english_left(page)) > 40  # the test can tell English
    assert len(foreign(page)) > 40
    for source in ("random", "example"):
        page.click(f"#lp-source-{source}")
        settle(page)
    english_loss = loss_shown(page)
    page.click("#lp-language")
    expect(page.locator("#lp-language")).to_have_text("English")
    # The statistics are asked of the server anew.
    expect(page.locator("#main-metrics .lp-statistics")).to_contain_text(re.compile("[一-鿿]"))
    assert english_left(page) == set()
    assert loss_shown(page) == english_loss
    # What comes later is Chinese too.
    for loss in ("info_nce", "triplet", "arcface", "multitask_cosent"):  # one of each kind
        choose(page, loss)
        assert english_left(page) == set(), loss
        assert foreign(page) == {}, loss
    choose(page, "cosent")
    for source in ("table", "random", "example"):
        page.click(f"#lp-source-{source}")
        settle(page)
        assert english_left(page) == set(), source
        assert foreign(page) == {}, source
    slider(page, "scale")[1].fill("-5")
    expect(page.locator(".lp-wrong:visible")).to_contain_text("可填 0.1 到 1000")
    slider(page, "scale")[1].fill("20")
    upload(page, "pairs.csv", "sentence1,sentence2,score\n甲,乙,1\n丙,丁,high\n戊,己,0\n".encode())
    expect(page.locator("#main-controls .lp-skipped")).to_contain_text("high")
    result = foreign(page)
    assert all("high" in text for text in result), result


def test_language_and_theme_are_remembered(page: Page) -> None:
    """Both themes have colours of their own."""

    def ground() -> str:
        return page.evaluate("getComputedStyle(document.querySelector('#lp-side')).backgroundColor")

    light, light_ground = pixels(page), ground()
    page.click("#lp-theme")
    dark, dark_ground = pixels(page), ground()
    assert dark["mark"] != light["mark"]
    assert dark["colours"] > 1
    assert sum(map(int, re.findall(r"\d+", dark_ground)[:3])) < 200
    assert sum(map(int, re.findall(r"\d+", light_ground)[:3])) > 600
    page.click("#lp-language")
    reload(page)
    expect(page.locator("#lp-language")).to_have_text("English")
    expect(page.locator("#lp-source-table")).to_have_text("表格")
    assert ground() == dark_ground
    page.click("#lp-theme")
    assert ground() == light_ground
    page.click("#lp-language")
    expect(page.locator("#lp-source-table")).to_have_text("Table")
    assert pixels(page)["mark"] == light["mark"]
