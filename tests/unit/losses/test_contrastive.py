"""The contrastive loss with its gradient in closed form: equal to its definition."""

import pytest
import torch

from lossprism.losses.contrastive.contrastive import contrastive, contrastive_definition

MADE = torch.Generator().manual_seed(5)
FIRST, SECOND = torch.randn(2, 9, 5, generator=MADE, dtype=torch.float64)
SECOND[3] = FIRST[3]
LABELS = torch.tensor([0, 1, 0, 1, 1, 0, 0.25, 0, 1]).double()
EACH = [(distance, half) for distance in ("euclidean", "cosine") for half in (False, True)]


def value_and_gradients(loss, first, second, **settings):
    leaves = [one.clone().requires_grad_() for one in (first, second)]
    value = loss(*leaves, LABELS, margin=1.2, **settings)
    return value.detach(), *torch.autograd.grad(value, leaves)


@pytest.mark.parametrize(("distance", "half"), EACH)
def test_it_is_its_definition(distance, half):
    first, second = FIRST.clone(), SECOND.clone()
    first[0], second[1] = 0, 0
    found, expected = (
        value_and_gradients(loss, first, second, distance=distance, half=half)
        for loss in (contrastive, contrastive_definition)
    )
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(("distance", "half"), EACH)
def test_derivatives_to_the_second(distance, half):
    apart = SECOND + 0.1  # a distance of 0 has no slope
    leaves = [one.clone().requires_grad_() for one in (FIRST, apart)]

    def at(first, second):
        return contrastive(first, second, LABELS, margin=1.2, distance=distance, half=half)

    assert torch.autograd.gradcheck(at, leaves)
    assert torch.autograd.gradgradcheck(at, leaves, fast_mode=True)  # along random directions


@pytest.mark.parametrize("distance", ["euclidean", "cosine"])
def test_what_is_learned_beside_the_vectors_has_a_gradient_too(distance):
    learned = [torch.tensor(1.2).double().requires_grad_(), LABELS.clone().requires_grad_()]
    found, expected = (
        torch.autograd.grad(loss(FIRST, SECOND, learned[1], margin=margin, distance=distance), [at])
        for loss in (contrastive, contrastive_definition)
        for margin, at in [(1.2, learned[1])]
    )
    torch.testing.assert_close(found, expected)
    found, expected = (
        torch.autograd.grad(
            loss(FIRST, SECOND, LABELS, margin=learned[0], distance=distance), learned[:1]
        )
        for loss in (contrastive, contrastive_definition)
    )
    torch.testing.assert_close(found, expected)
