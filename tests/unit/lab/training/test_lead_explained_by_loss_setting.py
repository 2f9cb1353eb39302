"""What of the difference of two losses is that of their own settings."""

from __future__ import annotations

import itertools

import pytest

from lossprism.explorer.lab.training.lead_explained_by_loss_setting import (
    on_settings,
    tried_setting,
)
from lossprism.explorer.lab.training.plan import TrainingPlan
from lossprism.explorer.locale import LANGUAGES, say


def of(loss, figure, value=None, **more):
    name = "temperature" if loss == "info_nce" else "scale"
    chosen = {} if value is None else {name: value}
    plan = TrainingPlan.from_json({"loss": loss, "parameters": chosen, **more}).to_json()
    plan.pop("seed")
    return tried_setting(plan, figure)


def remark_keys(*found):
    """The remarks, the best of what was tried first."""
    return [*on_settings(sorted(found, key=lambda one: -one.figure))]


@pytest.mark.parametrize(
    ("tuned", "share"),
    [(0.76, "67%"), (0.70, "0%"), (0.79, "100%"), (0.85, "100%"), (0.745, "50%")],
)
def test_the_share_of_the_setting_is_what_goes_with_tuning(tuned, share):
    """CoSENT at 0.79 is ahead of the angle loss, 0.70 at λ = 20, which reaches more at another."""
    figures = [of("cosent", 0.79), of("angle", 0.70)]
    (untuned,) = remark_keys(*figures)
    assert untuned.key == "verdict_not_tuned"
    assert untuned.values["setting"] == "λ = 20 (cosent), λ = 20 (angle)"
    (remark,) = remark_keys(*figures, of("angle", tuned, 5.0))
    assert remark.key == "verdict_setting"
    assert (remark.values["best"], remark.values["other"]) == ("cosent", "angle")
    assert (remark.values["difference"], remark.values["share"]) == ("0.090", share)
    assert (remark.values["count"], remark.values["other_count"]) == (1, 2)
    for one, language in itertools.product((untuned, remark), LANGUAGES):
        sentence = say(language, f"remark.{one.key}", **one.values)
        assert "λ = 20" in sentence
        assert "{" not in sentence


def test_only_runs_that_differ_in_the_setting_alone_are_a_sweep():
    (remark,) = remark_keys(of("cosent", 0.8), of("angle", 0.7), of("angle", 0.75, 5.0, epochs=3))
    assert remark.key == "verdict_not_tuned"


def test_each_other_loss_is_reported_once_and_a_single_loss_never():
    assert remark_keys(of("cosent", 0.8), of("cosent", 0.7, 5.0)) == []
    assert (
        remark_keys(of("cosine_mse", 0.8), of("contrastive", 0.7))[0]
        .values["setting"]
        .startswith("m =")
    )
    three = of("cosent", 0.8), of("info_nce", 0.7), of("info_nce", 0.72, 0.1), of("angle", 0.6)
    found = remark_keys(*three)
    assert [(one.key, one.values["other"]) for one in found] == [
        ("verdict_setting", "info_nce"),
        ("verdict_not_tuned", "angle"),
    ]
    assert found[0].values["setting"] == "λ = 20 (cosent), τ = 0.05 (info_nce)"


def test_losses_without_a_setting_have_none_to_tune():
    assert remark_keys(of("cosine_mse", 0.8), of("alignment", 0.7)) == []
