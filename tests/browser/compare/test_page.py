"""Compare: losses side by side, what may be read beside what, and where they lead."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Page, expect

from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.lab.compare.comparison_results import Side
from lossprism.explorer.lab.compare.loss_comparison import compare as compared
from lossprism.explorer.locale import say
from tests.browser.compare.steering import (
    AGREEMENT,
    FORMULA,
    MATRICES,
    PAGE,
    PROBLEM,
    STRIPS,
    TABLE,
    led,
    linked,
    opened_page,
    redrawn,
    unfolded,
    values,
)
from tests.browser.reading import TWO_FRAMES, choose, clear_table, number, type_pair
from tests.browser.serving import Server
from tests.sentences import wording

pytestmark = pytest.mark.browser


def near(found: list[float], expected: list[float]) -> bool:
    return found == pytest.approx(expected, rel=1e-3)


def test_the_page_shows_what_is_computed(compare: Page) -> None:
    expected = compared(Scenario(), [Side("cosent"), Side("info_nce")])
    assert near(values(compare), [one.figures.loss for one in expected.sides])
    # Two losses: their values are not comparable, for a reason that is shown.
    between = expected.between[0]
    row = compare.locator(TABLE).nth(1)
    expect(row).to_contain_text(say("en", "compare.not_beside_short", letter="A"))
    text = compare.locator(".lp-judged").inner_text()
    assert len(between.reasons) == 3
    assert all(one.written() in text for one in between.reasons)
    cells = compare.locator(f"{AGREEMENT} .lp-agrees")
    assert number(cells.nth(0).inner_text()) == pytest.approx(between.cosine, abs=0.01)
    assert number(cells.nth(1).inner_text()) == pytest.approx(between.tau, abs=0.01)
    apart = compare.locator(".lp-apart-pair")
    assert f"Pair {expected.numbers[between.apart.pair]}:" in apart.inner_text()
    assert expected.batch.pairs.first[between.apart.pair] in apart.inner_text()


def test_a_slider_moves_its_own_loss_and_stands_in_the_link(compare: Page) -> None:
    before = values(compare)
    box = compare.locator(".lp-side-card").nth(1).locator("[data-parameter=temperature]")
    with redrawn(compare):
        box.locator("xpath=..").locator("input.lp-number").fill("0.5")
    expected = compared(Scenario(), [Side("cosent"), Side("info_nce", "", (("temperature", 0.5),))])
    assert near(values(compare), [one.figures.loss for one in expected.sides])
    assert values(compare)[0] == before[0]
    assert "2.temperature=0.5" in linked(compare)


def test_losses_come_and_go_and_the_link_brings_them_back(compare: Page) -> None:
    with redrawn(compare):
        compare.click("#lp-add-side")
    with redrawn(compare):
        compare.select_option("#lp-side-2", "triplet")
    with redrawn(compare):
        compare.select_option(
            "#lp-side-2-convention", "pytorch-metric-learning 2.9 TripletMarginLoss"
        )
    assert compare.locator(TABLE).count() == 3
    link, found = linked(compare), values(compare)
    with redrawn(compare):
        compare.locator(".lp-side-card").first.get_by_role(
            "button", name=wording("compare.remove")
        ).click()
    assert near(values(unfolded(compare)), found[1:])
    assert (
        compare.get_by_role("button", name=wording("compare.remove")).count() == 0
    )  # two are the least
    linked(compare)
    with redrawn(compare):
        compare.go_back()
    assert near(values(unfolded(compare)), found)
    assert linked(compare) == link
    compare.reload(wait_until="domcontentloaded")
    compare.wait_for_function(f"window.lossprism && {PAGE}?.differing")
    assert near(values(unfolded(compare)), found)


def test_a_loss_that_cannot_be_computed_says_so_beside_the_others(compare: Page) -> None:
    page = led(compare, "1=cosent&2=list_net&3=cosine_mse")
    refused = page.locator(f"{TABLE} [data-refused]")
    expect(refused).to_have_count(1)
    assert len(values(page)) == 2
    expect(page.locator(MATRICES)).to_have_count(2)
    led(page, "1=cosent&2=nothing_like_it")
    assert "nothing_like_it" in page.locator(f"{TABLE} [data-refused]").inner_text()
    below_its_bars = page.locator("#compare-gradients .lp-note", has_text="nothing_like_it")
    expect(below_its_bars).to_be_visible()
    expect(page.locator(FORMULA)).to_contain_text("nothing_like_it")


def test_one_formula_in_three_inks(compare: Page) -> None:
    page = led(compare, "1=info_nce&2=nt_xent")
    part = page.locator(f"{FORMULA} .lp-part[role=button]")
    for ink in ("shared", "base", "other", "parameter"):
        assert page.locator(f"{FORMULA} .lp-ink-of-{ink}").count() > 0, ink
    # A part says its number, and leads to its step on either side.
    temperature = page.locator(f"{FORMULA} .lp-ink-of-parameter").first
    temperature.hover()
    element = page.locator(f"{FORMULA} .lp-atom")
    expect(element).to_contain_text(wording("compare.ink.meaning.parameter"))
    steps = [temperature.get_attribute(f"data-{side}") for side in ("base", "other")]
    with redrawn(page):
        temperature.click()
    chosen = page.locator(".lp-matrix-box select[id^=lp-step-of]")
    assert [one.input_value() for one in chosen.all()] == steps
    assert f"at={'-'.join(steps)}" in linked(page)
    # The keyboard does the same.
    part.first.focus()
    expect(element).to_contain_text("in both")
    rows = page.locator(".lp-listing tbody tr")
    assert page.locator(".lp-listing tr.lp-ink-row-shared").count() > 3
    assert rows.count() > 10


def test_a_loss_and_itself_are_one_formula(compare: Page) -> None:
    page = led(compare, "1=cosent&2=cosent")
    expect(page.locator(".lp-inks")).to_contain_text(wording("compare.same_formula"))
    expect(page.locator(".lp-judged")).to_contain_text(wording("compare.comparable_of"))
    assert page.locator(f"{FORMULA} .lp-ink-of-base, {FORMULA} .lp-ink-of-other").count() == 0
    expect(page.locator(".lp-apart-head + li")).to_contain_text("is 1 times")


def test_any_two_can_be_compared_with_each_other(compare: Page) -> None:
    page = led(compare, "1=cosent&2=info_nce&3=cosine_mse")
    with other_pair(page):
        page.select_option("#lp-formula-second", "2")
    assert page.evaluate(f"{PAGE}.pair") == [0, 2]
    with other_pair(page):
        page.select_option("#lp-numbers-first", "2")  # the same loss twice exchanges the two
    assert page.evaluate(f"{PAGE}.pair") == [2, 0]
    with other_pair(page):
        page.locator(f"{AGREEMENT} .lp-agrees").nth(2).click()  # B and A
    assert page.evaluate(f"{PAGE}.pair") == [0, 1]
    expect(page.locator(f"{AGREEMENT} [aria-pressed=true]")).to_have_count(2)


@contextmanager
def other_pair(page: Page) -> Iterator[None]:
    """What is done inside compares another two losses; afterwards their formula is drawn."""
    before = page.evaluate(f"{PAGE}.between.join()")
    yield
    page.wait_for_function(f"before => {PAGE}.between.join() !== before", arg=before)


def test_pointing_is_linked(compare: Page) -> None:
    strips = compare.locator(f"{STRIPS} svg")
    strips.focus()
    compare.keyboard.press("ArrowRight")
    element = compare.locator("#compare-gradients .lp-atom")
    expect(element).to_contain_text("Pair ")
    pair = int(re.search(r"Pair (\d+)", element.inner_text()).group(1))
    assert compare.evaluate(f"{PAGE}.numberOf({PAGE}.pointed.pairs[0])") == pair
    # A cell of one matrix marks its pairs in the other, and in the bars.
    canvas = compare.locator(f"{MATRICES} .lp-stage canvas").first
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    compare.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + box["height"] * 0.1)
    compare.wait_for_function(f"{PAGE}.pointed.cell !== null")
    expect(element).to_contain_text("Pair ")
    expect(compare.locator(f"{MATRICES} .lp-card").first).to_contain_text("=")


def test_bars_are_equalised_or_not(compare: Page) -> None:
    paths = compare.locator(f"{STRIPS} path")
    equal = [one.get_attribute("d") for one in paths.all()]
    compare.locator("#compare-gradients .lp-notes > summary").click()
    compare.get_by_label(wording("compare.equalised")).uncheck()
    plain = [one.get_attribute("d") for one in paths.all()]
    assert plain != equal
    assert "equalised=false" in linked(compare)
    compare.select_option("#lp-bars-order", "entry")
    assert "bars=entry" in linked(compare)


def test_another_batch(compare: Page) -> None:
    with redrawn(compare):
        compare.select_option("#lp-compare-example", "hard_negatives")
    scenario = Scenario(data=Data(example="hard_negatives"))
    expected = compared(scenario, [Side("cosent"), Side("info_nce")])
    assert near(values(compare), [one.figures.loss for one in expected.sides])
    with redrawn(compare):
        compare.click("#lp-compare-source-random")
    assert "random" in compare.evaluate(f"{PAGE}.store.state.data.source")
    assert len(values(compare)) == 2


def test_an_old_address_keeps_its_state(compare: Page) -> None:
    """Addresses that name no picture, as the page once wrote them."""
    for address, picture in (
        ("1=cosent&2=info_nce&base=1&other=0&facet=weight", "gradients"),
        ("1=cosent&2=cosine_mse&vary=what_if&change=drop", "vary"),
        ("q=small_batches&1=info_nce&2=cosent&vary=mechanics&size=1", "vary"),
        ("q=mnrl_nt_xent&1=info_nce&2=nt_xent", "matrices"),
    ):
        page = led(compare, address)
        assert page.evaluate(f"{PAGE}.store.state.picture") == picture, address
        kept = set(address.split("&"))
        assert kept <= set(linked(page).split("&")) | {"facet=value"}, address


def test_beside_the_libraries(compare: Page) -> None:
    unfolded(compare, "parity")
    rows = compare.locator("#compare-parity tbody tr")
    rows.first.wait_for()
    assert rows.count() > 8
    assert compare.locator("tr.lp-parity-differs, tr.lp-parity-failed").count() == 0
    assert compare.locator("tr.lp-parity-equal").count() > 0


def test_explore_brings_its_scenario_and_a_row_leads_back(page: Page) -> None:
    clear_table(page)
    type_pair(page, 1, "A <b>cat</b>", "A dog", "3")
    type_pair(page, 2, "Rain", "Snow", "1")
    type_pair(page, 3, "Bread", "Loaf", "5")
    page.wait_for_function("!window.lossprism.page().problem")
    choose(page, "cosine_mse")
    page.select_option("#lp-compare-with", "cosent")
    page.wait_for_url("**/compare#*")
    page.wait_for_function(f"window.lossprism && {PAGE}?.differing")
    assert page.evaluate(f"{PAGE}.sides.map(({{ loss }}) => loss)") == ["cosine_mse", "cosent"]
    assert page.evaluate(f"{PAGE}.batch.first[0]") == "A <b>cat</b>"
    assert page.locator("b", has_text="cat").count() == 0
    unfolded(page)
    page.locator(".lp-side-card").nth(1).get_by_role(
        "button", name=wording("compare.edit_on_explore")
    ).click()
    page.wait_for_function("window.lossprism?.page()?.drawn > 0")
    assert page.evaluate("window.lossprism.page().scenario.loss") == "cosent"
    assert page.evaluate("window.lossprism.page().batch.first[0]") == "A <b>cat</b>"
    # So does the head of the page.
    page.wait_for_function("!window.lossprism.page().linking")
    page.locator("nav .lp-pages a[href*=compare]").click()
    page.wait_for_function(f"window.lossprism && {PAGE}?.differing")
    assert page.evaluate(f"{PAGE}.batch.first[0]") == "A <b>cat</b>"


def test_a_batch_too_large_for_an_address_is_kept_beside_it(page: Page) -> None:
    choose(page, "cosine_mse")
    page.evaluate(
        """() => { const scene = window.lossprism.page();
          const rows = Array.from({ length: 80 }, (_, i) => [
            // A long word, which is one token.
            Array.from({ length: 75 }, (_, j) => (i * 7919 + j * 104729).toString(36)).join(""),
            `Sentence ${i}`, String(i % 5)]);
          scene.setRows(rows); }"""
    )
    page.wait_for_function("window.lossprism.page().batch?.labels.length === 80")
    page.wait_for_function("window.lossprism.page().tooLong")

    def kept_beside() -> None:
        page.wait_for_url("**/compare#*scene=kept*")
        page.wait_for_function(f"window.lossprism && {PAGE}?.differing")
        losses = page.evaluate(f"{PAGE}.sides.map(({{ loss }}) => loss)")
        assert losses == ["cosine_mse", "cosent"]
        assert page.evaluate(f"{PAGE}.batch.labels.length") == 80

    page.select_option("#lp-compare-with", "cosent")
    kept_beside()
    page.reload(wait_until="domcontentloaded")
    kept_beside()
    page.go_back()
    page.wait_for_function("window.lossprism?.page()?.tooLong")
    page.locator("nav .lp-pages a[href*=compare]").click()
    kept_beside()


def test_a_missing_saved_batch_is_reported(compare: Page) -> None:
    led(compare, "1=cosent&2=info_nce&scene=kept")
    expect(compare.locator(PROBLEM)).to_contain_text(wording("problem.scene_not_kept"))


def test_what_is_shown_is_taken_away(compare: Page) -> None:
    def taken(within: str, name: str) -> str:
        compare.locator(f"{within} .lp-save").first.evaluate("one => { one.open = true; }")
        with compare.expect_download() as waiting:
            compare.locator(within).get_by_role("button", name=name, exact=True).first.click()
        return waiting.value.path().read_text(encoding="utf-8-sig")

    numbers = list(csv.reader(taken("#compare-numbers", "CSV").splitlines()))
    assert [row[0] for row in numbers] == ["loss", "cosent", "info_nce"]
    assert float(numbers[1][3]) == pytest.approx(values(compare)[0], rel=1e-3)
    figure = taken("#compare-gradients", "SVG")
    assert figure.startswith("<svg")
    assert say("en", "example.graded_english.title") in figure
    assert "var(" not in figure
    felt = list(csv.DictReader(taken("#compare-gradients", "CSV").splitlines()))
    assert len(felt) == 24
    assert float(felt[0]["A"]) != 0
    assert "<svg" in taken("#compare-agreement", "SVG")
    assert "htmlData" not in taken(FORMULA, "CSV")
    assert "\\textcolor{lpbase}" in taken(FORMULA, "LaTeX")
    assert taken(".lp-matrix-box", "SVG").startswith("<svg")
    assert taken(".lp-matrix-box", "CSV").count("\n") > 24


def test_nothing_is_wider_than_the_screen(new_page: Callable[..., Page], server: Server) -> None:
    scenario = "1=info_nce&2=cosent&3=triplet&4=circle&5=supcon&6=cosine_mse"
    page = opened_page(new_page(width=390, locale="zh-CN"), server.address, scenario)
    for width in (390, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate(TWO_FRAMES)  # what watches its width has followed
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    keys = "all => all.filter((one) => one.textContent === one.dataset.say).length"
    assert page.locator("[data-say]:visible").evaluate_all(keys) == 0
