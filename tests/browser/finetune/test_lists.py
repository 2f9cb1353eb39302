"""Held-out lists on the page: how their candidates are ordered, and which were left out."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from explorer.lab.training.data import Corpus
from explorer.lab.training.runs import Runs
from tests.unit.lab.training.test_in_lists import PLAN, drawn, rows

pytestmark = pytest.mark.browser


def test_lists_before_and_after(open_page: Callable[..., Page], folder: Path) -> None:
    from explorer.lab.training.session import train

    pairs = drawn()
    runs = Runs(folder / "runs", device="cpu")
    run = runs.prepare(PLAN, Corpus(pairs[:64], (*pairs[64:], *rows((4, 4, 4)))))
    run.take_ticket(os.getpid())
    train(run)
    found = run.read("summary.json")["after"]["lists"]
    page = open_page(f"#{run.name}")
    for title, key in (("NDCG@10", "ndcg_at_10"), ("MRR@10", "mrr_at_10")):
        box = page.locator(".lp-gain-box", has_text=f"{title} of lists (lists: {found['count']})")
        shown = box.locator("strong").inner_text()
        assert float(shown) == pytest.approx(found[key], abs=6e-4)
    told = f"left out: {found['alike']} with equal labels throughout, {found['without']} with no"
    expect(page.locator(".lp-lists-about")).to_contain_text(told)
