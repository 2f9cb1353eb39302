"""A loss that declares a form has the Large page by that, whatever its name and its parameters."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lossprism.explorer.lab.large.large_batch_session import checked, open_batch, pair_limit
from lossprism.explorer.lab.large.loss_matrix_methods import loss_input_of, offered
from lossprism.explorer.lab.large.window_blocks import Window
from lossprism.explorer.runtime.limits import LARGE_CELLWISE_PAIRS, LARGE_PAIRS
from lossprism.explorer.web.pages.large.initial_page_data import page_data
from lossprism.losses import LOSSES
from lossprism.losses.kernels import log1p_sum_exp, softplus
from lossprism.losses.loss_term_structures import AgainstOthers, HingeSum, LogisticSum, Separable
from lossprism.losses.spec import LossSpec, Parameter
from tests.unit.lab.large.made import batch_of


def cubed(scores, labels, *, sharpness=4.0):
    terms = sharpness * (scores[:, None] ** 3 - scores[None, :])
    loss = log1p_sum_exp(terms.masked_fill(labels[:, None] >= labels[None, :], -torch.inf))
    return loss


def in_halves(scores, labels, *, steepness=8.0):
    terms = softplus(steepness / 2 * (scores[:, None] - scores[None, :]))
    loss = terms.masked_fill(labels[:, None] >= labels[None, :], 0).sum()
    return loss


def far_apart(scores, labels, *, distance=0.2):
    gaps = (labels[None, :] - labels[:, None]).relu()
    terms = gaps * (scores[:, None] - scores[None, :] + distance).relu()
    loss = terms.sum() / gaps.sum()
    return loss


def one_way(queries, keys, *, negatives=None, sharpness=7.0):
    return LOSSES["info_nce"].definition(
        queries, keys, negatives=negatives, temperature=1 / sharpness
    )


def number(name, default):
    return (Parameter(name, default, "k", 0.1, 100.0),)


NEW = (
    LossSpec(
        cubed,
        "Cubed",
        "",
        parameters=number("sharpness", 4.0),
        form=Separable(lambda scores, sharpness: (sharpness * scores**3, -sharpness * scores)),
    ),
    LossSpec(
        in_halves,
        "In halves",
        "",
        parameters=number("steepness", 8.0),
        form=LogisticSum(scale=lambda steepness: steepness / 2),
    ),
    LossSpec(
        far_apart,
        "Far apart",
        "",
        parameters=number("distance", 0.2),
        form=HingeSum(margin=lambda distance: distance, eps=lambda distance: 0.0),
    ),
    LossSpec(
        one_way,
        "One way",
        "",
        parameters=number("sharpness", 7.0),
        reads={"queries": "queries", "keys": "keys", "negatives": "negatives"},
        form=AgainstOthers(scale=lambda sharpness: sharpness),
    ),
)


@pytest.fixture(params=NEW, ids=lambda spec: spec.name)
def new(request, monkeypatch):
    monkeypatch.setitem(LOSSES, request.param.name, request.param)
    return request.param


@pytest.mark.parametrize("count", [300, LARGE_CELLWISE_PAIRS + 52])
def test_its_loss_and_gradient_are_those_of_its_definition(new, count):
    scored = loss_input_of(new.name) != "vectors"
    batch = batch_of(count, width=0 if scored else 16)
    opened = open_batch(batch, new.name, checked(new.name, {}), lambda done, total: None)
    if scored:
        scores = torch.tensor(batch.scores, requires_grad=True)
        value = new.definition(scores, torch.tensor(batch.labels), **new.defaults)
        value.backward()
        felt = scores.grad.numpy()
        largest = abs(felt).max()
        np.testing.assert_allclose(opened.gradient, felt, rtol=1e-5, atol=1e-6 * largest)
    else:
        own = opened.matrix.row_pairs
        others = np.setdiff1d(np.arange(count), own)
        first, second = batch.first_vectors, batch.second_vectors
        sides = (torch.from_numpy(s).double() for s in (first[own], second[own], second[others]))
        queries, keys, negatives = sides
        value = new.definition(queries, keys, negatives=negatives, **new.defaults)
    assert opened.loss == pytest.approx(float(value.detach()), rel=1e-5)
    rows, columns = opened.shape
    shares = opened.matrix.blocks(Window(0, rows, 0, columns)).share
    assert shares.sum() == pytest.approx(1.0, rel=1e-5)


def test_the_page_offers_it(new):
    assert new.name in offered()
    listed = page_data().losses[new.name]
    assert listed.parameters[0].name == new.parameters[0].name
    assert listed.most == pair_limit(new.name)
    assert (listed.most == LARGE_PAIRS) == (new.name != "one_way")


def test_without_a_form_it_is_not_offered(monkeypatch):
    monkeypatch.setitem(LOSSES, "in_halves", LossSpec(in_halves, "In halves", ""))
    assert "in_halves" not in offered()
