"""Response times of the page, measured in a real browser against the real app.

``python -m benchmarks interaction`` starts ``python app.py`` as a user does, opens it in Chromium
and prints one table: start to first picture beside a bare Gradio app, bytes and memory until then,
slider to repainted page once the encoder is warm, repaints a second while dragging, also over a
slow link, hovering, what 500 updates leave behind, losses compared, and the figures over 200
batches of a file. Server and browser share the machine.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks import report
from benchmarks.app_in_browser import COMPARISON, PICTURE, ROOT, VIEWPORT, launch, opened, running
from benchmarks.machine import describe
from benchmarks.page_opening_cost import STARTS, first_picture, transferred, wait_until_idle
from benchmarks.report import Row
from benchmarks.slow_link_proxy import slow_link

SCRIPT = (Path(__file__).with_suffix(".js")).read_text(encoding="utf-8")
SENTENCES = ROOT.parent / "shared" / "data" / "stsb_en_ccbysa_train.tsv"


def slider(page: Page, pairs: int, most: int, least: int) -> list[Row]:
    page.evaluate(f"({SCRIPT}).batch({pairs})")
    found = page.evaluate(f"({SCRIPT}).moves(60)")
    rate = page.evaluate(f"({SCRIPT}).drag(3000)")["rate"]
    return [
        (f"slider to repainted matrix, N = {pairs}", spread(found["cells"]), f"≤ {most} ms"),
        (f"slider to its numbers, too, N = {pairs}", spread(found["all"]), "–"),
        (f"repaints while dragging, N = {pairs}", f"{rate:.0f} a second", f"≥ {least} a second"),
    ]


def spread(times: list[float]) -> str:
    late = sorted(times)[int(0.95 * len(times))]
    return f"{statistics.median(times):.0f} ms (p95 {late:.0f})"


COMPARED = {
    2: (25, "1=cosent&2=info_nce"),
    6: (120, "1=cosent&2=info_nce&3=nt_xent&4=circle&5=cosine_mse&6=triplet"),
}


def comparing(browser: Browser, address: str) -> list[Row]:
    """Losses beside each other, all matrices in sight, and how soon the page is there."""
    rows: list[Row] = []
    for sides, (most, link) in COMPARED.items():
        page = browser.new_context(viewport=VIEWPORT).new_page()
        page.goto(f"{address}/compare#{link}", wait_until="domcontentloaded")
        page.wait_for_function(COMPARISON, polling=20)
        page.evaluate(f"({SCRIPT}).compared(64)")
        times = page.evaluate(f"({SCRIPT}).moves(40)")["all"]
        rate = page.evaluate(f"({SCRIPT}).drag(3000)")["rate"]
        what = f"{sides} losses compared, N = 64"
        rows.append((what, spread(times), f"≤ {most} ms"))
        rows.append((f"repaints while dragging, {what}", f"{rate:.0f} a second", "≥ 20 a second"))
        page.context.close()
    seconds: dict[str, list[float]] = {"": [], "compare": []}
    for _ in range(STARTS):
        for path, shown in (("", PICTURE), ("compare", COMPARISON)):
            page = browser.new_context(viewport=VIEWPORT).new_page()
            started = time.perf_counter()
            page.goto(f"{address}/{path}", wait_until="domcontentloaded")
            page.wait_for_function(shown, polling=20)
            seconds[path].append(time.perf_counter() - started)
            page.context.close()
    explore, compare = (statistics.median(found) for found in seconds.values())
    measured = f"{compare:.2f} s, Explore {explore:.2f} s"
    return [*rows, ("Compare opened to its first picture", measured, "≤ Explore + 0.3 s")]


def over_slow_link(browser: Browser, port: int) -> list[Row]:
    """The slider over a link of 100 ms round trip, whose range is fetched once."""
    rows: list[Row] = []
    with slow_link(port, 0.1) as address:
        page = opened(browser, address)
        for pairs in (64, 256):
            page.evaluate(f"({SCRIPT}).batch({pairs})")
            found = page.evaluate(f"({SCRIPT}).drag(3000)")
            measured = (
                f"{found['rate']:.0f} a second, range in {found['fetched']:.0f} ms, "
                f"exact {found['exact']:.0f} ms after the last"
            )
            rows.append((f"dragging over a 100 ms link, N = {pairs}", measured, "≥ 60 a second"))
        page.context.close()
    return rows


def hovering(page: Page) -> list[Row]:
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.evaluate(f"({SCRIPT}).batch(64)")
    page.wait_for_timeout(800)  # the link is written once the scenario is still
    requests.clear()
    times = page.evaluate(f"({SCRIPT}).hover(200)")
    median, late = statistics.median(times), sorted(times)[int(0.95 * len(times))]
    return [
        ("hover to card and marks, N = 64", f"{median:.1f} ms (p95 {late:.1f})", "≤ 16 ms"),
        ("server calls in 200 hovers", str(len(requests)), "0"),
    ]


def leftovers(page: Page) -> list[Row]:
    """Heap and nodes after 500 updates, relative to before, each after a forced collection."""
    client = page.context.new_cdp_session(page)
    client.send("Performance.enable")
    page.evaluate(f"({SCRIPT}).batch(64)")

    def metrics() -> dict[str, float]:
        page.wait_for_timeout(800)
        client.send("HeapProfiler.collectGarbage")
        found = client.send("Performance.getMetrics")["metrics"]
        return {entry["name"]: entry["value"] for entry in found}

    page.evaluate(f"({SCRIPT}).updates(30)")
    before = metrics()
    page.evaluate(f"({SCRIPT}).updates(500)")
    after = metrics()
    rows = []
    for key, name in (("JSHeapUsedSize", "heap"), ("Nodes", "nodes")):
        change = 100 * (after[key] / before[key] - 1)
        rows.append((f"{name} after 500 updates", f"{change:+.1f}%", "within ±20%"))
    return rows


def many_batches() -> list[Row]:
    """Each figure of the strip over the 200 batches of 64 that a file is shuffled into: with its
    sentences still to be encoded, and again."""
    what = "figures over 200 batches of 64"
    if not SENTENCES.is_file():
        return [(what, "not measured", f"{SENTENCES} is absent")]
    import torch

    from lossprism.explorer.core.scenario import Data, Scenario
    from lossprism.explorer.lab.variation_over_batches import batches_of_file, over_batches
    from lossprism.explorer.sources import encoders, pairs_from_tables
    from lossprism.explorer.sources.drawn_batches import Draw
    from lossprism.explorer.sources.encoders.encoder_output_cache import forget_rows

    pairs = pairs_from_tables.read_file(SENTENCES, most=100_000).pairs
    drawn = batches_of_file(pairs, Draw("shuffled", 64))
    data = Data(source="table", rows=drawn[0].rows)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # as the app runs
    encoders.encode([pairs.first[0]])
    rows = []
    for loss in ("cosent", "info_nce"):
        forget_rows()
        for when, most in (("with their encoding", "–"), ("again", "≤ 5 s")):
            started = time.perf_counter()
            found = over_batches(Scenario(data=data, loss=loss), drawn)
            seconds = time.perf_counter() - started
            rows.append((f"{what}, {loss}, {when}", f"{seconds:.2f} s", most))
        assert len(found["loss"]) == len(drawn)
    torch.set_num_threads(threads)
    return rows


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=7890)
    report.add_option(parser)
    chosen = parser.parse_args(arguments)
    rows: list[Row] = []
    with sync_playwright() as playwright:
        browser = launch(playwright)
        version = browser.version
        rows += first_picture(browser, chosen.port)
        rows += transferred(browser, chosen.port)
        with running(chosen.port) as address:
            page = opened(browser, address)
            wait_until_idle()
            rows += slider(page, 64, 20, 60)
            rows += slider(page, 256, 33, 45)
            rows += over_slow_link(browser, chosen.port)
            rows += hovering(page)
            rows += leftovers(page)
            rows += comparing(browser, address)
        browser.close()
    rows += many_batches()
    machine = f"{describe()}, Chromium {version}"
    print(machine, report.table(report.HEADS, rows), sep="\n\n")
    folder = report.folder(chosen, whole=True)
    if folder:
        report.write(
            folder, "interaction", "The page, in a real browser", machine, (report.HEADS, rows)
        )
