"""Laws of a film: its gradient lies along the sphere, a small step lowers the loss, and equal
losses move the points alike."""

from __future__ import annotations

import dataclasses
import math

import pytest
import torch

from lossprism.explorer.core.explore import value_on
from lossprism.explorer.lab.sphere import film_metrics as measured
from lossprism.explorer.lab.sphere.film import Move, Steps, check_reads, film
from lossprism.explorer.lab.sphere.film import _downhill as downhill
from lossprism.explorer.lab.sphere.optimisers import OPTIMISERS, tangent
from lossprism.explorer.lab.sphere.starting_points import Placed, Start, placed
from lossprism.explorer.runtime.problem import Problem
from lossprism.losses import SHIPPED, alignment, uniformity
from lossprism.losses.geometry import unit
from tests.unit.lab.sphere.films import filmed, resolved

FOUR_CLASSES = Start(points=24, classes=4)
PAIRS = Start(kind="random", points=24, labels="binary")
LISTS = Start(kind="sentences", example="graded_lists", dimension=3)
STARTS = (FOUR_CLASSES, PAIRS, LISTS)
# Their gradient holds something still that moves with the points: the means of the classes, or the
# weights of terms. So a step changes their value by another amount than its slope says.
HELD_STILL = {"softmax", "arcface", "cosface", "proxy_nca", "proxy_anchor", "circle_self_paced"}


def moving(loss: str) -> Placed:
    """The first start on which the loss can be computed."""
    for start in STARTS:
        points = placed(start)
        try:
            check_reads(resolved(loss), points.batch)
        except Problem:
            continue
        return points
    pytest.skip(f"{loss} reads a guide or a teacher, which free points do not have")


@pytest.mark.parametrize("loss", [spec.name for spec in SHIPPED])
def test_the_gradient_is_tangent_and_a_small_step_lowers_the_loss(loss: str) -> None:
    batch = moving(loss).batch
    made = resolved(loss)
    points = unit(batch.vectors)
    before, gradient = downhill(made, batch, points)
    along = (gradient * points).sum(dim=1)
    assert float(along.abs().max()) <= 1e-12 * max(1.0, float(gradient.abs().max()))
    size = float(gradient.square().sum())
    assert size > 0
    rate = 1e-7 * max(1.0, abs(float(before))) / size
    found = film(made, batch, Steps("sgd", rate, 1))
    assert torch.allclose(found.frames.norm(dim=2), torch.ones(2, len(batch.vectors)).double())
    fall = float(found.loss[0] - found.loss[1])
    # It falls by as much as its slope says.
    assert (fall == pytest.approx(rate * size, rel=1e-3)) == (loss not in HELD_STILL)
    assert fall > 0


@pytest.mark.parametrize("loss", ["cosent", "info_nce", "triplet", "uniformity"])
def test_the_gradient_of_a_loss_on_directions_is_tangent_by_itself(loss: str) -> None:
    """S1 eq. 31 changes nothing of a loss on cosines: its gradient has no part along the vector."""
    batch = placed(FOUR_CLASSES).batch
    leaves = batch.vectors.clone().requires_grad_()
    made = resolved(loss, distance="cosine") if loss == "triplet" else resolved(loss)
    (gradient,) = torch.autograd.grad(value_on(made, batch, leaves), leaves)
    assert torch.allclose(tangent(batch.vectors, gradient), gradient, atol=1e-10)


@pytest.mark.parametrize("optimiser", OPTIMISERS)
@pytest.mark.parametrize("start", STARTS, ids=lambda one: one.kind)
def test_the_same_seed_is_the_same_film(start: Start, optimiser: str) -> None:
    steps = Steps(optimiser, 0.02, 30)
    first, second = (filmed("cosent", start, steps) for _ in range(2))
    assert torch.equal(first.frames, second.frames)
    assert torch.equal(first.loss, second.loss)
    longer = filmed("cosent", start, Steps(optimiser, 0.02, 40))
    assert torch.equal(longer.frames[:31], first.frames)


def test_another_seed_is_another_film() -> None:
    films = [filmed("cosent", Start(points=24, seed=seed), Steps(count=3)) for seed in (0, 1)]
    assert not torch.allclose(films[0].frames, films[1].frames)


