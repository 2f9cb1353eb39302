"""The Fine-tune page: a run from start to end, as one watches, steers, compares and takes it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import psutil
import pytest
import torch
from playwright.sync_api import Browser, Page, Request, Route, expect
from safetensors.torch import load_file
from scipy.stats import ttest_rel

from explorer.lab.training.folder import LIVE, RunFolder
from explorer.lab.training.plan import SCRATCH, TrainingPlan
from explorer.lab.training.runs import Runs
from explorer.locale import say
from explorer.problem import Problem
from explorer.scenario import Data, Scenario
from losses import LOSSES
from tests.browser import axe
from tests.browser.conftest import PATIENCE_MS, watched
from tests.browser.reading import number, walk_by_keyboard
from tests.browser.serving import Server
from tests.tiny import save_bert

pytestmark = pytest.mark.browser

CHANNEL = "window.LossPrism.channel('finetune')"
TRACE = f"{CHANNEL}.studio.trace()"
PROBE = "window.LossPrism.channel('probe')"
ASKED = re.compile("/component_server")  # where the page puts its questions
TINY = {"encoder": SCRATCH, "steps": 12, "batch_size": 16, "evaluations": 4, "dimension": 32}


UNFOLD = "() => document.querySelectorAll('.lp details').forEach((fold) => { fold.open = true; })"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("studio")


@pytest.fixture(scope="module")
def studio(folder: Path) -> Iterator[Server]:
    with Server(folder, "--runs", str(folder / "runs")) as running:
        yield running
    assert "Traceback" not in running.complaints, running.complaints


def arrive(page: Page, studio: Server, place: str = "") -> Page:
    """The page at a place of the address, when it can be used."""
    page.goto(f"{studio.address}/finetune{place}", wait_until="domcontentloaded")
    page.wait_for_function(f"window.LossPrism && {CHANNEL}.checked")
    return page


@contextmanager
def visitor(browser: Browser, studio: Server) -> Iterator[Page]:
    """The page of someone who comes, does one thing, and leaves."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, locale="en-US")
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    yield arrive(page, studio)
    context.close()


@pytest.fixture
def open_page(browser: Browser, studio: Server, folder: Path) -> Iterator[Callable[..., Page]]:
    """The Fine-tune page in a browser of its own, at a place of the address."""
    contexts, faults = [], []

    def start(place: str = "", width: int = 1440, locale: str = "en-US") -> Page:
        context = browser.new_context(viewport={"width": width, "height": 900}, locale=locale)
        contexts.append(context)
        return arrive(watched(context, studio.address, faults), studio, place)

    yield start
    for context in contexts:
        context.close()
    runs = Runs(folder / "runs")  # what a failed test left must not keep the others waiting
    for run in runs.listed():
        if run["state"] in LIVE:
            with contextlib.suppress(Problem):  # it has ended meanwhile
                runs.stop(run["id"])
    assert not faults, faults


def plan(page: Page, **chosen: object) -> None:
    """Choose what the sidebar offers, all at once; wait for what the server says of it."""
    page.evaluate(f"{CHANNEL}.checked = null; {CHANNEL}.studio.setPlan({json.dumps(chosen)})")
    page.wait_for_function(f"{CHANNEL}.checked")


def begin(page: Page, **chosen: object) -> None:
    plan(page, **{**TINY, **chosen})
    page.click("#lp-finetune-start")


def wait_for(page: Page, *states: str) -> None:
    wanted = json.dumps(states)
    page.wait_for_function(f"{wanted}.includes({TRACE}?.about?.state)", polling=100)


def read(page: Page, what: str) -> object:
    return page.evaluate(f"{TRACE}.{what}")


def read_of(page: Page, name: str, what: str) -> object:
    return page.evaluate(f"{CHANNEL}.studio.trace('{name}').{what}")


@pytest.fixture(scope="module")
def finished(browser: Browser, studio: Server) -> str:
    """The name of a short run that has ended."""
    with visitor(browser, studio) as page:
        begin(page)
        wait_for(page, "finished")
        return read(page, "about.id")


def made_run(folder: Path, name: str, plan: TrainingPlan, **state: object) -> RunFolder:
    """The folder of a run that has ended, without training one."""
    run = RunFolder(folder / "runs" / f"20260101-000000-{name}")
    run.path.mkdir(parents=True)
    new_year = 1_767_225_600  # the time in its name
    about = {"plan": plan.to_json(), "created": new_year, "skipped": 0, "shared": 0}
    run.write("config.json", about)
    usual = {"state": "finished", "ticket": 1, "process": 1, "born": 0, "steps": plan.steps}
    run.write("state.json", {**usual, **state})
    return run


# ---- One run ---------------------------------------------------------------------------------


def test_the_empty_page_invites(open_page: Callable[..., Page]) -> None:
    page = open_page()
    expect(page.locator("#lp-finetune-quick")).to_be_visible()
    expect(page.locator(".lp-charts").first).to_be_hidden()
    expect(page.locator("#lp-probe")).to_be_hidden()
    expect(page.locator("nav a[aria-current=page]")).to_have_text("Fine-tune")
    expect(page.locator(".lp-finetune_controls")).to_contain_text("512 pairs to learn from")
    # Pairs of what it would learn from, the best first.
    labels = page.locator(".lp-sample tbody th").all_inner_texts()
    assert labels == sorted(labels, reverse=True)
    assert len(set(labels)) == 3


def trials(studio: Server) -> list[psutil.Process]:
    """The processes in which this server tries steps now; those of others are none of ours."""
    found = []
    for process in psutil.Process(studio.process.pid).children():
        with contextlib.suppress(psutil.NoSuchProcess):  # it ended while we looked
            if "--trial" in process.cmdline():
                found.append(process)
    return found


def test_the_time_is_told_before_the_start_and_never_in_its_way(
    open_page: Callable[..., Page], studio: Server
) -> None:
    page = open_page()
    plan(page, **{**TINY, "steps": 1000})
    told = page.locator("#lp-finetune-time")
    expect(told).to_have_text(re.compile(r"^About \d+ (s|min) for 1,000 steps, loading included"))
    page.fill("#lp-finetune-seeds", "3")
    expect(told).to_contain_text("for 3 runs of 1,000 steps")
    # Another count of steps needs no other trial; other work does, and a start ends that.
    plan(page, steps=2)
    expect(told).to_contain_text("for 3 runs of 2 steps")
    page.fill("#lp-finetune-seeds", "1")
    plan(page, batch_size=24)
    expect(told).to_contain_text("Timing two trial steps")
    end = time.monotonic() + PATIENCE_MS / 1000
    while not (trying := trials(studio)):
        assert time.monotonic() < end
        page.wait_for_timeout(50)
    page.click("#lp-finetune-start")
    wait_for(page, "training", "saving", "finished")
    assert not any(process.is_running() for process in trying)


