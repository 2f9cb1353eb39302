"""Along a parameter: the curves, where the scenario stands on them, and what the rules say."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.lab.parameter_sweep import sweep
from lossprism.explorer.runtime.number_format import display_number
from lossprism.explorer.sources.random_batch import RandomBatch
from lossprism.losses import cosent
from tests.browser.reading import (
    PAGE,
    choose,
    figure,
    loss_shown,
    number,
    redrawn,
    slider,
    unfold,
)
from tests.sentences import wording

pytestmark = pytest.mark.browser

PANEL = "#main-sweep .lp-sweep-panel"
VERDICT = "#main-sweep .lp-sweep-verdict"


def opened(page: Page) -> None:
    unfold(page, "sweep.title")
    page.wait_for_selector("#main-sweep .lp-sweep-panels:not(.lp-waiting) .main-svg")


def shown_rule(page: Page, panel: int) -> tuple[float, float]:
    """The height that a panel tells, and the value of the parameter it tells it for."""
    text = page.locator(PANEL).nth(panel).locator(".lp-value").inner_text()
    return tuple(number(part) for part in text.split(" at scale "))


def plot(page: Page, panel: int, what: str) -> object:
    """A part of what Plotly draws in a panel, such as data[0].y."""
    return page.locator(PANEL).nth(panel).locator(".lp-plot").evaluate(f"(plot) => plot.{what}")


def pointed(page: Page, panel: int, share: float) -> None:
    """The pointer at a share of a panel's width; what is read has followed it."""
    chart = page.locator(PANEL).nth(panel)
    chart.scroll_into_view_if_needed()
    message, box = chart.locator(".lp-value"), chart.locator(".lp-plot-box").bounding_box()
    before = message.inner_text()
    page.mouse.move(box["x"] + share * box["width"], box["y"] + 60)
    expect(message).not_to_have_text(before)


def here(page: Page, panel: int) -> float:
    """Where the dot of the setting in force stands."""
    return plot(page, panel, "data[1].x[0]")


def test_the_curves_pass_through_what_the_page_shows(page: Page) -> None:
    opened(page)
    assert page.locator(f"{PANEL}:visible").count() == 3
    loss, at = shown_rule(page, 0)
    assert at == 20
    # What is read is the value itself, to its last digit shown.
    assert f"{loss:.3g}" == f"{loss_shown(page):.3g}"
    assert f"{shown_rule(page, 1)[0]:.3g}" == f"{number(figure(page, 'gradient')):.3g}"
    # Also under the pointer: a value that was worked out, at a number that can be typed.
    expected = sweep(Scenario())
    for share in (0.3, 0.52, 0.71):
        pointed(page, 0, share)
        loss, at = shown_rule(page, 0)
        place = min(range(len(expected.values)), key=lambda i: abs(expected.values[i] - at))
        assert f"{expected.values[place]:.3g}" == f"{at:.3g}"
        assert f"{expected.loss[place]:.3g}" == f"{loss:.3g}"


def test_what_is_read_is_the_value_at_the_setting_that_is_named(
    page: Page, subtests: pytest.Subtests
) -> None:
    opened(page)
    for pairs in (64, 500):
        with subtests.test(pairs=pairs):
            read_at_several_settings(page, pairs)


def read_at_several_settings(page: Page, pairs: int) -> None:
    data = Data(source="random", random=RandomBatch(pairs=pairs, seed=3))
    batch = explore(Scenario(data=data)).batch

    def expected(at: float) -> list[str]:
        """Of the loss itself, and of the gradient and the terms of a batch explored there."""
        loss = float(cosent(batch.scores, batch.labels, scale=at))
        found = explore(Scenario(data=data, parameters=(("scale", at),)))
        share = found.weights.active / found.weights.terms * 100
        active = f"{share:.0f}%" if share >= 10 else f"{display_number(share, 2)}%"
        return [display_number(loss, 3), display_number(found.gradient_norm, 3), active]

    def read() -> tuple[list[str], float]:
        text = [
            panel.locator(".lp-value").inner_text().split(" at scale ")
            for panel in page.locator(PANEL).all()
        ]
        assert len({at for _, at in text}) == 1
        return [value for value, _ in text], number(text[0][1])

    of_other_pairs = plot(page, 0, "data[0].y")
    for scale in (0.37, 87.654):
        scenario = Scenario(data=data, parameters=(("scale", scale),))
        with redrawn(page):
            page.evaluate("link => { location.hash = link; }", scenario.to_link())
        curve = f"document.querySelector('{PANEL} .lp-plot').data[0].y"
        page.wait_for_function(f"(old) => String({curve}) !== String(old)", arg=of_other_pairs)
        values, at = read()
        assert at == scale
        assert values == expected(scale)
    for share in (0.2, 0.62):
        pointed(page, 0, share)
        values, at = read()
        assert at != scale
        assert values == expected(at)
    page.mouse.move(0, 0)