# Losses that are equal, each with what it is equal to on 0/1 labels or on such points.
NO_MARGINS = {"positive_margin": 0.0, "negative_margin": 0.0}
WARM = {"temperature": 0.1}
EQUAL = (
    (PAIRS, ("cosent", {"scale": 20.0}), ("circle", {"scale": 20.0, **NO_MARGINS})),
    (PAIRS, ("cosent", {"scale": 20.0}), ("weighted_cosent", {"scale": 20.0})),
    (FOUR_CLASSES, ("info_nce", WARM), ("focal_info_nce", {**WARM, "gamma": 0.0})),
)


@pytest.mark.parametrize("optimiser", OPTIMISERS)
@pytest.mark.parametrize(("start", "one", "other"), EQUAL)
def test_two_losses_that_are_equal_have_the_same_film(start, one, other, optimiser) -> None:
    steps = Steps(optimiser, 0.01, 60)
    first, second = (filmed(loss, start, steps, **given) for loss, given in (one, other))
    assert torch.allclose(first.loss, second.loss, rtol=1e-7, atol=1e-9)
    assert torch.allclose(first.frames, second.frames, rtol=0, atol=1e-6)
    apart = filmed("cosine_mse", start, steps)
    assert not torch.allclose(first.frames[-1], apart.frames[-1], atol=1e-2)


@pytest.mark.parametrize("optimiser", OPTIMISERS)
def test_no_axis_is_special(optimiser: str) -> None:
    """A start that is turned has the film turned in the same way."""
    batch = placed(Start(points=24, dimension=3)).batch
    turn = torch.linalg.qr(torch.randn(3, 3, dtype=torch.float64, generator=torch.manual_seed(3))).Q
    turned = dataclasses.replace(batch, vectors=batch.vectors @ turn)
    steps = Steps(optimiser, 0.02, 60)
    made = resolved("info_nce", temperature=0.1)
    first, second = film(made, batch, steps), film(made, turned, steps)
    assert torch.allclose(first.frames @ turn, second.frames, atol=1e-6)


@pytest.mark.parametrize("optimiser", OPTIMISERS)
@pytest.mark.parametrize("dimension", [2, 3])
def test_a_moved_point_is_there_from_its_step_on(dimension: int, optimiser: str) -> None:
    start = Start(points=12, dimension=dimension)
    move = Move(10, 4, azimuth=900, polar=900)
    plain, led = (
        filmed("cosent", start, Steps(optimiser, 0.005, 20, moves)) for moves in ((), (move,))
    )
    assert torch.equal(plain.frames[:10], led.frames[:10])
    place = torch.tensor([0.0, 1.0, 0.0][:dimension], dtype=torch.float64)
    assert torch.allclose(led.frames[10, 4], place, atol=1e-12)
    others = [one for one in range(12) if one != 4]
    assert torch.equal(plain.frames[10, others], led.frames[10, others])
    assert not torch.allclose(plain.frames[20, others], led.frames[20, others], atol=1e-6)


def test_the_curves_are_those_of_the_losses_and_of_held_out_sentences() -> None:
    points = placed(Start(points=24, dimension=3, spread=0.6))
    batch = points.batch
    found = measured.measures(batch.vectors[None], batch)
    first, second = (batch.vectors[side[batch.positive]] for side in (batch.first, batch.second))
    assert float(found.alignment) == pytest.approx(float(alignment(first, second)))
    assert float(found.uniformity) == pytest.approx(float(uniformity(batch.vectors)))
    values = torch.linalg.svdvals(batch.vectors)
    shares = values / values.sum()
    assert float(found.effective_rank) == pytest.approx(
        math.exp(-float((shares * shares.log()).sum()))
    )
    one = batch.vectors[:1].expand(24, 3)
    assert float(measured.measures(one[None], batch).effective_rank) == pytest.approx(1)


def test_without_two_labels_there_is_no_rank_correlation() -> None:
    found = filmed("alignment", Start(points=12, classes=1), Steps(count=2))
    assert bool(found.measures.spearman.isnan().all())


@pytest.mark.parametrize(
    ("loss", "key"),
    [
        ("list_net", "problem.sphere_lists"),
        ("margin_mse", "problem.sphere_lists"),
        ("gist", "problem.sphere_guide"),
        ("embedding_mse", "problem.sphere_teacher_vectors"),
        ("distill_kl", "problem.sphere_lists"),
    ],
)
def test_a_loss_without_meaning_on_free_points_says_so(loss: str, key: str) -> None:
    start = Start(kind="random" if key.endswith("lists") else "classes", points=32, classes=16)
    with pytest.raises(Problem) as caught:
        filmed(loss, start, Steps(count=1))
    assert caught.value.key == key
