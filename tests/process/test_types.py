"""The packages are typed, and the types are checked."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Node gathers garbage less often where there is more room for what is new: 40 s of a processor in
# place of 43.
ROOMY = {"NODE_OPTIONS": "--max-semi-space-size=128"}


def test_pyright_finds_nothing():
    """With the settings of pyproject.toml, under this Python's packages."""
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "--outputjson"]
    roomy = {**os.environ, **ROOMY}
    done = subprocess.run(command, cwd=ROOT, env=roomy, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("{"), done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert found["summary"]["filesAnalyzed"] > 100
    said = [
        f"{entry['file']}:{entry['range']['start']['line'] + 1}: {entry['message']}"
        for entry in found["generalDiagnostics"]
        if entry["severity"] == "error"
    ]
    assert not said, "\n".join(said)


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
