"""What one takes away: script, log, model and figures."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
import torch
from playwright.sync_api import Page, expect
from safetensors.torch import load_file

from tests.browser.finetune.steering import TINY, UNFOLD, plan, read, taken, wait_for
from tests.sentences import wording

pytestmark = pytest.mark.browser


def test_script_log_model_and_figures_are_taken_away(
    open_page: Callable[..., Page], finished: str, tmp_path: Path
) -> None:
    page = open_page(f"#{finished}")
    script = taken(page, tmp_path, "train.py alone").read_text(encoding="utf-8")
    compile(script, "train.py", "exec")
    with zipfile.ZipFile(taken(page, tmp_path, wording("finetune.take.kit"))) as packed:
        inside = {name.split("/")[0] for name in packed.namelist()}
        assert packed.read("train.py").decode() == script
    needed = re.match(r'"""Needs (.*) beside it', script)[1].replace("/", "").split(", ")
    assert {"train.py", "requirements.txt", *needed} == inside
    assert "SentenceTransformerTrainer" in script
    log = json.loads(taken(page, tmp_path, "JSON").read_text(encoding="utf-8"))
    assert sum(record["kind"] == "step" for record in log["records"]) == TINY["steps"]
    assert taken(page, tmp_path, "CSV").read_text(encoding="utf-8-sig").count("\n") >= TINY["steps"]
    with zipfile.ZipFile(taken(page, tmp_path, wording("finetune.take.zip"))) as packed:
        assert any(name.endswith("model.safetensors") for name in packed.namelist())

    page.reload()  # a browser takes ten downloads in a row of one document, and drops the next
    which = page.locator("#lp-finetune-figure")
    expect(which).to_contain_text(wording("finetune.gains_on", figure="Spearman", pairs="the"))
    expect(which).to_contain_text(wording("finetune.matrix"))
    figures = which.locator("option").evaluate_all("all => all.map((one) => one.value)")
    kinds = {"finetune.chart.loss", "finetune.bands", "finetune.matrix", "finetune.gains"}
    assert kinds <= set(figures)
    for figure in kinds:
        which.select_option(figure)
        drawn = taken(page, tmp_path, "SVG").read_text(encoding="utf-8")
        assert "var(" not in drawn
        words = " ".join(ElementTree.fromstring(drawn).itertext())
        for message in ("CoSENT", "seed 0", "512 training pairs", "Step 12", "= 20"):
            assert message in words, (figure, message)
    small, large = (taken(page, tmp_path, f"PNG {ratio}×").read_bytes() for ratio in (2, 4))
    widths = [int.from_bytes(png[16:20], "big") for png in (small, large)]
    assert small.startswith(b"\x89PNG")
    assert widths[1] == pytest.approx(2 * widths[0], abs=2)


def test_part_of_a_transformer_is_trained(finetune: Page, bert: str, tmp_path: Path) -> None:
    page = finetune
    plan(page, **{**TINY, "encoder": bert, "learning_rate": 0.01})
    page.evaluate(UNFOLD)
    page.fill("#lp-finetune-lora", "2")
    page.click("#lp-finetune-start")
    wait_for(page, "finished")
    assert read(page, "about.plan.lora") == 2
    written = taken(page, tmp_path, "train.py alone").read_text(encoding="utf-8")
    assert "LoraConfig(r=2" in written
    # What is taken away stands without what it was trained with.
    with zipfile.ZipFile(taken(page, tmp_path, wording("finetune.take.zip"))) as packed:
        packed.extractall(tmp_path / "model")
    (config,) = (tmp_path / "model").rglob("modules.json")
    before, after = (
        load_file(Path(where) / "model.safetensors") for where in (bert, config.parent)
    )
    moved = {name for name in before if not torch.equal(before[name], after[name])}
    assert before.keys() == after.keys()
    assert moved
    assert not any("embeddings" in name for name in moved)