def test_one_click_shows_something(open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.click("#lp-finetune-quick")
    wait_for(page, "finished")
    remarks = page.locator(".lp-finetune_run .lp-remarks li")
    expect(remarks.first).to_contain_text("Held-out Spearman rose from")
    expect(page.locator(".lp-finetune_run .lp-headline .katex")).to_be_visible()
    before, after = (read(page, f"about.summary.{when}.spearman") for when in ("before", "after"))
    assert f"from {before:.3g} to {after:.3g}" in remarks.first.inner_text()
    expect(page.locator(".lp-gain-box").first).to_contain_text("95%: +")
    # What it trained stands in the controls, so that the next run compares with it.
    mine, its = page.evaluate(f"{CHANNEL}.plan"), read(page, "about.plan")
    for entry in ("encoder", "loss", "steps", "batch_size", "learning_rate", "evaluations"):
        assert mine[entry] == its[entry], entry
    expect(page.locator("#lp-finetune-encoder")).to_have_value("scratch")
    expect(page.locator(".lp-start-box")).to_contain_text("120 steps, batches of 32")
    # Another kind of encoder does not inherit a learning rate that would wreck it.
    page.select_option("#lp-finetune-encoder", "embedded")
    assert page.evaluate(f"{CHANNEL}.plan.learning_rate") == 0
    # The settings of a run can be taken over, to be changed.
    page.click("#lp-finetune-reuse")
    expect(page.locator("#lp-finetune-encoder")).to_have_value("scratch")
    assert page.evaluate(f"{CHANNEL}.plan.learning_rate") == its["learning_rate"]


def test_loading_names_what_is_loaded_and_its_clock_runs(
    open_page: Callable[..., Page], folder: Path
) -> None:
    loading = {"part": "libraries", "began": time.time() - 75}
    process = {"process": os.getpid(), "born": psutil.Process().create_time()}
    run = made_run(folder, "loading", TrainingPlan(), state="loading", **loading, **process)
    page = open_page(f"#{run.name}")
    expect(page.locator(".lp-state")).to_have_text("Loading the libraries…")
    told = page.locator(".lp-progress .lp-note")
    expect(told).to_have_text(re.compile(r"^[1-9]\d*:\d\d$"))
    early = told.inner_text()
    expect(told).not_to_have_text(early)
    run.say("loading", part="encoder")
    expect(page.locator(".lp-state")).to_have_text("Loading the encoder…")
    expect(told).not_to_have_text(re.compile("^0:"))
    run.say("finished")


def test_curves_grow_while_it_trains_and_it_pauses_resumes_and_stops(
    open_page: Callable[..., Page],
) -> None:
    page = open_page()
    begin(page, steps=100_000, evaluations=1000)
    wait_for(page, "training")
    page.wait_for_function(f"{TRACE}.steps.length > 3")
    path = page.locator(".lp-chart path[stroke-width='2']").first
    short, early = len(path.get_attribute("d")), read(page, "steps.length")
    page.wait_for_function(f"{TRACE}.steps.length > {early} + 20")
    assert len(path.get_attribute("d")) > short
    expect(page.locator(".lp-progress")).to_contain_text("left")
    page.click("#lp-finetune-pause")
    wait_for(page, "paused")
    held = read(page, "steps.length")
    for _ in range(3):  # it asks on, and there is no more
        with page.expect_response(ASKED):
            pass
    assert read(page, "steps.length") == held
    page.click("#lp-finetune-resume")
    wait_for(page, "training")
    page.wait_for_function(f"{TRACE}.steps.length > {held}")
    page.click("#lp-finetune-stop")
    wait_for(page, "stopped")
    expect(page.locator(".lp-gains")).to_contain_text("Held-out Spearman")
    done = read(page, "steps")
    assert done == list(range(1, len(done) + 1))
    assert read(page, "about.summary.kept_step") == done[-1] < 100_000


def test_a_run_outlives_its_tab(open_page: Callable[..., Page]) -> None:
    page = open_page()
    begin(page, steps=100_000, evaluations=1000)
    wait_for(page, "training", "loading")
    name = read(page, "about.id")
    assert page.url.endswith(f"#{name}")
    page.context.close()
    again = open_page(f"#{name}")
    wait_for(again, "training")
    again.wait_for_function(f"{TRACE}.steps.length > 3")
    assert read(again, "steps")[0] == 1
    # Someone without the address finds it in the list, and their run waits for its turn.
    other = open_page()
    row = other.locator(".lp-finetune_runs tr.lp-pickable").first
    expect(row).to_contain_text("Training")
    begin(other, steps=2)
    expect(other.locator(".lp-state")).to_have_text("Queued: 1 run before it")
    other.click("#lp-finetune-stop")
    wait_for(other, "stopped")
    again.click("#lp-finetune-stop")
    wait_for(again, "stopped")
    # Deleting is asked for twice.
    again.click("#lp-finetune-delete")
    expect(again.locator("#lp-finetune-delete")).to_have_text("Delete with its model?")
    again.click("#lp-finetune-delete")
    expect(again.locator("#lp-finetune-quick")).to_be_visible()


def test_the_probe_is_scrubbed_back(open_page: Callable[..., Page], finished: str) -> None:
    page = open_page(f"#{finished}")
    page.wait_for_function(f"{PROBE}.picture")
    steps = read(page, "evaluations.map((one) => one.step)")
    assert steps[0] == 0
    assert steps[-1] == TINY["steps"]
    last = page.evaluate(f"{PROBE}.picture.figures.loss")
    recorded = read(page, "evaluations.at(-1).probe")
    shown = page.evaluate(f"Array.from(LossPrism.floats({PROBE}.picture.pairs.score))")
    assert shown == pytest.approx(recorded, abs=1e-4)
    scrub = page.locator("#lp-finetune-scrub")
    scrub.focus()
    page.keyboard.press("Home")
    page.wait_for_function(f"{PROBE}.picture.figures.loss !== {last}")
    expect(page.locator(".lp-finetune_probe output")).to_have_text("Step 0")
    before = page.evaluate(f"Array.from(LossPrism.floats({PROBE}.picture.pairs.score))")
    assert before == pytest.approx(read(page, "evaluations[0].probe"), abs=1e-4)
    # It trained on this loss, so the held-out batch has gained by it.
    assert last < page.evaluate(f"{PROBE}.picture.figures.loss")
    page.click("#lp-finetune-play")
    page.wait_for_function(f"{PROBE}.picture.figures.loss === {last}")
    cells = page.locator("#probe-matrix canvas:not(.lp-legend)")
    assert int(cells.get_attribute("data-drawn")) >= 3


def test_a_curve_is_read_with_the_pointer_the_keyboard_and_as_a_table(
    open_page: Callable[..., Page], finished: str
) -> None:
    page = open_page(f"#{finished}")
    title = page.get_by_role("heading", name="Training loss", exact=True)
    chart = page.locator("figure", has=title)
    svg = chart.locator("svg[role=img]")
    says = re.compile(r"Training loss\. smoothed: .* at step 12\.")
    expect(svg).to_have_attribute("aria-label", says)
    svg.hover(position={"x": 60, "y": 60})
    expect(chart.locator(".lp-chart-step")).to_be_visible()
    expect(chart.locator(".lp-chart-legend")).to_contain_text("each batch")
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
    expect(page.locator(".lp-chart-step").nth(3)).to_be_visible()
    page.mouse.move(5, 5)
    svg.focus()
    page.keyboard.press("Home")
    expect(chart.locator(".lp-chart-step")).to_have_text("Step 1")
    first = read(page, "smooth[0]")
    assert number(chart.locator("b").inner_text()) == pytest.approx(first, rel=1e-3)
    chart.get_by_role("button", name="As a table").click()
    cells = chart.locator("tbody tr").first.locator("td")
    assert number(cells.nth(0).inner_text()) == 1
    assert number(cells.nth(1).inner_text()) == pytest.approx(first, rel=1e-3)


# ---- What was chosen -------------------------------------------------------------------------

# Every field of the sidebar by its place, what it holds, and the words around the files.
FORM = """() => ({
  fields: Array.from(document.querySelectorAll(
    ".lp-finetune_controls :is(select, input:not([type=file]))")).map((one) => [
      one.id || one.name || one.dataset.parameter || one.ariaLabel,
      one.type === "checkbox" ? one.checked : one.value,
      Boolean(one.closest("[hidden]"))]),
  chosen: Array.from(document.querySelectorAll(".lp-kept-name"), (one) => [
    one.textContent, one.ariaPressed]),
  tabs: Array.from(document.querySelectorAll(
    ".lp-finetune_controls [role=tab]"), (one) => one.ariaSelected),
  start: document.querySelector("#lp-finetune-start").textContent,
})"""


def pairs_file(columns: str, count: int) -> dict[str, object]:
    rows = "".join(f"{i},This {i},That {i},{i % 3},Other {i}\n" for i in range(count))
    content = f"{columns}\n{rows}".encode()
    return {"name": f"{count}.csv", "mimeType": "text/csv", "buffer": content}


def fill_in(page: Page) -> None:
    """Choose something else than usual in every field."""
    side = page.locator(".lp-finetune_controls")
    page.select_option("#lp-finetune-example", index=2)
    page.locator(".lp-finetune_controls .lp-slider .lp-number").first.fill("0.35")
    page.click("#lp-finetune-source-hub")
    page.fill("#lp-finetune-hub", "someone/pairs")
    page.fill("#lp-finetune-split", "test")
    page.click("#lp-finetune-source-link")
    page.fill("#lp-finetune-link", "http://here/#1.abc")
    page.click("#lp-finetune-source-file")
    page.set_input_files("#lp-finetune-file", pairs_file("a,b,c,d,other", 40))
    for role, column in {"first": "b", "second": "c", "score": "d"}.items():
        side.locator(f"select[name={role}]").select_option(column)
        expect(side.locator(f"select[name={role}]")).to_have_value(column)
    expect(side).to_contain_text("40.csv: 40 pairs from 40 rows")
    side.locator("input[name=other]").check()
    page.set_input_files("#lp-finetune-held_out_file", pairs_file("a,b,c,d,other", 20))
    expect(side).to_contain_text("20.csv: 20 pairs from 20 rows")
    page.evaluate(UNFOLD)
    page.select_option("#lp-finetune-loss", "triplet")
    for choice in side.locator("select[data-parameter]").all():
        choice.select_option(index=1)
    page.locator(".lp-parameters .lp-number").first.fill("0.7")
    page.locator(".lp-parameters .lp-number").first.press("Enter")
    page.select_option("#lp-finetune-another", "info_nce")
    page.select_option("#lp-finetune-another", "cosent")
    page.locator(".lp-kept-name").nth(1).click()
    page.fill("#lp-finetune-seeds", "3")
    for name, value in {
        "epochs": "2", "steps": "7", "batch_size": "9", "learning_rate": "0.003", "warmup": "0.2",
        "weight_decay": "0.5", "clipping": "3", "evaluations": "4", "seed": "11",
        "layers": "1", "lora": "2", "threshold": "1.5",
    }.items():  # fmt: skip
        page.fill(f"#lp-finetune-{name}", value)
    page.select_option("#lp-finetune-schedule", "cosine")
    for box in page.locator(".lp-finetune_controls details > label > input[type=checkbox]").all():
        box.set_checked(not box.is_checked())
    page.click("#lp-finetune-kind-cross")
    page.select_option("#lp-finetune-encoder", "other")
    # Typed, and not yet left.
    page.locator("#lp-finetune-encoder-name").press_sequentially("someone/model")


def test_what_was_chosen_outlives_the_language_a_reload_and_another_page(
    open_page: Callable[..., Page],
) -> None:
    page = open_page()
    usual = page.evaluate(FORM)
    fill_in(page)
    chosen = page.evaluate(FORM)
    assert chosen["chosen"] == [
        ["Triplet · mining = semi-hard · distance = squared Euclidean · margin = 0.7", "false"],
        ["InfoNCE", "true"],
        ["CoSENT", "false"],
    ]
    before = {name: value for name, value, _ in usual["fields"]}
    same = {name for name, value, _ in chosen["fields"] if value == before.get(name)}
    # The one to add from, what InfoNCE has no choice of, and what only an encoder from scratch has.
    hidden = {f"lp-finetune-{name}" for name in ("convention", "vocabulary", "dimension")}
    assert same == {"lp-finetune-another", *hidden}
    known = f"{CHANNEL}.checked && document.querySelector('input[name=other]')"
    page.reload()
    page.wait_for_function(f"window.LossPrism && {known}")
    assert page.evaluate(FORM) == chosen
    expect(page.locator(".lp-finetune_controls")).to_contain_text("40.csv: 40 pairs from 40 rows")
    expect(page.locator(".lp-finetune_controls")).to_contain_text("20.csv: 20 pairs from 20 rows")
    page.click(".lp-pages a >> text=Explore")
    page.wait_for_selector(".lp-controls")
    page.click(".lp-pages a >> text=Fine-tune")
    page.wait_for_function(f"window.LossPrism && {known}")
    assert page.evaluate(FORM) == chosen
    page.click("#lp-language")
    expect(page.locator(".lp-finetune_controls")).to_contain_text("40.csv")
    spoken = page.evaluate(FORM)
    assert [one[1:] for one in spoken["fields"]] == [one[1:] for one in chosen["fields"]]
    assert spoken["tabs"] == chosen["tabs"]
    # What it is called follows the language.
    names = [name for name, _ in spoken["chosen"]]
    assert names[0].startswith(say("zh", "loss.triplet.title"))
    listed = page.locator("#lp-finetune-loss option").all_inner_texts()
    assert set(listed) == {say("zh", f"loss.{name}.title") for name in LOSSES}
    page.click("#lp-language")
    assert page.evaluate(FORM) == chosen
    # The file that was held out can be left out again.
    page.get_by_role("button", name="Leave this file out").click()
    expect(page.locator(".lp-finetune_controls")).not_to_contain_text("20.csv")
    assert page.evaluate(f"{CHANNEL}.plan.data.held_out_file") == ""


def test_someone_with_pairs_of_their_own_is_led_from_the_invitation_to_the_start(
    open_page: Callable[..., Page],
) -> None:
    page = open_page(width=390)
    page.click("#lp-finetune-own")
    expect(page.locator("#lp-finetune-source-file")).to_have_attribute("aria-selected", "true")
    expect(page.locator("#lp-finetune-panel-file .lp-drop").first).to_be_focused()
    page.set_input_files("#lp-finetune-file", pairs_file("id,one,two,points,other", 40))
    panel = page.locator("#lp-finetune-panel-file")
    expect(panel.locator(".lp-wrong:visible")).to_contain_text("not clear which columns")
    for role, column in {"first": "one", "second": "two", "score": "points"}.items():
        panel.locator(f"select[name={role}]").select_option(column)
    expect(panel).to_contain_text("40.csv: 40 pairs from 40 rows")
    expect(panel.locator(".lp-wrong:visible")).to_have_count(0)
    # Epochs that are typed count: the steps that stood there no longer do.
    page.evaluate(UNFOLD)
    page.fill("#lp-finetune-epochs", "2")
    expect(page.locator("#lp-finetune-steps")).to_have_value("0")
    expect(page.locator(".lp-start-box")).to_contain_text("4 steps, batches of 16 (2 epochs)")


def test_whoever_comes_back_without_an_address_finds_the_run_under_way(
    open_page: Callable[..., Page],
) -> None:
    page = open_page()
    begin(page, steps=100_000, evaluations=1000)
    wait_for(page, "training")
    name = read(page, "about.id")
    page.click(".lp-pages a >> text=Explore")
    page.wait_for_selector(".lp-controls")
    page.click(".lp-pages a >> text=Fine-tune")
    page.wait_for_function(f"window.LossPrism && {CHANNEL}.checked")
    wait_for(page, "training")
    assert read(page, "about.id") == name
    page.click("#lp-finetune-stop")
    wait_for(page, "stopped")


# ---- Several runs ----------------------------------------------------------------------------


def test_losses_are_put_beside_each_other(open_page: Callable[..., Page]) -> None:
    page = open_page()
    start = page.locator("#lp-finetune-start")
    chosen = page.locator(".lp-kept-name")
    expect(chosen).to_have_text(["CoSENT"])
    page.select_option("#lp-finetune-another", "info_nce")
    expect(start).to_have_text("Start 2 runs")
    expect(page.locator("#lp-finetune-loss")).to_have_value("info_nce")
    page.fill("#lp-finetune-seeds", "3")
    expect(start).to_have_text("Start 6 runs")
    expect(page.locator(".lp-start-box")).to_contain_text("2 losses × 3 seeds = 6 runs")
    # The same loss with another parameter is another loss; one chosen twice is trained once.
    page.select_option("#lp-finetune-another", "cosent")
    expect(start).to_have_text("Start 6 runs")
    plan(page, parameters={"scale": 40})
    expect(chosen).to_have_text(["CoSENT", "InfoNCE", "CoSENT · scale = 40"])
    expect(start).to_have_text("Start 9 runs")
    # Each comes back into the controls with its parameters, in its place.
    chosen.nth(1).click()
    expect(page.locator("#lp-finetune-loss")).to_have_value("info_nce")
    expect(chosen.nth(1)).to_have_attribute("aria-pressed", "true")
    chosen.nth(2).click()
    expect(page.locator(".lp-finetune_controls .lp-number[aria-label*=scale]")).to_have_value("40")
    page.get_by_role("button", name="Leave out CoSENT", exact=True).click()
    expect(chosen).to_have_text(["InfoNCE", "CoSENT · scale = 40"])
    page.get_by_role("button", name="Leave out CoSENT · scale = 40").click()
    expect(chosen).to_have_text(["InfoNCE"])
    expect(page.locator("#lp-finetune-loss")).to_have_value("info_nce")
    expect(start).to_have_text("Start 3 runs")


def test_two_losses_under_two_seeds_are_compared(open_page: Callable[..., Page]) -> None:
    page = open_page()
    plan(page, **{**TINY, "steps": 3})
    page.select_option("#lp-finetune-another", "cosine_mse")
    page.fill("#lp-finetune-seeds", "2")
    expect(page.locator("#lp-finetune-start")).to_have_text("Start 4 runs")
    page.click("#lp-finetune-start")
    page.wait_for_function(f"{CHANNEL}.shown.length === 4")
    names = page.evaluate(f"{CHANNEL}.shown")
    page.wait_for_function(f"{json.dumps(names)}.every((one) => {CHANNEL}.studio.trace(one)?.done)")
    final = page.get_by_role("table", name="Final figures")
    expect(final.locator("tbody tr")).to_have_count(2)
    expect(final.locator("tbody tr").first).to_contain_text("±")
    # Graded labels have no accuracy: its column is not there to be empty.
    expect(final.get_by_role("columnheader")).to_have_text(
        ["Loss", "Spearman", "Pearson", "Training loss, last step", "Seeds"]
    )
    tests = page.get_by_role("table", name="Paired test")
    line = tests.locator("tbody tr").first.locator("td")
    expect(line.nth(0)).to_have_text("Cosine regression (MSE) − CoSENT")
    expect(line.nth(1)).to_have_text("Spearman")
    sides = [
        [read_of(page, name, "about.summary.after.spearman") for name in names[at : at + 2]]
        for at in (0, 2)
    ]
    assert number(line.nth(2).inner_text()) == pytest.approx(
        np.mean(sides[1]) - np.mean(sides[0]), rel=6e-3
    )
    assert number(line.nth(3).inner_text()) == pytest.approx(ttest_rel(*sides).pvalue, rel=6e-2)
    # A bold line for each loss, the mean of its seeds, which are faint; and a row of the figure.
    legend = page.locator(".lp-chart-legend").first
    for said in ("CoSENT · mean of 2 seeds", "Cosine regression (MSE) · mean of 2 seeds"):
        expect(legend).to_contain_text(said)
    lines = page.locator("figure").first.locator("path")
    drawn = lines.evaluate_all(
        "all => all.map((one) => [one.getAttribute('stroke'), one.getAttribute('stroke-width')])"
    )
    bold = [stroke for stroke, width in drawn if width == "2"]
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
        f"{best} · mean of 2 seeds ended at a held-out Spearman of"
    )
    expect(verdict.locator("li").nth(1)).to_contain_text("paired t-test over 2 seeds gives p =")
    expect(page.locator("figure", has_text="no common unit").locator("h3")).to_have_text(
        "Training loss"
    )
    # Any of the runs can be looked at; each keeps its colour.
    colours = "all => all.map((one) => one.style.borderBottomColor)"
    looked = verdict.locator(".lp-looked")
    before = looked.evaluate_all(colours)
    looked.nth(3).click()
    expect(page.locator(".lp-finetune_run .lp-head h1")).to_have_text("Cosine regression (MSE)")
    assert page.evaluate(f"{CHANNEL}.shown[0]") == names[3]
    assert looked.evaluate_all(colours) == before
    looked.first.click()
    moved = page.get_by_role("table", name="Pairs that changed rank most")
    expect(moved.locator("tbody tr:visible")).to_have_count(8)


