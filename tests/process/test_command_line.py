"""`python app.py figure` and `compare-losses`, as a user runs them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from lossprism.explorer.core.scenario import Scenario
from tests import warm
from tests.unit.export.test_interactive_figure import data_in

ROOT = Path(__file__).resolve().parents[2]


def test_the_command_line_writes_it(tmp_path):
    out = tmp_path / "figure.html"
    command = [warm.python(), "app.py", "figure", "--scenario", Scenario().to_link()]
    done = subprocess.run([*command, "--out", str(out)], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert data_in(out.read_text(encoding="utf-8"))["rows"]


def test_losses_are_compared_on_the_terminal():
    command = [warm.python(), "app.py", "compare-losses", "cosent", 'info_nce@"CLIP"', "triplet"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "2  InfoNCE · CLIP (initial temperature)" in done.stdout
    assert "2 and 3: Kendall's τ" in done.stdout


EXPLAIN = ("explain", "5.545", "--loss", "info_nce")


@pytest.mark.parametrize(
    "words",
    [
        EXPLAIN,
        (*EXPLAIN, "--json"),
        ("doctor", "{table}"),
        ("doctor", "{table}", "--losses", "--json"),
    ],
)
def test_a_reader_who_stops_ends_it_silently(words, tmp_path):
    """As `app.py explain 5.545 | head -1` does: of little it is found at the end, of much amid."""
    table = tmp_path / "pairs.tsv"
    table.write_text("".join(f"first {n % 9}\tsecond {n % 9}\n" for n in range(99)))
    reading, writing = os.pipe()
    os.close(reading)
    command = [warm.python(), "app.py", *(word.format(table=table) for word in words)]
    done = subprocess.run(command, cwd=ROOT, stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    assert (done.returncode, done.stderr) == (128 + 13, "")
