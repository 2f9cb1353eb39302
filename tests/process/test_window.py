"""`--window` shows the page in a window, and each ends with the other."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from lossprism.explorer.runtime.app_window import LINUX_COMMANDS
from tests import warm
from tests.code_blocks import ROOT

NOTICE = "Loading torch and Gradio …\n"
WAIT_S = 600  # on a machine that has other things to do
# In place of Chrome: it keeps what it was asked, and shows a window until a file is there.
BROWSER = """#!/usr/bin/env python3
import json, pathlib, signal, sys, time
here = pathlib.Path(__file__).parent
signal.signal(signal.SIGTERM, lambda *_: (here.joinpath("ended").touch(), sys.exit(0)))
(here / "written").write_text(json.dumps(sys.argv[1:]))
(here / "written").rename(here / "asked.json")
while not (here / "close").exists():
    time.sleep(0.05)
"""


def until(happens):
    """Wait for what another process does."""
    end = time.monotonic() + WAIT_S
    while not happens():
        assert time.monotonic() < end
        time.sleep(0.05)


def start(tmp_path, programs):
    """The app, as somebody starts it whose browsers are those in a folder."""
    environment = {**os.environ, "PATH": str(programs), "LOSSPRISM_CACHE": str(tmp_path / "cache")}
    return subprocess.Popen(
        [warm.python(), str(ROOT / "app.py"), "--window", "--runs", str(tmp_path / "runs")],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def programs(tmp_path):
    """A folder with what a script needs, and no browser."""
    made = tmp_path / "programs"
    made.mkdir()
    for name in ("env", "python3"):
        (made / name).symlink_to(shutil.which(name))
    return made


@pytest.fixture
def opened(tmp_path, programs):
    (programs / "google-chrome").write_text(BROWSER)
    (programs / "google-chrome").chmod(0o755)
    app = start(tmp_path, programs)
    try:
        until(lambda: (programs / "asked.json").exists() or app.poll() is not None)
        yield app
    finally:
        app.kill()
        app.communicate()


def test_the_app_ends_with_its_window(opened, programs, tmp_path):
    address, profile, *_ = json.loads((programs / "asked.json").read_text())
    assert profile == f"--user-data-dir={tmp_path / 'cache' / 'window'}"
    with urllib.request.urlopen(address.removeprefix("--app="), timeout=WAIT_S) as answer:
        assert b"LossPrism" in answer.read()
    (programs / "close").touch()
    message, complaints = opened.communicate(timeout=WAIT_S)
    assert (opened.returncode, complaints) == (0, NOTICE)
    assert message.rstrip().endswith("LossPrism has stopped.")


def test_the_window_ends_with_the_app(opened, programs):
    opened.send_signal(signal.SIGINT)
    opened.communicate(timeout=WAIT_S)
    assert opened.returncode == 0
    assert (programs / "ended").exists()


def test_a_failed_browser_raises_a_problem(tmp_path, programs):
    """As without a screen."""
    (programs / "google-chrome").write_text("#!/usr/bin/env python3\nraise SystemExit(3)\n")
    (programs / "google-chrome").chmod(0o755)
    app = start(tmp_path, programs)
    message, complaints = app.communicate(timeout=WAIT_S)
    assert app.returncode == 1
    assert message.rstrip().endswith("LossPrism has stopped.")
    assert f"{programs / 'google-chrome'} ended with status 3" in complaints


def test_without_a_browser_nothing_starts(tmp_path, programs):
    app = start(tmp_path, programs)
    message, complaints = app.communicate(timeout=WAIT_S)
    assert app.returncode == 1
    assert message == ""
    assert "Chrome" in complaints
    assert "--window" in complaints


# Chromium as root starts without its sandbox alone; playwright closes the window as its user would.
REAL = """#!/bin/sh
exec {browser} --no-sandbox --remote-debugging-port=0 "$@"
"""


@pytest.fixture
def screen():
    """A screen that nobody sees."""
    if not shutil.which("Xvfb"):
        pytest.skip("Xvfb is not installed: no real window is opened")
    line = ["Xvfb", "-displayfd", "1", "-screen", "0", "1600x1000x24"]
    server = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        yield f":{server.stdout.readline().strip()}"
    finally:
        server.terminate()
        server.communicate()


@pytest.fixture
def chromium():
    """A browser with windows; what only draws pages has the word in its version."""
    for name in LINUX_COMMANDS:
        if path := shutil.which(name):
            requests = [path, "--version"]
            version = subprocess.run(requests, capture_output=True, text=True, check=False).stdout
            if "hrom" in version and "headless" not in Path(path).read_text(errors="replace")[:999]:
                return path
    pytest.skip("no browser with windows is installed: no real window is opened")


def test_a_real_window_shows_the_page_and_remembers_its_size(
    tmp_path, programs, screen, chromium, monkeypatch
):
    monkeypatch.setenv("DISPLAY", screen)
    (programs / "google-chrome").write_text(REAL.format(browser=chromium))
    (programs / "google-chrome").chmod(0o755)
    (programs / "sh").symlink_to(shutil.which("sh"))
    profile = tmp_path / "cache" / "window"
    widths = []
    for _ in range(2):
        (profile / "DevToolsActivePort").unlink(missing_ok=True)
        app = start(tmp_path, programs)
        try:
            until((profile / "DevToolsActivePort").exists)
            until(lambda: (profile / "DevToolsActivePort").read_text())
            port = (profile / "DevToolsActivePort").read_text().splitlines()[0]
            with sync_playwright() as driver:
                browser = driver.chromium.connect_over_cdp(f"http://127.0.0.1:{port}")
                (page,) = browser.contexts[0].pages
                page.wait_for_function(
                    "document.title.endsWith('LossPrism')", timeout=WAIT_S * 1000
                )
                widths.append(page.evaluate("outerWidth"))
                page.evaluate("resizeTo(900, 700)")
                page.wait_for_function("outerWidth === 900")
                page.close()
            _, complaints = app.communicate(timeout=WAIT_S)
            assert (app.returncode, complaints) == (0, NOTICE)
        finally:
            app.kill()
            app.communicate()
    assert widths[0] != 900
    assert widths[1] == 900
