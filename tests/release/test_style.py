"""The whole repository passes its own linter and is formatted by it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("task", [["check"], ["format", "--check"]], ids=["lint", "format"])
def test_ruff(task):
    done = subprocess.run(
        [sys.executable, "-m", "ruff", *task, "."],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
