"""The wheel holds all of both packages, and the command it installs works from anywhere."""

from __future__ import annotations

import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import httpx
import pytest

from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.web.static_files import FILES
from lossprism.losses.modules import CosentLoss
from lossprism.version import VERSION
from tests.browser.serving import STOP_S
from tests.type_checks import check_users_files
from tests.unit.export.test_interactive_figure import data_in

ROOT = Path(__file__).resolve().parents[2]
# Where the wheel has each of them: below `lossprism`, and below what of the repository.
PACKAGES = {"explorer": "", "losses": "", "lossprism": "lossprism"}


def run(*command: object, cwd: Path, quiet: bool = False) -> str:
    done = subprocess.run(
        [*map(str, command)], cwd=cwd, env=elsewhere(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert not quiet or not done.stderr, done.stderr
    return done.stdout


def elsewhere() -> dict[str, str]:
    """The environment without what would lead Python back into the repository."""
    return {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(
        *(sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation"),
        *("--quiet", "--wheel-dir", folder, ROOT),
        cwd=folder,
    )
    return next(folder.glob("lossprism-*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment that holds the wheel, and sees the packages of this one.

    Its name begins with a dot, as the README's does: Gradio refuses files of such folders unless
    they are allowed by name.
    """
    home = tmp_path_factory.mktemp("home") / ".venv"
    run(sys.executable, "-m", "venv", "--without-pip", home, cwd=home.parent)
    python = home / "bin" / "python"
    run(
        *(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps"),
        wheel,
        cwd=home.parent,
    )
    packages = Path(
        run(python, "-c", "import sysconfig as s; print(s.get_path('purelib'))", cwd=home)[:-1]
    )
    (packages / "beside.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return home / "bin"


def test_it_holds_every_file_of_both_packages(wheel):
    expected = {
        f"lossprism/{path.relative_to(ROOT / within).as_posix()}"
        for package, within in PACKAGES.items()
        for path in (ROOT / package).rglob("*")
        if path.is_file()
        and "__pycache__" not in path.parts
        and path.suffix != ".pyc"
        and path.name != "wire.d.ts"  # is made to check types, and belongs to no checkout
    }
    with zipfile.ZipFile(wheel) as packed:
        held = {name for name in packed.namelist() if ".dist-info/" not in name}
    assert held == expected


def test_it_asks_for_torch_alone_and_offers_the_extras(wheel):
    with zipfile.ZipFile(wheel) as packed:
        about = next(name for name in packed.namelist() if name.endswith(".dist-info/METADATA"))
        lines = packed.read(about).decode().split("\n\n")[0].splitlines()
    always = [line for line in lines if line.startswith("Requires-Dist:") and ";" not in line]
    assert always == ["Requires-Dist: torch>=2.8"]
    assert f"Version: {VERSION}" in lines
    assert "Classifier: Typing :: Typed" in lines
    assert {f"Provides-Extra: {extra}" for extra in ("app", "train", "dev")} <= set(lines)


def test_its_packages_are_found_outside_the_repository_and_its_command_writes_a_figure(
    installed, tmp_path
):
    result = run(
        *(installed / "python", "-c"),
        "from importlib.util import find_spec\n"
        "print(*(find_spec(f'lossprism.{name}').origin for name in ('explorer', 'losses')))\n",
        cwd=tmp_path,
    )
    places = result.split()
    assert len(places) == 2
    assert all(Path(place).is_relative_to(installed.parent) for place in places)
    run(
        *(installed / "lossprism", "figure", "--scenario", Scenario().to_link(), "--out", "f.html"),
        cwd=tmp_path,
        quiet=True,
    )
    drawn = (tmp_path / "f.html").read_text(encoding="utf-8")
    assert drawn.startswith("<!doctype html>")
    assert data_in(drawn)["rows"]


def test_type_checkers_know_the_parameters_of_its_classes(installed, tmp_path):
    check_users_files(str(installed / "python"), tmp_path, tmp_path)


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A folder whose own modules are called as our packages are in a checkout."""
    (tmp_path / "explorer").mkdir()
    for file in ("losses.py", "explorer/__init__.py"):
        (tmp_path / file).write_text("raise ImportError('a module of the user')\n")
    return tmp_path


OLD_LOSS = """
import torch
from losses.spec import LossSpec

def mine(scores, labels):
    return (scores - labels).square().mean()
"""
USES = """
import torch
from lossprism.losses import LOSSES, cosent
from lossprism.losses.modules import loss_module
from lossprism.losses.sentence_transformers import CosentLoss, training_loss
from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Scenario
scores, labels = torch.tensor([0.0, 0.5]), torch.tensor([1, 0])
module = loss_module("cosent")(scale=2.0)
print(float(cosent(scores, labels, scale=2.0)), float(module(scores, labels)))
print(len(LOSSES), bool(explore(Scenario()).trace.loss > 0))
import losses
"""


def test_it_works_beside_modules_called_losses_and_explorer(installed, hostile):
    command = [installed / "python", "-c", USES]
    done = subprocess.run(command, cwd=hostile, env=elsewhere(), capture_output=True, text=True)
    first, second, *_ = done.stdout.splitlines()
    assert first.split()[0] == first.split()[1]
    assert first.startswith("1.31"), done.stderr
    assert second.endswith("True")
    assert done.stderr.splitlines()[-1] == "ImportError: a module of the user"
    assert run(installed / "lossprism", "--version", cwd=hostile) == f"LossPrism {VERSION}\n"
    result = run(installed / "lossprism", "explain", "5.545", cwd=hostile)
    assert "SigLIP" in result


def test_it_trains_beside_them(installed, hostile):
    """With the trainers' adapter, in a process of its own; the card names version and paper."""
    pairs = "".join(f"a cat {n}\ta dog {n}\t{n % 2}\n" for n in range(24))
    (hostile / "pairs.tsv").write_text(f"sentence1\tsentence2\tscore\n{pairs}")
    size = ("--steps", "2", "--batch-size", "4", "--dimension", "8", "--vocabulary", "200")
    run(
        *(installed / "lossprism", "train", "--data", "pairs.tsv", "--loss", "cosent"),
        *("--encoder", "scratch", *size, "--runs", "runs", "--out", "model"),
        cwd=hostile,
    )
    card = (hostile / "model" / "README.md").read_text(encoding="utf-8")
    assert f"| Version of LossPrism | {VERSION} |" in card
    assert "#### CosentLoss\n```bibtex\n@misc{su2022cosent," in card


def test_the_file_of_an_own_loss_may_use_the_bare_names(installed, tmp_path):
    (tmp_path / "mine.py").write_text(OLD_LOSS)
    code = (
        "from lossprism.explorer.core.own_loss_from_python_file import add_own_loss\n"
        "print(add_own_loss('mine.py:mine').name)"
    )
    assert run(installed / "python", "-c", code, cwd=tmp_path).strip() == "mine"


def test_a_module_saved_whole_under_the_old_names_loads(installed, tmp_path):
    """A state_dict, a run folder and a model name no module; a pickle does."""
    saved = pickle.dumps(CosentLoss(scale=3.0), protocol=2)
    old = saved.replace(b"clossprism.losses.modules\n", b"closses.modules\n")
    assert old != saved
    (tmp_path / "loss.pickle").write_bytes(old)
    code = (
        "import pickle, sys\n"
        "from lossprism.bare_names import find_bare_names\n"
        "find_bare_names()\n"
        "print(pickle.load(open(sys.argv[1], 'rb')))"
    )
    (tmp_path / "elsewhere").mkdir()
    command = (installed / "python", "-c", code, tmp_path / "loss.pickle")
    assert run(*command, cwd=tmp_path / "elsewhere").strip() == "CosentLoss(scale=3.0)"


# Of the losses' tests, those that need no other library and a second or two each.
QUICK = ("modules", "generated_classes", "labels", "refusals", "registry")


def test_quick_tests_of_the_losses_pass_with_what_is_installed(installed, tmp_path):
    """From a copy of the tests, beside which there is no `lossprism`."""
    shutil.copytree(ROOT / "tests", tmp_path / "tests", ignore=shutil.ignore_patterns("typings"))
    tests = [f"tests/unit/losses/test_{name}.py" for name in QUICK]
    options = ("--noconftest", "--quiet", "-p", "no:cacheprovider")
    result = run(installed / "python", "-m", "pytest", *options, *tests, cwd=tmp_path)
    assert int(re.search(r"(\d+) passed", result)[1]) > 1500
    where = "import lossprism.losses as it; print(it.__file__)"
    found = run(installed / "python", "-c", where, cwd=tmp_path).strip()
    assert Path(found).is_relative_to(installed.parent)


def test_its_command_serves_the_page_with_all_that_it_loads_until_control_c(installed, tmp_path):
    command = [installed / "lossprism", "--no-browser", "--runs", str(tmp_path / "runs")]
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        env=elsewhere(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        address = re.search(r"http://\S+", process.stdout.readline())[0].rstrip("/")
        page = httpx.get(address)
        assert page.status_code == 200
        files = set(re.findall(r"served/\w+/[\w/.-]+\.(?:js|css)\b", page.text))
        assert {Path(file).suffix for file in files} == {".js", ".css"}
        for file in files:
            served = httpx.get(f"{address}/{file}")
            assert served.status_code == 200, file
            assert served.content == FILES[file.split("/", 2)[2]]
        process.send_signal(signal.SIGINT)
        message, complaints = process.communicate(timeout=STOP_S)
        assert (process.returncode, "Traceback" in complaints) == (0, False)
        assert complaints.startswith("Loading torch and Gradio …\n")
        assert "LossPrism has stopped." in message
    finally:
        process.kill()
        process.communicate()
