"""The minimum of a loss where the kind of its scores, or its labels, are not known."""

from __future__ import annotations

import functools
import math

import pytest

from lossprism.explorer.core.loss_lookup import other_names
from lossprism.explorer.lab.doctor.logs.findings import examine_run
from lossprism.explorer.lab.doctor.logs.log import Log, curves_of
from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import Known
from lossprism.explorer.lab.doctor.losses_with_known_name_and_settings import possible_losses
from lossprism.explorer.lab.doctor.minimum_for_unknown_labels_or_scores import (
    minimum_of,
    small_layouts,
)
from lossprism.explorer.lab.doctor.possible_meanings_of_number import explain
from lossprism.explorer.lab.doctor.reference_values import (
    COLLAPSE,
    reference_value,
    values_orthogonal_and_alike,
)
from lossprism.explorer.lab.doctor.values_of_losses_without_definition import (
    loss_without_definition,
)
from lossprism.explorer.runtime.problem import Problem
from lossprism.losses import LOSSES
from lossprism.losses.loss_name_matching import conventions_called
from lossprism.losses.score_kinds import SCORE_KINDS
from tests.sentences import pattern_of

CLASSES = sorted({name for name, loss, _ in other_names() if not LOSSES[loss].parts})


def run(start, end, **known):
    """A log that falls from one value to another in 60 entries."""
    falls = [end + (start - end) * math.exp(-step / 8) for step in range(60)]
    points = [("loss", step + 1, value) for step, value in enumerate(falls)]
    return examine_run(Log("numbers", curves_of(points), Known(**known)))


def names(found):
    return {fault.name for fault in found.faults}


# Healthy trainings of cross-encoders: what the loss begins at and ends at, and its counts.
CROSS_ENCODERS = (
    ("BinaryCrossEntropyLoss", math.log(2), 0.07, {}),
    ("BCEWithLogitsLoss", math.log(2), 0.07, {}),
    ("BCE", math.log(2), 0.01, {}),
    ("CrossEntropyLoss", math.log(3), 0.05, {"classes": 3}),
    ("ListNetLoss", 2.2, 0.3, {"negatives": 7}),
    ("ListNet", 1.1, 0.3, {"negatives": 2}),
    ("ListMLELoss", math.log(24), 0.1, {"negatives": 3}),
    ("PListMLELoss", 1.1, 0.01, {"negatives": 3}),
    ("LambdaLoss", 1.2, 0.02, {"negatives": 7}),
    ("RankNetLoss", 1.0, 0.03, {"batch": 16}),
    ("ADRMSELoss", 0.9, 0.05, {"negatives": 7}),
    ("MSELoss", 0.3, 0.01, {"batch": 16}),
    ("MarginMSELoss", 30.0, 0.5, {"batch": 16}),
    ("MultipleNegativesRankingLoss", math.log(5), 0.001, {"batch": 16, "scale": 10.0}),
    ("CachedMultipleNegativesRankingLoss", math.log(5), 0.001, {"batch": 16, "scale": 10.0}),
    ("softmax_loss", 2.0, 0.02, {"negatives": 7}),
    ("ApproxNDCGLoss", -0.6, -0.98, {"negatives": 7}),
)


@pytest.mark.parametrize("score", ["", "logit"])
@pytest.mark.parametrize(("loss", "start", "end", "counts"), CROSS_ENCODERS)
def test_a_healthy_cross_encoder_is_not_severe(loss, start, end, counts, score):
    found = run(start, end, loss=loss, score=score, **counts)
    assert not found.severe, [fault.written() for fault in found.faults]


@pytest.mark.parametrize(
    ("loss", "counts"),
    [
        ("MultipleNegativesRankingLoss", {"batch": 32, "scale": 1.0}),
        ("CoSENTLoss", {"batch": 32, "scale": 0.05}),
        ("BatchHardSoftMarginTripletLoss", {}),
        ("BatchHardTripletLoss", {}),
        ("TripletLoss", {"margin": 5.0}),
        ("ClipLoss", {"batch": 32768}),
        ("SigLipLoss", {"batch": 8}),
    ],
)
def test_dot_products_long_vectors_and_learned_scales_reach_0(loss, counts):
    """None of it is known of a log, so that 0.001 is no severe finding."""
    found = run(1.0, 0.001, loss=loss, **counts)
    assert not found.severe, [fault.written() for fault in found.faults]


