"""Sums, prefixes and queues beside loops over Python floats, written from their formulas alone."""

from __future__ import annotations

import math
from functools import partial

import pytest
import torch

from lossprism import losses
from lossprism.losses import LOSSES, matryoshka, weighted_sum
from tests.unit.losses.by_loops.arithmetic import cosine, log_sum, mean
from tests.unit.losses.by_loops.cases import Draws, gradient
from tests.unit.losses.by_loops.in_batch import decoupled, info_nce

DRAW = Draws(7)
ROWS, WIDTH = 6, 4
QUERIES, KEYS, NEGATIVES = (DRAW.rows(ROWS, WIDTH) for _ in range(3))
CLASSES = [0, 1, 0, 2, 1, 0]


def tensors(given):
    return {n: torch.tensor(one, dtype=torch.float64).requires_grad_() for n, one in given.items()}


def held(found, expected, given, moving):
    """The value, and the gradient by everything that moves."""
    assert found.item() == pytest.approx(expected(**given), rel=1e-10)
    slopes = torch.autograd.grad(found, list(moving.values()))
    for name, slope in zip(moving, slopes, strict=True):
        by_steps = torch.tensor(gradient(expected, given, name), dtype=torch.float64)
        torch.testing.assert_close(slope, by_steps, rtol=1e-5, atol=1e-7, msg=name)


@pytest.mark.parametrize("reduce", ["sum", "mean"])
@pytest.mark.parametrize("weights", [None, [1.0, 0.5, 0.25]])
def test_prefixes(reduce, weights):
    """Σ_m c_m L(z[:m] / |z[:m]|), by their number under "mean"."""
    dims, given = [4, 2, 1], {"queries": QUERIES, "keys": KEYS, "negatives": NEGATIVES}

    def expected(**vectors):
        terms = [
            factor
            * info_nce(
                **{name: [row[:length] for row in rows] for name, rows in vectors.items()},
                temperature=0.3,
            )
            for factor, length in zip(weights or [1.0] * len(dims), dims, strict=True)
        ]
        return math.fsum(terms) / (len(dims) if reduce == "mean" else 1)

    moving = tensors(given)
    found = matryoshka(losses.info_nce, dims, weights, reduce)(**moving, temperature=0.3)
    held(found, expected, given, moving)


def test_a_sum():
    """1.5 · InfoNCE + 0.2 · DCL of the same two sides."""
    given = {"first": QUERIES, "second": KEYS}

    def expected(first, second):
        one = info_nce(first, second, temperature=0.3)
        return 1.5 * one + 0.2 * decoupled(first, second, temperature=0.5)

    def in_batch(first, second):
        return losses.info_nce(first, second, temperature=0.3)

    moving = tensors(given)
    both = weighted_sum((1.5, in_batch), (0.2, partial(losses.decoupled, temperature=0.5)))
    held(both(**moving), expected, given, moving)
    named = LOSSES["info_nce+decoupled"]
    values = {"temperature_of_info_nce": 0.3, "temperature_of_decoupled": 0.5}
    values |= {"weight_of_info_nce": 1.5, "weight_of_decoupled": 0.2}
    sides = {"queries": "first", "keys": "second", "first": "first", "second": "second"}
    read = {name: moving[sides[what]] for name, what in named.reads.items() if what in sides}
    assert named.definition(**read, **values).item() == pytest.approx(expected(**given), rel=1e-10)


@pytest.mark.parametrize("in_batch", [True, False])  # a cross-batch memory, and MoCo
def test_a_queue_of_keys(in_batch):
    """The last two keys stand for those of earlier batches: further keys, held still."""
    given = {"queries": QUERIES, "keys": KEYS}

    def expected(queries, keys):
        settings = {"temperature": 0.3, "in_batch": in_batch}
        return info_nce(queries[:-2], keys[:-2], negatives=KEYS[-2:], **settings)

    moving = tensors(given)
    values = {"temperature_of_info_nce": 0.3, "in_batch_of_info_nce": in_batch}
    found = LOSSES["queue(info_nce)"].function(**moving, length_of_info_nce=2, **values)
    held(found, expected, given, moving)


def test_a_queue_of_classes():
    """Supervised contrastive loss of the first four rows, whose keys are also the last two."""
    given = {"embeddings": QUERIES}

    def expected(embeddings):
        rows = [*embeddings[:4], *QUERIES[4:]]
        terms = []
        for i in range(4):
            others = [k for k in range(len(rows)) if k != i]
            logits = {k: cosine(rows[i], rows[k]) / 0.3 for k in others}
            own = [k for k in others if CLASSES[k] == CLASSES[i]]
            if own:
                terms.append(mean(log_sum(logits.values()) - logits[k] for k in own))
        return mean(terms)

    moving = tensors(given)
    found = LOSSES["queue(supcon)"].function(
        **moving,
        classes=torch.tensor(CLASSES),
        length_of_supcon=2,
        temperature_of_supcon=0.3,
    )
    held(found, expected, given, moving)
