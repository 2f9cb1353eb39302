"""The heaviest terms, against all terms sorted."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from lossprism.explorer.lab.large.heaviest_terms import heaviest_terms
from tests.unit.lab.large.made import LABELS, batch_of, split_of


def must_be_the_heaviest(terms):
    count = len(terms)
    found = heaviest_terms(terms)
    cells = terms.cells(np.arange(count), np.arange(count))
    best = np.partition(cells.ravel(), -100)[-100:] if cells.size > 100 else cells.ravel()
    best = np.sort(best[best > -np.inf])[::-1]
    np.testing.assert_allclose(found.values, best, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(cells[found.rows, found.columns], found.values, rtol=1e-12)
    assert len(set(zip(found.rows, found.columns, strict=True))) == len(best)
    np.testing.assert_allclose(found.shares, np.exp(found.values - terms.total))


@pytest.mark.thorough
@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("loss", ["cosent", "weighted_cosent"])
def test_among_a_million(loss, labels):
    must_be_the_heaviest(split_of(batch_of(1024, labels), loss))


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("loss", ["cosent", "weighted_cosent"])
@pytest.mark.parametrize("digits", [0, 1])
def test_among_many_equal_ones(loss, labels, digits):
    batch = batch_of(500, labels, seed=3)
    terms = split_of(batch, loss, scale=3.0)
    tied = dataclasses.replace(
        terms, lower=np.round(terms.lower, digits), higher=np.round(terms.higher, digits)
    )
    must_be_the_heaviest(tied)


@pytest.mark.parametrize("scale", [0.1, 0.5, 20.0])
def test_where_every_pair_is_in_order(scale):
    """The gap pulls one way and the scores the other: neither end is the best."""
    batch = batch_of(1000, "continuous")
    terms = split_of(batch, "weighted_cosent", scale=scale)
    in_order = dataclasses.replace(terms, lower=scale * batch.labels, higher=-scale * batch.labels)
    must_be_the_heaviest(in_order)


@pytest.mark.parametrize("count", [1, 2, 3, 20])
def test_few_pairs_have_few_terms(count):
    for loss in ("cosent", "weighted_cosent"):
        must_be_the_heaviest(split_of(batch_of(count, "continuous"), loss))
