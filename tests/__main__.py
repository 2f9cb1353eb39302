"""``python -m tests``: see that there is a browser, then run every test."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest


def browser_present() -> bool:
    """Whether the browser tests will find a Chromium: the system's, or Playwright's own."""
    if shutil.which("chromium") or shutil.which("google-chrome"):
        return True
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        return os.path.exists(playwright.chromium.executable_path)


def install_browser() -> None:
    """Playwright's own Chromium where its download can be reached, Debian's package otherwise."""
    print("No Chromium yet: asking Playwright for its own.", flush=True)
    attempt = [sys.executable, "-m", "playwright", "install", "chromium"]
    fetched = subprocess.run(attempt, capture_output=True, text=True, check=False)
    if fetched.returncode == 0 and _try([sys.executable, "-m", "playwright", "install-deps"]):
        return
    print("Playwright's download cannot be reached; installing the system's package.", flush=True)
    root = [] if os.geteuid() == 0 else ["sudo"]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (
        ["apt-get", "update"],
        ["apt-get", "install", "-y", "chromium", "fonts-noto-cjk"],
    ):
        subprocess.run([*root, *command], env=environment, check=True, stdout=subprocess.DEVNULL)


def _try(command: list[str]) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


if __name__ == "__main__":
    if not browser_present():
        install_browser()
    sys.exit(pytest.main(["-ra", *sys.argv[1:]]))
