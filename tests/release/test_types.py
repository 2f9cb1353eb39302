"""The packages are typed, and the types are checked."""

from __future__ import annotations

import ast
import sys
from importlib import import_module
from pathlib import Path

from scripts.class_stubs import stubs
from tests.type_checks import check_users_files, pyright

ROOT = Path(__file__).resolve().parents[2]


def test_pyright_finds_nothing():
    """With the settings of pyproject.toml, under this Python's packages."""
    found = pyright(sys.executable, ROOT)
    assert found["summary"]["filesAnalyzed"] > 100
    sentences = [
        f"{entry['file']}:{entry['range']['start']['line'] + 1}: {entry['message']}"
        for entry in found["generalDiagnostics"]
        if entry["severity"] == "error"
    ]
    assert not sentences, "\n".join(sentences)


def test_a_misspelt_parameter_of_a_generated_class_is_found(tmp_path):
    check_users_files(sys.executable, ROOT, tmp_path)


def test_the_stubs_are_those_of_the_losses():
    """After a change of a loss: ``python -m scripts.class_stubs``."""
    made = stubs()
    assert [path.name for path in made] == ["modules.pyi", "__init__.pyi"]
    for path, text in made.items():
        assert path.read_text(encoding="utf-8") == text, path


def test_a_name_of_a_stub_is_the_name_of_the_library():
    """What `tests/typings` says of a package is what the package has."""
    for stub in (ROOT / "tests" / "typings").rglob("*.pyi"):
        package = import_module(".".join(stub.relative_to(ROOT / "tests" / "typings").parts[:-1]))
        named = [
            (alias.asname, getattr(import_module(node.module), alias.name))
            for node in ast.parse(stub.read_text(encoding="utf-8")).body
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        ]
        assert len(named) > 20
        assert [name for name, one in named if getattr(package, name) is not one] == []
