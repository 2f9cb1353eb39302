"""Parts that should work by themselves do, each in a process that loads nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


# What is needed for more and more, in one process: after each step it says what is loaded.
STEPS = """
import json, sys
import torch
found = [list(sys.modules)]
import lossprism.losses, lossprism.losses.modules
found.append(list(sys.modules))
from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Scenario
explore(Scenario())
found.append(list(sys.modules))
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def loaded():
    """The modules that are loaded after each of the steps."""
    done = subprocess.run(
        [sys.executable, "-c", STEPS], cwd=ROOT, capture_output=True, text=True, check=True
    )
    names = ("torch", "losses", "explored")
    return dict(zip(names, map(set, json.loads(done.stdout)), strict=True))


def test_exploring_needs_no_web_page_and_no_encoder(loaded):
    assert not loaded["explored"] & {"gradio", "transformers", "sentence_transformers"}


def test_the_package_asks_for_torch_only(loaded):
    roots = {name.partition(".")[0] for name in loaded["losses"] - loaded["torch"]}
    assert not roots - sys.stdlib_module_names - {"lossprism", "losses"}
    heavy = "gradio transformers pandas scipy sentence_transformers pytorch_metric_learning"
    assert not loaded["losses"] & {*heavy.split(), "lossprism.explorer"}


def test_loading_an_example_imports_no_model_library():
    code = (
        "import sys; from lossprism.explorer.sources.textbook import EXAMPLES, load_example\n"
        "[load_example(name) for name in EXAMPLES]\n"
        "print({'torch', 'transformers', 'pyarrow', 'pandas'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


# The app up to its first picture, without the server's port and the threads that warm it.
FIRST_PICTURE = """
import json, sys
from lossprism.explorer import cli
from lossprism.explorer.web import site
from lossprism.explorer.core.explore import explore
from lossprism.explorer.export.drawing_data_of_exploration import picture
first = site.first_scenario("cpu", None)
site.build(first)
picture(explore(first))
import gradio.component_meta
writer = gradio.component_meta.create_or_modify_pyi.__module__
print(json.dumps([writer, sorted({name.partition(".")[0] for name in sys.modules})]))
"""
# What encoders, readers of files, trainings, charts, figures and Jupyter need.
LATER = """
    accelerate datasets fontTools kaleido lark matplotlib networkx nncf onnxruntime openvino pandas
    peft plotly pyarrow pytorch_metric_learning scipy pytest sentence_transformers sklearn sympy
    tokenizers transformers
"""


FIRST_CACHED = """
import gradio.caching as caching
before = "pandas" in sys.modules
caching._hash_repr(object)
after = "pandas" in sys.modules
import pandas
table = caching._hash_repr(pandas.DataFrame({"score": [1]}))
print(json.dumps([before, after, table[:3]]))
"""


@pytest.fixture(scope="module")
def first_picture():
    """What is loaded for the first picture, and what follows a first use of Gradio's cache."""
    done = subprocess.run(
        [sys.executable, "-c", FIRST_PICTURE + FIRST_CACHED],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_the_first_picture_loads_nothing_that_it_does_not_need(first_picture):
    writer, loaded = first_picture[0]
    assert {"torch", "gradio"} <= set(loaded)
    assert not {*LATER.split()} & set(loaded)
    # Gradio parses no source of its components (explorer/web/api/faster_gradio_import.py).
    assert writer == "lossprism.explorer.web.api.faster_gradio_import"


def test_gradio_imports_pandas_once_it_caches_something(first_picture):
    assert first_picture[1] == [False, True, "DF("]
