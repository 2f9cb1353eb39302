"""Encoders and datasets by their id on a hub, downloaded for real from one on this computer."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import subprocess
from pathlib import Path

import pytest

from lossprism.explorer.sources.encoders import EMBEDDED
from tests import hub, warm
from tests.sentences import pattern_of
from tests.tiny import save_bert, static_model
from tests.unit.lab.training.conftest import corpus

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).resolve().parents[3]
HEADS = ("sentence1", "sentence2", "score")


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    """Folders of models and of datasets, as they lie on the hub."""
    root = tmp_path_factory.mktemp("shelf")
    static_model().save_pretrained(str(root / "static"))
    (root / "bert").mkdir()
    save_bert(root / "bert")
    rows = [dict(zip(HEADS, pair, strict=True)) for pair in corpus().train]
    for name in ("csv", "parquet"):
        (root / name / "data").mkdir(parents=True)
    with (root / "csv" / "train.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, HEADS)
        table.writeheader()
        table.writerows(rows)
    from datasets import Dataset

    Dataset.from_list(rows[:40]).to_parquet(root / "parquet" / "data" / "train-00000.parquet")
    Dataset.from_list(rows[40:]).to_parquet(root / "parquet" / "data" / "test-00000.parquet")
    models = {"someone/static": root / "static", "someone/bert": root / "bert"}
    return models, {"someone/csv": root / "csv", "someone/parquet": root / "parquet"}


# A machine that has other things to do may take longer than a user would wait for the hub.
PATIENT = """
import json, os, sys, traceback
from lossprism.explorer.lab.training.loss_refusal_reasons import checked_corpus
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime import limits
limits.HUB_S = 600.0

answers, sys.stdout = sys.stdout, sys.stderr
for code in sys.stdin:
    names = {"checked_corpus": checked_corpus, "Problem": Problem}
    try:
        exec(json.loads(code), names)
        answer = names["answer"]
    except Exception:
        answer = traceback.format_exc()
    print(json.dumps(answer), file=answers, flush=True)
"""


def run_scripts(shelf, folder, codes, without_hub):
    """Run each code in one process whose hub is the shelf, and one more when there is no hub: what
    it leaves in `answer`, as JSON, or the traceback of what it raised."""
    kept = {name: v for name, v in os.environ.items() if not name.startswith("HF_")}
    waits = dict.fromkeys(("HF_HUB_ETAG_TIMEOUT", "HF_HUB_DOWNLOAD_TIMEOUT"), "600")
    with contextlib.ExitStack() as ends, (folder / "complaints").open("w") as complaints:
        address = ends.enter_context(hub.serving(*shelf))
        own = {"HF_ENDPOINT": address, "HF_HOME": str(folder / "home"), **waits}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": complaints}
        with subprocess.Popen(
            [warm.python(), "-c", PATIENT], cwd=ROOT, env={**kept, **own}, text=True, **pipes
        ) as process:

            def answer(code):
                print(json.dumps(code), file=process.stdin, flush=True)
                return process.stdout.readline()

            found = [answer(code) for code in codes]
            ends.close()
            found.append(answer(without_hub))
    assert all(found), (folder / "complaints").read_text(encoding="utf-8")[-2000:]
    return [json.loads(line) for line in found]


ENCODER = """
from lossprism.explorer.sources.encoders import encode
answer = [encode(["cat dog"], "someone/static").tolist()]
try:
    encode(["cat dog"], "someone/nothing")
except Problem as problem:
    answer.append(problem.key)
"""
DATA = """
from lossprism.explorer.lab.training.plan import TrainingData, TrainingPlan

def read(name, split="train"):
    try:
        found = checked_corpus(TrainingPlan(data=TrainingData(source="hub", hub=name, split=split)))
    except Problem as problem:
        return problem.key
    return sorted([*found.train, *found.held_out])
"""
WANTED = [("someone/csv",), ("someone/parquet",), ("someone/parquet", "test")]
WANTED += [("someone/parquet", "validation"), ("someone/nothing",)]
STREAMED = """
import io, json, sys
from contextlib import redirect_stdout
from lossprism.explorer import cli

