"""Losses that change one thing of InfoNCE or NT-Xent: against the formulas of their authors."""

import math

import pytest
import torch

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.losses import (
    LOSSES,
    debiased,
    decoupled,
    focal_info_nce,
    gist,
    hard_weighted,
    info_nce,
    mega_batch_margin,
    nt_xent,
    online_contrastive,
    soft_info_nce,
)
from lossprism.losses.geometry import unit
from lossprism.losses.kernels import query_key_losses_by_tiles
from tests.unit.losses.made import saved_bytes

MADE = torch.Generator().manual_seed(3)
FIRST, SECOND = torch.randn(2, 7, 5, generator=MADE).double()
OTHERS = torch.randn(4, 5, generator=MADE).double()
COSINES = unit(FIRST) @ unit(SECOND).T
ITSELF = torch.eye(7, dtype=torch.bool)


def moved(loss, *given, **settings):
    """Value and gradients."""
    leaves = [one.clone().requires_grad_() for one in given]
    value = loss(*leaves, **settings)
    return value.detach(), *torch.autograd.grad(value, leaves)


def agree(found, expected):
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-12)


def dcl(first, second, *, sigma=None):
    """Decoupled contrastive loss across views, after raminnakhli's code."""
    logits = unit(first) @ unit(second).T / 0.1
    pull = logits.diagonal()
    if sigma:
        cosines = (unit(first) * unit(second)).sum(dim=1)
        pull = pull * (2 - len(first) * (cosines / sigma).softmax(dim=0))
    return (logits.masked_fill(ITSELF, -torch.inf).logsumexp(dim=1) - pull).mean()


def test_decoupled_is_what_its_code_computes():
    agree(moved(decoupled, FIRST, SECOND), moved(dcl, FIRST, SECOND))
    for sigma in (0.3, 2.0):
        found = moved(decoupled, FIRST, SECOND, weighted=True, sigma=sigma)
        agree(found, moved(dcl, FIRST, SECOND, sigma=sigma))


def test_decoupled_on_the_textbook_scenario_is_what_was_computed_beside():
    chosen = (("temperature", 0.05),)
    found = explore(
        Scenario(data=Data(example="hard_negatives"), loss="decoupled", parameters=chosen)
    )
    assert found.loss == pytest.approx(-0.137, abs=1e-3)
    # Of 24 keys on a simplex −17.73; the further ones can be moved away from all queries.
    assert math.log(23) - 2 / 0.05 < found.floor < math.log(23) - 24 / 23 / 0.05


def authors(first, second, tau_plus, beta, temperature=0.5):
    """The estimator of chingyaoc/DCL (β = 0) and joshr17/HCL, in plain exponentials."""
    count = len(first)
    views = torch.cat((unit(first), unit(second)))
    place = torch.arange(2 * count)
    keep = (place[:, None] - place) % count != 0
    noise = (views @ views.T / temperature).exp()[keep].view(2 * count, -1)
    own = ((unit(first) * unit(second)).sum(dim=1) / temperature).exp().repeat(2)
    others = 2 * count - 2
    weights = noise**beta
    total = (weights * noise).sum(dim=1) / weights.mean(dim=1)
    total = (total - tau_plus * others * own) / (1 - tau_plus)
    total = total.clamp(min=others * math.exp(-1 / temperature))
    return -(own / (own + total)).log().mean()


@pytest.mark.parametrize("tau_plus", [0.0, 0.1, 0.6])
def test_debiased_and_hard_weighted_are_what_their_code_computes(tau_plus):
    near = FIRST + 0.4 * SECOND  # so near that some totals are at their least
    for second in (SECOND, near):
        found = moved(debiased, FIRST, second, tau_plus=tau_plus)
        agree(found, moved(authors, FIRST, second, tau_plus=tau_plus, beta=0.0))
        for beta in (0.5, 2.0):
            found = moved(hard_weighted, FIRST, second, tau_plus=tau_plus, beta=beta)
            agree(found, moved(authors, FIRST, second, tau_plus=tau_plus, beta=beta))


def test_what_changes_nothing_is_the_loss_it_comes_from():
    agree(moved(debiased, FIRST, SECOND, tau_plus=0.0), moved(nt_xent, FIRST, SECOND))
    agree(
        moved(hard_weighted, FIRST, SECOND, beta=0.0, tau_plus=0.2),
        moved(debiased, FIRST, SECOND, tau_plus=0.2),
    )
    agree(moved(focal_info_nce, FIRST, SECOND, gamma=0.0), moved(info_nce, FIRST, SECOND))
    targets = torch.eye(7).double()
    agree(moved(soft_info_nce, FIRST, SECOND, targets=targets), moved(info_nce, FIRST, SECOND))


def test_focal_weighs_by_what_is_missed():
    def plain(queries, keys):
        shares = (unit(queries) @ unit(keys).T / 0.2).softmax(dim=1).diagonal()
        return -((1 - shares) ** 0.5 * shares.log()).mean()

    agree(moved(focal_info_nce, FIRST, SECOND, temperature=0.2), moved(plain, FIRST, SECOND))
    negatives = {"negatives": OTHERS, "temperature": 0.2, "gamma": 1.0}
    logits = unit(FIRST) @ unit(torch.cat((SECOND, OTHERS))).T / 0.2
    shares = logits.softmax(dim=1).diagonal()
    expected = -((1 - shares) * shares.log()).mean()
    torch.testing.assert_close(focal_info_nce(FIRST, SECOND, **negatives), expected)
    alone = moved(focal_info_nce, FIRST[:1], SECOND[:1])
    assert not any(bool(one.any()) for one in alone)


