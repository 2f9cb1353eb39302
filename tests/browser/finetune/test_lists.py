"""Held-out lists on the page: how their candidates are ordered, and which were left out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from lossprism.explorer.lab.training.held_out_list_metrics import list_figures
from lossprism.explorer.lab.training.plan import SCRATCH, TrainingPlan
from lossprism.explorer.lab.training.run_json_types import Measured
from lossprism.losses.labels import LabelRules
from tests.browser.finetune.steering import (
    PAGE,
    TINY,
    begin,
    led,
    made_run,
    plan,
    read,
    wait_for,
)
from tests.sentences import wording
from tests.unit.lab.training.conftest import SUMMARY
from tests.unit.lab.training.test_held_out_list_metrics import drawn, rows

pytestmark = pytest.mark.browser


def test_lists_before_and_after(finetune: Page, folder: Path) -> None:
    plan = TrainingPlan(encoder=SCRATCH, steps=4)
    pairs = (*drawn()[:32], *rows((4, 4, 4), (0, 0, 1)))
    scores = np.random.default_rng(0).normal(size=len(pairs))
    found = list_figures(pairs, scores, LabelRules(3.0, (0.0, 5.0)))
    assert found.alike == found.without == 1
    figures = Measured(spearman=0.5, pearson=0.5, lists=found)
    run = made_run(folder, "lists", plan)
    run.write("summary.json", replace(SUMMARY, before=figures, after=figures))
    led(finetune, run.name)
    for title, key in (("NDCG@10", "ndcg_at_10"), ("MRR@10", "mrr_at_10")):
        box = finetune.locator(".lp-gain-box", has_text=f"{title} of lists (lists: {found.count})")
        shown = box.locator("strong").inner_text()
        assert float(shown) == pytest.approx(getattr(found, key), abs=6e-4)
    sentence = wording("finetune.lists_about", count=found.count, alike=1, without=1)
    expect(finetune.locator(".lp-lists-about")).to_contain_text(sentence)


def test_a_run_learns_from_lists_with_the_teacher_that_was_chosen(finetune: Page) -> None:
    page = finetune
    rows = [
        f"what is {q}?,answer {q} {k},{(q + k) % 3},{q - 2 * k}\n"
        for q in range(24)
        for k in range(3)
    ]
    content = f"query,passage,score,reranker\n{''.join(rows)}".encode()
    page.click("#lp-finetune-source-file")
    file = {"name": "lists.csv", "mimeType": "text/csv", "buffer": content}
    page.set_input_files("#lp-finetune-file", file)
    teacher = page.locator(".lp-finetune_controls select[name=teacher]")
    expect(teacher).to_have_value("none")
    plan(page, **TINY, loss="distill_kl")
    refused = page.locator(
        ".lp-finetune_controls .lp-wrong", has_text=wording("problem.training_needs_teacher")
    ).first
    expect(refused).to_be_attached()
    teacher.select_option("reranker")
    page.wait_for_function(f"{PAGE}.checked?.form === 'lists' && !{PAGE}.checked.refused")
    lists = page.evaluate(f"{PAGE}.checked.examples")
    assert 15 < lists < 24
    note = page.locator("#lp-finetune-rows")
    expect(note).to_contain_text(wording("finetune.rows.lists", count=lists))
    begin(page, steps=3, batch_size=8, loss="distill_kl")
    wait_for(page, "finished")
    expect(
        page.locator(".lp-gain-box", has_text=wording("finetune.list_ndcg_at_10"))
    ).to_be_visible()
    assert read(page, "about.summary.examples") == {"form": "lists", "count": lists}
