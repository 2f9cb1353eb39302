"""The page in a window of its own: a browser of Chromium's family, without tabs and address bar.

The browser gets a profile of its own, so that it is a process of its own, which ends with its
window, and remembers the window's size.
"""

import contextlib
import itertools
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil

from lossprism.explorer.runtime.cache_folder import cache_folder
from lossprism.explorer.runtime.json_reading import read_json

# By the name of the command, of the application and of the file below the folder of programs.
LINUX_COMMANDS = (
    *("google-chrome", "google-chrome-stable", "chromium", "chromium-browser"),
    *("microsoft-edge", "microsoft-edge-stable", "brave-browser"),
)
MAC_APPLICATIONS = ("Google Chrome", "Chromium", "Microsoft Edge", "Brave Browser")
WINDOWS_FILES = (
    "Google/Chrome/Application/chrome.exe",
    "Chromium/Application/chrome.exe",
    "Microsoft/Edge/Application/msedge.exe",
    "BraveSoftware/Brave-Browser/Application/brave.exe",
)
WINDOWS_FOLDERS = ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA")  # variables
NO_BROWSER = (
    "No Chrome, Chromium, Edge or Brave was found for --window. Without --window the page opens in "
    "your usual browser."
)
CLOSE_S = 5.0  # for the browser to write down the size of its window


def find_browser() -> str:
    """Return the path of an installed browser. Raises FileNotFoundError with a sentence."""
    if sys.platform == "win32":
        folders = [Path(os.environ[name]) for name in WINDOWS_FOLDERS if name in os.environ]
        browsers = [str(folder / name) for name in WINDOWS_FILES for folder in folders]
    elif sys.platform == "darwin":
        folders = [Path("/Applications"), Path.home() / "Applications"]
        browsers = [
            str(folder / f"{name}.app" / "Contents" / "MacOS" / name)
            for name in MAC_APPLICATIONS
            for folder in folders
        ]
    else:
        browsers = [path for name in LINUX_COMMANDS if (path := shutil.which(name))]
    for path in browsers:
        if Path(path).is_file():
            return path
    raise FileNotFoundError(NO_BROWSER)


@contextlib.contextmanager
def app_window(browser: str, address: str, when_closed: Callable[[], object]) -> Iterator[None]:
    """Show this address in a window while the body runs, and call `when_closed` when it closes.

    Raises OSError if the browser cannot be started or fails, as without a screen.
    """
    profile = unused_profile()
    options = [f"--app={address}", f"--user-data-dir={profile}", *last_size(profile)]
    options += ["--no-first-run", "--no-default-browser-check"]
    window = subprocess.Popen([browser, *options], stderr=subprocess.DEVNULL)

    def wait() -> None:
        window.wait()
        when_closed()

    threading.Thread(target=wait, daemon=True).start()
    try:
        yield
        if failed := window.poll():
            raise OSError(f"{browser} ended with status {failed}")
    finally:
        window.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            window.wait(CLOSE_S)


def last_size(profile: Path) -> list[str]:
    """Return the option for the size that the profile's last window had; none before the first. The
    browser writes the size down, but gives it to windows with tabs alone."""
    try:
        text = (profile / "Default" / "Preferences").read_text(encoding="utf-8")
        browser = read_json(text)["browser"]["app_window_placement"]
    except (FileNotFoundError, ValueError, LookupError, TypeError):
        return []
    while isinstance(browser, dict) and "right" not in browser:  # by the parts of the address
        browser = next(iter(browser.values()), None)
    match browser:
        case {"left": int(left), "right": int(right), "top": int(top), "bottom": int(bottom)}:
            return [f"--window-size={right - left},{bottom - top}"]
    return []


def unused_profile() -> Path:
    """Return the folder of a profile that no browser has open: one that is open would take the
    window over, and the new process would end at once."""
    in_use = set()
    for process in psutil.process_iter(["cmdline"]):
        in_use |= {*(process.info["cmdline"] or ())}
    names = itertools.chain(["window"], (f"window-{number}" for number in itertools.count(2)))
    folders = (cache_folder(name) for name in names)
    return next(one for one in folders if f"--user-data-dir={one}" not in in_use)
