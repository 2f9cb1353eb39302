"""Unit tests start no process: what does stands in tests/process."""

from __future__ import annotations

import subprocess
import sys

import pytest

TO_START = subprocess.Popen.__init__


def _refuse_python(process: subprocess.Popen, command: object, *more: object, **named: object):
    words = command if isinstance(command, list | tuple) else [command]
    assert str(words[0]) != sys.executable, f"{words}: a test that starts this is no unit test"
    return TO_START(process, command, *more, **named)


@pytest.fixture(autouse=True)
def _no_process_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess.Popen, "__init__", _refuse_python)
