"""Several runs: losses and seeds beside each other, and beside the source's."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from lossprism.explorer.lab.training.parameter_trial_plans import tried
from lossprism.explorer.lab.training.plan import TrainingPlan
from lossprism.explorer.lab.training.run_json_types import Measured
from lossprism.explorer.locale import say
from lossprism.explorer.web.pages.finetune.request_plan import read_plan
from tests.browser.finetune.steering import (
    PAGE,
    TINY,
    UNFOLD,
    led,
    made_run,
    plan,
    read_of,
    settled,
    taken,
)
from tests.browser.reading import number
from tests.sentences import pattern_of, wording
from tests.tiny import sentence
from tests.unit.lab.training.conftest import SUMMARY

pytestmark = pytest.mark.browser


def test_losses_are_put_beside_each_other(finetune: Page) -> None:
    page = finetune
    page.evaluate(UNFOLD)
    start = page.locator("#lp-finetune-start")
    chosen = page.locator(".lp-kept-name")
    expect(chosen).to_have_text(["CoSENT"])
    page.select_option("#lp-finetune-another", "info_nce")
    expect(start).to_have_text(wording("finetune.start_many", count=2))
    expect(page.locator("#lp-finetune-loss")).to_have_value("info_nce")
    page.fill("#lp-finetune-seeds", "3")
    expect(start).to_have_text(wording("finetune.start_many", count=6))
    expect(page.locator(".lp-start-box")).to_contain_text(
        wording("finetune.product", losses=2, seeds=3, count=6)
    )
    # The same loss with another parameter is another loss; one chosen twice is trained once.
    page.select_option("#lp-finetune-another", "cosent")
    expect(start).to_have_text(wording("finetune.start_many", count=6))
    plan(page, parameters={"scale": 40})
    expect(chosen).to_have_text(["CoSENT", "InfoNCE", "CoSENT · scale = 40"])
    expect(start).to_have_text(wording("finetune.start_many", count=9))
    # Each comes back into the controls with its parameters, in its place.
    chosen.nth(1).click()
    expect(page.locator("#lp-finetune-loss")).to_have_value("info_nce")
    expect(chosen.nth(1)).to_have_attribute("aria-pressed", "true")
    chosen.nth(2).click()
    expect(page.locator(".lp-finetune_controls .lp-number[aria-label=scale]")).to_have_value("40")
    page.get_by_role("button", name="Leave out CoSENT", exact=True).click()
    expect(chosen).to_have_text(["InfoNCE", "CoSENT · scale = 40"])
    page.get_by_role("button", name="Leave out CoSENT · scale = 40").click()
    expect(chosen).to_have_text(["InfoNCE"])
    expect(page.locator("#lp-finetune-loss")).to_have_value("info_nce")
    expect(start).to_have_text(wording("finetune.start_many", count=3))


def test_two_losses_under_two_seeds_are_compared(finetune: Page, four: list[str]) -> None:
    page, names = led(finetune, ",".join(four)), four
    settled(page, "beside")
    final = page.get_by_role("table", name=say("en", "finetune.final"))
    for row in (0, 1):
        expect(final.locator("tbody tr").nth(row).locator("td").last).to_have_text("2")
    # Graded labels have no accuracy: its column is not there to be empty.
    expect(final.get_by_role("columnheader")).to_have_text(
        ["Loss", "Spearman", "Pearson", say("en", "finetune.column.last_loss"), "Seeds"]
    )
    gaps = page.get_by_role("table", name="Differences")
    line = gaps.locator("tbody tr").first.locator("td")
    expect(line.nth(0)).to_have_text("Cosine regression (MSE) − CoSENT")
    expect(line.nth(1)).to_have_text("Spearman")
    sides = [
        [read_of(page, name, "about.summary.after.spearman") for name in names[at : at + 2]]
        for at in (0, 2)
    ]
    difference = np.mean(sides[1]) - np.mean(sides[0])
    assert number(line.nth(2).inner_text()) == pytest.approx(difference, abs=6e-4)
    low, high = map(number, line.nth(3).inner_text().split("…"))
    assert low < difference < high
    is_reported = low > 0 or high < 0
    expect(line.nth(4)).to_have_text("yes" if is_reported else "no")
    # A bold line for each loss, the mean of its seeds, which are faint; and a row of the figure.
    legend = page.locator(".lp-chart-legend").first
    for message in ("CoSENT · mean of 2 seeds", "Cosine regression (MSE) · mean of 2 seeds"):
        expect(legend).to_contain_text(message)
    page.wait_for_function(
        "[...document.querySelectorAll('.lp-large-charts .lp-plot')].at(-1)?.data?.length === 6"
    )
    drawn = page.locator(".lp-large-charts .lp-plot").last.evaluate(
        "plot => plot.data.map(({ line }) => [line.color, line.width])"
    )
    bold = [colour for colour, width in drawn if width == 2]
    assert len(bold) == len(set(bold)) == 2
    assert len(drawn) == 6
    losses = [read_of(page, name, "about.summary.after.spearman") for name in names]
    rows = page.locator(".lp-gains-figure svg text[font-size='13']")
    for row, pair in zip(rows.all_text_contents(), (losses[:2], losses[2:]), strict=True):
        mean, deviation = row.split("→")[1].split("±")
        places = len(mean.strip().partition(".")[2])
        assert places == len(deviation.strip().partition(".")[2])
        for shown, value in ((mean, np.mean(pair)), (deviation, np.std(pair, ddof=1))):
            assert number(shown) == pytest.approx(value, abs=0.51 * 10**-places)
    best = "CoSENT" if sum(losses[:2]) > sum(losses[2:]) else "Cosine regression (MSE)"
    verdict = page.locator(".lp-verdict")
    expect(verdict.locator("li").first).to_contain_text(
        re.compile(rf"^On the \d+ held-out pairs, {re.escape(best)} · mean of 2 seeds ended at")
    )
    # Two seeds compare these models, not the losses.
    expect(verdict.locator("li").nth(1)).to_contain_text(re.compile("these (very|two) models"))
    expect(verdict.locator("li").nth(1)).to_contain_text(best)
    expect(page.locator("figure", has_text=wording("finetune.apart")).locator("h3")).to_have_text(
        say("en", "finetune.chart.loss")
    )
    # Any of the runs can be looked at; each keeps its colour.
    colours = "all => all.map((one) => one.style.borderBottomColor)"
    looked = verdict.locator(".lp-looked")
    before = looked.evaluate_all(colours)
    looked.nth(3).click()
    expect(page.locator(".lp-finetune_run .lp-head h2")).to_have_text(
        wording("loss.cosine_mse.title")
    )
    assert page.evaluate(f"{PAGE}.shown[0]") == names[3]
    assert looked.evaluate_all(colours) == before
    looked.first.click()
    moved = page.get_by_role("table", name=wording("finetune.moved"))
    expect(moved.locator("tbody tr:visible")).to_have_count(8)


def test_runs_are_compared_on_a_file_of_ones_own_in_either_language(
    finetune: Page, beside: str, tmp_path: Path
) -> None:
    page = led(finetune, beside)
    settled(page, "beside")
    drawn = page.locator(".lp-gains-figure")
    expect(drawn.locator("h3")).to_have_text(re.compile(r"on the \d+ held-out pairs$"))
    draw = random.Random(3)
    rows = [f"{sentence(draw)}\t{sentence(draw)}\tnote\t{i % 4}" for i in range(40)]
    file = tmp_path / "mine.tsv"
    file.write_text("\n".join(["one\ttwo\tthree\tscore", *rows]), encoding="utf-8")
    page.set_input_files("#lp-finetune-unseen", file)
    # No column is called a sentence, so that which it is is asked.
    roles = page.locator(".lp-unseen select")
    expect(roles.first).to_be_visible()
    for role, column in (("first", "one"), ("second", "two"), ("score", "score")):
        page.select_option(f".lp-unseen select[name={role}]", column)
    element = page.locator(".lp-unseen-summary")
    of_file = say("en", "finetune.pairs.of_file", count=40, file="mine.tsv")
    now = say("en", "finetune.unseen_now", pairs=of_file)
    expect(element).to_contain_text(now, timeout=60_000)
    expect(element).to_contain_text(wording("finetune.unseen_shared_none"))
    gains = say("en", "finetune.gains_on", figure="Spearman", pairs=of_file)
    expect(drawn.locator("h3")).to_have_text(gains)
    verdict = page.locator(".lp-verdict li")
    expect(verdict.first).to_have_text(re.compile(r"^On the 40 pairs of mine\.tsv, "))
    expect(verdict.nth(1)).to_contain_text(of_file)
    for about in map(wording, ("finetune.final_about", "finetune.differences_about")):
        note = page.locator(".lp-finetune_runs .lp-note", has_text=about)
        expect(note).to_have_text(re.compile(r"^On the 40 pairs of mine\.tsv: "))
    page.select_option("#lp-finetune-figure", "finetune.gains")
    assert gains in taken(page, tmp_path, "SVG").read_text(encoding="utf-8")
    page.click("#lp-language")
    expect(element).to_contain_text(say("zh", "finetune.pairs.of_file", file="mine.tsv", count=40))
    # What losses are called follows the language.
    english, chinese = (say(language, "loss.cosine_mse.title") for language in ("en", "zh"))
    for place in (".lp-verdict", ".lp-chart-legend", ".lp-finetune_runs table", ".lp-gains-figure"):
        expect(page.locator(place).first).to_contain_text(chinese)
    page.select_option("#lp-finetune-loss", "cosine_mse")
    expect(page.locator(".lp-kept-name")).to_have_text([chinese])
    expect(page.locator(".lp-start-box")).to_contain_text(chinese)
    assert english not in page.locator("body").inner_text()
    svg = taken(page, tmp_path, "SVG").read_text(encoding="utf-8")
    assert chinese in svg
    assert english not in svg
    page.click("#lp-language")
    page.click("#lp-finetune-unseen-back")
    expect(drawn.locator("h3")).to_have_text(re.compile(r"on the \d+ held-out pairs$"))
    expect(element).to_be_hidden()


def test_values_of_a_parameter_are_tried_by_a_click(
    open_page: Callable[..., Page], four: list[str]
) -> None:
    page = open_page()
    page.evaluate(UNFOLD)
    plan(page, **{**TINY, "steps": 3, "parameters": {"scale": 20}})
    press = page.locator(".lp-trials button")
    expect(press).to_have_text("Try scale 5 · 10 · 20 · 40 · 80")
    expect(page.locator(".lp-trials .lp-note")).to_contain_text(
        wording("trials.about", count=15, steps=3, values=5, seeds=3)
    )
    # What the server would queue is found out here; runs that there are stand for those.
    page.evaluate(
        f"""(started) => {{
          {PAGE}.server.trials = async (request) => {{
            window.asked = request;
            return {{ started }};
          }};
        }}""",
        four,
    )
    press.click()
    page.wait_for_function(f"{PAGE}.shown.length === {len(four)}")
    assert page.evaluate(f"{PAGE}.shown") == four
    requested = page.evaluate("window.asked")
    plans = tried(read_plan(requested["plan"]), requested["parameter"])
    queued = [(dict(one.parameters)["scale"], one.seed, one.steps) for one in plans]
    assert queued == [(value, seed, 3) for value in (5, 10, 20, 40, 80) for seed in (0, 1, 2)]


def test_the_experiment_of_the_source_stands_beside_and_says_how_long_it_will_take(
    open_page: Callable[..., Page],
) -> None:
    page = open_page()
    # What the server finds out by trial steps, which are another test's.
    page.evaluate(
        f"""() => {{
          const {{ work }} = {PAGE};
          const pace = {{ seconds_to_load: 9, seconds_per_step: 0.5, seconds_per_evaluation: 2 }};
          {PAGE}.work = async (server, name, request) => name !== "estimate"
            ? work.call({PAGE}, server, name, request)
            : request.repetition && request.plan.batch_size === 8 ? pace : {{}};
        }}"""
    )
    plan(page, encoder="all-MiniLM-L6-v2", steps=500, batch_size=8)
    element = page.locator("#lp-finetune-repeat-time")
    page.locator("summary", has_text=say("en", "finetune.source_title")).click()
    row = page.locator("tr", has_text="BERT + CoSENT").first
    expect(row).to_contain_text("48.09")
    expect(row).to_contain_text("67.10")
    expect(page.locator("#lp-finetune-repeat")).to_be_enabled()
    expect(element).to_have_text(re.compile(r"^About \d+ (s|min) for 6 runs of 500 steps"))
    page.click("#lp-language")
    expect(element).to_contain_text(wording("finetune.takes_many", "zh", count=6, steps=500))
    # Other work has no time yet.
    plan(page, batch_size=12)
    expect(element).not_to_contain_text("500")


def test_a_repetition_joins_the_table_of_the_source(finetune: Page, folder: Path) -> None:
    names = []
    for loss, reached in (("binary_cross_entropy", (0.80, 0.82)), ("cosent", (0.85, 0.85))):
        for seed, spearman in enumerate(reached):
            plan = TrainingPlan(kind="cross", loss=loss, seed=seed, steps=4)
            run = made_run(folder, f"{loss}-{seed}", plan)
            figures = Measured(spearman=spearman, pearson=0.5, accuracy=0.9, auc=0.9)
            run.write("summary.json", replace(SUMMARY, before=figures, after=figures))
            run.write_pairs("held_out.jsonl", [(f"a{i}", f"b{i}", i % 2) for i in range(40)])
            for when in ("before", "after"):
                noise = np.random.default_rng(seed).normal(size=40)
                scores = np.arange(40) % 2 + noise * (0.5 if loss == "cosent" else 1.5)
                np.savez(run.path / f"{when}.npz", scores=scores)
            names.append(run.name)
    page = led(finetune, ",".join(names))
    page.locator("summary", has_text=say("en", "finetune.source_title")).click()
    here = page.locator(".lp-printed tr.lp-lit")
    expect(here).to_have_count(6)  # two losses and their difference, by Spearman and by accuracy
    expect(here.nth(0)).to_contain_text("all-MiniLM-L6-v2 + CE")
    expect(here.nth(0)).to_contain_text(wording("finetune.here", value="81.00 ± 1.41", count=2))
    expect(here.nth(1)).to_contain_text("85.00 ± 0.00")
    name, result = here.nth(2).inner_text().split("\t", 1)
    assert name.strip() == "CoSENT − CE"
    difference = pattern_of("finetune.here_difference", level="98%", count=2)
    numbers = difference.fullmatch(result.strip()).groups()
    assert all(re.fullmatch(r"[+−]\d+\.\d\d", number) for number in numbers)
    # Of the source's models, too, what lies between the losses: by average 67.10 and 66.77.
    between = page.locator(".lp-printed tr", has_text="CoSENT − CE").first
    expect(between).to_contain_text("+0.33")
