"""What holds of a loss on scores of each kind: cosines, dot products, logits, probabilities."""

from __future__ import annotations

import math

import pytest
import torch

from lossprism.losses import LOSSES, SHIPPED
from lossprism.losses.inputs_that_losses_may_read import READABLE
from lossprism.losses.minimum import Bound
from lossprism.losses.score_kinds import SCORE_KINDS
from tests.unit.losses.made import inputs_for

ON_SCORES = [spec for spec in SHIPPED if spec.reads_scores_only and spec.reads_scores]
UNDER = [
    (spec, name) for spec in ON_SCORES for name in ("", *(one.name for one in spec.conventions))
]
HAS_COLLAPSE = [name for name, one in SCORE_KINDS.items() if one.at_collapse is not None]
STEPS, RATE, DECAY = 200, 0.5, 0.98
SELF_PACED = "circle_self_paced"  # its weights are constants: a step may lead past the minimum


def scores_of(spec, given):
    """The arguments of a loss that are scores, and not labels, masks or a teacher's."""
    made_of = {name: READABLE[what].made_of for name, what in spec.reads.items()}
    return [name for name in given if made_of[name] == "scores"]


def least_found(spec, ends, rate):
    """The least value of the definition on a descent on the scores, which stay between these."""
    draw, given = torch.Generator().manual_seed(4), inputs_for(spec, seed=3)
    scores = {
        name: torch.randn(given[name].shape, generator=draw).mul(0.3).double().clamp(*ends)
        for name in scores_of(spec, given)
    }
    moving = [one.requires_grad_() for one in scores.values()]
    adam, least = torch.optim.Adam(moving, lr=rate), math.inf
    slower = torch.optim.lr_scheduler.ExponentialLR(adam, DECAY)
    for _ in range(STEPS):
        value = spec.definition(**{**given, **scores}, **spec.defaults)
        least = min(least, value.item())
        if not value.requires_grad:
            break
        adam.zero_grad()
        value.backward()
        adam.step()
        slower.step()
        with torch.no_grad():
            for one in moving:
                one.clamp_(*ends)
    return least


FOUND = {}


def above_minimum(under, ends, rate):
    """How far above its minimum a descent ends; what several conventions share is run once."""
    key = (under.definition, *under.defaults.items(), *under.reads.items(), *ends, rate)
    if key not in FOUND:
        FOUND[key] = least_found(under, ends, rate)
    return FOUND[key] - under.floor(inputs_for(under, seed=3), **under.defaults)


@pytest.mark.thorough
@pytest.mark.parametrize(("spec", "convention"), UNDER, ids=lambda one: getattr(one, "name", one))
def test_descent_reaches_the_minimum_and_nothing_below_it(spec, convention):
    """Of scores of each kind, under every convention."""
    for kind, scored in SCORE_KINDS.items():
        under = spec.under(convention).scored_as(kind)
        minimum = under.floor and under.floor(inputs_for(under, seed=3), **under.defaults)
        if minimum is None:
            continue
        near = 0.1 * max(abs(minimum), 1)
        only_bound = isinstance(minimum, Bound) or spec.name == SELF_PACED
        above = above_minimum(under, scored.within, RATE)
        if above > near and not only_bound:  # it is too steep for such steps
            above = above_minimum(under, scored.within, RATE / 10)
        assert above >= -1e-9 * max(abs(minimum), 1), kind
        assert above <= near or only_bound, kind


@pytest.mark.parametrize("kind", HAS_COLLAPSE)
@pytest.mark.parametrize(("spec", "convention"), UNDER, ids=lambda one: getattr(one, "name", one))
def test_the_value_at_collapse_is_that_of_equal_scores(spec, convention, kind):
    under = spec.under(convention).scored_as(kind)
    if under.collapse is None:
        return
    given = inputs_for(under, seed=5)
    level = SCORE_KINDS[kind].at_collapse
    same = {name: torch.full_like(given[name], level) for name in scores_of(under, given)}
    expected = float(under.definition(**{**given, **same}, **under.defaults))
    assert under.collapse(given, **under.defaults) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_the_value_at_collapse_of_logits_is_that_of_an_untrained_head():
    labels = torch.tensor([1.0, 0.0, 0.0])
    logits = LOSSES["binary_cross_entropy"].scored_as("logit")
    assert logits.collapse({"labels": labels}) == pytest.approx(math.log(2))
    assert logits.floor({"labels": labels}) == 0
    regression = LOSSES["cosine_mse"].scored_as("logit")
    assert regression.collapse({"labels": labels}) == pytest.approx(1 / 3)
    assert regression.floor({"labels": 7 * labels}) == 0


def test_logits_have_no_minimum_where_a_label_is_no_probability():
    """log(1 + eˢ) − y s falls for ever with s beyond 0 ≤ y ≤ 1; between −1 and 1 it does not."""
    spec = LOSSES["binary_cross_entropy"]
    for label in (-1.0, 1.5, 4.0):
        given = {"labels": torch.tensor([1.0, label])}
        assert spec.scored_as("logit").floor(given) is None
        assert math.isfinite(spec.floor(given))


def test_a_loss_is_the_same_on_cosines_again():
    for spec in ON_SCORES:
        again = spec.scored_as("logit").scored_as("cosine")
        assert (again.floor_formula, again.collapse_formula) == (
            spec.floor_formula,
            spec.collapse_formula,
        )
        given = inputs_for(spec, seed=6)
        for own, other in ((spec.floor, again.floor), (spec.collapse, again.collapse)):
            values = [formula and formula(given, **spec.defaults) for formula in (own, other)]
            assert values[0] == values[1]


def test_every_class_of_a_cross_encoder_compares_logits():
    """As do the libraries of ranking; a convention named after dot products compares these."""
    of_logits = ("rax", "allRank", "TF-Ranking", "keras-rs")
    cross = ("BinaryCrossEntropyLoss", "ListNetLoss", "ListMLELoss", "PListMLELoss", "LambdaLoss")
    cross += ("RankNetLoss", "ADRMSELoss")
    seen = set()
    for spec in SHIPPED:
        for one in spec.conventions:
            words = set(one.name.split())
            if one.name.startswith(of_logits) or words & set(cross):
                seen |= words & set(cross)
                assert spec.under(one.name).score == "logit", one.name
            if "dot products" in one.name:
                assert spec.under(one.name).score == "dot", one.name
            if one.parameters.get("similarity") == "dot":
                assert one.score == "dot", one.name
    assert seen == set(cross)


def test_parameters_that_a_library_learns_reach_the_minimum():
    """A scale that grows takes the minimum to 0; at its first value it is above."""
    given = {"keys": torch.eye(64), "queries": torch.eye(64)}
    for loss, start in (("info_nce", "ClipLoss"), ("siglip", "open_clip 3.3.0")):
        (convention,) = [c for c in LOSSES[loss].conventions if start in c.name]
        under = LOSSES[loss].under(convention.name)
        assert set(convention.learned) <= set(under.defaults)
        learned = under.floor(given, **{**under.defaults, **convention.learned})
        assert learned < 1e-30
        assert learned < under.floor(given, **under.defaults)


def test_an_unknown_kind_is_refused_by_name():
    with pytest.raises(ValueError, match="score is 'angle'; it must be one of cosine, dot"):
        LOSSES["cosent"].scored_as("angle")


def test_a_bound_stays_one():
    spec = LOSSES["lambda_loss"].scored_as("logit")
    assert isinstance(spec.floor(inputs_for(spec, seed=1), **spec.defaults), Bound)
