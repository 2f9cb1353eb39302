"""Pairs on which label and encoder disagree: judged on the page, and taken away corrected."""

from __future__ import annotations

import csv

import pytest
from playwright.sync_api import Page, expect

from lossprism.explorer.lab.training.run_folder import RunFolder
from lossprism.explorer.locale import say
from tests.browser.reading import PAGE, redrawn, unfold
from tests.browser.serving import Server
from tests.sentences import wording

pytestmark = pytest.mark.browser

PART = "#main-terms section"
FINETUNE = "window.lossprism.page('finetune')"


def rows_of(page: Page, name: str) -> list[dict[str, str]]:
    with page.expect_download() as waiting:
        page.locator(PART).get_by_role("button", name=name).click()
    with open(waiting.value.path(), encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_a_pair_is_relabelled_or_left_out_where_it_is_judged(page: Page) -> None:
    part = page.locator(PART)
    expect(part).to_contain_text(wording("ui.suspects_expected"))
    first = part.locator("tbody tr:visible").first
    words = first.locator(".lp-two span")
    expect(words.first).to_contain_text("Two children are building a sandcastle on the beach.")
    count = page.evaluate(f"{PAGE}.batch.labels.length")
    with redrawn(page):
        first.get_by_role("button", name="Use").click()
    expect(part).to_contain_text(wording("ui.corrections", count=1))
    with redrawn(page):
        part.locator("tbody tr:visible").first.get_by_role(
            "button", name=say("en", "ui.correct_out")
        ).click()
    assert page.evaluate(f"{PAGE}.batch.labels.length") == count - 1
    changed = rows_of(page, wording("ui.take_corrections"))
    assert [bool(row["corrected"]) for row in changed] == [True, False]
    now = rows_of(page, say("en", "ui.take_corrected"))
    assert len(now) == count - 1
    labels = {(row["sentence1"], row["sentence2"]): float(row["score"]) for row in now}
    relabelled = changed[0]
    pair = (relabelled["sentence1"], relabelled["sentence2"])
    assert labels[pair] == float(relabelled["corrected"]) != float(relabelled["score"])
    # The link of the scenario carries it; another source does not.
    page.wait_for_function(f"!{PAGE}.linking")
    page.reload()
    page.wait_for_function(f"window.lossprism && {PAGE}?.batch?.labels.length === {count - 1}")
    with redrawn(page):
        page.locator(PART).get_by_role("button", name="Undo").first.click()
    expect(page.locator(PART)).to_contain_text(wording("ui.corrections", count=1))
    with redrawn(page):
        page.evaluate(f"{PAGE}.set({{data: {{source: 'random'}}}})")
    assert page.evaluate(f"{PAGE}.scenario.data.corrections") == []


def test_another_model_is_called(page: Page) -> None:
    part = page.locator(PART)
    expect(part.get_by_role("columnheader", name=say("en", "ui.second_opinion"))).to_be_hidden()
    page.fill("#lp-second-model", "no/such/model")
    page.click("#lp-second-ask")
    expect(page.locator(".lp-problem:visible")).to_contain_text("no/such/model")
    page.fill("#lp-second-model", "all-MiniLM-L6-v2")
    page.click("#lp-second-ask")
    expect(part.get_by_role("columnheader", name=say("en", "ui.second_opinion"))).to_be_visible()
    line = part.locator("tbody tr:visible").first.locator("td")
    expect(line.nth(3)).to_have_text(line.nth(2).inner_text())  # the same model says the same


def test_trials_are_queued_by_one_click(page: Page, server: Server) -> None:
    unfold(page, "sweep.title")
    button = page.locator("#lp-sweep-trials")
    expect(button).to_have_text("Train at scale 5 · 10 · 20 · 40 · 80")
    expect(page.locator("#main-sweep")).to_contain_text(
        wording("sweep.try_about", count=15, values=5)
    )
    button.click()
    page.wait_for_url("**/finetune#*")
    page.wait_for_function(f"window.lossprism && {FINETUNE}.shown.length === 15")
    page.wait_for_function(f"{FINETUNE}.shown.every((name) => {FINETUNE}.trace(name)?.about)")
    for state in (server.cache.parent / "data").rglob("state.json"):
        RunFolder(state.parent).end_process()  # how runs train and stop is shown elsewhere
    scales = page.evaluate(
        f"{FINETUNE}.shown.map((name) => {FINETUNE}.trace(name).about.plan.parameters.scale)"
    )
    assert sorted(set(scales)) == [5, 10, 20, 40, 80]
    tabs = page.locator(".lp-looked")
    expect(tabs.first).to_have_text("CoSENT · scale = 5 · seed 0")
