"""The app as a user starts it, and a browser to open it in."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
from playwright.sync_api import Browser, Page, Playwright, ViewportSize

ROOT = Path(__file__).resolve().parents[1]
CHROMIUM = ("chromium-headless-shell", "chromium", "chromium-browser")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
VIEWPORT: ViewportSize = {"width": 1440, "height": 900}
PICTURE = "() => window.lossprism && window.lossprism.page().drawn >= 1"
COMPARISON = "() => window.lossprism?.page('compare')?.drawn >= 1"


@contextmanager
def running(port: int, *options: str, **environment: str) -> Iterator[str]:
    """The app as a subprocess; yield the address that it prints."""
    command = [sys.executable, "app.py", "--port", str(port), "--no-browser", *options]
    known = {**os.environ, **environment}
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env=known)
    try:
        line = process.stdout.readline()
        if "http" not in line:
            raise RuntimeError(f"the app did not start: {line!r}")
        yield next(word for word in line.split() if word.startswith("http"))
    finally:
        process.terminate()
        process.wait(timeout=20)


def app_process() -> psutil.Process:
    """The process of the app, beside others that were started."""
    return next(one for one in psutil.Process().children() if "app.py" in one.cmdline())


def launch(playwright: Playwright) -> Browser:
    """A Chromium of the system, else the one that Playwright itself downloaded."""
    system = next(filter(None, map(shutil.which, CHROMIUM)), None)
    return playwright.chromium.launch(executable_path=system, args=list(FLAGS))


def opened(browser: Browser, address: str) -> Page:
    page = browser.new_context(viewport=VIEWPORT).new_page()
    page.goto(address, wait_until="domcontentloaded")
    page.wait_for_function(PICTURE, polling=20)
    return page