def test_of_cosines_that_are_known_it_is_severe():
    known = {"loss": "MultipleNegativesRankingLoss", "batch": 32, "scale": 1.0}
    assert "below_assumed" in names(run(3.4, 0.3, **known))
    assert "below_floor" in names(run(3.4, 0.3, score="cosine", **known))
    assert not {"below_assumed", "below_floor"} & names(run(3.4, 0.3, score="dot", **known))


def test_a_loss_below_0_shows_that_labels_are_no_probabilities():
    for loss in ("BinaryCrossEntropyLoss", "BCE"):
        found = run(0.7, -0.5, loss=loss)
        (fault,) = [one for one in found.faults if one.severity == "severe"]
        assert fault.name == "labels_outside"
        ends = {"low": "0", "high": "1", "floor": "0"}
        assert pattern_of("doctor.run.labels_outside", **ends).match(fault.written())
    assert "below_floor" in names(run(0.7, -0.5, loss="RankNet"))


@pytest.mark.parametrize(
    ("value", "known", "place"),
    [
        (0.07, {"loss": "BinaryCrossEntropyLoss"}, "between"),
        (math.log(2), {"loss": "BinaryCrossEntropyLoss"}, "collapse"),
        (-0.5, {"loss": "BinaryCrossEntropyLoss"}, "labels_outside"),
        (0.3, {"loss": "ListNetLoss", "negatives": 1}, "below_assumed"),
        (0.6931, {"loss": "BatchHardSoftMarginTripletLoss"}, "collapse"),
        (0.3, {"loss": "MNRL", "batch": 32, "scale": 1.0}, "below"),
        (0.3, {"loss": "MultipleNegativesRankingLoss", "batch": 32, "scale": 1.0}, "below_assumed"),
    ],
)
def test_where_a_number_stands_follows_the_convention_of_the_class(value, known, place):
    found = explain(value, Known(**known), f"{value:.4f}")
    assert found.position is not None
    assert found.position.place == place


# What many names select is run once.
run_once = functools.cache(values_orthogonal_and_alike)


@pytest.mark.parametrize("name", CLASSES)
def test_what_a_name_selects_is_at_collapse_what_its_definition_gives(name):
    """Every name that Doctor knows under every convention that it may mean: the value at collapse
    is the definition's on vectors that are all alike, or on logits of 0, and no value on the way is
    below the minimum."""
    try:
        sides = possible_losses(Known(loss=name))
    except Problem:  # a class that is no loss of one batch
        return
    selected = conventions_called(LOSSES[sides[0].name], name)
    assert not selected or sides[0].convention in selected
    for side in sides:
        for layout in small_layouts(side):
            apart, alike = run_once(side, layout)
            at_zero = side.spec.reads_scores and SCORE_KINDS[side.spec.score].at_collapse == 0
            ran, value = apart if at_zero else alike, reference_value(side, COLLAPSE, layout)
            if ran is not None and value is not None:
                assert value == pytest.approx(ran, rel=1e-9, abs=1e-12), side.convention
            certain = minimum_of(side, Known(loss=name), layout).certain
            for reached in (apart, alike):
                if certain is not None and reached is not None:
                    assert certain <= reached + 1e-9, side.convention


def test_a_class_selects_the_same_convention_for_every_use():
    """The page, the number check and the run check have one table."""
    for name, loss, convention in other_names():
        if convention and loss_without_definition(name) is None:
            assert possible_losses(Known(loss=name))[0].convention == convention, (name, loss)


def test_a_kind_of_score_that_is_none_is_refused():
    with pytest.raises(Problem) as refused:
        Known(score="angle").checked()
    assert refused.value.key == "problem.explain_score"