def test_the_two_rules_are_drawn_and_their_contradiction_reported(page: Page) -> None:
    opened(page)
    expected = sweep(Scenario())
    text = page.locator(VERDICT).inner_text().replace("CoSENT (3)", "CoSENT")  # an article's title
    numbers = [float(n) for n in re.findall(r"\d+\.?\d*", text)]
    low, high = expected.within[-1]
    assert "contradict" in page.locator(VERDICT).inner_text()
    assert numbers == pytest.approx([*expected.advised, 0.1, 10, low, high], rel=0.01)
    shapes = {one["name"]: one for one in plot(page, 1, "layout.shapes")}
    # What one rule allows ends before what the other asks for begins.
    assert shapes["within"]["x1"] == pytest.approx(high, rel=1e-6)
    assert shapes["within"]["x1"] < shapes["advised"]["x0"]
    assert [shapes["norm-band"][end] for end in ("y0", "y1")] == [0.1, 10]
    # The curve leaves the band of the norm just where the range ends.
    values, heights = plot(page, 1, "data[0].x"), plot(page, 1, "data[0].y")
    after = next(i for i, value in enumerate(values) if value > high)
    assert heights[after - 1] <= 10 * 1.001
    assert heights[after] > 10


def test_a_slider_moves_the_mark_and_not_the_curves(page: Page) -> None:
    opened(page)
    drawn, before = plot(page, 0, "data[0].y"), here(page, 0)
    with redrawn(page):
        slider(page, "scale")[1].fill("200")
    page.wait_for_function(f"document.querySelector('{PANEL} .lp-plot').data[1].x[0] > {before}")
    assert plot(page, 0, "data[0].y") == drawn
    assert shown_rule(page, 0)[1] == 200


def test_a_click_on_a_curve_moves_the_slider(page: Page) -> None:
    opened(page)
    pointed(page, 1, 0.3)
    value = shown_rule(page, 1)[1]
    assert value < 20
    with redrawn(page):
        page.mouse.down()
        page.mouse.up()
    assert float(slider(page, "scale")[1].input_value()) == pytest.approx(value)
    assert page.evaluate(f"{PAGE}.scenario.parameters.scale") == pytest.approx(value)


def test_the_curves_follow_the_loss_and_the_language(page: Page) -> None:
    opened(page)
    drawn = plot(page, 0, "data[0].y")
    choose(page, "arcface")
    expect(page.locator("#lp-sweep option")).to_have_count(2)
    # Both rules speak of CoSENT's λ, and of nothing here.
    expect(page.locator(VERDICT)).to_be_hidden()
    page.wait_for_function(f"document.querySelector('{PANEL} .lp-plot').layout.shapes.length === 0")
    assert plot(page, 0, "data[0].y") != drawn
    page.select_option("#lp-sweep", "margin")
    expect(page.locator(f"{PANEL} .lp-value").first).to_contain_text(" at margin ")
    page.locator("#lp-language").click()
    expect(page.locator("#lp-sweep-trials")).to_contain_text("试训")
    # Without a number to move there is nothing to ask.
    choose(page, "softmax")
    expect(page.locator("#main-sweep > details")).to_be_hidden()


def test_the_rule_for_the_scale_is_given_only_where_it_speaks(page: Page) -> None:
    unfold(page, "ui.more_metrics")
    advice = page.locator("#main-metrics .lp-note:visible", has_text=wording("ui.suggested_scale"))
    expect(advice).to_have_count(1)
    choose(page, "siglip")  # its scale is before other similarities than those of the pairs
    expect(advice).to_have_count(0)
