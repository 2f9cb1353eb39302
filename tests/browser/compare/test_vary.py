"""One thing varied on the Compare page: what is read there is what single runs give."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Locator, Page, Request, expect

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.web.pages.compare.state_entries import VARIED
from tests.browser import axe
from tests.browser.compare.steering import PAGE, led, linked, redrawn, unfolded, values
from tests.browser.reading import number
from tests.sentences import pattern_of, wording

pytestmark = pytest.mark.browser

SECTION = "#compare-vary"
PANEL = "#lp-vary-panel"
# In the order in which the table has them.
LOSS, OVER, GRADIENT, EFFECTIVE = range(2, 6)


def opened(page: Page, scenario: str = "") -> Page:
    """The page at the scenario of an address, the section in sight."""
    if scenario:
        led(page, scenario)
    unfolded(page, "vary")
    page.locator(SECTION).scroll_into_view_if_needed()
    expect(page.locator(f"{PANEL} tbody tr").first).to_be_visible()
    return page


def answered(page: Page) -> None:
    """Until the panel in sight shows the answer to the newest question."""
    page.wait_for_function(f"!document.querySelector('{SECTION} .lp-waiting')")


@contextmanager
def asking(page: Page) -> Iterator[list[str]]:
    """What the page asks the server meanwhile."""
    requests: list[str] = []

    def note(request: Request) -> None:
        requests.append(request.url)

    page.on("request", note)
    yield requests
    page.remove_listener("request", note)


def cells(page: Page, row: int) -> Locator:
    return page.locator(f"{PANEL} tbody tr").nth(row).locator("th, td")


def test_a_sweep_is_read_without_the_server_and_a_click_sets_it(compare: Page) -> None:
    page = opened(compare)
    # At rest every loss is read where it stands.
    read = [number(cells(page, row).nth(LOSS).inner_text()) for row in (0, 1)]
    assert read == pytest.approx(values(page), rel=1e-3)
    chart = page.locator(f"{PANEL} .lp-curves-panel .lp-plot-box").first
    chart.scroll_into_view_if_needed()
    expect(chart.locator(".main-svg").first).to_be_visible()
    box = chart.bounding_box()
    with asking(page) as requested:
        for share in (0.35, 0.6, 0.8):
            before = cells(page, 0).nth(1).inner_text()
            page.mouse.move(box["x"] + share * box["width"], box["y"] + 60)
            expect(cells(page, 0).nth(1)).not_to_have_text(before)
            at = number(cells(page, 0).nth(1).inner_text().removeprefix("scale "))
            single = explore(Scenario(parameters=(("scale", at),)))
            shown = [
                number(cells(page, 0).nth(i).inner_text()) for i in (LOSS, GRADIENT, EFFECTIVE)
            ]
            expected = [single.loss, single.gradient_norm, single.weights.effective]
            assert shown == pytest.approx(expected, rel=2e-3)
            # A temperature stands on the axis of the scale as its reciprocal.
            tau = number(cells(page, 1).nth(1).inner_text().removeprefix("temperature "))
            assert 1 / tau == pytest.approx(at, rel=0.06) or tau == 0.005
    assert not requested
    with redrawn(page):
        page.mouse.down()
        page.mouse.up()
    assert f"1.scale={at:g}" in linked(page)
    assert values(page)[0] == pytest.approx(single.loss, rel=1e-3)
    page.mouse.move(0, 0)
    assert number(cells(page, 0).nth(LOSS).inner_text()) == pytest.approx(single.loss, rel=1e-3)


def test_a_sweep_is_walked_by_keys_and_taken_away(compare: Page) -> None:
    page = opened(compare)
    track = page.locator(f"{PANEL} input[type=range]")
    track.focus()
    page.keyboard.press("End")
    expect(cells(page, 0).nth(1)).to_have_text("scale 1\u202f000")
    assert number(cells(page, 0).nth(OVER).inner_text()) == pytest.approx(0.940, abs=6e-4)
    with redrawn(page):
        page.keyboard.press("Enter")
    assert "1.scale=1000" in linked(page)
    page.locator(f"{PANEL} .lp-save > summary").click()
    with page.expect_download() as download:
        page.locator(f"{PANEL} .lp-downloads button").last.click()
    rows = [*csv.DictReader(download.value.path().read_text(encoding="utf-8-sig").splitlines())]
    last = [row for row in rows if row["loss"].startswith("A ")][-1]
    assert float(last["at"]) == 1000
    assert float(last["over_scale"]) == pytest.approx(0.940, abs=6e-4)
    with page.expect_download() as download:
        page.locator(f"{PANEL} .lp-downloads button").first.click()
    drawn = download.value.path().read_text(encoding="utf-8")
    assert len(pattern_of("compare.vary.over_scale").findall(drawn)) == 1
    assert "var(" not in drawn


def test_eight_questions_in_small_batches(compare: Page) -> None:
    """Lesson 6, by hand: the way, the size, the average over all ways to cut."""
    page = opened(compare, "1=info_nce&2=cosent&vary=mechanics&size=4")
    whole, this_way, difference, _, _, comparisons = (cells(page, 1).nth(i) for i in range(1, 7))
    assert comparisons.inner_text() == "36 of 269"
    assert number(whole.inner_text()) == pytest.approx(19.12, abs=5e-3)
    page.locator(f"{PANEL} .lp-check input:visible").check()
    expect(this_way).to_contain_text(wording("compare.vary.averaged"))
    average = pattern_of("compare.vary.averaged").search(this_way.inner_text())["loss"]
    assert average.startswith("4.8")
    page.select_option("#lp-vary-way", "cached")
    expect(difference).to_contain_text(wording("compare.vary.equal"))
    page.select_option("#lp-vary-way", "copies")
    answered(page)
    added = number(this_way.inner_text()) - number(whole.inner_text())
    assert added == pytest.approx(math.log(16), abs=0.01)
    assert "way=copies" in linked(page)
    page.select_option("#lp-vary-way", "queue")
    expect(cells(page, 1)).to_have_count(2)
    expect(cells(page, 1).last).to_contain_text(wording("problem.mechanics_no_queue"))


def test_a_shift_is_noticed_by_who_does_not_rank(compare: Page) -> None:
    """Lesson 5; and a pair that was pointed at in another picture can be taken."""
    scenario = "1=cosent&2=cosine_mse&3=info_nce&vary=what_if&change=shift&by=0.3"
    page = opened(compare, scenario)
    summary = page.locator(f"{PANEL} .lp-vary-summary")
    expect(summary).to_contain_text("Noticed by B")
    expect(summary).to_contain_text("Not noticed by A")
    expect(cells(page, 1).nth(1)).to_have_text("0.08161 → 0.1813")
    expect(cells(page, 2).last).to_contain_text(wording("problem.no_scores_to_move"))
    page.select_option("#lp-vary-change", "drop")
    expect(cells(page, 0).nth(1)).not_to_contain_text("19.12 → 19.12")
    page.evaluate(f"{PAGE}.point([7])")
    page.get_by_role("button", name="Use pair 8").click()
    assert page.locator("#lp-vary-pair").input_value() == "7"
    assert "pair=7" in linked(page)
    answered(page)
    left = explore(Scenario()).loss
    assert number(cells(page, 0).nth(1).inner_text().split(" →")[0]) == pytest.approx(
        left, rel=1e-3
    )


def test_those_that_fall_on_the_way_to_collapse_are_named(compare: Page) -> None:
    page = opened(compare, "1=cosent&2=triplet&vary=collapse")
    expect(page.locator(f"{PANEL} .lp-falling li")).to_have_text(
        wording("compare.vary.falls", letters="A")
    )
    page.locator(f"{PANEL} input[type=range]").focus()
    page.keyboard.press("End")
    expect(cells(page, 1).nth(2)).to_have_text("1")


@pytest.mark.thorough
def test_axe_finds_nothing_serious_in_any_of_them(compare: Page) -> None:
    page = opened(compare)
    for name in VARIED:
        page.click(f"#lp-vary-{name}")
        expect(page.locator(f"{PANEL} tbody tr").first).to_be_visible()
        answered(page)
        assert axe.violations(page, axe.script(), SECTION) == [], name


def test_what_is_not_visible_is_not_requested(compare: Page) -> None:
    page = opened(compare)
    page.click("#lp-vary-precision")
    answered(page)
    page.locator(f"{SECTION} > summary").click()
    with asking(page) as requested, redrawn(page):
        page.select_option("#lp-side-1", "nt_xent")
    assert not any("precision" in text for text in requested)
    page.locator(f"{SECTION} > summary").click()
    expect(cells(page, 0)).not_to_have_count(0)
    expect(page.locator(f"{PANEL} tbody")).to_contain_text("NT-Xent")