def doctored(*more):
    said = io.StringIO()
    sys.argv = ["app.py", "doctor", *more, "--json", "--batch", "8"]
    with redirect_stdout(said):
        cli.main()
    return json.loads(said.getvalue())["pairs"]

answer = [doctored("--hub", "someone/csv", "--rows", "12"), doctored("--hub", "someone/parquet")]
"""
RUN = """
import os
from lossprism.explorer.lab.training.plan import TrainingData, TrainingPlan
from lossprism.explorer.lab.training.run_control import Runs
from lossprism.explorer.lab.training.training_run import train
runs = Runs({runs!r}, "cpu")
pairs = TrainingData(source="hub", hub="someone/parquet")
plan = TrainingPlan(data=pairs, encoder="someone/bert", steps=2, batch_size=4, evaluations=1)
run = runs.prepare(plan, checked_corpus(plan))
run.take_ticket(os.getpid())
train(run)
status = runs.status(run.name)
answer = [status.state, status.problem and str(status.problem), status.step]
"""

# Here the process stands on a Space, whose owner is logged in.
STRANGER = f"""
import os
import huggingface_hub, datasets
os.environ |= {{"SPACE_ID": "someone/space", "HF_TOKEN": "hf_secret"}}
asked = []
info, load = huggingface_hub.HfApi.dataset_info, datasets.load_dataset
def told(api, *given, **named):
    asked.append(api.token)
    return info(api, *given, **named)
def loaded(*given, **named):
    asked.append(named["token"])
    return load(*given, **named)
huggingface_hub.HfApi.dataset_info, datasets.load_dataset = told, loaded
{DATA}
answer = [huggingface_hub.get_token(), len(read("someone/csv")), asked]
del os.environ["SPACE_ID"], os.environ["HF_TOKEN"]
"""
UNREACHABLE = """
import huggingface_hub
from lossprism.explorer.sources.encoders import encode
huggingface_hub.close_session()
try:
    encode(["a"], "someone/model")
except Problem as problem:
    answer = [problem.key, str(problem)]
"""


@pytest.fixture(scope="module")
def answers(shelf, tmp_path_factory):
    """An encoder, datasets, and a run from both: what is downloaded of each; and how a stranger
    asks for it."""
    folder = tmp_path_factory.mktemp("asked")
    read = f"{DATA}\nanswer = [read(*where) for where in {WANTED}]"
    run = RUN.format(runs=str(folder / "runs"))
    found = run_scripts(shelf, folder, (ENCODER, read, run, STREAMED, STRANGER), UNREACHABLE)
    names = ("encoder", "data", "run", "streamed", "stranger", "unreachable")
    return dict(zip(names, found, strict=True))


def test_an_encoder_is_downloaded_and_encodes(answers):
    vectors, problem = answers["encoder"]
    assert vectors[0] == pytest.approx(static_model().encode("cat dog").tolist(), rel=1e-5)
    assert problem == "problem.encoder_not_found"


def test_data_sets_are_downloaded_and_split(answers):
    found = answers["data"]
    pairs = [list(pair) for pair in corpus().train]
    assert found[:3] == [sorted(pairs), sorted(pairs[:40]), sorted(pairs[40:])]
    assert found[3:] == ["problem.hub_set_split", "problem.hub_set_unknown"]


def test_first_rows_are_streamed_to_doctor(answers):
    assert answers["streamed"] == [12, 40]


def test_a_run_starts_from_the_hub(answers):
    assert answers["run"] == ["finished", None, 2]


def test_strangers_use_no_password_of_the_page(answers):
    """On a Space the hub is asked as anybody may ask it, whoever is logged in there."""
    password, count, tokens = answers["stranger"]
    assert password == "hf_secret"
    assert count == 72
    assert len(tokens) >= 2
    assert set(tokens) == {False}


def test_an_unreachable_hub_is_reported_with_what_works_offline(answers):
    key, message = answers["unreachable"]
    assert key == "problem.hub_unreachable"
    assert pattern_of(key, embedded=EMBEDDED).fullmatch(message)
