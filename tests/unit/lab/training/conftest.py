"""Small encoders and pairs to train on in a second."""

from __future__ import annotations

import functools
import gc
import os
import random

import pytest

from lossprism.explorer.lab.training.data import Corpus
from lossprism.explorer.lab.training.run_control import Runs
from lossprism.explorer.lab.training.run_json_types import Measured, PairCounts, Summary
from tests.tiny import save_bert, sentence

# Results of a run that nobody measured.
SUMMARY = Summary(
    loss=0.5,
    steps=8,
    seconds=1.0,
    steps_per_second=8.0,
    before=Measured(),
    after=Measured(),
    pairs=PairCounts(train=8, held_out=4),
    label_range=(0, 1),
    threshold=0.5,
    skipped=0,
    shared=0,
    kept_step=8,
)


def corpus(labels=(0, 1, 2, 3, 4, 5), count=96, seed=5):
    draw = random.Random(seed)
    pairs = tuple(
        (sentence(draw), sentence(draw), float(draw.choice(labels))) for _ in range(count)
    )
    return Corpus(pairs[: 3 * count // 4], pairs[3 * count // 4 :])


@pytest.fixture(scope="session", autouse=True)
def _libraries_stay() -> None:
    """What a run imports is there from now on: garbage is not looked for in it."""
    from lossprism.explorer.lab.training import training_run  # noqa: F401

    gc.freeze()


@pytest.fixture(scope="session")
def bert(tmp_path_factory):
    """The folder of a random transformer of two layers, with dropout."""
    return save_bert(tmp_path_factory.mktemp("bert"), dropout=0.1)


def train_here(runs, plan, pairs=None):
    from lossprism.explorer.lab.training.training_run import train

    run = runs.prepare(plan, pairs or corpus())
    run.take_ticket(os.getpid())
    train(run)
    return run.name


@pytest.fixture
def runs(tmp_path):
    return Runs(tmp_path / "runs", device="cpu")


@pytest.fixture
def trained(runs):
    """Train here, without a process, and give the name of the run."""
    return functools.partial(train_here, runs)
