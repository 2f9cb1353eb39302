"""Measures of each lesson at a stop of its lever: `Step.measure`, a function for each lesson."""

import dataclasses
import functools
import math

from lossprism.explorer.core.batch import make_batch
from lossprism.explorer.core.explore import Exploration, explore
from lossprism.explorer.core.pair_gradients import gradient_share
from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.lab.compare.batch_change_effects import Change, changed_batch
from lossprism.explorer.lab.compare.batch_splitting_methods import expected_of_parts, mechanics
from lossprism.explorer.lab.compare.losses_towards_collapse import (
    Way,
    moved_together,
    path_of,
    way_along,
)
from lossprism.explorer.lab.learn import lesson_matrices, lesson_point_charts, loss_term_measures
from lossprism.explorer.lab.learn.lesson_types import (
    Chart,
    Curve,
    Moment,
    Role,
    Side,
    with_parameters,
)
from lossprism.explorer.sources.textbook import EXAMPLES

REPEATED = 3  # the query whose pair stands twice in the batch, from 0
LIBRARIES = (
    "",
    "TF-Ranking 0.5.5, Keras PairwiseLogisticLoss (sum / N)",
    "sentence-transformers 6.2 RankNetLoss (mean / ln 2)",
    "rax 0.4.0 pairwise_logistic_loss",
)
COLLAPSING = ("info_nce", "triplet", "siglip")
COLLAPSE_SHARES = tuple(place / 10 for place in range(11))
ROLES: tuple[Role, ...] = ("first", "second", "third")
TRIPLETS = "sentence-transformers 6.2 TripletLoss (given triplets)"
SCALES = (5.0, 10.0, 15.0, 20.0, 40.0)  # of CoSENT, among them the answers of the question
QWEN_MARGIN = 0.1  # above the positive's similarity, beyond which Qwen3-Embedding masks
COVERING = ("cosent", "info_nce", "nt_xent")


def listening(scenario: Scenario, scale: float) -> Moment:
    """Measure λ of CoSENT, and the share of two wrong labels in the gradient."""
    e = explore(with_parameters(scenario, scale=scale))
    marked = EXAMPLES[scenario.data.example].mislabelled
    even = explore(dataclasses.replace(scenario, loss="cosine_mse", parameters=()))
    assert e.weights is not None
    numbers = {
        "wrong_share": gradient_share(e.pair_gradient, marked),
        "labels": len(marked) / len(e.batch),
        "active": e.weights.active,
        "terms": e.weights.terms,
        "mse": gradient_share(even.pair_gradient, marked),
        "per_scale": e.loss / scale,
    }
    return Moment(numbers, (dataclasses.replace(lesson_matrices.matrix(e), marked=marked),), e)


def temperature(scenario: Scenario, value: float) -> Moment:
    """Measure how many negatives count at a temperature."""
    e = explore(with_parameters(scenario, temperature=value))
    assert e.weights is not None
    numbers = {
        "negatives": loss_term_measures.effective_negatives(e),
        "all": e.weights.shares.shape[1] - 1,
        "loss": e.loss,
    }
    return Moment(numbers, (lesson_matrices.matrix(e),), e)


def collapse(scenario: Scenario, share: float) -> Moment:
    """Measure where losses end if all vectors are moved to one point."""
    ways = {loss: _way(dataclasses.replace(scenario, loss=loss)) for loss in COLLAPSING}
    place = COLLAPSE_SHARES.index(share)
    shares = COLLAPSE_SHARES[: place + 1]  # the rest is what the reader predicts
    curves = [
        Curve("line", role, list(shares), list(way.values[: place + 1]), f"loss.{loss}.title")
        for role, (loss, way) in zip(ROLES, ways.items(), strict=True)
    ]
    curves += [
        Curve("points", role, [share], [way.values[place]])
        for role, way in zip(ROLES, ways.values(), strict=True)
    ]
    batch = make_batch(scenario.data, scenario.rules)
    numbers = {loss: way.values[place] for loss, way in ways.items()}
    numbers["rows"] = len(batch.positives)
    losses = Chart(tuple(curves), Side("collapsed", 0, 1), Side("loss", 0, 6))
    return Moment(
        numbers, (lesson_point_charts.on_the_sphere(batch, moved_together(batch, share)), losses)
    )


@functools.lru_cache(maxsize=8)
def _way(scenario: Scenario) -> Way:
    batch = make_batch(scenario.data, scenario.rules)
    return way_along(path_of(batch, len(COLLAPSE_SHARES)), scenario)


def duplicate(scenario: Scenario, times: float) -> Moment:
    """Measure the effect of a pair that stands twice in the batch on the loss."""
    batch = make_batch(scenario.data, scenario.rules)
    pair = int(batch.positives[REPEATED])
    twice = explore(scenario, changed_batch(batch, Change("duplicate", pair)))
    e = explore(scenario, batch) if times == 1 else twice
    last = len(batch.positives)
    numbers = {
        "loss": e.loss,
        "times": e.loss / explore(scenario, batch).loss,
        "duplicate_share": 0.0
        if times == 1
        else loss_term_measures.share_between(e, REPEATED, last),
        "floor": e.floor or 0.0,
    }
    return Moment(numbers, (lesson_matrices.matrix(e),), e)


