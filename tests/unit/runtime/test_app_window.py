"""A window of its own: which browser shows it, and in which profile."""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace

import pytest

from lossprism.explorer.runtime import app_window
from lossprism.explorer.runtime.app_window import (
    NO_BROWSER,
    find_browser,
    last_size,
    unused_profile,
)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Another computer, with nothing installed."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("LOSSPRISM_CACHE", str(tmp_path / "cache"))
    for name in app_window.WINDOWS_FOLDERS:
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def installed(path):
    path.parent.mkdir(parents=True)
    path.write_text("")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize("system", ["linux", "win32", "darwin"])
def test_without_a_browser_a_sentence_says_so(system, elsewhere, monkeypatch):
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(app_window.Path, "is_file", lambda path: False)
    with pytest.raises(FileNotFoundError, match=f"^{NO_BROWSER}$"):
        find_browser()


@pytest.mark.parametrize("name", app_window.LINUX_COMMANDS)
def test_a_command_of_linux_is_found(name, elsewhere, monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    path = installed(elsewhere / "bin" / name)
    assert find_browser() == path


@pytest.mark.parametrize("name", app_window.WINDOWS_FILES)
def test_a_program_of_windows_is_found(name, elsewhere, monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(elsewhere / "local"))
    monkeypatch.setenv("PROGRAMFILES", str(elsewhere / "programs"))
    path = installed(elsewhere / "local" / name)
    assert find_browser() == path


def test_an_application_of_a_mac_is_found(elsewhere, monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(app_window.Path, "home", lambda: elsewhere)
    place = "Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge"
    path = installed(elsewhere / place)
    assert find_browser() == path


def test_a_profile_that_a_browser_has_open_is_left_to_it(elsewhere, monkeypatch):
    first = unused_profile()
    assert first == elsewhere / "cache" / "window"
    processes = [SimpleNamespace(info={"cmdline": words}) for words in (None, ["init"])]
    monkeypatch.setattr(app_window.psutil, "process_iter", lambda _: processes)
    assert unused_profile() == first
    open_one = SimpleNamespace(info={"cmdline": ["chrome", f"--user-data-dir={first}"]})
    processes.append(open_one)
    assert unused_profile() == elsewhere / "cache" / "window-2"


def test_the_size_of_the_last_window_is_that_of_the_next(elsewhere):
    profile = unused_profile()
    assert last_size(profile) == []
    preferences = profile / "Default" / "Preferences"
    preferences.parent.mkdir()
    # As Chromium 156 writes them after http://127.0.0.1:7860/ was shown.
    edges = {"left": 10, "right": 910, "top": 20, "bottom": 720, "maximized": False}
    placement = {"127": {"0": {"0": {"1_/": edges}}}}
    preferences.write_text(json.dumps({"browser": {"app_window_placement": placement}}))
    assert last_size(profile) == ["--window-size=900,700"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[1]",
        "{}",
        '{"browser": 1}',
        '{"browser": {"app_window_placement": {"1": {"right": "a"}}}}',
    ],
)
def test_odd_preferences_give_no_size(elsewhere, text):
    profile = unused_profile()
    (profile / "Default").mkdir()
    (profile / "Default" / "Preferences").write_text(text)
    assert last_size(profile) == []
