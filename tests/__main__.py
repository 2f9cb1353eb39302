"""``python -m tests``: see that there is a browser, then run every test."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

# Two files at a time: much of a test of the page is waiting.
PARALLEL = ["-n", "2"]
# The tests of the page wait long before they fail: where nothing works, a few will do.
ENOUGH = "--maxfail=10"
NO_BROWSER = """\
No Chromium was found, and none could be installed: {reason}
The tests of the page need one. Install it (Debian: apt-get install chromium; elsewhere:
{python} -m playwright install chromium) and start again,
or run the other tests alone: {python} -m pytest --ignore tests/browser"""


def browser_present() -> bool:
    """Whether the browser tests will find a Chromium: the system's, or Playwright's own."""
    if shutil.which("chromium") or shutil.which("chromium-browser"):
        return True
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        return os.path.exists(playwright.chromium.executable_path)


def install_browser() -> None:
    """Playwright's own Chromium where its download can be reached, Debian's package otherwise.

    Raises OSError or CalledProcessError where neither can be had.
    """
    print("No Chromium yet: asking Playwright for its own.", flush=True)
    attempt = [sys.executable, "-m", "playwright", "install", "chromium"]
    fetched = subprocess.run(attempt, capture_output=True, text=True, check=False)
    if fetched.returncode == 0 and _try([sys.executable, "-m", "playwright", "install-deps"]):
        return
    print("Playwright's download cannot be reached; installing the system's package.", flush=True)
    root = [] if getattr(os, "geteuid", int)() == 0 else ["sudo"]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (
        ["apt-get", "update"],
        ["apt-get", "install", "-y", "chromium", "fonts-noto-cjk"],
    ):
        subprocess.run([*root, *command], env=environment, check=True, stdout=subprocess.DEVNULL)


def _try(command: list[str]) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def main(*arguments: str) -> int:
    if not browser_present():
        try:
            install_browser()
        except (OSError, subprocess.CalledProcessError) as error:
            print(NO_BROWSER.format(reason=error, python=sys.executable), file=sys.stderr)
            return 1
    # Threads that wait for one another by spinning take the processor from whoever they wait for.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    return pytest.main(["-ra", *PARALLEL, ENOUGH, *arguments])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