def test_what_losses_are_called_follows_the_language(
    open_page: Callable[..., Page], beside: str, tmp_path: Path
) -> None:
    page = open_page(f"#{beside}", locale="zh-CN")
    settled(page, "beside")
    english, chinese = (say(language, "loss.cosine_mse.title") for language in ("en", "zh"))
    for place in (".lp-verdict", ".lp-chart-legend", ".lp-finetune_runs table", ".lp-gains-figure"):
        expect(page.locator(place).first).to_contain_text(chinese)
    page.select_option("#lp-finetune-loss", "cosine_mse")
    expect(page.locator(".lp-kept-name")).to_have_text([chinese])
    expect(page.locator(".lp-start-box")).to_contain_text(chinese)
    assert english not in page.locator("body").inner_text()
    page.select_option("#lp-finetune-figure", "finetune.gains")
    drawn = taken(page, tmp_path, "SVG").read_text(encoding="utf-8")
    assert chinese in drawn
    assert english not in drawn


def test_the_experiment_of_the_source_stands_beside(open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.locator("summary", has_text="CoSENT experiment").click()
    row = page.locator("tr", has_text="BERT + CoSENT").first
    expect(row).to_contain_text("48.09")
    expect(row).to_contain_text("67.10")
    expect(page.locator("#lp-finetune-repeat")).to_be_enabled()


def test_the_experiment_of_the_source_says_how_long_it_will_take(
    open_page: Callable[..., Page], tmp_path: Path
) -> None:
    page = open_page()
    plan(page, encoder=save_bert(tmp_path), steps=500, batch_size=8)
    told = page.locator("#lp-finetune-repeat-time")
    page.locator("summary", has_text="CoSENT experiment").click()
    expect(told).to_have_text(re.compile(r"^About \d+ (s|min) for 6 runs of 500 steps"))
    page.click("#lp-language")
    expect(told).to_contain_text("6 次训练、每次 500 步")
    # Other work has no time yet.
    plan(page, batch_size=12)
    expect(told).not_to_contain_text("500")


def test_a_scene_of_explore_lends_its_loss_too(open_page: Callable[..., Page]) -> None:
    rows = tuple((f"a cat {i}", f"a dog {i}", str(i % 6)) for i in range(30))
    scene = Scenario(data=Data(source="table", rows=rows), parameters=(("scale", 35.0),))
    page = open_page()
    page.click("#lp-finetune-source-link")
    page.fill("#lp-finetune-link", scene.to_link())
    page.press("#lp-finetune-link", "Tab")
    take = page.locator("#lp-finetune-take-scene")
    expect(take).to_contain_text("CoSENT · scale = 35")
    take.click()
    expect(take).to_be_hidden()
    expect(page.locator(".lp-parameters .lp-number")).to_have_value("35")
    expect(page.locator(".lp-start-box")).to_contain_text("scale = 35")
    expect(page.locator("#lp-finetune-link")).to_have_value(scene.to_link())


def test_a_repetition_joins_the_table_of_the_source(
    open_page: Callable[..., Page], folder: Path
) -> None:
    names = []
    for loss, reached in (("binary_cross_entropy", (0.80, 0.82)), ("cosent", (0.85, 0.85))):
        for seed, spearman in enumerate(reached):
            plan = TrainingPlan(kind="cross", loss=loss, seed=seed, steps=4)
            run = made_run(folder, f"{loss}-{seed}", plan)
            figures = {"spearman": spearman, "pearson": 0.5, "accuracy": 0.9, "auc": 0.9}
            done = {"loss": 0.1, "steps_per_second": 1.0, "before": figures, "after": figures}
            run.write("summary.json", done)
            names.append(run.name)
    page = open_page(f"#{','.join(names)}")
    page.locator("summary", has_text="CoSENT experiment").click()
    here = page.locator(".lp-finetune_runs details tr.lp-lit")
    expect(here).to_have_count(6)  # two losses and their difference, by Spearman and by accuracy
    expect(here.nth(0)).to_contain_text("all-MiniLM-L6-v2 + CE")
    expect(here.nth(0)).to_contain_text("81.00 ± 1.41 here, on the data of this run (2 seeds)")
    expect(here.nth(1)).to_contain_text("85.00 ± 0.00")
    p = ttest_rel([0.85, 0.85], [0.80, 0.82]).pvalue
    expect(here.nth(2)).to_contain_text(f"+4.00 here (paired t-test over 2 seeds: p = {p:.2g})")
    # Of the source's models, too, what lies between the losses: by average 67.10 and 66.77.
    between = page.locator(".lp-finetune_runs details tr", has_text="CoSENT − CE").first
    expect(between).to_contain_text("+0.33")


# ---- What one takes away ---------------------------------------------------------------------


def taken(page: Page, folder: Path, name: str) -> Path:
    """What a press on the button gives. A browser asks before a page saves many."""
    take = page.locator(".lp-finetune_takeaway")
    with page.expect_download() as waiting:
        take.get_by_role("button", name=name, exact=True).click()
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def test_script_log_and_model_are_taken_away(
    open_page: Callable[..., Page], finished: str, tmp_path: Path
) -> None:
    page = open_page(f"#{finished}")
    script = taken(page, tmp_path, "train.py alone").read_text(encoding="utf-8")
    compile(script, "train.py", "exec")
    with zipfile.ZipFile(taken(page, tmp_path, "Script with its data (ZIP)")) as packed:
        inside = {name.split("/")[0] for name in packed.namelist()}
        assert packed.read("train.py").decode() == script
    needed = re.match(r'"""Needs (.*) beside it', script)[1].replace("/", "").split(", ")
    assert {"train.py", "requirements.txt", *needed} == inside
    assert "SentenceTransformerTrainer" in script
    log = json.loads(taken(page, tmp_path, "JSON").read_text(encoding="utf-8"))
    assert sum(record["kind"] == "step" for record in log["records"]) == TINY["steps"]
    assert taken(page, tmp_path, "CSV").read_text(encoding="utf-8-sig").count("\n") >= TINY["steps"]
    with zipfile.ZipFile(taken(page, tmp_path, "Folder as ZIP")) as packed:
        assert any(name.endswith("model.safetensors") for name in packed.namelist())


def test_figures_are_taken_away(
    open_page: Callable[..., Page], finished: str, tmp_path: Path
) -> None:
    page = open_page(f"#{finished}")
    which = page.locator("#lp-finetune-figure")
    expect(which).to_contain_text("Held-out Spearman before and after")
    expect(which).to_contain_text("The matrix of the probe batch")
    figures = which.locator("option").evaluate_all("all => all.map((one) => one.value)")
    kinds = {"finetune.chart.loss", "finetune.bands", "finetune.matrix", "finetune.gains"}
    assert kinds <= set(figures)
    for figure in kinds:
        which.select_option(figure)
        drawn = taken(page, tmp_path, "SVG").read_text(encoding="utf-8")
        assert "var(" not in drawn
        words = " ".join(ElementTree.fromstring(drawn).itertext())
        for said in ("CoSENT", "seed 0", "512 pairs learnt from", "Step 12", "= 20"):
            assert said in words, (figure, said)
    small, large = (taken(page, tmp_path, f"PNG {ratio}×").read_bytes() for ratio in (2, 4))
    widths = [int.from_bytes(png[16:20], "big") for png in (small, large)]
    assert small.startswith(b"\x89PNG")
    assert widths[1] == pytest.approx(2 * widths[0], abs=2)


# ---- When things go wrong --------------------------------------------------------------------


def test_an_impossible_combination_is_answered_by_a_sentence(
    open_page: Callable[..., Page],
) -> None:
    page = open_page()
    plan(page, encoder="all-MiniLM-L6-v2", kind="cross", loss="info_nce")
    said = page.locator(".lp-finetune_controls .lp-wrong", has_text="cross-encoder gives one score")
    expect(said).to_have_count(2)  # at the loss, and at the button
    page.click("#lp-finetune-start")
    expect(said).to_have_count(2)
    expect(page.locator("#lp-finetune-quick")).to_be_visible()
    # Which losses can, and why the others cannot.
    able = page.locator("#lp-finetune-loss optgroup:not([label^=Cannot]) option")
    assert "cosent" in able.evaluate_all("all => all.map((one) => one.value)")
    assert "info_nce" not in able.evaluate_all("all => all.map((one) => one.value)")
    # What was chosen is still chosen after a reload.
    page.reload()
    page.wait_for_function(f"window.LossPrism && {CHANNEL}.checked")
    expect(page.locator("#lp-finetune-loss")).to_have_value("info_nce")


def test_each_sentence_stands_where_it_can_be_put_right(open_page: Callable[..., Page]) -> None:
    page = open_page()
    wrong = page.locator(".lp-finetune_controls .lp-wrong:visible")
    encoder = page.locator("details", has=page.locator("#lp-finetune-encoder"))
    page.select_option("#lp-finetune-encoder", "other")
    expect(encoder.locator(".lp-wrong:visible")).to_contain_text("Name the model to start from")
    page.select_option("#lp-finetune-encoder", "scratch")
    expect(wrong).to_have_count(0)
    page.click("#lp-finetune-kind-cross")
    expect(encoder.locator(".lp-wrong:visible")).to_contain_text("cannot be a cross-encoder")
    page.locator("summary", has_text="How it is trained").click()
    page.fill("#lp-finetune-batch_size", "1")
    expect(page.locator(".lp-finetune_controls")).to_contain_text("Accepted: 2 to 4096")
    page.locator("#lp-finetune-batch_size").blur()
    expect(page.locator("#lp-finetune-batch_size")).to_have_value("16")


def test_data_that_cannot_be_used_is_named(open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.click("#lp-finetune-source-file")
    data = page.locator("details", has=page.locator("#lp-finetune-source-file"))
    wrong = data.locator(".lp-wrong:visible")
    expect(wrong).to_have_text("Choose a file with pairs and scores first.")
    rows = "sentence1,sentence2,score\nA,B,1\nC,D,0\n"
    page.set_input_files(
        "#lp-finetune-file",
        {"name": "two.csv", "mimeType": "text/csv", "buffer": rows.encode()},
    )
    expect(wrong).to_contain_text("at least 8 are needed")
    rows += "".join(f"This is {i},That is {i},{i % 3}\n" for i in range(40))
    page.set_input_files(
        "#lp-finetune-file",
        {"name": "more.csv", "mimeType": "text/csv", "buffer": rows.encode()},
    )
    expect(wrong).to_have_count(0)
    expect(page.locator(".lp-finetune_controls")).to_contain_text("34 pairs to learn from")
    # Another file of the computer cannot be named in its place.
    answer = page.evaluate(
        f"{CHANNEL}.studio.server.check({{ plan: {{ ...{CHANNEL}.plan, "
        f"data: {{ ...{CHANNEL}.plan.data, file: '/etc/passwd' }} }} }})"
    )
    assert answer["error"]["key"] == "problem.scenario_entry"


def test_a_folder_that_is_no_encoder_is_named_where_it_was_typed(
    open_page: Callable[..., Page], tmp_path: Path
) -> None:
    page = open_page()
    encoder = page.locator("details", has=page.locator("#lp-finetune-encoder"))
    page.select_option("#lp-finetune-encoder", "other")
    page.fill("#lp-finetune-encoder-name", str(tmp_path))
    page.keyboard.press("Tab")
    expect(encoder.locator(".lp-wrong:visible")).to_contain_text("holds no model")
    page.click("#lp-finetune-start")
    expect(page.locator(".lp-start-box .lp-wrong:visible")).to_contain_text("holds no model")
    expect(page.locator("#lp-finetune-quick")).to_be_visible()
    # One that looks like an encoder is found out when it is loaded.
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    (tmp_path / "model.safetensors").write_bytes(b"no weights")
    begin(page, encoder=str(tmp_path))
    wait_for(page, "failed")
    told = page.locator(".lp-finetune_run .lp-problem:visible")
    expect(told).to_contain_text("could not be loaded as a sentence encoder")
    page.click("#lp-language")
    expect(told).to_contain_text(say("zh", "model.bi"))


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of a random transformer of two layers."""
    return save_bert(tmp_path_factory.mktemp("bert"))


@pytest.mark.parametrize(
    ("field", "value", "written"),
    [("layers", "1", "Only the last 1 layers move"), ("lora", "2", "LoraConfig(r=2")],
)
def test_part_of_a_transformer_is_trained(
    open_page: Callable[..., Page], bert: str, tmp_path: Path, field: str, value: str, written: str
) -> None:
    page = open_page()
    plan(page, **{**TINY, "encoder": bert, "learning_rate": 0.01})
    page.evaluate(UNFOLD)
    if field == "layers":
        page.fill("#lp-finetune-layers", "0")
        page.click("#lp-finetune-start")
        wait_for(page, "failed")
        told = page.locator(".lp-finetune_run .lp-problem:visible")
        expect(told).to_contain_text("nothing in this encoder would learn")
    page.fill(f"#lp-finetune-{field}", value)
    page.click("#lp-finetune-start")
    wait_for(page, "finished")
    assert read(page, f"about.plan.{field}") == int(value)
    assert written in taken(page, tmp_path, "train.py alone").read_text(encoding="utf-8")
    # What is taken away stands without what it was trained with.
    with zipfile.ZipFile(taken(page, tmp_path, "Folder as ZIP")) as packed:
        packed.extractall(tmp_path / "model")
    (config,) = (tmp_path / "model").rglob("modules.json")
    before, after = (
        load_file(Path(where) / "model.safetensors") for where in (bert, config.parent)
    )
    moved = {name for name in before if not torch.equal(before[name], after[name])}
    assert before.keys() == after.keys()
    assert moved
    assert not any("embeddings" in name for name in moved)
    assert field == "lora" or all(".layer.1." in name or "pooler" in name for name in moved)


@contextmanager
def serving(folder: Path, name: str, loss: str) -> Iterator[Server]:
    """A server with a loss of the user's own."""
    (folder / f"{name}.py").write_text(loss)
    own = ("--loss", f"{folder / name}.py:{name}")
    with Server(folder, *own, "--runs", str(folder / "runs")) as running:
        yield running


@pytest.fixture
def unsound(tmp_path: Path) -> Iterator[Server]:
    """A server with a loss that is the logarithm of what it makes smaller."""
    loss = "def shaky(scores, labels):\n    return scores.mean().log() + 0 * labels.mean()\n"
    with serving(tmp_path, "shaky", loss) as running:
        yield running


def test_a_loss_that_stops_being_a_number_names_the_step_and_the_pairs(
    browser: Browser, unsound: Server
) -> None:
    with visitor(browser, unsound) as page:
        begin(page, loss="shaky", steps=500)
        wait_for(page, "failed")
        done = read(page, "steps.length")
        kept = read(page, "about.problem.values.kept")
        assert 0 < done == kept
        told = page.locator(".lp-finetune_run .lp-problem:visible")
        expect(told).to_contain_text(f"stopped being a number at step {done + 1}.")
        expect(told).to_contain_text("The batch held: “")
        expect(told).to_contain_text("and 13 more")
        expect(told).to_contain_text(f"The model kept is that of step {kept}")


@pytest.fixture
def greedy(tmp_path: Path) -> Iterator[Server]:
    """A server with a loss that no machine has the memory for with 7 to 16 pairs (the probe batch
    has more)."""
    loss = (
        "import torch\n\n\n"
        "def greedy(scores, labels):\n"
        "    torch.empty(2**60 if 6 < len(scores) <= 16 else 1, dtype=torch.uint8)\n"
        "    return (scores - labels).square().mean()\n"
    )
    with serving(tmp_path, "greedy", loss) as running:
        yield running


def test_out_of_memory_names_the_batch_that_fits_and_that_one_trains(
    browser: Browser, greedy: Server
) -> None:
    with visitor(browser, greedy) as page:
        begin(page, loss="greedy", batch_size=16)
        wait_for(page, "failed")
        told = page.locator(".lp-finetune_run .lp-problem:visible")
        expect(told).to_contain_text("A batch of 16 does not fit into memory.")
        expect(told).to_contain_text("A batch of 4 does;")
        # What was chosen is still there, and the batch that was named is enough.
        assert page.evaluate(f"{CHANNEL}.plan.loss") == "greedy"
        page.evaluate(UNFOLD)
        expect(page.locator("#lp-finetune-batch_size")).to_have_value("16")
        page.fill("#lp-finetune-batch_size", "4")
        page.click("#lp-finetune-start")
        wait_for(page, "finished")


# Runs in their own small file system, which only this server sees: no right of an administrator's
# is needed, but a system that lets its users do so.
SMALL_DISK = 'mount -t tmpfs -o size=2m runs {folder} && exec "$@"'


@pytest.fixture
def cramped(tmp_path: Path) -> Iterator[Server]:
    """A server whose runs are on a disk of 2 MB."""
    runs = tmp_path / "runs"
    runs.mkdir()
    inside = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c")
    inside += (SMALL_DISK.format(folder=runs), "sh")
    try:
        subprocess.run([*inside, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no small file system can be made here: {error}")
    with Server(tmp_path, "--runs", str(runs), inside=inside) as running:
        yield running


def test_a_disk_that_is_full_is_said_and_the_run_can_go_on(
    browser: Browser, cramped: Server
) -> None:
    with visitor(browser, cramped) as page:
        begin(page, steps=10_000, evaluations=1000)
        wait_for(page, "failed", "interrupted")
        done = read(page, "steps.length")
        assert done > 100
        told = page.locator(".lp-finetune_run .lp-problem:visible")
        expect(told).to_contain_text("The disk is full (0 MB free) at ")
        expect(told).to_contain_text("make room, then resume")
        expect(page.locator("#lp-finetune-resume")).to_be_visible()
        # Nor can another run be kept there.
        page.click("#lp-finetune-start")
        wrong = page.locator(".lp-start-box .lp-wrong:visible")
        expect(wrong).to_contain_text("No space left on device")
        page.click("#lp-finetune-delete")
        page.click("#lp-finetune-delete")
        expect(page.locator("#lp-finetune-quick")).to_be_visible()
        # The weights of this one are larger than the disk.
        begin(page, dimension=4096)
        wait_for(page, "failed", "interrupted")
        expect(told).to_contain_text("The disk is full")


def test_a_file_read_late_never_takes_the_place_of_a_newer_one(
    open_page: Callable[..., Page],
) -> None:
    page = open_page()
    held: list[Route] = []

    def hands_in(asked: Request) -> bool:
        return "hand_in" in (asked.post_data or "")

    def hold_the_first(route: Route) -> None:
        if hands_in(route.request) and not held:
            held.append(route)
        else:
            route.continue_()

    def choose(name: str, count: int) -> None:
        rows = "".join(f"This is {i},That is {i},{i % 3}\n" for i in range(count))
        content = f"sentence1,sentence2,score\n{rows}".encode()
        file = {"name": name, "mimeType": "text/csv", "buffer": content}
        with page.expect_request(hands_in):
            page.set_input_files("#lp-finetune-file", file)

    page.route(ASKED, hold_the_first)
    page.click("#lp-finetune-source-file")
    choose("old.csv", 30)
    choose("new.csv", 40)
    page.wait_for_function(f"{CHANNEL}.plan.data.name === 'new.csv'")
    with page.expect_response(lambda answer: answer.request == held[0].request):
        held[0].continue_()
    page.wait_for_function(f"{CHANNEL}.checked?.train === 32")
    assert page.evaluate(f"{CHANNEL}.plan.data.name") == "new.csv"


def test_a_run_that_collapsed_and_failed_says_so(
    open_page: Callable[..., Page], folder: Path
) -> None:
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

    page = open_page(f"#{run.name}")
    expect(page.locator(".lp-state")).to_have_text("Failed")
    told = page.locator(".lp-finetune_run .lp-problem:visible")
    expect(told).to_contain_text("stopped being a number at step 31")
    expect(told).to_contain_text("“<b>a</b> | b” and 15 more")
    alarmed = page.locator(".lp-alarm")
    expect(alarmed).to_contain_text("within 0.01 of each other since step 20")
    expect(alarmed).to_contain_text("loss sits at 1.386, and its collapse value is 1.386")
    page.wait_for_function(f"{PROBE}.picture")
    assert read(page, "steps") == list(range(1, 41))
    assert read(page, "evaluations.map((one) => one.step)") == [0, 20, 40]
    expect(page.locator("#lp-finetune-zip")).to_be_disabled()
    expect(page.locator("#lp-finetune-resume")).to_be_visible()


def test_an_address_of_no_run(open_page: Callable[..., Page]) -> None:
    page = open_page("#20200101-000000-cosent-nothing")
    said = page.locator(".lp-wrong:visible")
    expect(said).to_have_text("There is no run called “20200101-000000-cosent-nothing”.")
    expect(page.locator("#lp-finetune-quick")).to_be_visible()


# ---- The looks -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def axe_script() -> str:
    return axe.script()


@pytest.fixture(scope="module")
def beside(browser: Browser, studio: Server) -> str:
    """The names of two short runs that differ in their loss, as they stand in an address."""
    with visitor(browser, studio) as page:
        page.select_option("#lp-finetune-another", "cosine_mse")
        begin(page, steps=3)
        page.wait_for_function(f"{CHANNEL}.shown.length === 2")
        names = page.evaluate(f"{CHANNEL}.shown")
        ended = f"{json.dumps(names)}.every((one) => {CHANNEL}.studio.trace(one)?.done)"
        page.wait_for_function(ended)
        return ",".join(names)


def place_of(request: pytest.FixtureRequest, state: str) -> str:
    return "" if state == "empty" else f"#{request.getfixturevalue(state)}"


def settled(page: Page, state: str) -> None:
    """What the state has to show is there, unfolded."""
    if state != "empty":
        page.wait_for_function(f"{PROBE}.picture")
        expect(page.locator(".lp-gains-figure")).to_be_visible()
        expect(page.locator(".lp-finetune_run .lp-remarks li").first).to_be_visible()
    page.evaluate(UNFOLD)


STATES = pytest.mark.parametrize("state", ["empty", "finished", "beside"])


@STATES
@pytest.mark.parametrize("locale", ["en-US", "zh-CN"])
def test_nothing_is_wider_than_the_page(
    open_page: Callable[..., Page], request: pytest.FixtureRequest, state: str, locale: str
) -> None:
    page = open_page(place_of(request, state), 1440, locale)
    settled(page, state)
    for width in (1440, 1100, 760, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


# The words of each figure that stand upon each other, and the numbers broken over two lines.
UNREADABLE = """() => {
  const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
  const figures = Array.from(document.querySelectorAll(".lp svg[role=img]"), (figure) => {
    const words = Array.from(figure.querySelectorAll("text"),
      (one) => [one.textContent, one.getBoundingClientRect()]);
    return words.flatMap(([one, a], i) => words.slice(i + 1)
      .filter(([, b]) => meet(a, b)).map(([other]) => `${one} on ${other}`));
  });
  const broken = Array.from(document.querySelectorAll(".lp td")).filter((cell) => {
    const range = document.createRange();
    range.selectNodeContents(cell);
    return /^[-−+±.\\d\\s]+$/.test(cell.textContent) && range.getClientRects().length > 1;
  });
  return [...figures.flat(), ...broken.map((cell) => cell.textContent)];
}"""


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("locale", ["en-US", "zh-CN"])
def test_no_word_stands_on_another_and_no_number_is_broken(
    open_page: Callable[..., Page], beside: str, width: int, locale: str
) -> None:
    page = open_page(f"#{beside}", width, locale)
    settled(page, "beside")
    assert page.locator(".lp-printed td").count() > 20
    assert page.evaluate(UNREADABLE) == []


@STATES
@pytest.mark.parametrize(
    ("width", "locale", "theme"), [(1440, "en-US", "light"), (390, "zh-CN", "dark")]
)
def test_axe_finds_nothing_serious(
    open_page: Callable[..., Page],
    request: pytest.FixtureRequest,
    axe_script: str,
    state: str,
    width: int,
    locale: str,
    theme: str,
) -> None:
    page = open_page(f"?__theme={theme}{place_of(request, state)}", width, locale)
    settled(page, state)
    if state != "empty":
        page.locator(".lp-chart").first.get_by_role("button").first.click()
    assert axe.violations(page, axe_script) == []


def test_axe_finds_nothing_serious_while_it_trains(
    open_page: Callable[..., Page], axe_script: str
) -> None:
    page = open_page("?__theme=dark")
    begin(page, steps=100_000, evaluations=1000)
    page.wait_for_function(f"{TRACE}?.evaluations.length > 2")
    assert axe.violations(page, axe_script) == []
    page.click("#lp-finetune-stop")
    wait_for(page, "stopped")


@STATES
def test_the_keyboard_reaches_every_control(
    open_page: Callable[..., Page], request: pytest.FixtureRequest, state: str
) -> None:
    page = open_page(place_of(request, state))
    settled(page, state)
    count, missed, unseen = walk_by_keyboard(page)
    assert count > 30
    assert missed == []
    assert unseen == []


def test_it_is_presented(open_page: Callable[..., Page], finished: str) -> None:
    page = open_page(f"#{finished}")
    settled(page, "finished")
    page.click("#lp-present")
    expect(page.locator("#lp-side")).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    # The charts are still read where the pointer is, though everything is enlarged.
    chart = page.locator(".lp-chart svg[role=img]").first
    box = chart.bounding_box()
    page.mouse.move(box["x"] + box["width"] - 18, box["y"] + 60)
    expect(page.locator(".lp-chart-step").first).to_have_text(f"Step {TINY['steps']}")


def test_everything_that_can_be_used_has_a_name(
    open_page: Callable[..., Page], finished: str
) -> None:
    page = open_page(f"#{finished}")
    page.wait_for_function(f"{PROBE}.picture")
    nameless = page.evaluate(
        """() => Array.from(document.querySelectorAll(
            ".lp button, .lp input, .lp select, .lp [role=img]"))
          .filter((one) => one.offsetParent && !one.labels?.length && !one.textContent.trim()
            && !one.ariaLabel && !one.getAttribute("aria-label") && !one.title)
          .map((one) => one.outerHTML.slice(0, 120))"""
    )
    assert nameless == []