def test_soft_targets_are_those_of_a_cross_entropy():
    keys = torch.cat((SECOND, OTHERS))
    targets = torch.rand(7, 11, generator=MADE).double()
    targets[2] = 0  # costs nothing

    def plain(queries, keys):
        return torch.nn.functional.cross_entropy(unit(queries) @ unit(keys).T / 0.05, targets)

    agree(moved(soft_info_nce, FIRST, keys, targets=targets), moved(plain, FIRST, keys))
    floor = LOSSES["soft_info_nce"].floor({"targets": torch.eye(3)})
    assert floor == 0


@pytest.mark.parametrize("count", [7, 130])  # in one matrix, and in tiles
def test_targets_that_are_learned_get_their_gradient(count):
    queries, keys = torch.randn(2, count, 5, generator=MADE).double()
    targets = torch.rand(count, count, generator=MADE).double()

    def fast(targets, *vectors):
        return soft_info_nce(*(vectors or (queries, keys)), targets=targets)

    def plain(targets, *vectors):
        rows, columns = vectors or (queries, keys)
        return torch.nn.functional.cross_entropy(unit(rows) @ unit(columns).T / 0.05, targets)

    agree(moved(fast, targets), moved(plain, targets))
    agree(moved(fast, targets, queries, keys), moved(plain, targets, queries, keys))


GUIDES = {
    "guide_queries": FIRST + 0.5 * SECOND,
    "guide_keys": SECOND + 0.8 * FIRST,
    "negatives": OTHERS,
    "guide_negatives": OTHERS + 0.2,
}


@pytest.mark.parametrize("kind", ["absolute", "relative"])
def test_the_guide_masks_alike_by_tiles_and_as_defined(kind, monkeypatch):
    monkeypatch.setattr(query_key_losses_by_tiles, "MIN_TILE_ROWS", 3)
    monkeypatch.setattr(query_key_losses_by_tiles, "TILE_CELLS", 1)
    for margin in (-0.4, 0.0, 0.3):
        settings = {"temperature": 0.1, "margin": margin, "margin_kind": kind, **GUIDES}
        for left in ({}, {"contrast_anchors": False}, {"contrast_positives": False}):
            found = moved(gist, FIRST, SECOND, **settings, **left)
            agree(found, moved(LOSSES["gist"].definition, FIRST, SECOND, **settings, **left))


def test_a_guide_is_a_constant_and_a_text_that_stands_twice_is_not_above_itself():
    learned = GUIDES["guide_keys"].clone().requires_grad_()
    loss = gist(FIRST, SECOND, guide_queries=FIRST, guide_keys=learned)
    assert not loss.requires_grad
    keys = SECOND[[0, 0, 1, 1, 2, 3, 3]]
    guide = {"guide_queries": FIRST, "guide_keys": keys}
    twice = gist(FIRST + 0.0, keys, **guide, temperature=1.0, contrast_positives=False)
    assert twice > 0


def test_ties_of_the_hardest_negative_pull_one_of_them():
    queries, keys = torch.eye(3).double(), torch.ones(3, 3).double()
    _, by_queries, _ = moved(mega_batch_margin, queries, keys)
    assert by_queries.isfinite().all()


def test_online_contrastive_falls_to_nothing_at_collapse_alone():
    one = torch.linspace(0.3, 1.0, 4).double()
    same = one.expand(6, 4).clone()
    labels = torch.tensor([1, 1, 1, 0, 0, 0])
    assert online_contrastive(same, same, labels) == 0
    apart = same.clone()
    apart[0, 0] += 1e-3  # one positive a little farther than the negatives
    assert online_contrastive(same, apart, labels).item() == pytest.approx(3 * 0.25, rel=1e-3)


@pytest.mark.parametrize(
    ("loss", "settings"),
    [
        (decoupled, {"weighted": True}),
        (debiased, {}),
        (hard_weighted, {}),
        (focal_info_nce, {}),
        (mega_batch_margin, {}),
    ],
)
def test_no_matrix_is_kept(loss, settings):
    given = [torch.randn(512, 16, generator=MADE).requires_grad_() for _ in range(2)]
    assert saved_bytes(loss, *given, **settings) <= 4 * 512 * 16 * 4 + 8192


@pytest.mark.parametrize(
    ("loss", "settings", "message"),
    [
        (debiased, {"tau_plus": 1.0}, "tau_plus is 1.0; it must be below 1"),
        (hard_weighted, {"beta": -1.0}, "beta is -1.0; it must be 0 or more"),
        (focal_info_nce, {"gamma": -1.0}, "gamma is -1.0"),
        (decoupled, {"sigma": 0.0}, "sigma is 0.0; it must be greater than 0"),
        (gist, {**GUIDES, "guide_negatives": None}, "guide_negatives is missing: it goes together"),
        (gist, {**GUIDES, "guide_keys": OTHERS}, "guide_keys has 4 rows; one for each of the 7"),
        (gist, {**GUIDES, "margin_kind": "half"}, "margin_kind is 'half'"),
        (soft_info_nce, {"targets": torch.ones(7, 3)}, r"targets has shape \(7, 3\)"),
        (soft_info_nce, {"targets": -torch.eye(7)}, r"targets\[0\]\[0\] is -1; it must be 0"),
        (online_contrastive, {"labels": torch.ones(7), "distance": "l1"}, "distance is 'l1'"),
    ],
)
def test_what_cannot_be_is_reported(loss, settings, message):
    with pytest.raises(ValueError, match=message):
        loss(FIRST, SECOND, **settings)
