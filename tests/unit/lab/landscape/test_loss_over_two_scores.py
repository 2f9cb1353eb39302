"""The landscape of a loss over two scores: it is the loss, its boundary and its curvature."""

from __future__ import annotations

import base64
import math

import numpy as np
import pytest
import torch
from torch import Tensor

from lossprism.explorer.core.batch import make_batch
from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.resolved_scenario import Resolved, resolve
from lossprism.explorer.core.scenario import Data, Rules, Scenario
from lossprism.explorer.lab.landscape import landscapes_over_lever
from lossprism.explorer.lab.landscape import loss_over_two_scores as two_scores
from lossprism.explorer.runtime.problem import Problem
from lossprism.losses import LOSSES
from lossprism.losses.ranking.cosent import cosent_definition

POINTS = torch.tensor(
    [[0.3, 0.31], [0.8, -0.4], [-0.25, 0.75], [0.999, -1.0], [0.0, 0.62], [0.55, 0.1]],
    dtype=torch.float64,
)
# Every loss with a landscape, in each of its conventions that has one.
FORMS = [
    (name, convention)
    for name in two_scores.offered()
    for convention in ("", *(one.name for one in LOSSES[name].conventions))
    if two_scores.has_landscape(LOSSES[name].under(convention))
]


def resolved(name: str, convention: str = "", **parameters: float) -> Resolved:
    return resolve(Scenario(loss=name, convention=convention, parameters=(*parameters.items(),)))


def unpacked(text: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), "<f4")


def at_a_third(one: Resolved) -> Resolved:
    """The loss with each of its levers a third of its range above the least."""
    values = {
        lever.name: lever.minimum + (lever.maximum - lever.minimum) / 3
        for lever in two_scores.levers(one.spec)
    }
    sharp = {name: min(value, 30.0) for name, value in values.items()}
    return one.at(**sharp)


@pytest.mark.parametrize("form", FORMS, ids=" ".join)
def test_a_point_is_the_loss_and_the_gradient_of_its_batch(form: tuple[str, str]) -> None:
    for one in (resolved(*form), at_a_third(resolved(*form))):
        found = two_scores.surface(one, POINTS)
        for place, (positive, negative) in enumerate(POINTS.tolist()):
            e = explore(one, two_scores.two_pairs(positive, negative))
            assert float(found.values[place]) == pytest.approx(e.loss, rel=1e-10, abs=1e-10)
            assert torch.allclose(found.slopes[place], e.pair_gradient, rtol=1e-10, atol=1e-10)


def test_losses_on_scores_are_offered_and_no_others() -> None:
    offered = two_scores.offered()
    assert {"cosent", "circle", "circle_self_paced", "pairwise_hinge", "list_net"} <= {*offered}
    assert {"info_nce", "triplet", "margin_mse", "distill_kl"}.isdisjoint(offered)
    with pytest.raises(Problem) as refused:
        two_scores.surface(resolved("info_nce"), POINTS)
    assert refused.value.key == "problem.no_landscape"


# ---- The boundary --------------------------------------------------------------------------------


def on_boundary(one: Resolved, negatives: Tensor, low: float, high: float) -> Tensor:
    """The points at which the loss is that at the boundary, by bisection along the score of the
    positive, in which it falls from `low` to `high`."""
    bounded = two_scores.boundary(one)
    assert bounded is not None
    left, right = torch.full_like(negatives, low), torch.full_like(negatives, high)
    for _ in range(60):
        middle = (left + right) / 2
        above = (
            two_scores.surface(one, torch.stack([middle, negatives], dim=1)).values > bounded.level
        )
        left, right = torch.where(above, middle, left), torch.where(above, right, middle)
    return torch.stack([left, negatives], dim=1)


@pytest.mark.parametrize("margin", [0.1, 0.25, 0.4])
def test_the_boundary_of_the_self_paced_circle_is_a_circle(margin: float) -> None:
    radius = math.sqrt(2) * margin
    one = resolved("circle_self_paced", scale=8.0, margin=margin)
    negatives = torch.linspace(-0.99 * margin, 0.99 * radius, 40, dtype=torch.float64)
    points = on_boundary(one, negatives, -1.0, 1.0)
    # x² + y² = 2ax + 2by + c, by least squares.
    system = torch.cat([2 * points, torch.ones(len(points), 1)], dim=1)
    squares = (points**2).sum(dim=1)
    (a, b, c) = torch.linalg.lstsq(system, squares[:, None]).solution.flatten()
    assert float(a) == pytest.approx(1, abs=1e-8)
    assert float(b) == pytest.approx(0, abs=1e-8)
    assert math.sqrt(c + a**2 + b**2) == pytest.approx(radius, abs=1e-8)
    bounded = two_scores.boundary(one)
    assert bounded
    assert bounded.radius == pytest.approx(radius)
    assert bounded.straight_below == -margin
    below = torch.linspace(-1, -margin, 12, dtype=torch.float64)
    assert torch.allclose(
        on_boundary(one, below, -1.0, 1.0)[:, 0], torch.tensor(1 - margin).double()
    )
    assert float((system @ torch.stack([a, b, c]) - squares).abs().max()) < 1e-8


