"""The Large batch page: its overview, its memory, and a zoom step in a real browser.

``python -m benchmarks large`` prints one table: for 10⁴, 10⁵ and 10⁶ pairs, and for 4,096 to
32,768 sentences as each other's negatives, the time from known scores or vectors to the blocks of
the whole matrix, the memory that takes above them, the heaviest terms, and a step nearer on the
page until it is painted.
"""

from __future__ import annotations

import argparse
import statistics
import threading
import time
import tracemalloc
from collections.abc import Callable
from urllib.parse import urlencode

import psutil
import torch
from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks import report
from benchmarks.app_in_browser import launch, running
from benchmarks.machine import describe
from benchmarks.report import Row
from lossprism.explorer.lab.large.batch import drawn, in_order
from lossprism.explorer.lab.large.large_batch_session import LargeSession, checked, open_batch
from lossprism.explorer.lab.large.loss_matrix_methods import offered
from lossprism.explorer.lab.large.window_blocks import Window
from lossprism.explorer.sources import random_batch
from lossprism.explorer.sources.random_batch import RandomBatch

SIZES = (10_000, 100_000, 1_000_000)
LABELS = ("graded", "continuous")
SCORED = ("cosent", "weighted_cosent", "pairwise_logistic", "pairwise_hinge")
ON_THE_PAGE = ("cosent", "pairwise_logistic", "pairwise_hinge")
# Sentences of 384 dimensions, nearly all of them one of two that belong together.
SENTENCES = (4096, 16_384, 32_768)
BELONGING = {"labels": "binary", "imbalance": 0.9, "mislabelled": 0.0, "dimension": 384}
REPEATS = 5
# Each step goes into a part of what the last one showed, down to single cells. A part is where it
# begins and how far it goes, in shares of what is shown, or in cells.
STEPS = """async (parts) => {
  const page = window.lossprism.page("large");
  const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const times = [];
  for (const part of parts) {
    const [top, bottom, left, right] = page.answer.window;
    const cut = (from, to, [start, size]) => {
      const length = Math.min(to - from, size > 1 ? size : Math.ceil(size * (to - from)));
      const first = Math.min(to - length, from + Math.floor(start * (to - from)));
      return [first, first + length];
    };
    const next = [...cut(top, bottom, part[0]), ...cut(left, right, part[1])];
    const before = page.drawn;
    const started = performance.now();
    page.zoom(next);
    while (page.drawn === before) await new Promise((done) => setTimeout(done));
    await frame();
    times.push(performance.now() - started);
    await new Promise((done) => setTimeout(done, 400)); // the address is written meanwhile
  }
  return times;
}"""
PARTS = [
    [[0, 0.9], [0.1, 0.9]],  # nearly all of it
    [[0, 0.5], [0.5, 0.5]],
    [[0.1, 0.5], [0.3, 0.5]],
    [[0.2, 0.1], [0.4, 0.1]],
    [[0.5, 0.01], [0.5, 0.01]],
    [[0.1, 0.1], [0.1, 0.1]],
]
# The third has as many cells as are ever computed anew; larger windows are made of kept sums.
IN_BATCH = tuple(offered("in_batch"))
IN_BATCH_PARTS = [
    [[0, 0.9], [0.1, 0.9]],
    [[0, 0.6], [0.4, 0.6]],
    [[0.1, 1024], [0.3, 1023]],
    [[0.1, 0.7], [0.3, 0.7]],
    [[0.2, 0.3], [0.4, 0.3]],
    [[0.1, 0.2], [0.1, 0.2]],
]


