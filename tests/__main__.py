"""``python -m tests``: see that there is a browser, and an nginx, then run every test.

``--fast`` leaves out what needs a browser, starts processes, compiles, or trains, and what goes
through thousands of cases; ``--coverage`` says at the end which lines and branches of ``losses``
and ``explorer`` were reached, also in the processes that tests start; ``--interpreters`` runs the
fast tests under every Python that is promised and present. All else is handed to pytest.
``python -m tests.release`` runs what is left out here.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from tests import interpreters, nginx_server

# The one without windows opens a page in half the time.
CHROMIUM = ("chromium-headless-shell", "chromium", "chromium-browser")
# Three files at a time: much of a test of the page is waiting, on two cores a fifth of it. Tests
# that wait for nothing go two at a time: a third process would collect them once more.
PARALLEL, PARALLEL_FAST = ["-n", "3"], ["-n", "2"]
SLOWEST = "--durations=10"
SLOW = ("browser", "process", "compiled", "release")
RELEASE = "release or thorough"
FAST = [*(f"--ignore=tests/{folder}" for folder in SLOW), "-m", "not (draws or trains or thorough)"]
COVERAGE = ["--cov", "--cov-report=term:skip-covered"]
# Of two processes on two cores each has one: with two threads each they wait for one another, and
# threads that wait by spinning take the processor from whoever they wait for.
ONE_CORE = {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE"}
# Without compiled modules each of some hundred processes would compile both packages anew, and
# pytest would rewrite the assertions of every file in each of its own.
FROM_SOURCE = "PYTHONDONTWRITEBYTECODE"
# The tests of the page wait long before they fail: where nothing works, a few will do.
ENOUGH = "--maxfail=10"
NO_BROWSER = """\
No Chromium was found, and none could be installed: {reason}
The tests of the page need one. Install it (Debian:
apt-get install chromium-headless-shell; elsewhere: {python} -m playwright install chromium)
and start again, or run the tests that need none: {python} -m tests --fast"""


def browser_present() -> bool:
    """Whether the browser tests will find a Chromium: the system's, or Playwright's own."""
    if any(map(shutil.which, CHROMIUM)):
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
    install("chromium-headless-shell", "fonts-noto-cjk")


def install(*packages: str) -> None:
    """Debian's packages. Raises OSError or CalledProcessError where they cannot be had."""
    root = [] if is_root() else ["sudo"]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["apt-get", "update"], ["apt-get", "install", "-y", *packages]):
        subprocess.run([*root, *command], env=environment, check=True, stdout=subprocess.DEVNULL)


def is_root() -> bool:
    return getattr(os, "geteuid", int)() == 0


def install_nginx() -> None:
    """nginx, before a hosted app, where this is a container's root: elsewhere the package would
    begin to serve on port 80."""
    if is_root() and not os.path.exists("/run/systemd/system"):
        print("No nginx yet: installing the system's package.", flush=True)
        try:
            install("nginx-light")
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"It cannot be had ({error}): its tests are skipped.", flush=True)


def _try(command: list[str]) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def main(*arguments: str) -> int:
    if "--interpreters" in arguments:
        return interpreters.main(*(one for one in arguments if one != "--interpreters"))
    named = [one for one in arguments if one not in ("--fast", "--coverage")]
    if "--fast" in arguments:
        named = [*PARALLEL_FAST, *FAST, *named]
    elif not browser_present():
        try:
            install_browser()
        except (OSError, subprocess.CalledProcessError) as error:
            print(NO_BROWSER.format(reason=error, python=sys.executable), file=sys.stderr)
            return 1
    if "--fast" not in arguments and not nginx_server.FOUND:
        install_nginx()
    if "--coverage" in arguments:
        named += COVERAGE
    return run("-m", f"not ({RELEASE})", *named)  # of two choices of marks the last counts


def run(*arguments: str) -> int:
    """Run pytest, several files at a time, and return its exit code."""
    for name, value in ONE_CORE.items():
        os.environ.setdefault(name, value)
    os.environ.pop(FROM_SOURCE, None)
    sys.dont_write_bytecode = False
    return pytest.main(["-ra", *PARALLEL, SLOWEST, ENOUGH, *arguments])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
