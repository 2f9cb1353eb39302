"""What the README shows is true, and the loss that its documentation adds is complete."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from PIL import Image

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.own_loss_from_python_file import add_own_loss
from lossprism.explorer.core.scenario import Scenario
from lossprism.losses import LOSSES
from tests.code_blocks import ROOT, python_blocks
from tests.interpreters import promised

README = (ROOT / "README.md").read_text(encoding="utf-8")
(ADDED_LOSS,) = python_blocks("docs/how-to/add-a-loss.md")
MAX_BYTES = 6000  # beside the front matter: what a reader takes in before they try it


def test_the_library_example_gives_the_numbers_beside_it():
    space: dict = {}
    (block,) = python_blocks("README.md")
    lines = block.splitlines()
    exec("\n".join(lines[:-3]), space)
    loss, collapse, convention = (eval(line.split("#")[0], space) for line in lines[-3:])
    assert float(loss) == pytest.approx(7.9198e-06, rel=1e-4)
    assert collapse == pytest.approx(1.6094, rel=1e-3)
    assert convention == lines[-1].split("#")[1].strip()


@pytest.mark.parametrize("requested", [("check",), ("format", "--check")])
def test_the_loss_it_adds_is_as_the_formatter_has_it(requested):
    line = [
        sys.executable,
        "-m",
        "ruff",
        *requested,
        "--stdin-filename",
        "losses/soft_rank.py",
        "-",
    ]
    done = subprocess.run(line, cwd=ROOT, input=ADDED_LOSS, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_loss_it_adds_is_complete_in_two_dozen_lines(tmp_path):
    assert len([line for line in ADDED_LOSS.splitlines() if line.strip()]) <= 24
    path = tmp_path / "soft_rank.py"
    path.write_text(ADDED_LOSS, encoding="utf-8")
    before = dict(LOSSES)
    try:
        add_own_loss(f"{path}:soft_rank")
        found = explore(Scenario(loss="soft_rank", parameters=(("slope", 10.0),)))
        assert 0 < found.loss < 1
        assert [step.name for step in found.trace.steps] == [
            "differences",
            "ordered",
            "terms",
            "loss",
        ]
        assert found.weights.terms == found.order.ordered
    finally:
        LOSSES.clear()
        LOSSES.update(before)


def test_its_commands_are_the_ones_that_ci_runs():
    command = re.search(r"^    (python3 -m venv .*python -m tests)$", README, flags=re.MULTILINE)
    assert command
    assert "requirements-dev.txt" in command[1]
    assert "README.md" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_the_front_matter_fits_the_requirements():
    matter = README.split("---")[1]
    entries = dict(line.split(": ", 1) for line in matter.strip().splitlines() if ": " in line)
    assert entries["sdk"] == "gradio"
    assert entries["sdk_version"].startswith("6.")
    assert (ROOT / entries["app_file"]).is_file()
    assert entries["python_version"].strip('"') in promised()
    assert len(entries["short_description"]) <= 60


def test_its_pictures_are_there():
    places = re.findall(r'!\[[^\]]*\]\(([^)]+)\)|<img src="([^"]+)"', README)
    assert len(places) > 4
    for place in map("".join, places):
        assert (ROOT / place).is_file(), place


def test_its_first_picture_moves_and_is_small():
    place = re.search(r"!\[[^\]]*\]\(([^)]+)\)", README)[1]
    with Image.open(ROOT / place) as picture:
        assert picture.format == "WEBP"
        assert picture.n_frames > 5
    assert (ROOT / place).stat().st_size < 1_000_000


def test_it_is_short():
    assert len(README.split("---", 2)[2].strip().encode()) <= MAX_BYTES
