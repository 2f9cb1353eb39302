"""With torch alone installed, the losses compute and the command says what else it needs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Nothing but torch and what torch itself requires can be imported.
TORCH_ALONE = """
import sys
from importlib.abc import MetaPathFinder
from importlib.metadata import packages_distributions, requires
import torch
from packaging.requirements import Requirement

allowed, names = set(), ["torch"]
while names:
    name = names.pop()
    if name not in allowed:
        allowed.add(name)
        for one in map(Requirement, requires(name) or ()):
            if not one.marker or one.marker.evaluate({"extra": ""}):
                names.append(one.name)
allowed = {name.lower().replace("_", "-") for name in allowed}
others = {
    module
    for module, distributions in packages_distributions().items()
    if not {name.lower().replace("_", "-") for name in distributions} & allowed
}
for module in others:
    sys.modules.pop(module, None)

class Absent(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in others:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
"""


def with_torch_alone(code: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", TORCH_ALONE + code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


COMPUTE = """
from lossprism.losses import LOSSES, cosent
import lossprism.losses.modules, lossprism.losses.sentence_transformers
scores = torch.tensor([0.1, 0.2, 0.8, 0.9], requires_grad=True)
cosent(scores, torch.tensor([0, 0, 1, 1])).backward()
print(len(LOSSES), float(scores.grad.sum()))
import lossprism
assert lossprism.probe("cosent", (scores, torch.tensor([0.0, 0, 1, 1]))).gradient_norm > 0
"""


COMMANDS = (
    ["--no-browser"],
    ["figure", "--scenario", "loss=cosent", "--out", "figure.svg"],
    ["train", "--data", "pairs.tsv", "--loss", "cosent", "--out", "model"],
    ["--help"],
)
# How each command ends, and what it writes.
RUN_ALL = f"""
import contextlib, io, json
from lossprism.explorer.cli import main
ended = []
for arguments in {COMMANDS!r}:
    sys.argv = ["lossprism", *arguments]
    said, complained = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(complained):
        try:
            status = main()
        except SystemExit as end:
            status = end.code
    ended.append([status, said.getvalue(), complained.getvalue()])
print(json.dumps(ended))
"""


@pytest.fixture(scope="module")
def printed():
    """What one process prints that computes first, and then runs the commands."""
    done = with_torch_alone(COMPUTE + RUN_ALL)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout.splitlines()


def test_the_losses_compute_with_torch_alone(printed):
    count, total = printed[0].split()
    assert int(count) > 20
    assert float(total) == pytest.approx(0, abs=1e-9)


@pytest.fixture(scope="module")
def ended(printed):
    found = json.loads(printed[1])
    return {arguments[0]: one for arguments, one in zip(COMMANDS, found, strict=True)}


@pytest.mark.parametrize("command", ["--no-browser", "figure", "train"])
def test_without_its_packages_the_command_says_what_to_install(ended, command):
    status, _, complained = ended[command]
    assert status == 1
    assert complained.removeprefix("Loading torch and Gradio …\n").startswith("The package ")
    assert 'pip install ".[app]"' in complained
    assert "Traceback" not in complained


def test_help_needs_no_package(ended):
    status, message, _ = ended["--help"]
    assert not status
    assert "--no-browser" in message
