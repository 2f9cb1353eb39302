"""The Large batch page: its overview, its memory, and a zoom step in a real browser.

``python -m benchmarks large`` prints one table: for 10⁴, 10⁵ and 10⁶ pairs the time from known
scores to the blocks of the whole matrix, the memory that takes above the scores, the heaviest
terms, and a step nearer on the page until it is painted.
"""

from __future__ import annotations

import argparse
import csv
import shutil
import statistics
import time
import tracemalloc
from collections.abc import Callable

import torch
from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.interaction import FLAGS, running
from benchmarks.machine import describe
from explorer.lab.large.batch import in_order
from explorer.lab.large.blocks import Window
from explorer.lab.large.opened import Opened, checked, open_batch
from explorer.sources import random_batch
from explorer.sources.random_batch import RandomBatch

SIZES = (10_000, 100_000, 1_000_000)
LABELS = ("graded", "continuous")
LOSSES = ("cosent", "weighted_cosent", "pairwise_logistic", "pairwise_hinge")
ON_THE_PAGE = ("cosent", "pairwise_logistic", "pairwise_hinge")
REPEATS = 5
# Each step goes into a part of what the last one showed, down to single cells.
STEPS = """async (parts) => {
  const channel = LossPrism.channel("large");
  const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const times = [];
  for (const part of parts) {
    const [top, bottom, left, right] = channel.answer.window;
    const [rows, columns] = [bottom - top, right - left];
    const cut = (from, length, [a, b]) => [
      from + Math.floor(a * length), from + Math.ceil(b * length)];
    const next = [...cut(top, rows, part[0]), ...cut(left, columns, part[1])];
    const before = channel.drawn;
    const started = performance.now();
    channel.zoom(next);
    while (channel.drawn === before) await new Promise((done) => setTimeout(done));
    await frame();
    times.push(performance.now() - started);
    await new Promise((done) => setTimeout(done, 400)); // the address is written meanwhile
  }
  return times;
}"""
PARTS = [
    [[0, 0.9], [0.1, 1]],  # nearly all of it
    [[0, 0.5], [0.5, 1]],
    [[0.1, 0.6], [0.3, 0.8]],
    [[0.2, 0.3], [0.4, 0.5]],
    [[0.5, 0.51], [0.5, 0.51]],
    [[0.1, 0.2], [0.1, 0.2]],
]

Row = tuple[str, str, str]


def seconds(work: Callable[[], object]) -> float:
    """The median over some repeats."""
    times = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def overview(count: int, labels: str, loss: str) -> list[Row]:
    plan = random_batch.plan(RandomBatch(pairs=count, labels=labels), most=count)
    names = ("",) * count

    def opened() -> Opened:
        batch = in_order(plan.labels, plan.cosines, names, names)
        return open_batch(batch, loss, checked(loss, {}), lambda done, total: None)

    def all_blocks() -> None:
        opened().blocks(Window(0, count, 0, count))

    spent = seconds(all_blocks)
    tracemalloc.start()
    all_blocks()
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    ready, whole = opened(), Window(0, count, 0, count)
    ready.blocks(whole)
    nearer = Window(0, 9 * count // 10, count // 10, count)
    step = seconds(lambda: ready.blocks(nearer))
    started = time.perf_counter()
    _ = ready.heaviest
    heavy = time.perf_counter() - started
    started = time.perf_counter()
    _ = ready.gradient, ready.loss
    felt = time.perf_counter() - started
    what = f"{loss}, {labels} labels, N = {count:,}"
    return [
        (f"{what}: overview", f"{spent:.3f} s, {peak:.0f} MB above the scores", "≤ 2 s, ≤ 500 MB"),
        (f"{what}: blocks of nine tenths", f"{1000 * step:.0f} ms", ""),
        (f"{what}: heaviest 100", f"{heavy:.3f} s", ""),
        (f"{what}: gradient of every pair", f"{felt:.3f} s", ""),
    ]


def on_the_page(browser: Browser, address: str, count: int, labels: str, loss: str) -> list[Row]:
    page: Page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    started = time.perf_counter()
    place = f"{address}/large#loss={loss}&pairs={count}&labels={labels}"
    page.goto(place, wait_until="domcontentloaded")
    page.wait_for_function("window.LossPrism && LossPrism.channel('large').drawn", polling=20)
    first = time.perf_counter() - started
    page.wait_for_function("LossPrism.channel('large').details")
    page.wait_for_timeout(1500)
    times = page.evaluate(STEPS, PARTS)
    page.context.close()
    what = f"page, {loss}, {labels} labels, N = {count:,}"
    each = ", ".join(f"{one:.0f}" for one in times)
    return [
        (f"{what}: opened to the map, the batch drawn anew", f"{first:.2f} s", ""),
        (
            f"{what}: a step nearer, to pixels",
            f"median {statistics.median(times):.0f} ms, each {each}",
            "≤ 150 ms",
        ),
    ]


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=7890)
    parser.add_argument("--csv", metavar="FILE")
    parser.add_argument("--losses", nargs="+", choices=LOSSES, default=LOSSES)
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    chosen = parser.parse_args(arguments)
    torch.set_num_threads(1)  # as the app runs
    rows: list[Row] = []
    for count in chosen.sizes:
        for labels in LABELS:
            for loss in chosen.losses:
                rows += overview(count, labels, loss)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=list(FLAGS)
        )
        version = browser.version
        with running(chosen.port) as address:
            for count in chosen.sizes:
                for labels in LABELS:
                    for loss in (one for one in ON_THE_PAGE if one in chosen.losses):
                        rows += on_the_page(browser, address, count, labels, loss)
        browser.close()
    machine = f"{describe()}, Chromium {version}"
    print(machine)
    for name, value, target in rows:
        print(f"| {name} | {value} | {target} |")
    if chosen.csv:
        with open(chosen.csv, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([(machine,), ("what", "measured", "target"), *rows])
