"""With torch alone installed, the losses compute and the command says what else it needs."""

from __future__ import annotations

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


def test_the_losses_compute_with_torch_alone():
    done = with_torch_alone(
        "from losses import LOSSES, cosent\n"
        "import losses.modules, losses.sentence_transformers\n"
        "scores = torch.tensor([0.1, 0.2, 0.8, 0.9], requires_grad=True)\n"
        "cosent(scores, torch.tensor([0, 0, 1, 1])).backward()\n"
        "print(len(LOSSES), float(scores.grad.sum()))\n"
    )
    assert done.returncode == 0, done.stderr
    count, total = done.stdout.split()
    assert int(count) > 20
    assert float(total) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--no-browser"],
        ["figure", "--scenario", "loss=cosent", "--out", "figure.svg"],
        ["train", "--data", "pairs.tsv", "--loss", "cosent", "--out", "model"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_without_its_packages_the_command_says_what_to_install(arguments):
    done = with_torch_alone(
        "from explorer.cli import main\n"
        f"sys.argv = ['lossprism', *{arguments!r}]\n"
        "sys.exit(main())\n"
    )
    assert done.returncode == 1
    assert done.stderr.startswith("The package ")
    assert 'pip install ".[app]"' in done.stderr
    assert "Traceback" not in done.stderr


def test_help_needs_no_package():
    done = with_torch_alone(
        "from explorer.cli import main\nsys.argv = ['lossprism', '--help']\nmain()\n"
    )
    assert done.returncode == 0, done.stderr
    assert "--no-browser" in done.stdout
