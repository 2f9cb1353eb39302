"""The hinge on many pairs, against its terms one by one."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lossprism import losses
from lossprism.explorer.lab.large import hinge as without_cells
from lossprism.explorer.lab.large import hinge_term_counts
from lossprism.explorer.lab.large.batch import LargeBatch, in_order
from lossprism.explorer.lab.large.block_summed_matrix_interface import BlockSummedMatrix
from lossprism.explorer.lab.large.hinge import HingeTerms
from lossprism.explorer.lab.large.large_batch_session import checked, open_batch
from lossprism.explorer.lab.large.window_blocks import Window
from lossprism.explorer.runtime.limits import LARGE_CELLWISE_PAIRS
from tests.unit.lab.large.made import LABELS, batch_of, rising

COUNT = 1024
WINDOWS = (
    Window(0, COUNT, 0, COUNT),
    Window(0, 925, 102, COUNT),
    Window(25, 225, 22, 1000),
    Window(250, 275, 260, 263),
    Window(175, 450, 625, 725),
    Window(COUNT - 1, COUNT, 0, 1),
)


def quiet(done, total):
    pass


def tied(batch: LargeBatch) -> LargeBatch:
    """The same with scores, and thresholds, that are often equal."""
    return in_order(batch.labels, np.round(batch.scores * 16) / 16, batch.first, batch.second)


def hinge_of(batch: LargeBatch, margin: float = 0.25) -> HingeTerms:
    return HingeTerms(batch.labels, batch.scores, margin, 1e-6)


def weights_of(terms: HingeTerms) -> np.ndarray:
    """Every gap of two labels whose scores are not a margin apart, compared one by one."""
    gaps = np.maximum(terms.labels[None, :] - terms.labels[:, None], 0)
    return gaps * (terms.scores[:, None] > terms.scores[None, :] - terms.margin)


def summed(weights: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    return np.add.reduceat(np.add.reduceat(weights, rows, axis=0), columns, axis=1)


@pytest.fixture(autouse=True)
def _small_steps(monkeypatch):
    """No window so small that its cells are compared, and no table that holds all bins."""
    monkeypatch.setattr(without_cells, "SMALL_WINDOW_CELLS", 0)
    monkeypatch.setattr(hinge_term_counts, "COLUMNS_IN_GROUP", 100)
    monkeypatch.setattr(hinge_term_counts, "TABLE_NUMBERS", 2**11)
    monkeypatch.setattr(hinge_term_counts, "CELLS_AT_ONCE", 2**12)


def must_be_sums(terms: HingeTerms, window: Window, weights: np.ndarray, found) -> None:
    blocks = terms.blocks(window, found)
    part = weights[blocks.rows[0] : blocks.rows[-1], blocks.columns[0] : blocks.columns[-1]]
    starts = blocks.rows[:-1] - blocks.rows[0], blocks.columns[:-1] - blocks.columns[0]
    true = summed(part, *starts)
    assert np.array_equal(blocks.present, summed((part > 0).astype(int), *starts))
    some = true > 0
    assert np.array_equal(some, blocks.total > -np.inf)
    np.testing.assert_allclose(np.exp(blocks.total[some]) / true[some], 1, atol=1e-6)
    np.testing.assert_allclose(blocks.share, true / max(weights.sum(), 1e-300), rtol=1e-5)
    largest = np.maximum.reduceat(np.maximum.reduceat(part, starts[0], axis=0), starts[1], axis=1)
    assert blocks.bounded
    assert (np.exp(blocks.largest[some]) >= largest[some] * (1 - 1e-12)).all()


@pytest.mark.thorough
@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize(
    ("margin", "ties"), [(0.0, False), (0.25, False), (0.25, True), (5.0, False)]
)
def test_blocks_are_the_sums_of_their_cells(labels, margin, ties, monkeypatch):
    monkeypatch.setattr(without_cells, "MAX_BLOCKS", COUNT)  # all windows are counted anew
    batch = batch_of(COUNT, labels)
    terms = hinge_of(tied(batch) if ties else batch, margin)
    found, weights = terms.survey(quiet), weights_of(terms)
    for window in WINDOWS:
        must_be_sums(terms, window, weights, found)


@pytest.mark.parametrize("labels", LABELS)
def test_windows_of_many_cells_are_made_of_chunks(labels, monkeypatch):
    monkeypatch.setattr(without_cells, "MAX_BLOCKS", 0)
    monkeypatch.setattr(without_cells, "MAX_CHUNKS", 40)
    terms = hinge_of(tied(batch_of(COUNT, labels)))
    found, weights = terms.survey(quiet), weights_of(terms)
    assert found.size == 32
    for window in WINDOWS:
        must_be_sums(terms, window, weights, found)
        blocks = terms.blocks(window, found)
        for edges, start, stop in (
            (blocks.rows, window.top, window.bottom),
            (blocks.columns, window.left, window.right),
        ):
            assert start - 32 < edges[0] <= start
            assert stop <= edges[-1] < stop + 32


def test_labels_of_very_different_size_are_all_counted():
    """A sum that is small beside its neighbours is as good as they are."""
    stream = np.random.RandomState(0)
    labels = np.cumsum(10.0 ** np.linspace(-9, 3, COUNT))
    terms = hinge_of(in_order(labels, stream.random_sample(COUNT), ("",) * COUNT, ("",) * COUNT))
    found, weights = terms.survey(quiet), weights_of(terms)
    for window in WINDOWS:
        must_be_sums(terms, window, weights, found)


def test_few_cells_are_compared_one_by_one(monkeypatch):
    terms = hinge_of(batch_of(900, "ties"))
    found, window = terms.survey(quiet), Window(100, 700, 300, 850)
    over = terms.blocks(window, found)
    monkeypatch.setattr(without_cells, "SMALL_WINDOW_CELLS", 2**20)
    one_by_one = terms.blocks(window, found)
    np.testing.assert_allclose(over.share, one_by_one.share, rtol=1e-6)
    assert np.array_equal(over.present, one_by_one.present)
    assert (over.largest >= one_by_one.largest - 1e-12).all()
    assert not one_by_one.bounded


@pytest.mark.parametrize("labels", LABELS)
def test_it_reports_the_same_as_for_fewer_pairs(labels):
    """Streamed and without cells the same batch has the same figures, blocks and heaviest terms."""
    batch, parameters = batch_of(700, labels, seed=2), checked("pairwise_hinge", {})
    streamed = open_batch(batch, "pairwise_hinge", parameters, quiet)
    terms = HingeTerms(batch.labels, batch.scores, **parameters)
    found, whole = terms.survey(quiet), Window(0, 700, 0, 700)
    assert terms.present(found) == streamed.present
    assert terms.loss(found) == pytest.approx(streamed.loss, rel=1e-9)
    felt = streamed.gradient
    np.testing.assert_allclose(terms.gradient(found), felt, atol=1e-9 * abs(felt).max())
    assert found.effective == pytest.approx(streamed.effective, rel=1e-4)
    one, other = terms.blocks(whole, found), streamed.matrix.blocks(whole)
    np.testing.assert_allclose(one.total, other.total, atol=1e-6)
    np.testing.assert_allclose(one.share, other.share, rtol=1e-5)
    heavy = terms.heaviest(found)
    np.testing.assert_allclose(heavy.values, streamed.heaviest.values, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(heavy.shares, streamed.heaviest.shares, rtol=1e-6)
    weights = weights_of(terms)
    np.testing.assert_allclose(np.log(weights[heavy.rows, heavy.columns]), heavy.values)


@pytest.mark.parametrize("labels", ["continuous", "ties", "grades"])
def test_the_effective_number_of_terms_is_within_the_reported_error(labels, monkeypatch):
    monkeypatch.setattr(without_cells, "MAX_CHUNKS", 128)
    terms = hinge_of(batch_of(4096, labels))
    weights = weights_of(terms)
    shares = weights[weights > 0] / weights.sum()
    expected = np.exp(-(shares * np.log(shares)).sum())
    found = terms.survey(quiet)
    assert abs(expected / found.effective - 1) <= found.effective_error + 1e-6
    assert found.effective_error < 1e-3


def test_many_pairs_are_compared_without_cells():
    batch = rising(LARGE_CELLWISE_PAIRS + 1)
    opened = open_batch(batch, "pairwise_hinge", checked("pairwise_hinge", {}), quiet)
    assert isinstance(opened.matrix, BlockSummedMatrix)
    assert opened.matrix.known == (False, False)
    value = losses.pairwise_hinge(torch.tensor(batch.scores), torch.tensor(batch.labels))
    assert opened.loss == pytest.approx(float(value), rel=1e-9)
    assert opened.matrix.known == (True, True)


def test_a_survey_reports_progress_and_can_be_stopped():
    reports = []

    def stop(done, total):
        reports.append((done, total))
        if done > 500:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        hinge_of(batch_of(2000, "grades")).survey(stop)
    assert 500 < reports[-1][0] < 2000
    assert reports[-1][1] == 2000
