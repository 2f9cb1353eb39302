"""A loss is added by a file: that of the documentation, and others, in copies of the packages."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.export.figure.matrix import matrix_figure
from lossprism.explorer.web.api.endpoint_functions import list_losses
from tests import warm
from tests.test_readme import ADDED_LOSS, ROOT

# Where there are tests that run over the registry, and those of them that do not name the loss.
REGISTRY_TESTS = ("losses", "core", "locale", "export", "web", "lab")
OVER_ALL = (
    "the_registry",
    "of_the_package",
    "in_both_languages",
    "that_a_loss_reads",
    "every_loss_on_classes",
    "every_loss_says_what_it_makes_of_a_change[duplicate]",  # as of the others
    "every_reason_names",
    "is_learnt_from",
    "the_checks_are_reported",
)


def over_the_registry(folder):
    """The files of tests that speak of the registry, or have one of those: the others need not be
    read to see that nothing in them is about the loss."""
    for name in REGISTRY_TESTS:
        for path in sorted((folder / "tests/unit" / name).rglob("test_*.py")):
            text = path.read_text(encoding="utf-8")
            if any(result in text for result in ("LOSSES", *OVER_ALL)):
                yield str(path.relative_to(folder))


def with_its_loss(folder):
    """A copy of the packages and of the tests, and in it the file as it is shown."""
    for package in ("lossprism", "losses", "explorer", "tests"):
        shutil.copytree(ROOT / package, folder / package)  # with what is compiled of it already
    shutil.copy(ROOT / "pyproject.toml", folder)
    place = ADDED_LOSS.splitlines()[0].removeprefix("# ")
    (folder / place).write_text(ADDED_LOSS, encoding="utf-8")


def run(folder, *command):
    done = subprocess.run(
        [warm.python(), *command], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def test_the_file_it_adds_is_listed_traced_and_drawn(tmp_path):
    with_its_loss(tmp_path)
    code = f"""
from {list_losses.__module__} import list_losses
from {explore.__module__} import explore
from {matrix_figure.__module__} import matrix_figure
from {Scenario.__module__} import Scenario
listed = {{one["name"]: one for one in list_losses(detail="full")}}["soft_rank"]
print(listed["parameters"][0]["name"], listed["parameters"][0]["maximum"])
found = explore(Scenario(loss="soft_rank", parameters=(("slope", 10.0),)))
print(*(step.name for step in found.trace.steps))
print(matrix_figure(found)[:4], found.weights.terms == found.order.ordered)
"""
    assert run(tmp_path, "-c", code).splitlines() == [
        "slope 50.0",
        "differences ordered terms loss",
        "<svg True",
    ]


def test_the_tests_over_the_registry_hold_for_the_file_it_adds(tmp_path):
    """Those of the loss itself, and those that ask something of all losses together."""
    with_its_loss(tmp_path)
    named = " or ".join(("soft_rank", *OVER_ALL))
    result = run(
        tmp_path,
        "-m",
        "pytest",
        "-q",
        "-n",
        "0",
        "-p",
        "no:cacheprovider",
        "-rA",
        "-k",
        named,
        *over_the_registry(tmp_path),
    )
    assert "test_the_definition_and_the_function_agree[soft_rank]" in result
    assert result.count("soft_rank") > 50
    for part in ("compare", "doctor", "training", "test_parameter_sweep"):
        assert f"PASSED tests/unit/lab/{part}" in result
    assert all(name in result for name in OVER_ALL)


NEW_LOSS = """
import torch
from lossprism.losses.spec import LossSpec, Parameter


def exponential(scores, labels, *, rate=1.0):
    differences = scores[:, None] - scores[None, :]
    terms = (rate * differences).exp() * (labels[:, None] < labels[None, :])
    loss = terms.sum()
    return loss


EXPONENTIAL = LossSpec(
    function=exponential,
    title="Exponential",
    group="pair_scores",
    formula=r"\\\\sum e^{s_j - s_i}",
    parameters=(Parameter("rate", 1.0, "r", 0.0, 5.0),),
    reads={"scores": "scores", "labels": "labels"},
    terms="terms",
)
"""


@pytest.mark.parametrize("room", ["", "ranking", "mine"])
def test_adding_a_loss_is_adding_a_file(tmp_path, room):
    """In the package, in one of its rooms, or in a room of its own."""
    for package in ("lossprism", "losses"):
        shutil.copytree(ROOT / package, tmp_path / package)
    (tmp_path / "losses" / room).mkdir(exist_ok=True)
    if room == "mine":
        (tmp_path / "losses" / room / "__init__.py").touch()
    (tmp_path / "losses" / room / "exponential.py").write_text(NEW_LOSS)
    code = """
import torch
from lossprism import losses
from lossprism.losses.modules import ExponentialLoss
spec = losses.LOSSES["exponential"]
given = torch.tensor([0.0, 0.0]), torch.tensor([1, 0])
print(losses.exponential(*given).item(), ExponentialLoss(rate=2.0), spec.definition.__name__)
"""
    assert run(tmp_path, "-c", code).strip() == "1.0 ExponentialLoss(rate=2.0) exponential"


def test_two_losses_of_one_name_are_refused(tmp_path):
    for package in ("lossprism", "losses"):
        shutil.copytree(ROOT / package, tmp_path / package)
    text = NEW_LOSS.replace("exponential(", "cosent(").replace("=exponential", "=cosent")
    (tmp_path / "losses" / "exponential.py").write_text(text)
    command = [warm.python(), "-c", "import losses"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert re.search(r"^ValueError: .*\bcosent\b", done.stderr, re.MULTILINE)
