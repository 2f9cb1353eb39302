"""The check of a run, as a stranger walks it: on one page, from a made-up log to one's own."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from playwright.sync_api import Page, expect

from lossprism.losses.sentence_transformers.saved_batch import SavedBatch, write
from tests.browser.doctor.test_number import opened
from tests.browser.serving import Server
from tests.sentences import wording

pytestmark = pytest.mark.browser

MAIN = "#doctor-run"
# As transformers' Trainer keeps it: a loss that stays at ln 16.
HISTORY = [{"step": step, "loss": round(math.log(16), 4)} for step in range(10, 500, 10)]
STATE = {"global_step": 490, "log_history": HISTORY, "train_batch_size": 16}


def finding(page: Page, name: str):
    return page.locator(f"{MAIN} [data-finding={name}]")


def test_a_stranger_brings_a_run(new_page: Callable[..., Page], server: Server) -> None:
    page = opened(new_page(), server.address)
    # It opens on a log that is here, with something the matter with it.
    page.get_by_role("tab", name=wording("doctor.check.run")).click()
    expect(finding(page, "at_collapse")).to_contain_text(wording("doctor.run.at_collapse"))
    legend = page.locator(f"{MAIN} .lp-chart-legend").first
    expect(legend).to_contain_text("collapse")
    expect(legend).to_contain_text("3.466")
    expect(page.locator("#doctor-data")).to_be_hidden()
    page.select_option("#lp-doctor-by", "learned_by_heart")
    expect(finding(page, "overfits").locator("code").first).to_have_text(
        "load_best_model_at_end=True"
    )
    expect(page.locator("#lp-run-held_out")).to_have_value("eval_loss")
    page.wait_for_function("location.hash === '#door=run&log=learned_by_heart'")

    # One's own, of which nobody knows the loss until it is named.
    page.select_option("#lp-doctor-by", "file")
    expect(finding(page, "overfits")).to_have_count(0)
    page.set_input_files(
        "#lp-doctor-log-file",
        {"name": "trainer_state.json", "mimeType": "application/json",
         "buffer": json.dumps(STATE).encode()},
    )  # fmt: skip
    known = page.locator(f"{MAIN} .lp-known")
    expect(known).to_contain_text(wording("doctor.run.nothing_known"))
    page.fill("#lp-run-loss", "MNRL")
    page.fill("#lp-run-batch", "16")
    expect(finding(page, "at_collapse")).to_contain_text("2.773")
    page.wait_for_function("location.hash.includes('run_loss=MNRL')")
    # What is known of another run stands in the address for as long as that run does.
    page.select_option("#lp-run-other", "jumped")
    page.fill("#lp-run-other_scale", "20")
    expect(page).to_have_url(re.compile("beside=jumped.*beside_scale=20"))
    page.select_option("#lp-run-other", "none")
    expect(page).not_to_have_url(re.compile("beside"))
    # Its last value leads to the check of a number.
    page.get_by_role("link", name=wording("doctor.what_is_its_value")).click()
    expect(page.locator("#doctor-number .lp-finding").first).to_contain_text("2.77")

    # Input that is no log is reported, and nothing typed is lost.
    page.go_back()
    expect(page.locator("#lp-run-batch")).to_have_value("16")
    page.fill("#lp-run-batch", "many")
    expect(page.locator(f"{MAIN} .lp-problem:visible")).to_contain_text("many")
    expect(page.locator("#lp-run-loss")).to_have_value("MNRL")


def test_what_is_pasted_finds_its_check_and_its_link_opens_it(
    new_page: Callable[..., Page], server: Server
) -> None:
    page = opened(new_page(), server.address)
    page.fill("#lp-doctor-value", "2.09 2.081")
    expect(page.locator("#doctor-number .lp-finding").first).to_be_visible()
    expect(page.locator("#lp-doctor-value")).to_have_value("2.09 2.081")

    lines = "".join(
        f"/home/alice/run\n{{'loss': {2.7726 + n % 2 / 1000:.4f}, 'step': {n}}}\n"
        for n in range(1, 60)
    )
    page.fill("#lp-doctor-value", lines)
    about = page.locator(f"{MAIN} .lp-about").first
    expect(about).to_contain_text(
        wording("doctor.run.read", points=59, curve="loss", first=1, last=59)
    )
    page.wait_for_function("location.hash.includes('by=typed') && location.hash.includes('&t=')")
    other = new_page()
    other.goto(page.url)
    expect(other.locator(f"{MAIN} .lp-about").first).to_contain_text(
        wording("doctor.run.read", points=59, curve="loss")
    )

    # What cannot be read leaves nothing of what was read before.
    page.select_option("#lp-doctor-by", "file")
    page.set_input_files(
        "#lp-doctor-log-file",
        {"name": "trainer_state.json", "mimeType": "application/json",
         "buffer": json.dumps(STATE).encode()},
    )  # fmt: skip
    expect(about).to_contain_text("49 values")
    page.wait_for_function("location.hash.includes('logfile=') && location.hash.includes('&t=')")
    other = new_page()  # elsewhere, where the file is not
    other.goto(re.sub(r"logfile=\w+", f"logfile={'0' * 64}", page.url))
    expect(other.locator(f"{MAIN} .lp-about").first).to_contain_text("49 values")
    page.set_input_files(
        "#lp-doctor-log-file",
        {"name": "trainer_state.json", "mimeType": "application/json",
         "buffer": b'{"log_history": ['},
    )  # fmt: skip
    expect(page.locator(f"{MAIN} .lp-problem")).to_contain_text("damaged")
    expect(about).not_to_contain_text("49 values")
    expect(page.locator(f"{MAIN} .lp-run-plot").first).to_be_hidden()


def saved(step: int) -> SavedBatch:
    drawn = torch.Generator().manual_seed(step)
    columns = tuple(torch.randn(4, 3, generator=drawn) for _ in range(2))
    about = {"texts": None, "called": "CoSENTLoss", "value": 1.0, "rows": 4}
    return SavedBatch(step, columns, None, torch.ones(4), **about)


def test_the_folder_of_a_running_training_is_followed(
    new_page: Callable[..., Page], server: Server, tmp_path: Path
) -> None:
    """A batch that arrives in pieces, as through a synced folder, is listed once it is whole."""
    folder, elsewhere = tmp_path / "prism", tmp_path / "elsewhere"
    write(folder, saved(1))
    content = write(elsewhere, saved(50)).read_bytes()
    page = opened(new_page(), server.address)
    page.get_by_role("tab", name=wording("doctor.check.run")).click()
    page.select_option("#lp-doctor-by", "kept")
    page.on("dialog", lambda dialog: dialog.accept())
    page.fill("#lp-doctor-folder", str(folder))
    page.click("#lp-doctor-kept")
    batches = page.locator(f"{MAIN} .lp-kept li")
    expect(batches).to_have_count(1)
    growing = folder / "step-00000050.safetensors"
    growing.write_bytes(content[: len(content) // 2])
    expect(page.locator(MAIN)).to_contain_text("1 further file is still being written")
    expect(batches).to_have_count(1)
    growing.write_bytes(content)
    expect(batches).to_have_count(2)
    expect(batches.last).to_have_attribute("data-step", "50")
    expect(page.locator(MAIN)).not_to_contain_text(wording("doctor.kept_unfinished"))
    page.locator(".lp-kept a").first.click()
    newer = page.locator("#main-newer")
    expect(newer).to_contain_text(wording("ui.newer_step", step=50))
    newer.get_by_role("checkbox").check()
    expect(newer).to_contain_text(wording("ui.newer_none"))
    write(folder, saved(100))
    expect(page).to_have_url(re.compile("#1"))
    page.wait_for_function(
        "() => lossprism.page('main').scenario.data.file === 'step-00000100.safetensors'"
    )
