"""Parts that should work by themselves do, each in a process that loads nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from explorer.sources.encoders import EMBEDDED

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 900  # seconds, on a machine that has other things to do


def imported_by(statement):
    code = f"{statement}\nimport sys\nprint(' '.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_exploring_needs_no_web_page_and_no_encoder():
    modules = imported_by(
        "from explorer.core.explore import explore\n"
        "from explorer.core.scenario import Scenario\n"
        "explore(Scenario())"
    )
    assert not modules & {"gradio", "transformers", "sentence_transformers"}


def test_the_page_starts_without_writing_stubs():
    """And what is no component of Gradio's is still found by whoever asks for its source."""
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from explorer.web.stubs import no_stubs\n"
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


def test_the_package_asks_for_torch_only():
    code = """
import sys, torch
known = set(sys.modules)
import losses, losses.modules
heavy = "gradio transformers pandas scipy sentence_transformers pytorch_metric_learning explorer"
print(sorted(name for name in heavy.split() if name in sys.modules))
roots = {name.partition(".")[0] for name in set(sys.modules) - known}
print(sorted(roots - sys.stdlib_module_names - {"losses"}))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split("\n")[:2] == ["[]", "[]"]


def test_loading_an_example_imports_no_model_library():
    code = (
        "import sys; from explorer.sources.textbook import EXAMPLES, load_example\n"
        "[load_example(name) for name in EXAMPLES]\n"
        "print({'torch', 'transformers', 'pyarrow', 'pandas'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_an_unreachable_hub_is_said_with_what_works_offline(tmp_path):
    code = (
        "from explorer.sources.encoders import encode\n"
        "from explorer.runtime.problem import Problem\n"
        "try: encode(['a'], 'someone/model')\n"
        "except Problem as problem: print(problem.key, problem)"
    )
    settings = {"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HOME": str(tmp_path), "NO_PROXY": "*"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
        env=os.environ | settings,
    )
    (said,) = done.stdout.strip().splitlines()
    assert said.startswith("problem.hub_unreachable")
    for works in (EMBEDDED, "local folder", "textbook examples", "random batches"):
        assert works in said
