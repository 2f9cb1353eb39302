"""One run: started, watched, steered, found again."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Page, expect

from lossprism.explorer.lab.training.plan import TrainingPlan
from lossprism.explorer.locale import say
from tests.browser import axe
from tests.browser.conftest import PATIENCE_MS
from tests.browser.finetune.steering import (
    ASKED,
    PAGE,
    PROBE,
    TINY,
    TRACE,
    UNFOLD,
    begin,
    is_short,
    led,
    made_run,
    plan,
    read,
    wait_for,
)
from tests.browser.serving import Server
from tests.sentences import wording

pytestmark = pytest.mark.browser


def test_the_empty_page_invites_and_so_does_an_address_of_no_run(finetune: Page) -> None:
    page = finetune
    expect(page.locator("#lp-finetune-quick")).to_be_visible()
    page.evaluate("location.hash = '20200101-000000-cosent-nothing'")
    message = page.locator(".lp-wrong:visible")
    expect(message).to_have_text(
        wording("problem.training_no_run", name="20200101-000000-cosent-nothing")
    )
    expect(page.locator("#lp-finetune-quick")).to_be_visible()
    expect(page.locator(".lp-charts").first).to_be_hidden()
    expect(page.locator("#lp-probe")).to_be_hidden()
    expect(page.locator("nav a[aria-current=page]")).to_have_text("Fine-tune")
    expect(page.locator(".lp-finetune_controls")).to_contain_text(
        wording("finetune.found", train=512)
    )
    # Pairs of what it would learn from, the best first.
    labels = page.locator(".lp-sample tbody th").all_inner_texts()
    assert labels == sorted(labels, reverse=True)
    assert len(set(labels)) == 3


def trials(server: Server) -> list[psutil.Process]:
    """The processes in which this server tries steps now; those of others are none of ours."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):  # ended, or not ours
            own = process.environ().get("LOSSPRISM_CACHE") == str(server.cache)
            if own and "--trial" in process.cmdline():
                found.append(process)
    return found


def test_the_time_is_shown_before_the_start_and_never_blocks_it(
    open_page: Callable[..., Page], training_server: Server
) -> None:
    page = open_page(timed=True)
    plan(page, **{**TINY, "steps": 1000})
    element = page.locator("#lp-finetune-time")
    expect(element).to_have_text(wording("finetune.takes", steps=1000))
    page.evaluate(UNFOLD)
    page.fill("#lp-finetune-seeds", "3")
    expect(element).to_have_text(wording("finetune.takes_many", count=3, steps=1000))
    # Another count of steps needs no other trial; other work does, and a start ends that.
    plan(page, steps=2)
    expect(element).to_have_text(wording("finetune.takes_many", count=3, steps=2))
    page.fill("#lp-finetune-seeds", "1")
    plan(page, batch_size=24)
    expect(element).to_contain_text(wording("finetune.measuring"))
    end = time.monotonic() + PATIENCE_MS / 1000
    while not (trying := trials(training_server)):
        assert time.monotonic() < end
        page.wait_for_timeout(50)
    page.click("#lp-finetune-start")
    wait_for(page, "training", "saving", "finished")
    assert not any(process.is_running() for process in trying)


def test_one_click_shows_something(finetune: Page) -> None:
    page = finetune
    page.click("#lp-finetune-quick")
    wait_for(page, "finished")
    remark = page.locator(".lp-finetune_run .lp-remark")
    expect(remark).to_contain_text("held-out pairs, Spearman rose from")
    expect(page.locator(".lp-finetune_run .lp-headline .katex")).to_be_visible()
    before, after = (read(page, f"about.summary.{when}.spearman") for when in ("before", "after"))
    assert f"from {before:.3f} to {after:.3f}" in remark.inner_text()
    expect(remark).to_have_text(re.compile(r"\+0\.\d+ to \+0\.\d+ \(\d+%\)"))
    # What it trained stands in the controls, so that the next run compares with it.
    mine, its = page.evaluate(f"{PAGE}.plan"), read(page, "about.plan")
    for entry in ("encoder", "loss", "steps", "batch_size", "learning_rate", "evaluations"):
        assert mine[entry] == its[entry], entry
    expect(page.locator("#lp-finetune-encoder")).to_have_value("scratch")
    expect(page.locator(".lp-start-box")).to_contain_text(
        wording("finetune.steps_of", steps=120, batch=32)
    )
    page.click("#lp-next-run > summary")
    # Another kind of encoder does not inherit a learning rate that would wreck it.
    page.select_option("#lp-finetune-encoder", "embedded")
    assert page.evaluate(f"{PAGE}.plan.learning_rate") == 0
    # The settings of a run can be taken over, to be changed.
    page.click("#lp-finetune-reuse")
    expect(page.locator("#lp-finetune-encoder")).to_have_value("scratch")
    assert page.evaluate(f"{PAGE}.plan.learning_rate") == its["learning_rate"]


