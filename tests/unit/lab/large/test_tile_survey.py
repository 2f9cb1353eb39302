"""Matrices that are streamed, against the whole matrix and against the loss itself."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lossprism import losses
from lossprism.explorer.lab.large import sums_over_tile_strips, tile_survey, window_blocks
from lossprism.explorer.lab.large.large_batch_session import checked, open_batch
from lossprism.explorer.lab.large.loss_matrix_methods import offered
from lossprism.explorer.lab.large.window_blocks import Window
from tests.unit.lab.large.made import batch_of, summed

IN_BATCH = offered("in_batch")
STREAMED = offered("smooth", "linear", "in_batch")


def quiet(done, total):
    pass


def opened_of(loss, count=400, labels="grades", **parameters):
    batch = batch_of(count, labels, width=16 if loss in IN_BATCH else 0)
    return open_batch(batch, loss, checked(loss, parameters), quiet)


def value_of(opened, name, scores=None):
    """The loss of the library on the same batch."""
    batch = opened.batch
    parameters = checked(name, {})
    if name not in IN_BATCH:
        return getattr(losses, name)(scores, torch.tensor(batch.labels), **parameters)
    own = opened.matrix.row_pairs
    if name == "nt_xent":
        own = own[: len(own) // 2]
    first, second = (
        torch.tensor(side, dtype=torch.float64)
        for side in (batch.first_vectors, batch.second_vectors)
    )
    if name == "info_nce":
        others = np.setdiff1d(np.arange(len(batch)), own)
        return losses.info_nce(first[own], second[own], negatives=second[others], **parameters)
    return getattr(losses, name)(first[own], second[own], **parameters)


@pytest.mark.parametrize("loss", STREAMED)
def test_value_is_that_of_the_loss(loss):
    opened = opened_of(loss)
    scores = torch.tensor(opened.batch.scores, requires_grad=True)
    value = value_of(opened, loss, scores)
    assert opened.loss == pytest.approx(float(value.detach()), rel=1e-6)
    if loss not in IN_BATCH:
        value.backward()
        felt = scores.grad.numpy()
        np.testing.assert_allclose(opened.gradient, felt, rtol=1e-9, atol=1e-9 * abs(felt).max())


@pytest.mark.parametrize("loss", IN_BATCH)
def test_gradient_is_that_along_the_own_similarity(loss):
    """The cosine of one pair is moved, and nothing else in the matrix."""
    opened = opened_of(loss, count=40)
    parameters = checked(loss, {})
    rows = opened.shape[0]
    place = 5 if loss != "nt_xent" else 3
    pair = opened.matrix.row_pairs[place]
    partner = place + rows // 2 if loss == "nt_xent" else place
    first = torch.tensor(opened.batch.first_vectors, dtype=torch.float64)
    second = torch.tensor(opened.batch.second_vectors, dtype=torch.float64)
    own = torch.tensor(np.asarray(opened.matrix.row_pairs))
    shown = torch.tensor(np.asarray(opened.matrix.column_pairs))
    if loss == "nt_xent":
        views = torch.cat([first[own[: rows // 2]], second[own[: rows // 2]]])
        cosines = views @ views.T
    else:
        cosines = first[own] @ second[shown].T
    moved = torch.zeros((), dtype=torch.float64, requires_grad=True)
    bump = torch.zeros_like(cosines)
    bump[place, partner] = 1
    if loss == "nt_xent":
        bump[partner, place] = 1
    cosines = cosines + moved * bump
    if loss == "siglip":
        signs = 2 * torch.eye(rows, dtype=torch.float64) - 1
        logits = parameters["scale"] * cosines + parameters["bias"]
        value = torch.nn.functional.softplus(-signs * logits).sum() / rows
    else:
        logits = cosines / parameters["temperature"]
        target = torch.arange(rows)
        if loss == "nt_xent":
            logits = logits - torch.diag(torch.full((rows,), torch.inf, dtype=torch.float64))
            target = target.roll(rows // 2)
        value = torch.nn.functional.cross_entropy(logits, target)
    value.backward()
    assert opened.gradient[pair] == pytest.approx(float(moved.grad), rel=1e-5)
    assert np.isnan(opened.gradient).sum() == len(opened.batch) - len(np.unique(own))


@pytest.mark.parametrize("loss", STREAMED)
@pytest.mark.parametrize("cells", [300, 5_000, 2**18])
def test_blocks_are_the_sums_of_their_cells(loss, cells, monkeypatch):
    # Tiles of less than a row, or of many.
    monkeypatch.setattr(sums_over_tile_strips, "TILE_CELLS", cells)
    opened = opened_of(loss)
    must_be_sums(opened)


@pytest.mark.parametrize("loss", STREAMED)
@pytest.mark.parametrize(("cells", "most"), [(300, 256), (2**18, 256), (2**18, 10)])
def test_windows_of_many_cells_are_made_of_chunks(loss, cells, most, monkeypatch):
    monkeypatch.setattr(sums_over_tile_strips, "TILE_CELLS", cells)
    monkeypatch.setattr(tile_survey, "SMALL_WINDOW_CELLS", 1000)
    monkeypatch.setattr(tile_survey, "MAX_CHUNKS", 100)
    for module in (tile_survey, window_blocks):
        monkeypatch.setattr(module, "MAX_BLOCKS", most)
    opened = opened_of(loss)
    levels = opened.matrix.survey.levels
    assert (len(levels) > 1) == (most == 10)
    chunk = [int(np.diff(cuts)[0]) for cuts in (levels[-1].rows, levels[-1].columns)]
    assert min(chunk) > 1
    must_be_sums(opened, chunk)


def must_be_sums(opened, chunk=(1, 1)):
    rows, columns = opened.shape
    whole = Window(0, rows, 0, columns)
    all_cells = opened.matrix.streamed.tiles.cells(whole)[0].T.double().cpu().numpy()
    weights = np.exp(all_cells - opened.matrix.survey.norms[:, None])
    for window in (whole, Window(3, rows - 7, 5, columns - 1), Window(10, 13, 0, columns)):
        found = opened.matrix.blocks(window)
        assert 0 <= window.top - found.rows[0] < chunk[0]
        assert 0 <= found.rows[-1] - window.bottom < chunk[0]
        assert 0 <= window.left - found.columns[0] < chunk[1]
        assert 0 <= found.columns[-1] - window.right < chunk[1]
        part = np.s_[found.rows[0] : found.rows[-1], found.columns[0] : found.columns[-1]]
        starts = found.rows[:-1] - found.rows[0], found.columns[:-1] - found.columns[0]
        total = summed(all_cells[part], *starts)
        some = np.isfinite(total)
        assert np.array_equal(some, np.isfinite(found.total))
        np.testing.assert_allclose(np.expm1(found.total[some] - total[some]), 0, atol=1e-5)
        share = np.add.reduceat(np.add.reduceat(weights[part], starts[0], 0), starts[1], 1)
        np.testing.assert_allclose(found.share, share / weights.sum(), rtol=1e-4, atol=1e-12)
        present = np.isfinite(all_cells[part]).astype(int)
        counted = np.add.reduceat(np.add.reduceat(present, starts[0], 0), starts[1], 1)
        assert np.array_equal(found.present, counted)


def terms_by_hand(batch, loss, parameters):
    """All terms in float64, straight from the formulas."""
    first, second = (
        side.astype(np.float64) for side in (batch.first_vectors, batch.second_vectors)
    )
    if loss == "siglip":
        logits = parameters["scale"] * first @ second.T + parameters["bias"]
        np.fill_diagonal(logits, -np.diag(logits))
        return -np.logaddexp(0, -logits)
    views = np.concatenate([first, second])
    queries, keys = (views, views) if loss == "nt_xent" else (first, second)
    partner = (
        np.roll(np.arange(len(keys)), -len(first)) if loss == "nt_xent" else np.arange(len(first))
    )
    everyone = np.arange(len(queries))
    cosines = queries @ keys.T
    terms = (cosines - cosines[everyone, partner][:, None]) / parameters["temperature"]
    terms[everyone, partner] = -np.inf
    if loss == "nt_xent":
        np.fill_diagonal(terms, -np.inf)
    return terms


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("loss", "parameters", "rows"),
    [
        ("info_nce", {}, 1024),
        ("info_nce", {"temperature": 0.005}, 1024),
        ("info_nce", {"temperature": 0.04}, 2048),  # the steepest in single precision
        ("nt_xent", {}, 1024),
        ("nt_xent", {"temperature": 0.005}, 1024),
        ("siglip", {}, 1024),
        ("siglip", {"scale": 100.0, "bias": -30.0}, 1024),
    ],
)
def test_blocks_of_many_rows_are_what_their_cells_add_up_to(loss, parameters, rows):
    """Blocks on the diagonal, which the mask cuts, are among them."""
    pairs = rows // 2 if loss == "nt_xent" else rows
    batch = batch_of(pairs, "single", width=384)
    parameters = checked(loss, parameters)
    opened = open_batch(batch, loss, parameters, quiet)
    cells = terms_by_hand(batch, loss, parameters)
    assert opened.shape == cells.shape == (rows, rows)
    inner = Window(rows // 8, rows - rows // 8, rows // 9, rows - rows // 8)
    for window in (Window(0, rows, 0, rows), inner):
        found = opened.matrix.blocks(window)
        part = cells[found.rows[0] : found.rows[-1], found.columns[0] : found.columns[-1]]
        starts = found.rows[:-1] - found.rows[0], found.columns[:-1] - found.columns[0]
        total = summed(part, *starts)
        np.testing.assert_allclose(np.expm1(found.total - total), 0, atol=1e-5)
        size = np.diff(found.rows)[:, None] * np.diff(found.columns)[None, :]
        assert (found.present < size).any() == (loss != "siglip")


@pytest.mark.parametrize("loss", STREAMED)
def test_heaviest_and_entropy(loss, monkeypatch):
    monkeypatch.setattr(sums_over_tile_strips, "TILE_CELLS", 5_000)
    opened = opened_of(loss)
    rows, columns = opened.shape
    cells = (
        opened.matrix.streamed.tiles.cells(Window(0, rows, 0, columns))[0].T.double().cpu().numpy()
    )
    logits = cells - opened.matrix.survey.norms[:, None]
    weights = np.exp(logits) / np.exp(logits).sum()
    best = np.sort(weights.ravel())[::-1][:100]
    np.testing.assert_allclose(opened.heaviest.shares, best, rtol=1e-4)
    chosen = cells[opened.heaviest.rows, opened.heaviest.columns]
    np.testing.assert_allclose(opened.heaviest.values, chosen, rtol=1e-4, atol=1e-5)
    present = weights[weights > 0]
    entropy = -(present * np.log(present)).sum()
    assert opened.effective == pytest.approx(np.exp(entropy), rel=1e-4)
    if loss in ("info_nce", "nt_xent"):
        assert opened.nearest == (cells < 0).all(axis=1).sum()
    elif loss == "siglip":
        own = opened.matrix.row_pairs
        cosines = opened.batch.first_vectors[own] @ opened.batch.second_vectors[own].T
        assert opened.nearest == (cosines.argmax(axis=1) == np.arange(rows)).sum()
    else:
        assert opened.nearest is None


def test_a_survey_reports_progress_and_can_be_stopped(monkeypatch):
    reports = []
    monkeypatch.setattr(
        sums_over_tile_strips, "ACCELERATOR_CELLS", sums_over_tile_strips.TILE_CELLS
    )

    def listen(done, total):
        reports.append((done, total))
        if done > 300:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        open_batch(batch_of(1500), "pairwise_logistic", checked("pairwise_logistic", {}), listen)
    assert reports[0] == (0, 1500)
    assert 300 < reports[-1][0] < 1500


def test_violated_comparisons_of_a_pair_loss():
    opened = open_batch(batch_of(400, "ties"), "cosent", checked("cosent", {}), quiet)
    labels, scores = opened.batch.labels, opened.batch.scores
    ordered = labels[:, None] < labels[None, :]
    wrong = ordered & (scores[:, None] > scores[None, :])
    assert opened.violated == (wrong.sum(), ordered.sum())


def test_both_directions_of_info_nce(monkeypatch):
    """Weights are the gradient by the logits, from queries to keys and back."""
    monkeypatch.setattr(sums_over_tile_strips, "TILE_CELLS", 5_000)
    opened = opened_of("info_nce", count=300, symmetric=True, temperature=0.1)
    batch, own = opened.batch, opened.matrix.row_pairs
    shown = np.asarray(opened.matrix.column_pairs)
    first = torch.tensor(batch.first_vectors[own], dtype=torch.float64)
    second = torch.tensor(batch.second_vectors[shown], dtype=torch.float64)
    value = losses.info_nce(
        first, second[: len(own)], negatives=second[len(own) :], temperature=0.1, symmetric=True
    )
    assert opened.loss == pytest.approx(float(value), rel=1e-6)

    cosines = (first @ second.T).requires_grad_()
    logits, target = cosines / 0.1, torch.arange(len(own))
    forward = torch.nn.functional.cross_entropy(logits, target)
    back = torch.nn.functional.cross_entropy(logits[:, : len(own)].T, target)
    ((forward + back) / 2).backward()
    felt = cosines.grad.numpy()
    np.testing.assert_allclose(opened.gradient[own], np.diag(felt), rtol=1e-5)
    weights = felt - np.where(np.eye(*felt.shape) > 0, felt, 0)
    weights /= weights.sum()
    found = opened.matrix.blocks(Window(0, *cosines.shape[:1], 0, cosines.shape[1]))
    share = np.add.reduceat(np.add.reduceat(weights, found.rows[:-1], 0), found.columns[:-1], 1)
    np.testing.assert_allclose(found.share, share, rtol=1e-4, atol=1e-12)
    part = opened.matrix.blocks(Window(3, 20, 5, 60))
    np.testing.assert_allclose(part.share, weights[3:20, 5:60], rtol=1e-4, atol=1e-12)
    best = np.sort(weights.ravel())[::-1][:100]
    np.testing.assert_allclose(opened.heaviest.shares, best, rtol=1e-4)
    places = opened.heaviest.rows, opened.heaviest.columns
    own_logits = np.diag(logits.detach().numpy())
    terms = logits.detach().numpy() - own_logits[:, None]
    np.testing.assert_allclose(opened.heaviest.values, terms[places], rtol=1e-4, atol=1e-5)