@pytest.mark.parametrize(
    ("name", "parameters", "shift"),
    [
        ("cosent", {"scale": 20.0}, 0.0),
        ("weighted_cosent", {"scale": 5.0}, 0.0),
        ("pairwise_logistic", {"scale": 20.0}, 0.0),
        ("circle", {"positive_margin": 0.3, "negative_margin": 0.1}, 0.2),
    ],
)
def test_the_boundary_of_cosent_is_straight(
    name: str, parameters: dict[str, float], shift: float
) -> None:
    negatives = torch.linspace(-0.7, 0.7, 15, dtype=torch.float64)
    points = on_boundary(resolved(name, **parameters), negatives, -1.0, 1.0)
    assert torch.allclose(points[:, 0], negatives + shift, atol=1e-10)
    bounded = two_scores.boundary(resolved(name, **parameters))
    assert bounded
    assert bounded.shift == pytest.approx(shift)


BOUNDED = [form for form in FORMS if two_scores.boundary(resolved(*form)) is not None]


@pytest.mark.parametrize("form", BOUNDED, ids=" ".join)
def test_at_a_boundary_the_term_of_the_two_pairs_is_0(form: tuple[str, str]) -> None:
    one = resolved(*form)
    [point] = on_boundary(one, torch.tensor([0.1], dtype=torch.float64), -1.0, 1.0).tolist()
    e = explore(one, two_scores.two_pairs(*point))
    assert float(e.trace.named(one.spec.terms).value[1, 0]) == pytest.approx(0, abs=1e-8)


def test_a_hinge_has_no_boundary() -> None:
    assert two_scores.boundary(resolved("pairwise_hinge")) is None


# ---- The curvature -------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1.0, 7.0, 20.0])
def test_the_second_derivative_by_the_positive_is_that_of_the_formula(scale: float) -> None:
    """λ² S/(1 + S)² with S over several negatives, beside autograd's (S1-18)."""
    above = torch.tensor([0.1, 0.35, 0.3, -0.6], dtype=torch.float64)
    labels = torch.tensor([1.0, 0, 0, 0, 0], dtype=torch.float64)
    for score in (-0.3, 0.2, 0.31, 0.9):
        positive = torch.tensor(score, dtype=torch.float64, requires_grad=True)
        loss = cosent_definition(torch.cat([positive[None], above]), labels, scale=scale)
        (slope,) = torch.autograd.grad(loss, positive, create_graph=True)
        (expected,) = torch.autograd.grad(slope, positive)
        total = (scale * (above - score)).exp().sum()
        found = two_scores.curvature_by_formula(torch.tensor(scale), total)
        assert float(found) == pytest.approx(float(expected), rel=1e-10)
        assert float(found) >= 0  # convex


@pytest.mark.parametrize("name", ["cosent", "weighted_cosent", "circle", "circle_self_paced"])
def test_the_curvature_of_a_cut_is_the_formula_and_the_change_of_the_slope(name: str) -> None:
    one = at_a_third(resolved(name))
    found = two_scores.surface(one, POINTS)
    by_formula = two_scores.curvature_of(one, POINTS)
    assert by_formula is not None
    assert torch.allclose(found.curvature, by_formula, rtol=1e-9, atol=1e-12)
    if name == "circle_self_paced":
        return  # its weights stay still in autograd, and not in a difference
    step = torch.tensor([1e-5, 0.0], dtype=torch.float64)
    after, before = (two_scores.surface(one, POINTS + by).slopes[:, 0] for by in (step, -step))
    assert torch.allclose((after - before) / 2e-5, found.curvature, rtol=1e-4, atol=1e-5)


def test_a_hinge_has_no_curvature_and_no_formula() -> None:
    one = resolved("pairwise_hinge")
    assert not two_scores.surface(one, POINTS).curvature.any()
    assert two_scores.curvature_of(one, POINTS) is None


# ---- Arrows, dots, stops -------------------------------------------------------------------------


# The training step of the self-paced Circle holds its weights, so it is not along its slope.
DESCENDING = [name for name in two_scores.offered() if name != "circle_self_paced"]


