"""What one takes away works without LossPrism."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
import zipfile

import pytest

from explorer.lab.training import takeaway
from explorer.lab.training.plan import SCRATCH, TrainingPlan
from explorer.problem import Problem
from tests.explorer.lab.training.conftest import corpus

SMALL = {"steps": 8, "batch_size": 8, "evaluations": 2}
RUNS = {
    "scratch": {"encoder": SCRATCH, "dimension": 8, "schedule": "source"},
    "classes": {"encoder": SCRATCH, "dimension": 8, "loss": "arcface"},
    "transformer": {"loss": "multitask_cosent", "layers": 1, "learning_rate": 0.01},
    "lora": {"loss": "info_nce", "lora": 2},
    "cross": {"kind": "cross", "loss": "binary_cross_entropy"},
}


@pytest.mark.parametrize("kind", RUNS)
def test_the_script_trains_the_same_model_again(kind, bert, runs, trained, tmp_path):
    name = trained(TrainingPlan(**{"encoder": bert, **SMALL, **RUNS[kind]}))
    packed = takeaway.script_zip(runs, name, tmp_path / "script.zip")
    with zipfile.ZipFile(packed) as opened:
        opened.extractall(tmp_path / "alone")
    launched = [sys.executable, "train.py"]
    if kind == "scratch":  # as for several devices, on the one that there is
        launched[1:1] = ["-m", "accelerate.commands.launch", "--cpu", "--num_processes", "1"]
    done = subprocess.run(
        launched,
        cwd=tmp_path / "alone",
        env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    loss = float(re.search(r"last step is (.*)\.\n", done.stdout)[1])
    assert loss == pytest.approx(runs.status(name)["summary"]["loss"], rel=1e-5)
    from safetensors.torch import load_file

    def weights(folder):
        found = {}
        for file in sorted(folder.rglob("*.safetensors")):
            found |= load_file(file)
        return found

    import torch

    one, other = weights(runs.folder(name).model), weights(tmp_path / "alone" / "model")
    assert one.keys() == other.keys()
    for key in one:
        torch.testing.assert_close(one[key], other[key], rtol=1e-4, atol=1e-6)


def test_the_model_is_a_folder_of_sentence_transformers(runs, trained, tmp_path):
    from sentence_transformers import SentenceTransformer

    name = trained(TrainingPlan(encoder=SCRATCH, dimension=8, **SMALL))
    with zipfile.ZipFile(takeaway.model_zip(runs, name, tmp_path / "model.zip")) as opened:
        opened.extractall(tmp_path / "out")
        files = [path.partition("/")[2] for path in opened.namelist()]
    assert "modules.json" in files
    assert not [file for file in files if file.endswith((".bin", ".pt", ".pkl"))]
    model = SentenceTransformer(str(tmp_path / "out" / name))
    assert model.encode("cat dog").shape == (8,)
    card = (tmp_path / "out" / name / "README.md").read_text(encoding="utf-8")
    assert "## Trained with LossPrism" in card
    assert '| Loss | cosent {"scale": 20.0} |' in card
    assert "| Steps | 8 of 8 pairs |" in card
    assert "<polyline" in (tmp_path / "out" / name / "loss.svg").read_text(encoding="utf-8")


def test_the_log_as_tables(runs, trained):
    name = trained(TrainingPlan(encoder=SCRATCH, dimension=8, **SMALL))
    whole = json.loads(takeaway.run_json(runs, name))
    assert whole["records"] == runs.history(name)
    rows = list(csv.DictReader(io.StringIO(takeaway.run_csv(runs, name))))
    assert [row["step"] for row in rows] == [str(step) for step in range(9)]
    assert [bool(row["spearman"]) for row in rows] == [True, *[False, False, False, True] * 2]
    assert float(rows[-1]["loss"]) == whole["summary"]["loss"]


def test_there_is_no_model_before_the_end(runs):
    run = runs.prepare(TrainingPlan(encoder=SCRATCH), corpus())
    run.take_ticket(os.getpid())
    with pytest.raises(Problem, match="no model yet"):
        takeaway.model_zip(runs, run.name, "nowhere.zip")
