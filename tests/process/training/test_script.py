"""The script that one takes away trains the same model again, without LossPrism."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile

import pytest
import torch
from safetensors.torch import load_file

from explorer.lab.training import takeaway
from explorer.lab.training.influence import ALL_FIGURES, LEADING
from explorer.lab.training.plan import SCRATCH, TrainingPlan
from explorer.sources.encoders import EMBEDDED
from tests.tiny import save_bert
from tests.unit.lab.training.test_positives import PLAN, positives

SMALL = {"steps": 8, "batch_size": 8, "evaluations": 2}

RUNS = {
    "embedded": {"encoder": EMBEDDED, "steps": 2},
    "classes": {"encoder": SCRATCH, "dimension": 8, "loss": "arcface"},
    "transformer": {"loss": "multitask_cosent", "layers": 1, "learning_rate": 0.01},
    "lora": {"loss": "info_nce", "lora": 2},
    "cross": {"kind": "cross", "loss": "binary_cross_entropy"},
}


def unpacked(runs, name, folder):
    """Where the script of a run lies with all that it needs."""
    packed = takeaway.script_zip(runs, name, folder / f"{name}.zip")
    with zipfile.ZipFile(packed) as opened:
        opened.extractall(folder / name)
    return folder / name


def launched(*command, cwd):
    """What a process prints that knows nothing of this one."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, *command], cwd=cwd, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def weights_of(model):
    found = {}
    for file in sorted(model.rglob("*.safetensors")):
        found |= load_file(file)
    return found


def same_weights(one, other, atol=1e-6):
    assert one.keys() == other.keys()
    for key in one:
        # The gradient of the bias of attention keys is 0: Adam makes steps of what rounding leaves.
        if key.endswith("attention.self.key.bias"):
            continue
        torch.testing.assert_close(one[key], other[key], rtol=1e-4, atol=atol)


def must_be_trained_again(runs, name, folder, said):
    summary = runs.status(name)["summary"]
    loss = float(re.search(r"last step is (.*)\.\n", said)[1])
    assert loss == pytest.approx(summary["loss"], rel=1e-5)
    headline = re.findall(r"held-out (\w+): (\S+) -> (\S+)", said)
    shown = [key for key in ALL_FIGURES if summary["after"][key] is not None]
    assert [key for key, *_ in headline] == shown
    assert set(LEADING) & set(shown)
    for key, before, after in headline:
        assert float(before) == pytest.approx(summary["before"][key], abs=1e-5)
        assert float(after) == pytest.approx(summary["after"][key], abs=1e-3)
    same_weights(weights_of(runs.folder(name).model), weights_of(folder / "model"))


@pytest.mark.parametrize("kind", RUNS)
def test_the_script_trains_the_same_model_again(kind, bert, runs, trained, tmp_path):
    name = trained(TrainingPlan(**{"encoder": bert, **SMALL, **RUNS[kind]}))
    folder = unpacked(runs, name, tmp_path)
    said = launched(str(folder / "train.py"), cwd=tmp_path)
    must_be_trained_again(runs, name, folder, said)


def test_the_script_of_positives_measures_how_queries_find_their_keys(runs, trained, tmp_path):
    name = trained(PLAN, positives())
    folder = unpacked(runs, name, tmp_path)
    said = launched(str(folder / "train.py"), cwd=tmp_path)
    must_be_trained_again(runs, name, folder, said)
    assert "held-out accuracy_at_1" in said
    assert "held-out accuracy_at_1" in (folder / "train.py").read_text()


def test_a_script_trains_the_same_model_as_accelerate_launches_it(runs, trained, tmp_path):
    """As for several devices, on the one that there is."""
    name = trained(TrainingPlan(**SMALL, encoder=SCRATCH, dimension=8, schedule="source"))
    folder = unpacked(runs, name, tmp_path)
    said = launched("-m", "accelerate.commands.launch", "--cpu", "train.py", cwd=folder)
    must_be_trained_again(runs, name, folder, said)


# A classifier of the loss's own and weights that nothing uses; and a batch sampler of its own.
SHARED = {
    "transformer": {"loss": "multitask_cosent", "learning_rate": 0.01},
    "scratch": {"loss": "info_nce", "encoder": SCRATCH, "dimension": 8},
}


@pytest.mark.parametrize("kind", SHARED)
def test_two_processes_share_the_batches_of_one(kind, runs, trained, tmp_path):
    still = save_bert(tmp_path)  # each process would draw its own dropout
    name = trained(TrainingPlan(**{"encoder": still, **SMALL, **SHARED[kind]}))
    folder = unpacked(runs, name, tmp_path)
    two = ("-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2", "train.py")
    assert launched(*two, cwd=folder).count("last step") == 1
    same_weights(weights_of(runs.folder(name).model), weights_of(folder / "model"), atol=5e-5)
