"""Blocks, gradients and entropies of terms that split, against the same terms one by one."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import torch

from lossprism import losses
from lossprism.explorer.lab.large.batch import in_order
from lossprism.explorer.lab.large.large_batch_session import checked, open_batch
from lossprism.explorer.lab.large.loss_matrix_methods import offered
from lossprism.explorer.lab.large.pair_order_terms_by_row_and_column import split_blocks
from lossprism.explorer.lab.large.window_blocks import Window, edges
from tests.unit.lab.large.made import LABELS, batch_of, split_of, summed

SPLIT = offered("split")
SIDE = 4  # of a block of the whole
COUNT = 256 * SIDE
WHOLE = Window(0, COUNT, 0, COUNT)


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("loss", SPLIT)
def test_blocks_are_the_sums_of_their_cells(loss, labels):
    terms = split_of(batch_of(COUNT, labels), loss)
    found = split_blocks(terms, WHOLE)
    cells = terms.cells(np.arange(COUNT), np.arange(COUNT))
    total = summed(cells, found.rows[:-1], found.columns[:-1])
    some = np.isfinite(total)
    assert np.array_equal(some, np.isfinite(found.total))
    np.testing.assert_allclose(np.expm1(found.total[some] - total[some]), 0, atol=1e-9)
    masked = np.isneginf(cells).reshape(256, SIDE, 256, SIDE)
    assert np.array_equal(found.present, (~masked).sum(axis=(1, 3)))
    # Blocks that the mask cuts are among them, unless there is only one label.
    cut = (found.present > 0) & (found.present < SIDE**2)
    assert cut.any() == (labels != "single")
    largest = cells.reshape(256, SIDE, 256, SIDE).max(axis=(1, 3))
    if loss == "weighted_cosent":
        assert (found.largest[some] >= largest[some] - 1e-9).all()
    else:
        np.testing.assert_allclose(found.largest[some], largest[some], rtol=1e-12, atol=1e-12)
    assert found.share.sum() == pytest.approx(float(some.any()), abs=1e-9)


@pytest.mark.thorough
@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("loss", ["cosent", "weighted_cosent"])
@pytest.mark.parametrize(
    "window",
    [
        Window(0, 900, 0, 900),
        Window(100, 801, 333, 900),
        Window(50, 51, 60, 900),
        Window(300, 620, 300, 555),
        Window(250, 260, 255, 270),
        Window(899, 900, 0, 1),
    ],
    ids=str,
)
def test_any_window_at_its_own_resolution(loss, labels, window):
    terms = split_of(batch_of(900, labels, seed=1), loss, scale=300.0)
    found = split_blocks(terms, window)
    rows, columns = (
        np.arange(a, b) for a, b in ((window.top, window.bottom), (window.left, window.right))
    )
    cells = terms.cells(rows, columns)
    total = summed(cells, found.rows[:-1] - window.top, found.columns[:-1] - window.left)
    some = np.isfinite(total)
    assert np.array_equal(some, np.isfinite(found.total))
    np.testing.assert_allclose(np.expm1(found.total[some] - total[some]), 0, atol=1e-9)
    if max(len(rows), len(columns)) <= 256:  # down to single cells
        np.testing.assert_allclose(found.total, cells, rtol=1e-12)


def test_what_underflows_beside_something_large_is_kept():
    """The largest u and the largest v stand in the wrong order, and the terms that there are
    are e^−1000 times their product."""
    batch = in_order([0.0, 1.0], [-0.5, 0.5], ("",) * 2, ("",) * 2)
    terms = split_of(batch, "cosent", scale=1000.0)
    assert terms.total == -1000.0
    many = batch_of(1000, "continuous")
    rising = in_order(many.labels, many.labels, many.first, many.second)
    found = split_blocks(split_of(rising, "cosent", scale=1000.0), Window(0, 1000, 0, 1000))
    assert np.isfinite(found.total[found.present > 0]).all()


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("loss", SPLIT)
def test_value_and_gradient_are_those_of_the_loss(loss, labels):
    batch = batch_of(300, labels, seed=2)
    parameters = checked(loss, {})
    opened = open_batch(batch, loss, parameters, lambda done, total: None)
    scores = torch.tensor(batch.scores, requires_grad=True)
    of_scores = losses.cosent if loss == "angle" else getattr(losses, loss)  # of its angles
    value = of_scores(scores, torch.tensor(batch.labels), **parameters)
    value.backward()
    assert opened.loss == pytest.approx(float(value.detach()), rel=1e-9, abs=1e-12)
    np.testing.assert_allclose(opened.gradient, scores.grad.numpy(), rtol=1e-7, atol=1e-10)
    cells = opened.matrix.split.cells(np.arange(300), np.arange(300))
    assert opened.present == np.isfinite(cells).sum()


@pytest.mark.parametrize("labels", ["grades", "continuous", "ties", "binary"])
@pytest.mark.parametrize("loss", SPLIT)
def test_the_effective_number_of_terms_is_the_exponential_of_the_entropy(loss, labels):
    terms = split_of(batch_of(300, labels), loss)
    cells = terms.cells(np.arange(300), np.arange(300))
    weights = np.exp(cells[np.isfinite(cells)] - terms.total)
    within = 3e-6 if terms.by_gap else 1e-9
    entropy = -(weights * np.log(weights)).sum()
    assert terms.effective() == pytest.approx(np.exp(entropy), rel=within)


def test_without_a_term_nothing_is_effective():
    assert split_of(batch_of(300, "single"), "cosent").effective() == 0
    assert split_of(batch_of(300, "single"), "weighted_cosent").effective() == 0


def test_gaps_of_very_different_size_are_all_counted():
    labels = np.cumsum(10.0 ** np.linspace(-8, 2, 200))
    batch = in_order(labels, np.zeros(200), ("",) * 200, ("",) * 200)
    terms = split_of(batch, "weighted_cosent")
    weights = np.exp(terms.cells(np.arange(200), np.arange(200)) - terms.total)
    weights = weights[weights > 0]
    entropy = -(weights * np.log(weights)).sum()
    assert terms.effective() == pytest.approx(np.exp(entropy), rel=3e-6)


def test_a_constant_added_to_all_scores_changes_nothing():
    batch = batch_of(500, "ties")
    moved = in_order(batch.labels, batch.scores + 1000, batch.first, batch.second)
    one, two = (split_blocks(split_of(b, "cosent"), Window(0, 500, 0, 500)) for b in (batch, moved))
    some = np.isfinite(one.total)
    np.testing.assert_allclose(one.total[some], two.total[some], rtol=0, atol=1e-9)


@pytest.mark.parametrize("stop", [1, 255, 256, 257, 1000, 2**20])
def test_edges_cover_everything_once(stop):
    found = edges(0, stop)
    assert found[0] == 0
    assert found[-1] == stop
    assert (np.diff(found) > 0).all()
    assert len(found) - 1 <= 256


@pytest.mark.thorough
def test_a_million_pairs_need_far_less_than_their_matrix():
    """At most 500 MB above the scores, counted by the allocations themselves."""
    batch = batch_of(10**6, "ties")
    tracemalloc.start()
    opened = open_batch(batch, "cosent", checked("cosent", {}), lambda done, total: None)
    blocks = opened.matrix.blocks(Window(0, 10**6, 0, 10**6))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 200 * 2**20
    assert blocks.share.sum() == pytest.approx(1)