def test_loading_names_what_is_loaded_and_its_clock_runs(finetune: Page, folder: Path) -> None:
    loading = {"part": "libraries", "began": time.time() - 75}
    process = {"process": os.getpid(), "born": psutil.Process().create_time()}
    run = made_run(folder, "loading", TrainingPlan(), state="loading", **loading, **process)
    page = led(finetune, run.name)
    expect(page.locator(".lp-state")).to_have_text(wording("finetune.loading.libraries"))
    element = page.locator(".lp-progress .lp-note")
    expect(element).to_have_text(re.compile(r"^[1-9]\d*:\d\d$"))
    early = element.inner_text()
    expect(element).not_to_have_text(early)
    run.set_stage("loading", part="encoder")
    expect(page.locator(".lp-state")).to_have_text(wording("finetune.loading.encoder"))
    expect(element).not_to_have_text(re.compile("^0:"))
    run.set_stage("finished")


def test_a_run_grows_outlives_its_page_and_is_found_again_steered_and_deleted(
    open_page: Callable[..., Page], axe_script: str
) -> None:
    page = open_page()
    begin(page, steps=100_000, evaluations=1000)
    wait_for(page, "training")
    name = read(page, "about.id")
    assert page.url.endswith(f"#{name}")
    page.wait_for_function(f"{TRACE}.evaluations.length > 2")
    points = "document.querySelector('.lp-chart .lp-plot').data?.at(-1).x.length"
    page.wait_for_function(points)
    short, early = page.evaluate(points), read(page, "steps.length")
    page.wait_for_function(f"{TRACE}.steps.length > {early} + 20")
    page.wait_for_function(f"{points} > {short}")
    expect(page.locator(".lp-progress")).to_contain_text("left")
    page.wait_for_function(f"{PROBE}.picture")
    for _ in ("en", "zh"):
        expect(page.locator(".lp-finetune_run .lp-remark")).not_to_be_empty()
        is_short(page)
        page.click("#lp-language")
    early = read(page, "steps.length")
    page.close()
    # Whoever comes back without an address finds the run under way.
    again = open_page("?__theme=dark", after=page)
    wait_for(again, "training")
    assert read(again, "about.id") == name
    again.wait_for_function(f"{TRACE}.steps.length > {early}")
    assert read(again, "steps")[0] == 1
    again.click("#lp-finetune-pause")
    wait_for(again, "paused")
    assert axe.violations(again, axe_script) == []
    held = read(again, "steps.length")
    for _ in range(3):  # it asks on, and there is no more
        with again.expect_response(ASKED):
            pass
    assert read(again, "steps.length") == held
    # Someone else finds it in the list, and their run waits for its turn.
    other = open_page()
    row = other.locator(".lp-finetune_runs tr.lp-pickable").first
    expect(row).to_contain_text("Paused")
    begin(other, steps=2)
    state = other.locator(".lp-state")
    expect(state).to_have_text(wording("finetune.queue", count=1))
    again.click("#lp-finetune-resume")
    wait_for(again, "training")
    expect(state).to_have_text(wording("finetune.queue_for", count=1))
    other.click("#lp-finetune-stop")
    wait_for(other, "stopped")
    again.wait_for_function(f"{TRACE}.steps.length > {held}")
    again.click("#lp-finetune-stop")
    wait_for(again, "stopped")
    expect(again.locator(".lp-gains")).to_contain_text("Held-out Spearman")
    done = read(again, "steps")
    assert done == list(range(1, len(done) + 1))
    assert read(again, "about.summary.kept_step") == done[-1] < 100_000
    # The next run stands folded below it.
    is_short(again)
    next_run = again.locator("#lp-next-run")
    expect(next_run.locator("#lp-finetune-loss")).to_be_hidden()
    next_run.locator("> summary").click()
    expect(next_run.locator("#lp-finetune-loss")).to_be_visible()
    next_run.get_by_text(say("en", "finetune.more_settings")).click()
    expect(next_run.locator("#lp-finetune-batch_size")).to_be_visible()
    # Deleting is asked for twice.
    again.click("#lp-finetune-delete")
    expect(again.locator("#lp-finetune-delete")).to_have_text(wording("finetune.surely"))
    again.click("#lp-finetune-delete")
    expect(again.locator("#lp-finetune-quick")).to_be_visible()
