"""Fast forms of the hinges and logistics in which every ordered pair counts alike."""

from __future__ import annotations

import time

import pytest
import torch

from lossprism.losses import LOSSES
from lossprism.losses.kernels import ordered_hinge_and_logistic_sums

CONVENTIONS = [
    (spec.name, one.name)
    for spec in (LOSSES["pairwise_hinge"], LOSSES["pairwise_logistic"])
    for one in spec.conventions
]
KINDS = ("graded", "binary", "any", "unjudged", "one label", "all unjudged")


def batch(kind: str, count: int, seed: int = 0):
    """Scores with ties, and labels of a kind."""
    draw = torch.Generator().manual_seed(seed)
    scores = (torch.randn(count, generator=draw, dtype=torch.float64) * 4).round() / 4
    graded = torch.randint(0, 5, (count,), generator=draw).double()
    return scores, {
        "graded": graded,
        "binary": (graded > 2).double(),
        "any": torch.randn(count, generator=draw, dtype=torch.float64),
        "unjudged": graded - 1,
        "one label": torch.ones(count, dtype=torch.float64),
        "all unjudged": -torch.ones(count, dtype=torch.float64),
    }[kind]


def of(function, scores, labels, **chosen):
    scores = scores.clone().requires_grad_()
    loss = function(scores, labels, **chosen)
    (slopes,) = torch.autograd.grad(loss, scores)
    return loss.detach(), slopes


@pytest.mark.parametrize(("loss", "convention"), CONVENTIONS)
def test_a_fast_form_stands_beside_every_convention(loss, convention):
    spec = LOSSES[loss].under(convention)
    assert spec.checked is not spec.definition


@pytest.mark.parametrize("tree_above", [0, 10**6])
@pytest.mark.parametrize(("loss", "convention"), CONVENTIONS)
def test_it_agrees_with_the_definition(loss, convention, tree_above, monkeypatch):
    monkeypatch.setattr(ordered_hinge_and_logistic_sums, "HINGE_ROWS", tree_above)
    spec, wrong = LOSSES[loss].under(convention), []
    for kind in KINDS:
        for count in (1, 2, 3, 17, 130):
            scores, labels = batch(kind, count, seed=count)
            for moved in ({}, {name: 2.5 for name in spec.defaults if name in ("margin", "scale")}):
                chosen = {**spec.defaults, **moved}
                ours, slopes = of(spec.checked, scores, labels, **chosen)
                theirs, expected = of(spec.definition, scores, labels, **chosen)
                if not (
                    torch.allclose(ours, theirs, rtol=1e-10, atol=1e-10)
                    and torch.allclose(slopes, expected, rtol=1e-10, atol=1e-10)
                ):
                    wrong.append((kind, count, chosen, float(ours - theirs)))
    assert not wrong


@pytest.mark.parametrize(
    "convention", ["rax 0.4.0 pairwise_hinge_loss", "keras-rs 0.4.0 PairwiseHingeLoss (sum / N)"]
)
def test_a_hinge_of_many_rows_forms_no_matrix(convention):
    spec = LOSSES["pairwise_hinge"].under(convention)
    scores, labels = batch("graded", 100_000)  # 80 GB as a matrix
    began = time.process_time()
    loss, slopes = of(spec.checked, scores, labels, **spec.defaults)
    assert time.process_time() - began < 20
    assert loss > 0
    assert slopes.sum().abs() < 1e-6 * slopes.abs().sum()
