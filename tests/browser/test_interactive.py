"""The figure to point at, opened as a file in a browser that it must not lead astray."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Data, Scenario, View
from lossprism.explorer.export.interactive_figure import interactive_figure, write_interactive
from lossprism.explorer.runtime.number_format import display_number
from lossprism.explorer.sources.random_batch import RandomBatch
from tests.browser.conftest import PATIENCE_MS

pytestmark = pytest.mark.browser

HOSTILE = (
    "<img src=x onerror=window.struck=1>",
    "</script><script>window.struck=1</script>",
    "<a href='javascript:window.struck=1'>here</a> <b>bold</b>",
    "${window.struck=1} {{7*7}} %{z} $x$ &lt;b&gt;",
    "\u202eright to left \ud800 half \x00 null 🙂",
    "<svg onload=window.struck=1> <iframe srcdoc=x>",
)


@pytest.fixture(scope="module")
def context(browser: Browser) -> Iterator[BrowserContext]:
    with browser.new_context(viewport={"width": 1100, "height": 1000}) as context:
        context.new_page()  # stays open, and with it the process that the others are in
        yield context


def opened(context: BrowserContext, path: Path) -> Page:
    page = context.new_page()
    page.faults = []
    page.on("pageerror", lambda error: page.faults.append(str(error)))
    page.on("console", lambda said: said.type == "error" and page.faults.append(said.text))
    page.on("request", lambda asked: page.faults.append(asked.url))
    page.goto(path.as_uri())
    page.faults = [fault for fault in page.faults if not fault.startswith(("file:", "data:"))]
    return page


def point(page: Page, row: float, column: float) -> None:
    """Move to this share of the height and width of the matrix, until the card speaks of it."""
    card, box = page.locator("#card"), page.locator("#plot .heatmaplayer image").bounding_box()
    card.evaluate("card => card.replaceChildren()")
    end = time.monotonic() + PATIENCE_MS / 1000
    while not card.text_content():
        assert time.monotonic() < end
        page.mouse.move(1, 1)
        for shift in (0, 1):  # a hover is a move inside
            x, y = box["x"] + column * box["width"] + shift, box["y"] + row * box["height"]
            page.mouse.move(x, y)
        page.wait_for_timeout(20)


def test_a_cell_says_its_sentences_and_its_value(context: BrowserContext, tmp_path: Path) -> None:
    page = opened(context, write_interactive(Scenario(), tmp_path / "figure.html"))
    expect(page.locator("#card")).to_contain_text("Point at a cell")
    found = explore(Scenario())
    order = found.batch.scores.argsort(stable=True)
    order = order[found.batch.labels[order].argsort(stable=True)].tolist()
    size = len(order)
    for row, column in ((0, size - 1), (2, 20), (4, 18)):
        point(page, (row + 0.5) / size, (column + 0.5) / size)
        said = page.locator("#card > div")
        expect(said).to_have_count(3)
        for side, pair in ((said.nth(0), order[row]), (said.nth(1), order[column])):
            assert found.batch.pairs.first[pair] in side.inner_text()
            assert found.batch.pairs.second[pair] in side.inner_text()
        value = float(found.trace.last("terms").value[order[row], order[column]])
        assert said.nth(2).inner_text() == display_number(value)
    point(page, (size - 0.5) / size, 0.5 / size)
    expect(page.locator("#card")).to_contain_text("takes no part")
    assert page.faults == []
    page.close()


def test_no_word_of_the_users_runs(context: BrowserContext, tmp_path: Path) -> None:
    rows = tuple(
        (a, b, str(i % 3)) for i, (a, b) in enumerate(zip(HOSTILE, HOSTILE[::-1], strict=True))
    )
    scenario = Scenario(data=Data(source="table", rows=rows, file="<img src=x onerror=alert(1)>"))
    page = opened(context, write_interactive(scenario, tmp_path / "figure.html"))
    for row in range(len(rows)):
        point(page, (row + 0.5) / len(rows), 0.9)
        assert page.locator("#card :is(img, a, script, svg, iframe)").count() == 0
    assert "<img src=x" in page.content().replace("&lt;", "<")
    assert page.evaluate("window.struck") is None
    assert page.locator("main img, main a, main iframe").count() == 0
    assert page.faults == []
    page.close()


KINDS = {
    "vector": (Scenario(view=View(step=0)), "en"),
    "number": (Scenario(view=View(step=6)), "zh"),
    "levels": (
        Scenario(
            loss="hierarchical_cosent",
            data=Data(source="random", random=RandomBatch(pairs=90, dimension=8)),
        ),
        "en",
    ),
}


def test_every_kind_of_step_has_one(
    context: BrowserContext, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    for kind, (scenario, language) in KINDS.items():
        drawn = interactive_figure(explore(scenario), language=language, dark=language == "zh")
        path = tmp_path / f"{kind}.html"
        path.write_text(drawn, encoding="utf-8")
        page = opened(context, path)
        with subtests.test(kind=kind):
            expect(page.locator("svg").first).to_be_visible()
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            assert page.faults == []
        page.close()