def order(scenario: Scenario, shift: float) -> Moment:
    """Find the losses that notice an equal rise of all cosines."""
    batch = changed_batch(make_batch(scenario.data, scenario.rules), Change("shift", 0, shift))
    squares = dataclasses.replace(scenario, loss="cosine_mse", parameters=())
    numbers = {"cosent": explore(scenario, batch).loss, "mse": explore(squares, batch).loss}
    return Moment(numbers, (lesson_point_charts.against_labels(batch),))


def spread(scenario: Scenario, factor: float) -> Moment:
    """Find the scale at which CoSENT is on all cosines what it is after their distances from their
    mean are multiplied by this factor."""
    batch = make_batch(scenario.data, scenario.rules)
    narrow = changed_batch(batch, Change("spread", 0, factor))
    loss = explore(scenario, narrow).loss
    at_scales = {one: explore(with_parameters(scenario, scale=one), batch).loss for one in SCALES}
    numbers = {
        "cosent": loss,
        "same_scale": min(SCALES, key=lambda one: abs(at_scales[one] - loss)),
        "apart": min(abs(one - loss) for one in at_scales.values()),
    }
    return Moment(numbers, (lesson_point_charts.against_labels(narrow),))


def accumulation(scenario: Scenario, size: float) -> Moment:
    """Measure the rest of a batch in micro-batches of this size: the mean over all of them."""
    e = explore(scenario)
    rows = len(e.batch.positives)
    cut = mechanics(e, "micro", int(size))
    left = expected_of_parts(e, int(size)) if size < rows else None
    numbers = {
        "loss": e.loss if left is None else left.loss,
        "negatives": size - 1,
        "cells": cut.comparisons,
        "all": cut.whole_comparisons,
    }
    return Moment(numbers, (lesson_matrices.cells_left(e, cut.cells > 0),), e)


def libraries(scenario: Scenario, place: float) -> Moment:
    """Compute a loss of one name in four libraries."""
    values = [_in_library(scenario, name) for name in LIBRARIES]
    chosen = int(place)
    losses = [e.loss for e in values]
    bars = [
        Curve("bars", "faint", [at], [value], texts=(f"learn.libraries.1.stop.{at + 1}",))
        for at, value in enumerate(losses[: chosen + 1])  # the rest is what the reader predicts
    ]
    bars[-1] = dataclasses.replace(bars[-1], role="first")
    numbers = {
        "loss": losses[chosen],
        "times": max(losses) / min(losses),
        "terms": values[0].order.ordered,
        "pairs": len(values[0].batch),
    }
    chart = Chart(tuple(bars), Side("library", -0.6, 3.6), Side("loss", 0.1, 1000, True))
    return Moment(numbers, (chart,))


def _in_library(scenario: Scenario, convention: str) -> Exploration:
    parameters = () if convention else scenario.parameters
    return explore(dataclasses.replace(scenario, convention=convention, parameters=parameters))


def margin(scenario: Scenario, value: float) -> Moment:
    """Measure the demand of a margin on vectors of length 1."""
    e = explore(with_parameters(scenario, margin=value))
    violations = e.trace.named("violations").value
    numbers = {
        "floor": e.floor or 0.0,
        "loss": e.loss,
        "violated": int((violations > 0).sum()),
        "triplets": len(violations),
    }
    sphere, requested = lesson_point_charts.circle(1), lesson_point_charts.circle(value, -1)
    curves = (
        Curve("line", "faint", *sphere, "learn.curve.sphere"),
        Curve("line", "second", *requested, "learn.curve.margin"),
        Curve("points", "first", [-1], [0], "learn.curve.anchor"),
    )
    ends = (-6.2, 4.2)
    chart = Chart(curves, Side("", *ends), Side("", -5.2, 5.2), square=True)
    return Moment(numbers, (chart,))


def filtered(scenario: Scenario, place: float) -> Moment:
    """Find the pairs that a guide's filter leaves out."""
    plain = dataclasses.replace(scenario, loss="info_nce", parameters=(("temperature", 0.05),))
    e = explore(scenario if place else plain)
    return _left_out(e, bool(place))


def filtered_by_margin(scenario: Scenario, place: float) -> Moment:
    """Find the cells that a margin above the positive leaves out, without a guide."""
    e = explore(with_parameters(scenario, mask_above=QWEN_MARGIN) if place else scenario)
    return _left_out(e, bool(place))


def _left_out(e: Exploration, filters: bool) -> Moment:
    cells = loss_term_measures.masked_cells(e) if filters else []
    numbers = {
        "masked": len(cells),
        "false": loss_term_measures.false_negatives_among(e.batch, cells),
        "loss": e.loss,
    }
    return Moment(numbers, (lesson_matrices.matrix(e),), e)


def coverage(scenario: Scenario, place: float) -> Moment:
    """Find the pairs of sentences that a loss compares."""
    e = explore(dataclasses.replace(scenario, loss=COVERING[int(place)]))
    cells = loss_term_measures.covered(e)
    count = len(cells)
    touched, every = int(cells.sum()) // 2, math.comb(count, 2)
    numbers = {
        "covered_share": touched / every,
        "touched": touched,
        "every": every,
        "sentences": count,
    }
    formula = e.spec.symbols["scores" if e.spec.reads_scores else "similarities"].latex
    return Moment(numbers, (lesson_matrices.sentence_matrix(e.batch, cells, formula),), e)
