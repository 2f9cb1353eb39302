"""What the first screen holds, what moves after a press, what is in sight while a run goes on."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from lossprism.explorer.lab.training.plan import TrainingPlan
from lossprism.explorer.locale import say
from lossprism.explorer.sources.practice_sentences import practice_pairs
from tests.browser.finetune.steering import (
    PAGE,
    TINY,
    UNFOLD,
    is_short,
    led,
    made_run,
    plan,
    settled,
    visitor,
)
from tests.browser.serving import Server
from tests.sentences import wording
from tests.tiny import save_bert

pytestmark = pytest.mark.browser

SOON_S = 2
MOST_STOPS = 15  # of the tab key, to the first chart


def test_the_first_screen_holds_few_words_and_controls(browser: Browser, tmp_path: Path) -> None:
    """On a server without runs, as on the first visit, and with runs: the newest is a line."""
    with (
        Server(tmp_path, "--runs", str(tmp_path / "runs")) as server,
        visitor(browser, server) as page,
    ):
        first_screen_is_short(page)
        expect(page.locator("#lp-finetune-newest")).to_have_count(0)
        names = [
            made_run(tmp_path, f"made-{age}", TrainingPlan(loss=loss, steps=4), created=age).name
            for age, loss in enumerate(("cosent", "triplet", "info_nce"))
        ]
        page.reload()
        expect(page.locator("#lp-finetune-all-runs summary")).to_have_text("All runs (3)")
        first_screen_is_short(page)
        page.click("#lp-finetune-newest")
        page.wait_for_function(f"{PAGE}.shown[0] === '{names[-1]}'")
        expect(page.locator("#lp-finetune-newest")).to_have_count(0)
        page.click("#lp-finetune-all-runs summary")
        page.locator("#lp-finetune-all-runs tr.lp-pickable").last.click()
        page.wait_for_function(f"{PAGE}.shown[0] === '{names[0]}'")


def test_a_chinese_reader_sees_the_chinese_pairs_that_one_click_trains_on(
    new_page: Callable[..., Page], server: Server
) -> None:
    page = new_page(locale="zh-CN")
    page.goto(f"{server.address}/finetune", wait_until="domcontentloaded")
    shown = page.locator(".lp-sample tbody td div")
    expect(shown).to_have_count(6)
    known = {text for pair in practice_pairs("practice_chinese") for text in pair[:2]}
    assert set(shown.all_inner_texts()) <= known
    assert page.evaluate("window.lossprism.page('finetune').plan.data.practice") == (
        "practice_chinese"
    )


def first_screen_is_short(page: Page) -> None:
    for _ in ("en", "zh"):
        expect(page.locator(".lp-sample tbody tr")).to_have_count(3)
        is_short(page)
        page.click("#lp-language")


def test_what_comes_into_the_folded_plan_is_seen(finetune: Page, finished: str) -> None:
    page = led(finetune, finished)
    encoder = page.locator("#lp-finetune-encoder")
    expect(encoder).to_be_hidden()
    page.evaluate(f"{PAGE}.takeOver({{ loss: 'triplet' }})")
    expect(encoder).to_be_visible()
    expect(page.locator("#lp-finetune-loss")).to_have_value("triplet")


def test_on_a_phone_the_controls_stand_in_a_drawer(finetune: Page) -> None:
    page, controls = finetune, finetune.locator(".lp-finetune_controls")
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.locator("#lp-finetune-quick")).to_be_in_viewport()
    expect(controls).to_be_hidden()
    page.click("#lp-finetune-own")  # leads to where a file is taken
    expect(controls.locator(".lp-drop").first).to_be_in_viewport()
    page.click("#lp-finetune-source-example")
    plan(page, **TINY)
    page.click("#lp-finetune-start")
    expect(page.locator(".lp-preparation")).to_be_in_viewport()
    expect(controls).to_be_hidden()
    page.wait_for_function(f"{PAGE}.trace()?.done")
    page.click("#lp-drawer")
    expect(controls.locator("#lp-finetune-reuse")).to_be_in_viewport()
    page.click("#lp-drawer")
    expect(page.locator(".lp-large-charts .lp-plot-box").first).to_be_in_viewport()


def test_soon_after_the_click_something_moves_and_is_named(finetune: Page) -> None:
    plan(finetune, **TINY)
    pressed = time.monotonic()
    finetune.click("#lp-finetune-start")
    now = finetune.locator(".lp-preparation [aria-current]")
    expect(now).to_be_visible(timeout=1000 * SOON_S)
    assert time.monotonic() - pressed < SOON_S
    assert now.inner_text() in [
        say("en", f"finetune.preparing.{what}")
        for what in ("start", "libraries", "encoder", "held_out")
    ]
    finetune.wait_for_function(f"{PAGE}.trace()?.done")
    expect(now).to_have_count(0)


DRAWN = """() => [...document.querySelectorAll("figure .lp-plot-box")]
  .every((box) => box.offsetHeight > 0)"""


def test_the_metric_the_loss_the_bands_and_the_matrix_are_in_sight_together(
    finetune: Page, finished: str
) -> None:
    page = led(finetune, finished)
    settled(page, "finished")
    page.evaluate("() => document.querySelector('.lp-training').scrollIntoView()")
    large = page.locator(".lp-large-charts figure")
    expect(large.locator("h3")).to_have_text(
        [say("en", "finetune.chart.ranks"), say("en", "finetune.chart.loss")]
    )
    expect(page.locator(".lp-small-charts figure")).to_have_count(6)
    page.wait_for_function(DRAWN)
    live = page.locator(".lp-training").bounding_box()
    shown = [*large.locator(".lp-plot-box").all(), page.locator(".lp-finetune-ridges")]
    for part in (*shown, page.locator(".lp-finetune_probe_matrix canvas[tabindex]")):
        box = part.bounding_box()
        assert box["y"] + box["height"] - live["y"] < 900
    page.evaluate("() => document.activeElement.blur()")
    stops = 0
    while not page.evaluate("() => document.activeElement.matches('.lp-plot-box')"):
        page.keyboard.press("Tab")
        stops += 1
        assert stops <= MOST_STOPS
    widths = [one.bounding_box()["height"] for one in large.locator(".lp-plot-box").all()]
    small = page.locator(".lp-small-charts .lp-plot-box").first.bounding_box()["height"]
    assert min(widths) > 1.5 * small


def test_prompts_of_the_encoder_are_named_and_taken_by_a_click(
    finetune: Page, tmp_path: Path
) -> None:
    from sentence_transformers import SentenceTransformer

    (tmp_path / "bert").mkdir()
    model = SentenceTransformer(save_bert(tmp_path / "bert"), device="cpu")
    model.prompts = {"query": "query: ", "passage": "passage: "}
    model.save_pretrained(str(tmp_path / "saved"))
    plan(finetune, **{**TINY, "encoder": str(tmp_path / "saved")})
    finetune.evaluate(UNFOLD)
    side = finetune.locator(".lp-finetune_controls")
    expect(side).to_contain_text(wording("finetune.prompts_unused"))
    for known in ("query “query: ”", "passage “passage: ”"):
        expect(side).to_contain_text(known)
    finetune.click("#lp-finetune-own-prompts")
    for name, text in {"query_prompt": "query: ", "document_prompt": "passage: "}.items():
        expect(finetune.locator(f"#lp-finetune-{name}")).to_have_value(text)
        assert finetune.evaluate(f"{PAGE}.plan.{name}") == text
    expect(side).to_contain_text(wording("finetune.prompts_used"))
    expect(finetune.locator("#lp-finetune-own-prompts")).to_have_count(0)
