"""What is advised against texts that stand in a batch twice has been tried on the data."""

from __future__ import annotations

import re

import numpy as np
import pytest

from explorer.lab.doctor.data import examine
from explorer.lab.doctor.profile import profiled
from explorer.lab.doctor.remedies import NO_DUPLICATES
from explorer.sources.pairs import Pairs
from losses import LOSSES

QUESTIONS, ANSWERS = 1455, 67


def questions(answers, count=QUESTIONS):
    """Questions of their own on so many answers, some of which many ask for."""
    draw = np.random.default_rng(0)
    often = draw.dirichlet(np.full(answers, 0.5))
    chosen = draw.choice(answers, count, p=often)
    first = tuple(f"question {n}" for n in range(count))
    return Pairs(first, tuple(f"answer {n}" for n in chosen), (1.0,) * count, labelled=False)


def finding(pairs, loss, batch):
    faults = {one.name: one for one in examine(profiled(pairs), LOSSES[loss], batch).faults}
    return faults["twins" if loss == "info_nce" else "twins_met"]


def library_batches(pairs, size):
    """The full batches of one epoch of the installed sampler."""
    from datasets import Dataset
    from sentence_transformers.base.sampler import NoDuplicatesBatchSampler

    columns = {"question": pairs.first, "answer": pairs.second}
    return [*NoDuplicatesBatchSampler(Dataset.from_dict(columns), size, drop_last=True)]


@pytest.mark.parametrize("batch", [64, 32])
def test_the_first_advice_for_questions_on_few_answers_trains(batch):
    pairs = questions(ANSWERS)
    found = finding(pairs, "info_nce", batch)
    assert found.more == "epoch_short"
    assert found.advice[0].startswith("loss = training_loss(")
    assert found.advice[0].endswith('twins="leave_out")')
    assert NO_DUPLICATES not in found.advice
    said = found.said().replace("\u202f", "")
    assert f"fills {found.values['batches']} of {QUESTIONS // batch} batches" in said
    whole = finding(questions(1200), "info_nce", batch)
    assert (whole.more, whole.advice[0]) == ("epoch_whole", NO_DUPLICATES)
    assert f"of {QUESTIONS} rows" in whole.said().replace("\u202f", "")


@pytest.mark.parametrize("loss", ["info_nce", "siglip", "mega_batch_margin"])
@pytest.mark.parametrize("answers", [4, 20, ANSWERS, 300, 1000])
def test_a_sampler_that_is_advised_fills_an_epoch(loss, answers):
    """By the installed sampler: all batches, and most rows of each epoch once."""
    pairs = questions(answers, 600)
    for paste in finding(pairs, loss, 32).advice:
        if NO_DUPLICATES in paste:
            given = re.search(r"per_device_train_batch_size=(\d+)", paste)
            size = int(given[1]) if given else 32
            rows = [row for batch in library_batches(pairs, size) for row in batch]
            assert len(rows) == 600 // size * size
            assert len(set(rows)) > 0.7 * len(rows)