def seconds(work: Callable[[], object]) -> float:
    """The median over some repeats."""
    times = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def overview(count: int, labels: str, loss: str) -> list[Row]:
    plan = random_batch.composed(RandomBatch(pairs=count, labels=labels), most=count)
    names = ("",) * count

    def opened() -> LargeSession:
        batch = in_order(plan.labels, plan.cosines, names, names)
        return open_batch(batch, loss, checked(loss, {}), lambda done, total: None)

    def all_blocks() -> None:
        opened().matrix.blocks(Window(0, count, 0, count))

    spent = seconds(all_blocks)
    tracemalloc.start()
    all_blocks()
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    ready, whole = opened(), Window(0, count, 0, count)
    ready.matrix.blocks(whole)
    nearer = Window(0, 9 * count // 10, count // 10, count)
    step = seconds(lambda: ready.matrix.blocks(nearer))
    started = time.perf_counter()
    _ = ready.heaviest
    heavy = time.perf_counter() - started
    started = time.perf_counter()
    _ = ready.gradient, ready.loss
    felt = time.perf_counter() - started
    what = f"{loss}, {labels} labels, N = {count:,}"
    return [
        (
            f"{what}: overview",
            f"{spent:.3f} s, {peak:.0f} MB above the scores",
            "≤ 0.5 s, ≤ 500 MB",
        ),
        (f"{what}: blocks of nine tenths", f"{1000 * step:.0f} ms", ""),
        (f"{what}: heaviest 100", f"{heavy:.3f} s", ""),
        (f"{what}: gradient of every pair", f"{felt:.3f} s", ""),
    ]


def in_batch(sentences: int, loss: str) -> list[Row]:
    batch = drawn(RandomBatch(pairs=sentences // 2, **BELONGING), "vectors")
    made: list[LargeSession] = []

    def opened() -> None:
        made.append(open_batch(batch, loss, checked(loss, {}), lambda done, total: None))
        made[0].matrix.blocks(Window(0, made[0].shape[0], 0, made[0].shape[1]))

    before = psutil.Process().memory_info().rss
    started = time.perf_counter()
    peak = highest_memory(opened) - before
    spent = time.perf_counter() - started
    rows, columns = made[0].shape
    what = f"{loss}, {sentences:,} sentences, {rows:,} × {columns:,} cells: overview"
    return [(what, f"{spent:.1f} s, {peak / 1e6:.0f} MB above the vectors", "")]


def highest_memory(work: Callable[[], object]) -> int:
    """The most memory that this process held meanwhile, looked at every few milliseconds."""
    own, over = psutil.Process(), threading.Event()
    seen = [own.memory_info().rss]

    def watch() -> None:
        while not over.wait(0.003):
            seen.append(own.memory_info().rss)

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        work()
    finally:
        over.set()
        watching.join()
    return max(seen)


def on_the_page(
    browser: Browser, address: str, loss: str, settings: dict, what: str, parts: list
) -> list[Row]:
    page: Page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    page.set_default_timeout(120_000)
    started = time.perf_counter()
    place = f"{address}/large#{urlencode({'loss': loss, **settings})}"
    page.goto(place, wait_until="domcontentloaded")
    page.wait_for_function("window.lossprism && window.lossprism.page('large').drawn", polling=20)
    first = time.perf_counter() - started
    page.wait_for_function("window.lossprism.page('large').details")
    page.wait_for_timeout(1500)
    times = page.evaluate(STEPS, parts)
    page.context.close()
    each = ", ".join(f"{one:.0f}" for one in times)
    return [
        (f"page, {what}: opened to the map, the batch drawn anew", f"{first:.2f} s", ""),
        (
            f"page, {what}: a step nearer, to pixels",
            f"median {statistics.median(times):.0f} ms, each {each}",
            "≤ 150 ms",
        ),
    ]


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=7890)
    report.add_option(parser)
    parser.add_argument("--losses", nargs="+", choices=(*SCORED, *IN_BATCH), default=None)
    parser.add_argument("--sizes", nargs="+", type=int, help="pairs, for losses on scores")
    parser.add_argument("--sentences", nargs="+", type=int, help="for in-batch losses")
    chosen = parser.parse_args(arguments)
    torch.set_num_threads(1)  # as the app runs
    losses = chosen.losses or (*SCORED, *IN_BATCH)
    among = [loss for loss in IN_BATCH if loss in losses]
    scored = [
        (count, labels, loss)
        for count in chosen.sizes or SIZES
        for labels in LABELS
        for loss in SCORED
        if loss in losses
    ]
    rows: list[Row] = []
    for case in scored:
        rows += overview(*case)
    for sentences in chosen.sentences or SENTENCES:
        for loss in among:
            rows += in_batch(sentences, loss)
    with sync_playwright() as playwright:
        browser = launch(playwright)
        version = browser.version
        with running(chosen.port) as address:
            for count, labels, loss in scored:
                if loss in ON_THE_PAGE:
                    settings = {"pairs": count, "labels": labels}
                    what = f"{loss}, {labels} labels, N = {count:,}"
                    rows += on_the_page(browser, address, loss, settings, what, PARTS)
            for sentences in chosen.sentences or SENTENCES:
                for loss in among:
                    settings = {"pairs": sentences // 2, **BELONGING}
                    what = f"{loss}, {sentences:,} sentences"
                    rows += on_the_page(browser, address, loss, settings, what, IN_BATCH_PARTS)
        browser.close()
    machine = f"{describe()}, Chromium {version}"
    print(machine, report.table(report.HEADS, rows), sep="\n\n")
    folder = report.folder(chosen, whole=not (chosen.losses or chosen.sizes or chosen.sentences))
    if folder:
        report.write(folder, "large", "The Large batch page", machine, (report.HEADS, rows))
