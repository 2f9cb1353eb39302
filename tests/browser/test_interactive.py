"""The figure to point at, opened as a file in a browser that it must not lead astray."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Unpack

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Data, Scenario, View
from lossprism.explorer.export.figure.appearance import Look
from lossprism.explorer.export.interactive_figure import interactive_figure
from lossprism.explorer.runtime.number_format import display_number, percent
from lossprism.explorer.sources.random_batch import RandomBatch
from lossprism.explorer.web.pages.figure_of_scenario_or_page import write_figure
from tests.sentences import wording

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
    page.on("console", lambda message: message.type == "error" and page.faults.append(message.text))
    page.on("request", lambda requested: page.faults.append(requested.url))
    page.goto(path.as_uri())
    if page.locator("#data").count():
        expect(page.locator("#figure[tabindex]")).to_be_attached()  # it listens
    page.faults = [fault for fault in page.faults if not fault.startswith(("file:", "data:"))]
    return page


def interactive(scenario: Scenario, out: Path, **look: Unpack[Look]) -> Path:
    assert write_figure(scenario, out, **look) == ""
    return out


def point(page: Page, row: float, column: float) -> None:
    """Move to this share of the height and width of the matrix."""
    box = page.locator("#figure .frame").bounding_box()
    page.mouse.move(1, 1)
    page.mouse.move(box["x"] + column * box["width"], box["y"] + row * box["height"])


def cells_of(page: Page) -> Locator:
    return page.locator("#card > div")


def test_a_cell_says_its_sentences_and_its_numbers(context: BrowserContext, tmp_path: Path) -> None:
    page = opened(context, interactive(Scenario(), tmp_path / "figure.html"))
    expect(page.get_by_text(wording("interactive.hint"))).to_be_visible()
    expect(page.get_by_text(wording("interactive.hint.touch"))).to_be_hidden()
    found = explore(Scenario())
    order = found.batch.scores.argsort(stable=True)
    order = order[found.batch.labels[order].argsort(stable=True)].tolist()
    size = len(order)
    terms = found.trace.last("terms")
    for row, column in ((0, size - 1), (2, 20), (4, 18)):
        point(page, (row + 0.5) / size, (column + 0.5) / size)
        message = cells_of(page)
        expect(message).to_have_count(3)
        for side, pair in ((message.nth(0), order[row]), (message.nth(1), order[column])):
            expect(side).to_contain_text(found.batch.pairs.first[pair])
            expect(side).to_contain_text(found.batch.pairs.second[pair])
            expect(side).to_contain_text(f"label {display_number(float(found.batch.labels[pair]))}")
        at = order[row], order[column]
        expect(message.nth(2)).to_contain_text(f"Value: {display_number(float(terms.value[at]))}")
        expect(message.nth(2)).to_contain_text(
            f"Weight: {percent(float(found.weights.shares[at]))}"
        )
        gradient = display_number(float(terms.gradient[at]))
        expect(message.nth(2)).to_contain_text(f"Gradient: {gradient}")
        marked = page.locator(".pointed").nth(2).bounding_box()
        frame = page.locator("#figure .frame").bounding_box()
        across = (marked["x"] + marked["width"] / 2 - frame["x"]) / frame["width"]
        assert int(across * size) == column
    point(page, (size - 0.5) / size, 0.5 / size)
    expect(cells_of(page).nth(2)).to_have_text("termsmasked: takes no part")
    assert page.faults == []
    page.close()


def test_keys_move_and_a_click_keeps(context: BrowserContext, tmp_path: Path) -> None:
    page = opened(context, interactive(Scenario(), tmp_path / "figure.html"))
    names = cells_of(page).locator("b")

    def at() -> tuple[str, str]:
        return names.nth(0).inner_text(), names.nth(1).inner_text()

    page.keyboard.press("Tab")
    expect(page.locator("#figure")).to_be_focused()
    page.keyboard.press("ArrowDown")
    numbers = page.evaluate("[...document.querySelectorAll('text')].map(one => one.textContent)")
    rows = [one for one in numbers if one.isdigit()][:24]
    assert at() == (f"pair {rows[0]}", f"pair {rows[0]}")
    for key, expected in (
        ("ArrowDown", (1, 0)),
        ("ArrowRight", (1, 1)),
        ("PageDown", (11, 1)),
        ("End", (11, 23)),
        ("ArrowRight", (11, 23)),  # there is no cell beyond the last
        ("Home", (11, 0)),
        ("PageUp", (1, 0)),
        ("ArrowUp", (0, 0)),
    ):
        page.keyboard.press(key)
        assert at() == tuple(f"pair {rows[place]}" for place in expected)
    point(page, 0.5 / 24, 12.5 / 24)
    page.mouse.down()
    page.mouse.up()
    expect(page.locator("#card.kept")).to_have_count(1)
    kept = at()
    point(page, 8.5 / 24, 2.5 / 24)
    assert at() == kept == (f"pair {rows[0]}", f"pair {rows[12]}")
    page.keyboard.press("Escape")
    point(page, 8.5 / 24, 2.5 / 24)
    assert at() == (f"pair {rows[8]}", f"pair {rows[2]}")
    assert page.faults == []
    page.close()


def test_a_finger_taps_and_nothing_is_wider_than_a_phone(browser: Browser, tmp_path: Path) -> None:
    path = interactive(Scenario(), tmp_path / "figure.html", language="zh", dark=True)
    size = {"width": 390, "height": 844}
    with browser.new_context(viewport=size, has_touch=True, is_mobile=True) as phone:
        page = opened(phone, path)
        expect(page.get_by_text(wording("interactive.hint.touch", "zh"))).to_be_visible()
        expect(page.get_by_text(wording("interactive.hint", "zh"))).to_be_hidden()
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        box = page.locator("#figure .frame").bounding_box()
        page.touchscreen.tap(box["x"] + 20, box["y"] + 20)
        expect(cells_of(page)).to_have_count(3)
        expect(page.locator("#card")).to_be_in_viewport(ratio=0.9)
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        assert page.faults == []


def test_of_many_rows_one_is_found_by_its_number(context: BrowserContext, tmp_path: Path) -> None:
    data = Data(source="random", random=RandomBatch(pairs=90, dimension=8))
    page = opened(context, interactive(Scenario(data=data), tmp_path / "figure.html"))
    row, column = (page.locator("#lookup input").nth(place) for place in (0, 1))
    row.fill("77")
    column.fill("31")
    names = cells_of(page).locator("b")
    expect(names).to_have_text(["pair 77", "pair 31", "terms"])
    column.fill("nobody")
    expect(names).to_have_text(["pair 77", "pair 31", "terms"])
    assert page.faults == []
    page.close()


def test_no_word_of_the_users_runs(context: BrowserContext, tmp_path: Path) -> None:
    rows = tuple(
        (a, b, str(i % 3)) for i, (a, b) in enumerate(zip(HOSTILE, HOSTILE[::-1], strict=True))
    )
    scenario = Scenario(data=Data(source="table", rows=rows, file="<img src=x onerror=alert(1)>"))
    page = opened(context, interactive(scenario, tmp_path / "figure.html"))
    for row in range(len(rows)):
        point(page, (row + 0.5) / len(rows), 0.9)
        expect(cells_of(page)).to_have_count(3)
        assert page.locator("#card :is(img, a, script, svg, iframe)").count() == 0
    assert "<img src=x" in page.content().replace("&lt;", "<")
    page.evaluate(
        "document.body.append(Object.assign(document.createElement('script'), "
        "{textContent: 'window.struck = 1'}))"
    )
    assert page.evaluate("window.struck") is None  # what could be written into it does not run
    assert page.locator("main img, main a, main iframe").count() == 0
    assert all("script-src" in fault for fault in page.faults)
    assert len(page.faults) == 1
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
