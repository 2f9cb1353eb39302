"""The notebooks of `examples` run from the first cell to the last, on the embedded encoder."""

from __future__ import annotations

import os
import re

import nbformat
import pytest
from nbclient import NotebookClient

from tests import warm
from tests.code_blocks import ROOT

SECONDS_OF_A_CELL = 120
# What each notebook is about, as it prints it.
SHOWN = {
    "one_batch": [
        r"loss \d+\.\d+, minimum",
        "of the weight: “The museum is closed",
        "^True$",
        "^loss at λ = 5: ",
    ],
    "pictures": ["^9 pictures$", "of the weight: the picture of “a "],
    "temperature": ["^12 pairs$", r"τ = 0\.02: \d+ effective terms", "of the weight: “"],
    "training": ["step 12: loss  2.07", "at_collapse"],
}
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """A kernel that is forked from the Python that has the libraries loaded."""
    folder = tmp_path_factory.mktemp("jupyter")
    warm.write_kernel(folder)
    before = os.environ.get("JUPYTER_PATH")
    os.environ["JUPYTER_PATH"] = str(folder)
    yield "warm"
    if before is None:
        del os.environ["JUPYTER_PATH"]
    else:
        os.environ["JUPYTER_PATH"] = before


@pytest.mark.trains
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs_and_shows_what_it_is_about(path, kernel, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=SECONDS_OF_A_CELL,
        kernel_name=kernel,
        resources={"metadata": {"path": str(tmp_path)}},
    )
    client.execute()
    printed = printed_by(notebook)
    assert not [one for one in SHOWN[path.stem] if not re.search(one, printed, re.MULTILINE)]


def printed_by(notebook) -> str:
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return "".join(output.get("text", "") for output in outputs)


def test_each_is_checked_and_holds_no_output():
    """What a run printed would go stale unseen."""
    assert {path.stem for path in NOTEBOOKS} == set(SHOWN)
    for path in NOTEBOOKS:
        cells = nbformat.read(path, as_version=4).cells
        assert not [cell for cell in cells if cell.get("outputs") or cell.get("execution_count")]