@pytest.mark.parametrize("name", DESCENDING)
def test_a_small_step_against_the_slope_lowers_the_loss(name: str) -> None:
    one = at_a_third(resolved(name))
    found = two_scores.surface(one, POINTS)
    length = found.slopes.norm(dim=1)
    pushed = length > 1e-6
    step = 1e-7 * found.slopes / length.clamp_min(1e-12)[:, None]
    after = two_scores.surface(one, POINTS - step).values
    assert pushed.any()
    assert (after <= found.values)[pushed].all()


def test_the_arrows_of_the_self_paced_circle_are_not_at_right_angles_to_its_level_lines() -> None:
    one = resolved("circle_self_paced", scale=2.0)
    point = torch.tensor([[0.8, 0.6]], dtype=torch.float64)
    step = 1e-6 * torch.eye(2, dtype=torch.float64)
    rise = [
        float(
            two_scores.surface(one, point + by).values - two_scores.surface(one, point - by).values
        )
        for by in step
    ]
    slope = two_scores.surface(one, point).slopes[0].tolist()
    turned = math.atan2(rise[1], rise[0]) - math.atan2(slope[1], slope[0])
    assert abs(turned) > 0.05


@pytest.mark.parametrize(
    ("name", "on_lists"), [("cosent", False), ("circle", False), ("list_net", True)]
)
def test_dots_are_the_comparisons_of_the_batch(name: str, on_lists: bool) -> None:
    batch = make_batch(Data(example="graded_english"), Rules())
    labels = batch.positive.double() if name == "circle" else batch.labels
    scores, first = batch.scores.tolist(), batch.first.tolist()
    expected = sorted(
        (scores[i], scores[j])
        for i in range(len(batch))
        for j in range(len(batch))
        if labels[i] > labels[j] and (not on_lists or first[i] == first[j])
    )
    found = two_scores.comparisons(batch, LOSSES[name])
    assert len(found) == len(expected)
    assert np.allclose(sorted(map(tuple, found.tolist())), expected)
    gaps = found[:, 0] - found[:, 1]
    assert (gaps[1:] >= gaps[:-1]).all()


def test_a_lever_moves_through_the_range_that_the_losses_share() -> None:
    both = [resolved("circle_self_paced", scale=33.0), resolved("cosent")]
    stops = landscapes_over_lever.lever_stops(both, "scale")
    assert (stops[0], stops[-1]) == (0.1, 256.0)
    assert {33.0, 20.0} <= {*stops}
    assert stops == sorted(set(stops))
    assert landscapes_over_lever.lever_stops(both, "margin")[:3] == [0.0, 0.025, 0.05]
    assert landscapes_over_lever.lever_stops(both, "temperature") == []


def test_an_answer_holds_the_losses_at_each_stop() -> None:
    names = ("circle_self_paced", "cosent", "info_nce")
    both, scenarios = [resolved(name) for name in names], [Scenario(loss=name) for name in names]
    batch = make_batch(Data(example="graded_english"), Rules())
    answer = landscapes_over_lever.landscapes(scenarios, "margin", batch)
    count, size, arrows = len(answer.stops), landscapes_over_lever.GRID_POINTS, len(answer.arrows)
    paced, cosent, refused = (side.found for side in answer.sides)
    assert paced
    assert cosent
    assert not refused
    assert answer.sides[2].problem is not None
    heights = unpacked(paced.heights).reshape(count, size, size)
    slopes = unpacked(paced.slopes).reshape(count, arrows, arrows, 2)
    assert unpacked(cosent.heights).size == size * size  # it has no margin
    at, row, column = 12, 3, 7
    moved_to = both[0].at(margin=answer.stops[at])
    score = answer.axis[column], answer.axis[row]
    point = two_scores.surface(moved_to, torch.tensor([score], dtype=torch.float64))
    assert heights[at, row, column] == pytest.approx(float(point.values), rel=1e-6)
    arrow = torch.tensor([[answer.arrows[column], answer.arrows[row]]], dtype=torch.float64)
    felt = two_scores.surface(moved_to, arrow).slopes[0].tolist()
    assert slopes[at, row, column].tolist() == pytest.approx(felt, rel=1e-6)
    assert cosent.comparisons == 269
    assert unpacked(cosent.dots).size == 2 * two_scores.MAX_DOTS

    cut = landscapes_over_lever.cuts(scenarios[:2], "scale", 0.2)
    along = unpacked(cut.sides[1].found.heights).reshape(len(cut.stops), -1)
    at = cut.stops.index(20.0)
    score = torch.tensor([[cut.axis[250], 0.2]], dtype=torch.float64)
    expected = float(two_scores.surface(both[1], score).values)
    assert along[at, 250] == pytest.approx(expected, rel=1e-6)
