"""Imports are declared, with the same requirement in every file."""

from __future__ import annotations

import ast
import functools
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.interpreters import promised
from tests.statements import statements

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OURS = {"lossprism", "explorer", "losses", "tests", "benchmarks", "scripts", "app"}
# Imported by nobody: run as commands, or asked for by a package that does not require them itself.
TOOLS = {"ruff", "pyright", "pytest-cov", "hatchling"}
TOOLS |= {"mkdocs-material", "mkdocstrings", "ipykernel", "jupyterlab", "jupyter-server-proxy"}
# Loaded where they are asked for: what a trainer's callback is, and what it writes.
BESIDE_TRAINERS = (
    "losses/sentence_transformers/callback.py",
    "losses/sentence_transformers/saved_batch.py",
)
BESIDE_LIGHTNING = ("losses/lightning.py",)
ASKED_FOR = {
    "accelerate": "transformers' Trainer",
    "plotly": "charts of the pages, by its script alone (`explorer/web/static_files.py`)",
}


# The distribution of a module, where none is installed that says so.
NAMED = {"umap": "umap-learn", "fpdf": "fpdf2"}


def declared(*extras: str) -> dict[str, Requirement]:
    """What pip would be asked for, by name; an extra may name other extras of the project."""
    lines = list(PROJECT["dependencies"])
    for extra in extras:
        lines += PROJECT["optional-dependencies"][extra]
    found: dict[str, Requirement] = {}
    for requirement in map(Requirement, lines):
        if requirement.name == PROJECT["name"]:
            found |= declared(*requirement.extras)
        else:
            found[canonicalize_name(requirement.name)] = requirement
    return found


def listed(name: str) -> dict[str, Requirement]:
    """The lines of a requirements file, and of those that it names."""
    found: dict[str, Requirement] = {}
    for line in (ROOT / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("-r "):
            found |= listed(line.removeprefix("-r ").strip())
        elif line:
            found[canonicalize_name(Requirement(line).name)] = Requirement(line)
    return found


@functools.cache
def imported(place: str) -> dict[str, set[str]]:
    """By distribution, the files below a place that import it, anywhere in them."""
    distributions = installed()
    files = [ROOT / place] if place.endswith(".py") else sorted((ROOT / place).rglob("*.py"))
    found: dict[str, set[str]] = {}
    for file in files:
        for module in modules_in(file) - OURS - sys.stdlib_module_names:
            for distribution in distributions.get(module, [NAMED.get(module, module)]):
                name = canonicalize_name(distribution)
                found.setdefault(name, set()).add(str(file.relative_to(ROOT)))
    return found


# Reading what is installed takes half a second.
installed = functools.cache(packages_distributions)


def modules_in(file: Path) -> set[str]:
    found = set()
    for node in statements(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found


@pytest.mark.parametrize(
    ("place", "extras"),
    [
        ("losses", ()),
        *((file, ("train",)) for file in BESIDE_TRAINERS),
        *((file, ("lightning",)) for file in BESIDE_LIGHTNING),
        ("explorer", ("app", "train", "map", "notebook", "openvino", "openvino-int8")),
        ("app.py", ()),
        ("benchmarks", ("dev",)),
        ("scripts", ("dev", "vectors")),
        ("tests", ("dev",)),
    ],
)
def test_what_is_imported_is_declared(place, extras):
    found = imported(place)
    beside = set((*BESIDE_TRAINERS, *BESIDE_LIGHTNING) if place == "losses" else ())
    missing = {name: files - beside for name, files in found.items()}
    assert not {name for name, files in missing.items() if files and name not in declared(*extras)}


def test_what_is_declared_is_used():
    used = {name for place in (*OURS - {"app"}, "app.py") for name in imported(place)}
    assert set(declared("app", "train", "dev")) - used == TOOLS | set(ASKED_FOR)


@pytest.mark.parametrize(
    ("file", "extras"), [("requirements.txt", ("app",)), ("requirements-dev.txt", ("dev",))]
)
def test_requirements_say_what_pyproject_says(file, extras):
    there, here = listed(file), declared(*extras)
    pin, range_ = there.pop("torch"), here.pop("torch")
    assert there == here
    versions = [one.version for one in pin.specifier if one.operator == "=="]
    assert len(versions) == 1, "torch is pinned exactly, so that figures are the same everywhere"
    assert versions[0] in range_.specifier


def test_a_space_installs_the_same_torch_without_cuda():
    """From another index, which a machine that reaches PyPI alone never asks: README's commands
    read requirements.txt, and that has no options."""
    comment, index, pin = (ROOT / "pre-requirements.txt").read_text("utf-8").splitlines()
    assert comment.startswith("# ")
    assert index == "--index-url https://download.pytorch.org/whl/cpu"
    assert Requirement(pin) == listed("requirements.txt")["torch"]
    assert not any(line.startswith("-") for line in (ROOT / "requirements.txt").open())


def test_every_python_that_is_promised_is_named_in_the_readme():
    low, high = re.fullmatch(r">=3\.(\d+),<3\.(\d+)", PROJECT["requires-python"]).groups()
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"Python 3.{low} to 3.{int(high) - 1}." in readme


def test_the_classifiers_name_the_pythons_that_are_promised():
    minors = [
        int(found[1])
        for line in PROJECT["classifiers"]
        if (found := re.fullmatch(r"Programming Language :: Python :: 3\.(\d+)", line))
    ]
    assert [f"3.{minor}" for minor in minors] == promised()
