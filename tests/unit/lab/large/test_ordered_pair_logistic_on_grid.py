"""The logistic loss over nodes of the score, against its terms one by one."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lossprism import losses
from lossprism.explorer.lab.large import loss_matrix_methods
from lossprism.explorer.lab.large import ordered_pair_logistic_on_grid as over_nodes
from lossprism.explorer.lab.large.batch import in_order
from lossprism.explorer.lab.large.block_summed_matrix_interface import BlockSummedMatrix
from lossprism.explorer.lab.large.large_batch_session import checked, open_batch
from lossprism.explorer.lab.large.ordered_pair_logistic_on_grid import LogisticTerms
from lossprism.explorer.lab.large.scores_replaced_by_grid_nodes import (
    MAX_RELATIVE_ERROR,
    NODE_DISTANCE,
    NODE_OFFSETS,
    interpolation,
    of_differences_,
)
from lossprism.explorer.lab.large.streamed_term_matrix import StreamedMatrix
from lossprism.explorer.lab.large.window_blocks import Window
from lossprism.explorer.runtime.limits import LARGE_CELLWISE_PAIRS, LARGE_STREAMED_PAIRS
from lossprism.explorer.runtime.problem import Problem
from lossprism.losses import LOSSES
from tests.unit.lab.large.made import LABELS, batch_of, rising

COUNT = 1024


def smooth(batch, scale, reduction):
    """What `pairwise_logistic` is gone through by, above so many pairs."""
    form = LOSSES["pairwise_logistic"].form
    return loss_matrix_methods.smooth(form, batch, {"scale": scale, "reduction": reduction})


def quiet(done, total):
    pass


def weights_of(terms: LogisticTerms) -> np.ndarray:
    """Every weight, 0 where the mask has none."""
    everyone = np.arange(len(terms.labels))
    differences = torch.from_numpy(terms.differences.cells(everyone, everyone))
    return of_differences_(differences)[0].numpy()


@pytest.fixture(autouse=True)
def _always_over_nodes(monkeypatch):
    monkeypatch.setattr(over_nodes, "SMALL_WINDOW_CELLS", 0)


def test_a_term_over_nodes_is_off_by_less_than_a_millionth():
    """At every place between two nodes, however far apart two numbers are."""
    places = torch.linspace(-0.5, 0.5, 31, dtype=torch.float64)
    of_places = torch.from_numpy(interpolation(places.numpy()))
    nodes = torch.from_numpy(NODE_OFFSETS)
    for apart in range(-555, 556):  # up to differences of 150
        at_nodes = NODE_DISTANCE * (apart + nodes[:, None] - nodes)
        true = NODE_DISTANCE * (apart + places[:, None] - places)
        for over, expected in zip(of_differences_(at_nodes), of_differences_(true), strict=True):
            found = of_places.T @ over @ of_places
            assert (found / expected - 1).abs().max() < MAX_RELATIVE_ERROR


WINDOWS = (
    Window(0, COUNT, 0, COUNT),
    Window(0, 925, 102, COUNT),
    Window(25, 225, 22, 1000),
    Window(250, 275, 260, 263),
    Window(COUNT - 1, COUNT, 0, 1),
)


@pytest.mark.thorough
@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize(("scale", "lengths"), [(20.0, (32, 2)), (90.0, (32,))])
def test_blocks_are_the_sums_of_their_cells(labels, scale, lengths, monkeypatch):
    batch = batch_of(COUNT, labels)
    weights = weights_of(smooth(batch, scale, "sum"))
    for shortest in lengths:  # blocks of a few pairs, or of chunks
        monkeypatch.setattr(over_nodes, "MIN_CHUNK", shortest)
        terms = smooth(batch, scale, "sum")
        found = terms.survey(quiet)
        for window in WINDOWS:
            must_be_sums(terms.blocks(window, found), window, weights)


def must_be_sums(blocks, window, weights):
    part = weights[window.top : window.bottom, window.left : window.right]
    starts = blocks.rows[:-1] - window.top, blocks.columns[:-1] - window.left
    true = np.add.reduceat(np.add.reduceat(part, starts[0], axis=0), starts[1], axis=1)
    some = true > 0
    assert np.array_equal(some, blocks.total > -np.inf)
    np.testing.assert_allclose(np.exp(blocks.total[some]) / true[some], 1, atol=1e-5)
    highest = np.maximum.reduceat(np.maximum.reduceat(part, starts[0], axis=0), starts[1], 1)
    np.testing.assert_allclose(np.exp(blocks.largest[some]), highest[some], rtol=1e-9)
    share = true / max(weights.sum(), 1e-300)
    np.testing.assert_allclose(blocks.share, share, rtol=1e-5, atol=1e-15)


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("mean", [False, True])
def test_value_gradient_and_entropy_are_those_of_the_loss(labels, mean):
    batch, reduction = batch_of(700, labels, seed=2), "mean" if mean else "sum"
    terms = smooth(batch, 20.0, reduction)
    found = terms.survey(quiet)
    scores = torch.tensor(batch.scores, requires_grad=True)
    value = losses.pairwise_logistic(scores, torch.tensor(batch.labels), reduction=reduction)
    value.backward()
    assert terms.loss(found) == pytest.approx(float(value.detach()), rel=1e-6)
    felt = scores.grad.numpy()
    np.testing.assert_allclose(terms.gradient(found), felt, atol=1e-6 * abs(felt).max())
    weights = weights_of(terms)
    shares = weights[weights > 0] / max(weights.sum(), 1e-300)
    expected = np.exp(-(shares * np.log(shares)).sum()) if len(shares) else 0.0
    assert found.effective == pytest.approx(expected, rel=1e-5)
    best = np.sort(weights.ravel())[::-1][: len(terms.heaviest(found).values)]
    np.testing.assert_allclose(np.exp(terms.heaviest(found).values), best, rtol=1e-9)


def test_few_cells_are_summed_one_by_one(monkeypatch):
    terms = smooth(batch_of(900, "ties"), 20.0, "sum")
    found, window = terms.survey(quiet), Window(100, 700, 300, 850)
    over = terms.blocks(window, found)
    monkeypatch.setattr(over_nodes, "SMALL_WINDOW_CELLS", 2**20)
    one_by_one = terms.blocks(window, found)
    np.testing.assert_allclose(over.share, one_by_one.share, rtol=1e-5, atol=1e-15)
    assert np.array_equal(over.present, one_by_one.present)


def test_many_pairs_are_compared_over_nodes():
    batch = rising(LARGE_CELLWISE_PAIRS + 1)
    opened = open_batch(batch, "pairwise_logistic", checked("pairwise_logistic", {}), quiet)
    assert isinstance(opened.matrix, BlockSummedMatrix)
    assert opened.matrix.known == (True, False)
    value = losses.pairwise_logistic(torch.tensor(batch.scores), torch.tensor(batch.labels))
    assert opened.loss == pytest.approx(float(value), rel=1e-6)


def test_a_survey_can_be_stopped(monkeypatch):
    def stop(done, total):
        if done:
            raise InterruptedError

    monkeypatch.setattr(over_nodes, "CELLS_AT_ONCE", 2**14)
    with pytest.raises(InterruptedError):
        smooth(batch_of(2000), 20.0, "sum").survey(stop)


def test_a_scale_that_is_too_steep_is_refused_with_the_most():
    count = LARGE_STREAMED_PAIRS + 1
    values = np.arange(count) / (count - 1)
    batch = in_order(values, values, ("",) * count, ("",) * count)
    with pytest.raises(Problem) as result:
        open_batch(batch, "pairwise_logistic", checked("pairwise_logistic", {"scale": 151}), quiet)
    assert result.value.values["most"] == "150"


def test_fewer_pairs_of_so_steep_a_scale_are_gone_through_cell_by_cell():
    count = LARGE_CELLWISE_PAIRS + 1
    values = np.arange(count) / (count - 1)
    batch = in_order(values, values, ("",) * count, ("",) * count)
    steep = checked("pairwise_logistic", {"scale": 151})
    opened = open_batch(batch, "pairwise_logistic", steep, quiet)
    assert isinstance(opened.matrix, StreamedMatrix)
    value = losses.pairwise_logistic(
        torch.tensor(batch.scores), torch.tensor(batch.labels), scale=151
    )
    assert opened.loss == pytest.approx(float(value), rel=1e-6)
