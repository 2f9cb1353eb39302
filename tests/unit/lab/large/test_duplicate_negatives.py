"""The large batch leaves the same keys out of the loss as its definition does."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from lossprism import losses
from lossprism.explorer.core.batch import batch_of_vectors
from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Data, Rules, Scenario
from lossprism.explorer.lab.large import duplicate_negatives as large_twins
from lossprism.explorer.lab.large import sums_over_tile_strips, tile_survey
from lossprism.explorer.lab.large.large_batch_remarks import judged, remarks_of
from lossprism.explorer.lab.large.large_batch_session import checked, open_batch
from lossprism.explorer.lab.large.loss_matrix_methods import offered
from lossprism.explorer.lab.large.window_blocks import Window
from lossprism.explorer.sources.pairs import Pairs, text_numbers
from tests.unit.lab.large.made import batch_of

READING = [name for name in offered() if losses.LOSSES[name].reads_texts]
CASES = [(name, {}) for name in READING] + [("info_nce", {"symmetric": True})]


def quiet(done, total):
    pass


def with_repeated(batch, kinds, seed=1):
    """The batch with sentences of which so many differ."""
    source = np.random.default_rng(seed)
    named = [[f"s{n}" for n in source.integers(kinds, size=len(batch))] for _ in range(2)]
    return dataclasses.replace(batch, first=named[0], second=named[1])


def by_definition(batch, name, parameters, own):
    others = np.setdiff1d(np.arange(len(batch)), own)
    first, second = (torch.tensor(v).double() for v in (batch.first_vectors, batch.second_vectors))
    numbers = text_numbers([*batch.first, *batch.second])
    texts = [torch.tensor(half[batch.entry]) for half in np.split(numbers, 2)]
    given = {"query_texts": texts[0][own], "key_texts": texts[1][own]}
    if name == "info_nce":
        given |= {"negatives": second[others], "negative_texts": texts[1][others]}
    cosines = (first[own] * second[own]).sum(dim=1)
    value = losses.LOSSES[name].function(first[own], second[own], **given, **parameters)
    return float(value), cosines


@pytest.fixture(params=["as it is", "small tiles"])
def sizes(request, monkeypatch):
    if request.param == "small tiles":
        monkeypatch.setattr(sums_over_tile_strips, "TILE_CELLS", 4 * 16**2)
        monkeypatch.setattr(tile_survey, "SMALL_WINDOW_CELLS", 100)


@pytest.mark.usefixtures("sizes")
@pytest.mark.parametrize(("name", "chosen"), CASES)
def test_the_value_is_that_of_the_loss(name, chosen):
    batch = with_repeated(batch_of(300, "grades", width=16), kinds=60)
    parameters = checked(name, chosen)
    kept = open_batch(batch, name, parameters, quiet)
    found = open_batch(batch, name, parameters, quiet, "leave_out")
    pairs = found.matrix.row_pairs
    own = np.asarray(pairs)[: len(pairs) // (2 if name == "nt_xent" else 1)]
    value, _ = by_definition(batch, name, parameters, own)
    assert found.loss == pytest.approx(value, rel=1e-6)
    assert found.loss != pytest.approx(kept.loss, rel=1e-6)
    assert found.present < kept.present
    rows, columns = found.shape
    blocks = found.matrix.blocks(Window(0, rows, 0, columns))
    assert blocks.present.sum() == found.present
    assert blocks.share.sum() == pytest.approx(1)
    assert found.nearest >= kept.nearest


@pytest.mark.parametrize(("name", "chosen"), CASES)
def test_no_heavy_term_is_of_the_same_text(name, chosen):
    batch = with_repeated(batch_of(120, "grades", width=16), kinds=30)
    found = open_batch(batch, name, checked(name, chosen), quiet, "leave_out")
    heaviest = found.heaviest
    half = len(found.matrix.row_pairs) // 2
    for row, column in zip(heaviest.rows, heaviest.columns, strict=True):
        if name == "nt_xent":
            sides = (batch.first, batch.second)
            pair, other = found.matrix.row_pairs[row], found.matrix.column_pairs[column]
            mine = {side[batch.entry[pair]] for side in sides}
            seen = sides[int(column >= half)][batch.entry[other]]
        else:
            entry = batch.entry[found.matrix.row_pairs[row]]
            looking = {batch.first[entry], batch.second[entry]}
            place = batch.entry[found.matrix.column_pairs[column]]
            mine, seen = looking, batch.second[place]
            if name == "siglip" and row == column:
                continue
            if chosen:  # the other direction may have it
                mine = {batch.first[entry]} & {batch.second[place]}
        assert seen not in mine


def distinct_texts(batch):
    """The same texts, each standing once, with blanks of which none counts: a sentence of a
    scenario has one vector."""
    sides = (
        [f"{text}{' ' * (2 * place + side)}" for place, text in enumerate(texts)]
        for side, texts in enumerate((batch.first, batch.second))
    )
    return dataclasses.replace(batch, **dict(zip(("first", "second"), sides, strict=True)))


def explored(batch, name, chosen, twins):
    """The same pairs as the Explore page has them."""
    order = np.argsort(batch.entry)
    pairs = Pairs(tuple(batch.first), tuple(batch.second), tuple(batch.labels[order].tolist()))
    vectors = np.stack([batch.first_vectors[order], batch.second_vectors[order]], axis=1)
    rules = Rules(twins=twins)
    data, parameters = Data(source="random"), tuple(chosen.items())
    scenario = Scenario(data=data, loss=name, parameters=parameters, rules=rules)
    return explore(scenario, batch_of_vectors(pairs, vectors.reshape(2 * len(order), -1), rules))


@pytest.mark.parametrize("twins", ["keep", "leave_out"])
@pytest.mark.parametrize(("name", "chosen"), CASES)
def test_what_the_same_texts_weigh_is_what_explore_says(name, chosen, twins, monkeypatch):
    """Cell by cell, and where so many are of one text that whole rows are computed."""
    batch = distinct_texts(with_repeated(batch_of(300, "grades", width=16), kinds=40))
    expected = explored(batch, name, chosen, twins).same_text[name]
    assert min(expected.of_anchor, expected.of_positive) > 0
    for cells in (large_twins.CELLS_AT_ONCE, 4):
        monkeypatch.setattr(large_twins, "CELLS_AT_ONCE", cells)
        found = open_batch(batch, name, checked(name, chosen), quiet, twins)
        remarks, wanted = vars(found.same_text).copy(), vars(expected).copy()
        assert remarks.pop("axis") == wanted.pop("axis")
        assert remarks == pytest.approx(wanted, rel=1e-5)
    assert (found.same_text.share_of_anchor > 0) == (twins == "keep")
    remarks = remarks_of(found, name, checked(name, chosen), judged(batch, quiet))
    keys = {one.key: one.values for one in remarks}
    key = "same_text" if twins == "keep" else "same_text_left_out"
    assert keys[key]["count"] == expected.of_anchor


@pytest.mark.parametrize("name", READING)
def test_the_gradient_is_that_along_the_own_similarity(name):
    """The weight that a query's own key takes is what its negatives are given."""
    batch = with_repeated(batch_of(40, "grades", width=16), kinds=12)
    parameters = checked(name, {})
    found = open_batch(batch, name, parameters, quiet, "leave_out")
    own = np.asarray(found.matrix.row_pairs)
    own = own[: len(own) // 2] if name == "nt_xent" else own
    first, second = (torch.tensor(v).double() for v in (batch.first_vectors, batch.second_vectors))
    numbers = text_numbers([*batch.first, *batch.second])
    texts = [torch.tensor(half[batch.entry]) for half in np.split(numbers, 2)]
    queries, keys = texts[0][own], texts[1][own]
    scale = 1 / parameters["temperature"] if name != "siglip" else parameters["scale"]
    expected = []
    for i, pair in enumerate(own):
        moved = torch.zeros((), dtype=torch.float64, requires_grad=True)
        if name == "siglip":
            cosine = first[pair] @ second[pair] + moved
            term = -torch.nn.functional.logsigmoid(scale * cosine + parameters["bias"])
            expected.append(torch.autograd.grad(term / len(own), moved)[0].item())
            continue
        every = np.concatenate([own, np.setdiff1d(np.arange(len(batch)), own)])
        if name == "nt_xent":
            views, message = torch.cat([first[own], second[own]]), torch.cat([queries, keys])
            total = 0.0
            for v in (i, i + len(own)):
                p = (v + len(own)) % (2 * len(own))
                keep = (message != message[v]) & (message != message[p])
                keep[[v, p]] = False
                logits = scale * (views @ views[v])[keep]
                mine = scale * (views[v] @ views[p] + moved)
                total = total + torch.logsumexp(torch.cat([logits, mine[None]]), 0) - mine
            expected.append(torch.autograd.grad(total / (2 * len(own)), moved)[0].item())
            continue
        keep = (texts[1][every] != queries[i]) & (texts[1][every] != keys[i])
        keep[i] = False
        logits = scale * (second[every] @ first[pair])[keep]
        mine = scale * (first[pair] @ second[pair] + moved)
        value = torch.logsumexp(torch.cat([logits, mine[None]]), 0) - mine
        expected.append(torch.autograd.grad(value / len(own), moved)[0].item())
    np.testing.assert_allclose(found.gradient[own], expected, rtol=1e-5, atol=1e-9)


def test_of_random_pairs_no_text_stands_twice():
    batch = batch_of(50, "grades", width=16)
    for name in READING:
        kept, found = (
            open_batch(batch, name, checked(name, {}), quiet, twins)
            for twins in ("keep", "leave_out")
        )
        assert kept.loss == found.loss
        assert kept.present == found.present


def test_a_loss_that_reads_no_texts_does_not_ask():
    batch = batch_of(50, "grades", width=0)
    kept, found = (
        open_batch(batch, "cosent", checked("cosent", {}), quiet, twins)
        for twins in ("keep", "leave_out")
    )
    assert kept.loss == found.loss
