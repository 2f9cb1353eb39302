"""Fine-tune's lines of a cross-encoder: the minimum and the value at collapse of what it offers."""

from __future__ import annotations

import pytest
import torch

from lossprism.explorer.lab.doctor.reference_values import configured_losses
from lossprism.explorer.lab.training.plan import TrainingPlan
from lossprism.losses import LOSSES
from tests.unit.losses.made import inputs_for

OFFERED = [
    (name, side.convention)
    for name, spec in LOSSES.items()
    for side in configured_losses(spec)
    if spec.under(side.convention).reads_scores_only and spec.group != "own"
]
SPREAD = (0.5, 5.0, 50.0)


def on_logits(name, convention):
    plan = TrainingPlan(kind="cross", loss=name, convention=convention)
    return plan.spec.scored_as("logit"), plan.settings


def inputs(spec):
    """What a batch has for the loss, and which of it are the scores."""
    given = {n: one for n, one in inputs_for(spec, seed=7).items() if one is not None}
    scores = [n for n, what in spec.reads.items() if what in ("scores", "list_scores")]
    return given, scores


@pytest.mark.parametrize(("name", "convention"), OFFERED)
def test_the_value_at_collapse_is_that_of_equal_logits(name, convention):
    spec, chosen = on_logits(name, convention)
    given, scores = inputs(spec)
    if not scores or spec.collapse is None:
        pytest.skip("it has no scores of pairs, or no value at collapse")
    alike = {**given, **{n: torch.zeros_like(given[n]) for n in scores}}
    stated = spec.collapse(alike, **chosen)
    if stated is not None:
        assert float(spec.definition(**alike, **chosen)) == pytest.approx(stated, abs=1e-9)


@pytest.mark.parametrize(("name", "convention"), OFFERED)
def test_no_logits_are_below_the_minimum(name, convention):
    spec, chosen = on_logits(name, convention)
    given, scores = inputs(spec)
    least = spec.floor and spec.floor(given, **chosen)
    if not scores or least is None:
        pytest.skip("it has no scores of pairs, or no minimum")
    torch.manual_seed(3)
    for spread in SPREAD:
        drawn = {n: spread * torch.randn_like(given[n]) for n in scores}
        assert float(spec.definition(**{**given, **drawn}, **chosen)) >= least - 1e-9
