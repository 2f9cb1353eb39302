"""Explorations to export."""

from __future__ import annotations

import functools

import torch

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Data, Rules, Scenario
from lossprism.explorer.export.code import Code
from lossprism.explorer.sources.random_batch import RandomBatch
from lossprism.losses import LOSSES
from tests.scenes import data_for

RANDOM = Data(source="random")
SMALL = Data(source="random", random=RandomBatch(pairs=14, dimension=4, seed=3))
ENGLISH = Data(example="graded_english")


@functools.lru_cache(maxsize=512)
def seen(data=SMALL, loss="cosent", convention="", rules=None, **parameters):
    chosen = tuple(parameters.items())
    return explore(
        Scenario(data_for(loss, data, convention), rules or Rules(), loss, convention, chosen)
    )


@functools.cache
def explorations():
    """Every loss and convention on a few random pairs, every loss on many, whose numbers stand in
    files, and on two textbook examples."""
    return tuple(_explorations())


def _explorations():
    for name, spec in LOSSES.items():
        for convention in ("", *(c.name for c in spec.conventions)):
            yield seen(SMALL, name, convention)
        yield seen(RANDOM, name)
        yield seen(ENGLISH, name)
        yield seen(Data(example="cosent_batch"), name)


def run_code(code: Code, folder) -> None:
    """Run it here, with the files that it reads in this folder; what it prints is printed."""
    for name, text in code.beside.items():
        (folder / name).write_text(text, encoding="utf-8")
    usual = torch.get_default_dtype()
    try:
        exec(compile(code.text, "loss.py", "exec"), {"__file__": folder / "loss.py"})
    finally:
        torch.set_default_dtype(usual)
