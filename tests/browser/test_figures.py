"""Exported figures as a browser renders them: nothing runs into anything else."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Data, Scenario, View
from lossprism.explorer.export.figure.figure_files import FIGURES
from lossprism.explorer.sources.random_batch import RandomBatch

pytestmark = pytest.mark.browser

SCENES = {
    "many names": Scenario(loss="info_nce", data=Data(example="graded_chinese")),
    "few names": Scenario(loss="info_nce", data=Data(example="cosent_batch")),
    "numbers": Scenario(loss="hierarchical_cosent", data=Data(example="worked_example")),
    "weights": Scenario(
        loss="siglip",
        data=Data(source="random", random=RandomBatch(pairs=12, dimension=8)),
        view=View(facet="weight"),
    ),
    "ticks": Scenario(loss="triplet", data=Data(example="hard_negatives")),
    "one number": Scenario(view=View(step=6)),
    "classes": Scenario(loss="softmax", data=Data(example="nli_triplets")),
}

# Texts that cover one another by more than a hair, and texts that stick out of the figure.
CLASHES = """() => {
  const whole = document.querySelector("svg").getBoundingClientRect();
  const boxes = [...document.querySelectorAll("svg text")].map((text) => {
    const { left, right, top, bottom } = text.getBoundingClientRect();
    // The line is higher than its letters.
    const turned = text.hasAttribute("transform");
    const across = turned ? 0.12 * (right - left) : 0;
    const down = turned ? 0 : 0.12 * (bottom - top);
    return { said: text.textContent, left: left + across, right: right - across,
      top: top + down, bottom: bottom - down };
  });
  const found = boxes
    .filter(({ left, right }) => left < whole.left || right > whole.right)
    .concat(boxes.filter(({ top, bottom }) => top < whole.top || bottom > whole.bottom))
    .map(({ said }) => `outside: ${said}`);
  boxes.forEach((a, i) => boxes.slice(i + 1).forEach((b) => {
    const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (across > 0.5 && down > 0.5) found.push(`${a.said} / ${b.said}`);
  }));
  return found;
}"""


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    with browser.new_context(viewport={"width": 1200, "height": 1000}) as context:
        yield context.new_page()


@pytest.mark.parametrize("scenario", SCENES)
def test_no_text_covers_another(page: Page, scenario: str, subtests: pytest.Subtests) -> None:
    found = explore(SCENES[scenario])
    for kind, draw in FIGURES.items():
        for language in ("en", "zh"):
            with subtests.test(kind=kind, language=language):
                drawn = draw(found, language=language, dark=language == "zh")
                page.set_content(f"<body style='margin: 0'>{drawn}</body>")
                assert page.evaluate(CLASHES) == []


@pytest.mark.parametrize("scenario", ["numbers", "weights"])
def test_numbers_stay_inside_their_cells(page: Page, scenario: str) -> None:
    page.set_content(FIGURES["matrix"](explore(SCENES[scenario])))
    numbers, cells = (
        page.locator(selector).evaluate_all(
            """all => all.map((one) => {
              const { left, right } = one.getBoundingClientRect();
              return [left, right];
            })"""
        )
        for selector in ("text.cell-number", "rect.cell")
    )
    assert len(numbers) >= 16
    for left, right in numbers:
        assert any(cell[0] <= left and right <= cell[1] for cell in cells)
