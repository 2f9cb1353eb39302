"""Given triplets with their gradient in closed form: equal to the definition, refusing the same."""

import pytest
import torch

from lossprism.losses.contrastive.triplet import triplet, triplet_by_options
from lossprism.losses.geometry import DISTANCES

NAMES = ("anchors", "positives", "negatives")


def triples():
    made = torch.Generator().manual_seed(5)
    return torch.randn(3, 9, 5, generator=made, dtype=torch.float64)


def with_edges():
    """Equal and zero vectors, and a triplet at its kink."""
    anchors, positives, negatives = triples()
    positives[0], negatives[1] = anchors[0], anchors[1]
    anchors[2], positives[3], negatives[4] = 0, 0, 0
    negatives[5] = positives[5]
    return anchors, positives, negatives


def value_and_gradients(loss, vectors, **settings):
    leaves = [one.clone().requires_grad_() for one in vectors]
    value = loss(*leaves, **settings)
    return value.detach(), *torch.autograd.grad(value, leaves)


@pytest.mark.parametrize("margin", [0.0, 0.4, 30.0])
@pytest.mark.parametrize("distance", DISTANCES)
def test_they_are_their_definition(distance, margin):
    for vectors in (triples(), with_edges()):
        found, expected = (
            value_and_gradients(loss, vectors, distance=distance, margin=margin)
            for loss in (triplet, triplet_by_options)
        )
        torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("distance", DISTANCES)
def test_a_learned_margin_has_a_gradient_too(distance):
    slopes = []
    for loss in (triplet, triplet_by_options):
        margin = torch.tensor(1.5).double().requires_grad_()
        slopes += torch.autograd.grad(loss(*triples(), margin=margin, distance=distance), margin)
    torch.testing.assert_close(*slopes)
    assert slopes[0] > 0


@pytest.mark.parametrize("learned", [False, True])
@pytest.mark.parametrize("number", [torch.nan, torch.inf, -torch.inf])
@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("distance", DISTANCES)
def test_what_is_no_number_is_refused_wherever_it_stands(distance, place, number, learned):
    vectors = list(triples())
    vectors[place][4, 2] = number
    margin = torch.tensor(1.0).double() if learned else 1.0
    with pytest.raises(ValueError, match=rf"{NAMES[place]}\[4\]\[2\] is {number}; every value"):
        triplet(*vectors, margin=margin, distance=distance)


def test_overflow_is_recognised_by_an_infinite_loss():
    vectors = triples().float() * 1e30
    assert triplet(*vectors, distance="squared_euclidean").isnan()  # inf − inf


@pytest.mark.parametrize("mining", ["all", "semi_hard", "hard"])
@pytest.mark.parametrize("count", [9, 90])  # one matrix, rows at a time
def test_a_soft_margin_is_that_of_the_definition(mining, count):
    made = torch.Generator().manual_seed(4)
    vectors = torch.randn(count, 5, generator=made).double()
    classes = torch.randint(0, 4, (count,), generator=made)
    for margin, distance in ((0.0, "euclidean"), (0.7, "cosine"), (1.0, "squared_euclidean")):
        settings = {"mining": mining, "margin": margin, "distance": distance, "soft_margin": True}
        found = []
        for loss in (triplet, triplet_by_options):
            moving = vectors.clone().requires_grad_()
            value = loss(moving, classes=classes, **settings)
            found.append((value.detach(), *torch.autograd.grad(value, moving)))
        for one, other in zip(*found, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-12)


def test_a_soft_margin_of_given_triplets():
    made = torch.Generator().manual_seed(4)
    near, far = (torch.randn(3, 4, 5, generator=made).double() for _ in range(2))
    moving = near.clone().requires_grad_()
    value = triplet(*moving, margin=0.3, soft_margin=True)
    excess = (near[0] - near[1]).norm(dim=1) - (near[0] - near[2]).norm(dim=1) + 0.3
    torch.testing.assert_close(value, torch.log1p(excess.exp()).mean())
    torch.testing.assert_close(
        torch.autograd.grad(value, moving)[0],
        torch.autograd.functional.jacobian(
            lambda given: triplet_by_options(*given, margin=0.3, soft_margin=True), near
        ),
    )
    alone = triplet(far[0], classes=torch.zeros(4).long(), mining="all", soft_margin=True)
    assert alone == 0
