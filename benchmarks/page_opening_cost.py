"""Cost of opening a page: seconds beside a bare Gradio app, bytes, memory."""

from __future__ import annotations

import contextlib
import json
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator

from playwright.sync_api import Browser

from benchmarks.app_in_browser import COMPARISON, PICTURE, VIEWPORT, app_process, opened, running
from benchmarks.report import Row

STARTS = 3
BARE = """
import gradio, sys
with gradio.Blocks() as page:
    gradio.Markdown("It is there.")
page.launch(server_port=int(sys.argv[1]), quiet=True, prevent_thread_lock=True)
print("ready", flush=True)
page.block_thread()
"""
# What a page requests before the parts that follow its first picture.
BEFORE = """async () => {
  let mark;
  while (!(mark = performance.getEntriesByName("first-picture")[0]))
    await new Promise((done) => setTimeout(done, 5));
  return performance.getEntriesByType("resource")
    .filter((one) => one.startTime < mark.startTime)
    .map((one) => one.name)
    .concat(location.href);
}"""
# The app begins to prepare the encoder at most 10 s after its first picture.
PREPARES_S = 11.0
IDLE_S, IDLE_SHARE = 2.0, 0.05  # of one core


def first_picture(browser: Browser, port: int) -> list[Row]:
    """From the start of the process to the first picture, the browser being open already, in turns
    with a bare Gradio app; the memory then held, and once the encoder is warm."""
    ours, bare = [], []
    memory: list[tuple[float, float]] = []
    for _ in range(STARTS):
        started = time.perf_counter()
        with running(port) as address:
            page = opened(browser, address)
            ours.append(time.perf_counter() - started)
            before = _memory(address)
            wait_until_idle()
            memory.append((before, _memory(address)))
            page.context.close()
        started = time.perf_counter()
        with _bare(port):
            page = browser.new_context(viewport=VIEWPORT).new_page()
            page.goto(f"http://127.0.0.1:{port}", wait_until="domcontentloaded")
            page.get_by_text("It is there.").wait_for()
            bare.append(time.perf_counter() - started)
            page.context.close()
    first, beside = statistics.median(ours), statistics.median(bare)
    held, warm = (statistics.median(one) for one in zip(*memory, strict=True))
    measured = f"{first:.2f} s, a bare Gradio app {beside:.2f} s, ratio {first / beside:.2f}"
    return [
        ("start to first picture", measured, "≤ 3 s, ratio ≤ 1.46"),
        ("memory at the first picture", f"{held:.0f} MiB", "≤ 400 MB"),
        ("memory once the encoder is warm", f"{warm:.0f} MiB", "–"),
    ]


@contextlib.contextmanager
def _bare(port: int) -> Iterator[None]:
    command = [sys.executable, "-c", BARE, str(port)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        while process.stdout.readline().strip() != "ready":
            if process.poll() is not None:
                raise RuntimeError("the bare app did not start")
        yield
    finally:
        process.terminate()
        process.wait(timeout=20)


def _memory(address: str) -> float:
    """MiB that the app holds, by its own account."""
    with urllib.request.urlopen(f"{address}/healthz") as answer:
        return json.load(answer)["memory_mib"]["own"]


def wait_until_idle() -> None:
    """Wait until the app, which prepares the encoder after its first picture, rests."""
    app = app_process()
    time.sleep(PREPARES_S)
    spent = -1.0
    while (now := sum(app.cpu_times()[:2])) - spent > IDLE_SHARE * IDLE_S:
        spent = now
        time.sleep(IDLE_S)


def transferred(browser: Browser, port: int) -> list[Row]:
    """Bytes that a hosted page sends until its first picture, fonts apart, and how soon the page
    after it is there for the same reader."""
    with (
        tempfile.TemporaryDirectory() as folder,
        running(port, "--hosted", "--data", folder) as address,
    ):
        page = browser.new_context(viewport=VIEWPORT).new_page()
        client = page.context.new_cdp_session(page)
        client.send("Network.enable")
        kinds: dict[str, tuple[str, str]] = {}
        sizes: dict[str, int] = {}
        client.on(
            "Network.responseReceived",
            lambda one: kinds.update({one["requestId"]: (one["type"], one["response"]["url"])}),
        )
        client.on(
            "Network.loadingFinished",
            lambda one: sizes.update({one["requestId"]: one["encodedDataLength"]}),
        )
        page.goto(address, wait_until="domcontentloaded")
        page.wait_for_function(PICTURE, polling=20)
        before = set(page.evaluate(BEFORE))
        counted = [
            sizes[of]
            for of, (kind, url) in kinds.items()
            if of in sizes and kind != "Font" and url in before
        ]
        seconds = []
        for _ in range(STARTS):
            started = time.perf_counter()
            page.goto(f"{address}/compare", wait_until="domcontentloaded")
            page.wait_for_function(COMPARISON, polling=20)
            seconds.append(time.perf_counter() - started)
            page.goto("about:blank")
        page.context.close()
    what = "sent to the first picture, compressed, without fonts"
    sent = f"{sum(counted) / 1000:.0f} kB in {len(counted)} requests"
    second = f"{statistics.median(seconds):.2f} s"
    return [
        (what, sent, "≤ 250 kB"),
        ("Compare after Explore, by the same reader", second, "≤ 0.5 s"),
    ]
