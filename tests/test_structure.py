"""Imports point one way, and the parts that should work alone do."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# Who may import whom: app → site → pages → instruments → … → losses.
RANK = {
    "losses": 0,
    "explorer.stubs": 0,
    "explorer.locale": 1,
    "explorer.problem": 2,
    "explorer.device": 2,
    "explorer.disk": 2,
    "explorer.arrays": 3,
    "explorer.pairs": 2,
    "explorer.plain_math": 2,
    "explorer.progress": 2,
    "explorer.svg": 3,
    "explorer.sources": 3,
    "explorer.scenario": 4,
    "explorer.trace": 4,
    "explorer.live": 4,
    "explorer.batch": 5,
    "explorer.diagnostics": 6,
    "explorer.own_loss": 6,
    "explorer.explore": 7,
    "explorer.picture": 8,
    "explorer.caption": 8,
    "explorer.remarks": 8,
    "explorer.instruments": 8,
    "explorer.lab": 9,
    "explorer.export": 9,
    "explorer.figure": 9,
    "explorer.interactive": 10,
    "explorer.api": 10,
    "explorer.pages": 11,
    "explorer.site": 12,
    "explorer.notebook": 13,
}


def rank_of(module):
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        name = ".".join(parts[:length])
        if name in RANK:
            return name, RANK[name]
    return None, None


FILES = [
    path
    for folder in ("losses", "explorer")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if path.relative_to(ROOT).as_posix() != "explorer/__init__.py"
]


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_imports_point_one_way(path):
    module = path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")
    name, own = rank_of(module.removesuffix(".__init__"))
    assert name is not None, f"{module} has no rank"
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        targets = []
        if isinstance(node, ast.ImportFrom) and node.module:
            targets = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        for target in targets:
            other, rank = rank_of(target)
            if other is not None and other != name:
                assert rank < own, f"{module} imports {target}"


def imported_by(statement):
    code = f"{statement}\nimport sys\nprint(' '.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_losses_work_alone():
    modules = imported_by("import losses")
    assert not modules & {"gradio", "transformers", "pandas", "scipy", "explorer"}


def test_exploring_needs_no_web_page_and_no_encoder():
    modules = imported_by(
        "from explorer.explore import explore\n"
        "from explorer.scenario import Scenario\n"
        "explore(Scenario())"
    )
    assert not modules & {"gradio", "transformers", "sentence_transformers"}


def test_the_page_starts_without_writing_stubs():
    """And what is no component of Gradio's is still found by whoever asks for its source."""
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from explorer.stubs import no_stubs\n"
            "import ast, inspect\n"
            "parsed, parse = [], ast.parse\n"
            "ast.parse = lambda *given, **named: parsed.append(1) or parse(*given, **named)\n"
            "with no_stubs():\n"
            "    import gradio\n"
            "    assert inspect.getfile(inspect) == inspect.__file__\n"
            "assert inspect.getfile(gradio.HTML).endswith('html.py')\n"
            "print(len(parsed))\n",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) < 60  # with stubs it parses the file of each of 80 components, twice
