"""What a run shows: its curves and its probe batch."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from lossprism.explorer.lab.training.plan import TrainingPlan
from lossprism.explorer.locale import say
from tests.browser.finetune.steering import PROBE, TINY, led, made_run, read, settled
from tests.browser.reading import number
from tests.sentences import wording

pytestmark = pytest.mark.browser


def test_the_probe_is_scrubbed_back(finetune: Page, finished: str) -> None:
    page = led(finetune, finished)
    page.wait_for_function(f"{PROBE}.picture")
    steps = read(page, "evaluations.map((one) => one.step)")
    assert steps[0] == 0
    assert steps[-1] == TINY["steps"]
    last = page.evaluate(f"{PROBE}.picture.figures.loss")
    recorded = read(page, "evaluations.at(-1).probe")
    shown = page.evaluate(f"Array.from(lossprism.floats({PROBE}.picture.pairs.score))")
    assert shown == pytest.approx(recorded, abs=1e-4)
    scrub = page.locator("#lp-finetune-scrub")
    scrub.focus()
    page.keyboard.press("Home")
    page.wait_for_function(f"{PROBE}.picture.figures.loss !== {last}")
    expect(page.locator(".lp-finetune_probe output")).to_have_text("Step 0")
    before = page.evaluate(f"Array.from(lossprism.floats({PROBE}.picture.pairs.score))")
    assert before == pytest.approx(read(page, "evaluations[0].probe"), abs=1e-4)
    # It trained on this loss, so the held-out batch has gained by it.
    assert last < page.evaluate(f"{PROBE}.picture.figures.loss")
    page.click("#lp-finetune-play")
    page.wait_for_function(f"{PROBE}.picture.figures.loss === {last}")
    cells = page.locator(".lp-finetune_probe_matrix canvas[tabindex]")
    assert int(cells.get_attribute("data-drawn")) >= 3


def test_a_curve_is_read_with_the_pointer_the_keyboard_as_a_table_and_presented(
    finetune: Page, finished: str
) -> None:
    page = led(finetune, finished)
    title = page.get_by_role("heading", name=say("en", "finetune.chart.loss"), exact=True)
    chart = page.locator("figure", has=title)
    plot = chart.locator(".lp-plot-box")
    says = re.compile(r"Training loss\. smoothed: .* at step 12\.")
    expect(plot).to_have_attribute("aria-label", says)
    expect(chart.locator(".main-svg").first).to_be_visible()
    plot.hover(position={"x": 60, "y": 60})
    expect(chart.locator(".lp-chart-step")).to_be_visible()
    expect(chart.locator(".lp-chart-legend")).to_contain_text(say("en", "finetune.loss_raw"))
    # Its words stand on one line, whatever is beside them.
    feet = chart.locator(".lp-chart-legend").evaluate(
        """(legend) => [...legend.children].map((entry) => {
          const words = document.createRange();
          words.selectNode([...entry.childNodes].find((node) => node.nodeType === Node.TEXT_NODE));
          return words.getBoundingClientRect().bottom;
        })"""
    )
    assert len(feet) > 1
    assert max(feet) - min(feet) < 0.5
    # The other charts are read at the same step.
    expect(page.locator(".lp-chart-step:visible").nth(3)).to_be_visible()
    page.mouse.move(5, 5)
    plot.focus()
    page.keyboard.press("Home")
    expect(chart.locator(".lp-chart-step")).to_have_text("Step 1")
    first = read(page, "smooth[0]")
    assert number(chart.locator("b").inner_text()) == pytest.approx(first, rel=1e-3)
    chart.get_by_role("button", name=wording("ui.as_table")).click()
    cells = chart.locator("tbody tr").first.locator("td")
    assert number(cells.nth(0).inner_text()) == 1
    assert number(cells.nth(1).inner_text()) == pytest.approx(first, rel=1e-3)
    chart.get_by_role("button", name=wording("ui.as_table")).click()
    settled(page, "finished")
    page.click("#lp-present")
    expect(page.locator("#lp-side")).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    # The charts are still read where the pointer is, though everything is enlarged.
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    page.mouse.move(box["x"] + box["width"] - 18, box["y"] + 60)
    expect(chart.locator(".lp-chart-step")).to_have_text(f"Step {TINY['steps']}")


def test_a_run_that_collapsed_and_failed_says_so(finetune: Page, folder: Path) -> None:
    values = {"step": 31, "pairs": "“<b>a</b> | b”", "more": 15, "kept": 30}
    problem = {"key": "problem.training_not_finite", "values": values}
    run = made_run(folder, "collapsed", TrainingPlan(steps=40), state="failed", problem=problem)
    pairs = {"first": ["a", "c", "e"], "second": ["b", "d", "f"], "labels": [0, 1, 2]}
    bands = [[0, 0], [1, 1], [2, 2]]
    run.write("probe.json", {**pairs, "bands": bands, "live": 3, "threshold": 1})
    figures = dict.fromkeys(("accuracy", "auc", "alignment", "uniformity", "effective_rank"))
    figures |= {"spearman": 0.5, "pearson": 0.4, "mean_cosine": 0.99}
    counts = [[0, 3], [1, 2], [0, 3]]
    figures["histogram"] = {"edges": [-1, 0, 1], "counts": counts}
    records: list[dict] = []
    for step in range(41):
        if step:
            record = {"loss": 3.0 - step / 40, "gradient_norm": 1e-3, "learning_rate": 1e-3}
            records.append({"kind": "step", "step": step, "seconds": step / 10, **record})
        if step % 20 == 0:
            probe = [0.9, 0.91, 0.905]
            records.append({"kind": "evaluation", "step": step, **figures, "probe": probe})
    alarm = {"since": 20, "low": 0.9, "high": 0.91, "loss": 1.3863, "collapse": 1.38629}
    records.append({"kind": "alarm", "step": 40, **alarm})
    # It was continued from step 30, and did ten steps again.
    records.append({"kind": "resumed", "step": 30})
    lost = [record for record in records if record["step"] > 30 and record["kind"] != "resumed"]
    records += lost
    run.log.write_text("".join(f"{json.dumps(record)}\n" for record in records))

    page = led(finetune, run.name)
    expect(page.locator(".lp-state")).to_have_text("Failed")
    element = page.locator(".lp-finetune_run .lp-problem:visible")
    expect(element).to_contain_text(wording("problem.training_not_finite", step=31))
    expect(element).to_contain_text("“<b>a</b> | b” and 15 more")
    alarmed = page.locator(".lp-alarm")
    alarm = wording("finetune.alarm_at", since=20, apart=0.01, loss="1.386")
    expect(alarmed).to_contain_text(alarm)
    page.wait_for_function(f"{PROBE}.picture")
    assert read(page, "steps") == list(range(1, 41))
    assert read(page, "evaluations.map((one) => one.step)") == [0, 20, 40]
    expect(page.locator("#lp-finetune-zip")).to_be_disabled()
    expect(page.locator("#lp-finetune-resume")).to_be_visible()
