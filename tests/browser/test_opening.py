"""The page opens, and shows every loss, convention and example."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from lossprism.explorer.sources import textbook
from lossprism.losses import LOSSES
from tests.browser.reading import (
    choose,
    figure,
    loss_shown,
    redrawn,
    sound,
    unfold,
    visit,
)
from tests.browser.serving import Server
from tests.scenes import drawn_apart
from tests.sentences import wording

pytestmark = pytest.mark.browser


# Beside the number and the two arrows of its box.
ROOM_LEFT = """(box) => {
  const style = getComputedStyle(box);
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = style.font;
  const padding = parseFloat(style.paddingLeft) + parseFloat(style.paddingRight);
  return box.clientWidth - padding - 16 - pen.measureText(box.value).width;
}"""


def cosent(scores: list[float], labels: list[float], scale: float = 20) -> float:
    """log(1 + Σ exp(λ(s_j − s_i))) over the pairs with y_j < y_i, by explicit loops."""
    total = 1.0
    for s_j, y_j in zip(scores, labels, strict=True):
        for s_i, y_i in zip(scores, labels, strict=True):
            total += math.exp(scale * (s_j - s_i)) if y_j < y_i else 0.0
    return math.log(total)


def test_one_name_of_ours_is_left_in_the_window(untouched: Page) -> None:
    ours = "Object.keys(window).filter((name) => /^lp|lossprism|katex/i.test(name))"
    assert untouched.evaluate(ours) == ["lossprism"]
    expect(untouched.locator("h1 ~ * .katex, .katex").first).to_be_visible()


def test_opens_with_a_picture(untouched: Page) -> None:
    sound(untouched)
    expect(untouched.locator("#main-metrics .lp-statistics")).to_be_empty()
    assert untouched.locator("#lp-example").input_value() == "graded_english"
    assert untouched.locator("#lp-loss").input_value() == "cosent"
    assert untouched.locator("h1").inner_text() == "CoSENT"
    pairs = textbook.load_example("graded_english")
    first, second = (pairs.vectors[place] for place in pairs.positions)
    scores = [
        float(a @ b / (a @ a) ** 0.5 / (b @ b) ** 0.5) for a, b in zip(first, second, strict=True)
    ]
    assert loss_shown(untouched) == pytest.approx(cosent(scores, list(pairs.labels)), rel=1e-4)


def test_the_first_screen_counts_the_heavy_terms_once(page: Page) -> None:
    figures = page.evaluate("window.lossprism.page().picture.figures")
    count = str(figures["active"])
    assert figure(page, "active") == count
    remarks = page.locator("#lp-main").text_content()
    share = f"{100 * figures['carried']:.0f}%"
    measured = {"count": count, "terms": figures["terms"], "share": share}
    assert wording("ui.heaviest_note", **measured).search(remarks)
    note = page.locator("#main-terms .lp-note").first.inner_text()
    assert wording("ui.heaviest_note", **measured).search(note)


def test_a_loss_beyond_its_collapse_value_is_written_at_the_end_of_the_line(page: Page) -> None:
    figures = page.evaluate("window.lossprism.page().picture.figures")
    assert figures["loss"] > figures["collapse"]
    end = page.locator("#main-figures .lp-end")
    assert float(end.inner_text()) == pytest.approx(figures["loss"], rel=1e-3)
    expect(page.locator("#main-figures .lp-beyond")).to_be_visible()
    choose(page, "supcon")
    expect(end).to_have_count(0)


def test_positives_are_counted_where_they_matter_and_lead_to_their_rule(page: Page) -> None:
    element = page.locator("#main-metrics .lp-basis")
    expect(element).to_be_hidden()
    choose(page, "info_nce")
    batch = page.evaluate("window.lossprism.page().batch")
    expect(element).to_contain_text(f"{batch['positives']} of {len(batch['labels'])} pairs")
    unfold(page, "ui.more_metrics")
    element.locator("button").click()
    expect(page.locator("#lp-threshold")).to_be_focused()


def test_four_scores_can_be_checked_by_hand(page: Page) -> None:
    with redrawn(page):
        page.select_option("#lp-example", "cosent_batch")
    by_hand = sum(math.exp(20 * (low - high)) for low in (0.1, 0.2) for high in (0.8, 0.9))
    assert loss_shown(page) == pytest.approx(math.log1p(by_hand), rel=1e-4)


@pytest.mark.thorough
def test_losses_and_a_convention_of_each_group(page: Page, subtests: pytest.Subtests) -> None:
    with redrawn(page):
        page.select_option("#lp-example", "graded_lists")  # on which every loss can run
    # That the formulas of all losses and conventions can be drawn, tests/process/test_formulas.py
    # shows, what is drawn of their steps tests/unit/export, and that the numbers of each are there
    # tests/unit/core/test_live_formulas.py: the page is shown the most of each group.
    able = [spec for spec in LOSSES.values() if "teacher_vectors" not in spec.needs]  # no example's
    of_groups = {spec.group: spec for spec in able if drawn_apart(spec)}
    fullest = {spec.group: spec for spec in sorted(able, key=lambda one: len(one.parameters))}
    for spec in {one.name: one for one in (*fullest.values(), *of_groups.values())}.values():
        loss = spec.name
        with subtests.test(loss=loss):
            choose(page, loss)
            sound(page)
            assert page.locator("h1").inner_text() == spec.title
            # Each of its parameters has a control: one is the lever, the others among the settings.
            controls = page.locator(".lp-parameters [data-parameter]")
            names = controls.evaluate_all("all => all.map(one => one.dataset.parameter)")
            assert sorted(names) == sorted(parameter.name for parameter in spec.parameters)
            assert len(page.query_selector_all("#main-lever [data-parameter]")) <= 1
            boxes = page.locator(".lp-parameters .lp-number")
            room = boxes.evaluate_all(f"all => all.map({ROOM_LEFT})")
            assert min(room, default=0) >= 0, "a parameter is cut off in its box"
            if of_groups.get(spec.group) is spec:
                convention = drawn_apart(spec)[-1]
                choose(page, loss, convention.name)
                sound(page)
                assert convention.name in page.locator("h1").inner_text()


@pytest.mark.thorough
def test_every_example(page: Page, subtests: pytest.Subtests) -> None:
    unfold(page, "ui.pairs")
    chosen = page.locator("#lp-example")
    for example in textbook.EXAMPLES:
        with subtests.test(example=example):
            if example != chosen.input_value():
                with redrawn(page):
                    chosen.select_option(example)
            sound(page)
            pairs = textbook.load_example(example)
            element = page.locator("#main-pairs summary .lp-note")
            expect(element).to_have_text(f"{len(pairs)} pairs")
            cells = page.locator("#main-pairs tbody tr").first.locator("textarea")
            expect(cells.nth(0)).to_have_value(pairs.first[0])
            expect(cells.nth(1)).to_have_value(pairs.second[0])
            score = page.locator("#main-pairs tbody tr input").first
            assert float(score.input_value()) == pytest.approx(pairs.labels[0])


def opened_on_compare(page: Page, server: Server, link: str) -> str:
    page.goto(f"{server.address}/compare{link}", wait_until="domcontentloaded")
    page.wait_for_function("window.lossprism?.page('compare')?.drawn >= 1")
    return page.evaluate("window.lossprism.page('compare').store.state.data.example")


def test_a_chinese_page_opens_on_a_chinese_batch_and_a_link_keeps_its_own(
    page: Page, new_page: Callable[..., Page], server: Server
) -> None:
    english, shown = page, loss_shown(page)
    english.wait_for_function("location.hash.length > 1")
    page = visit(new_page(locale="zh-CN"), server.address)
    assert page.evaluate("document.documentElement.lang").startswith("zh")
    expect(page.locator("#lp-source-table")).to_have_text("表格")
    assert page.locator("#lp-example").input_value() == "graded_chinese_multilingual"
    assert loss_shown(page) != shown
    link = "#1=cosent&2=info_nce"
    examples = [opened_on_compare(one, server, link) for one in (new_page(), page)]
    assert len(set(examples)) == 1
    assert "chinese" not in examples[0]
    visit(page, english.url)
    assert page.locator("#lp-example").input_value() == "graded_english"
    assert loss_shown(page) == shown
