"""In a checkout, `losses` and `explorer` are the modules of `lossprism`, whichever comes first."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("losses", "lossprism.losses", "losses.ranking.cosent", "lossprism.losses.ranking.cosent")
SAME = """
import importlib, pickle, sys
for name in {names}:
    importlib.import_module(name)
import losses, lossprism, lossprism.losses, losses.modules, lossprism.losses.modules
import explorer.core.scenario, lossprism.explorer.core.scenario
assert losses is lossprism.losses and explorer is lossprism.explorer
assert losses.cosent is lossprism.losses.cosent
for name, module in list(sys.modules.items()):
    if name.partition(".")[0] in ("losses", "explorer"):
        assert sys.modules["lossprism." + name] is module, name
        assert module.__name__ == module.__spec__.name == "lossprism." + name, name
assert pickle.loads(b"closses.modules\\nCosentLoss\\n.") is losses.modules.CosentLoss
"""


@pytest.mark.parametrize("names", itertools.islice(itertools.permutations(NAMES), 0, None, 5))
def test_each_module_is_loaded_once(names):
    code = SAME.format(names=names)
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert not done.returncode, done.stderr


def test_a_missing_module_is_named_as_requested():
    code = "import lossprism\nimport losses.nothing"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stderr.endswith("ModuleNotFoundError: No module named 'losses.nothing'\n")
