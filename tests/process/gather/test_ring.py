"""InfoNCE around a ring is that of the joined batch: its value, and the gradient of every row."""

import pytest
import torch

from lossprism.losses import info_nce
from lossprism.losses.ring import ring_info_nce
from tests.process.gather.team import COUNTS, on_each, own_rows


def joined_batch(world):
    made = torch.Generator().manual_seed(3)
    shape = (sum(COUNTS[world]), 4)
    return [torch.randn(*shape, generator=made, dtype=torch.float64) for _ in range(3)]


def found(loss, batch, temperature):
    batch = [part.clone().requires_grad_() for part in batch]
    temperature = torch.tensor(temperature, dtype=torch.float64).requires_grad_()
    named = {"negatives": batch[2]} if len(batch) > 2 else {}
    value = loss(*batch[:2], **named, temperature=temperature)
    # Twice the loss: the gradient that arrives is multiplied into each.
    return value.detach(), torch.autograd.grad(2 * value, [*batch, temperature])


def same_as_joined(rank, world):
    for parts, temperature in ((2, 0.3), (3, 0.3), (2, 1e-3)):
        joined = joined_batch(world)[:parts]
        value, gradient = found(info_nce, joined, temperature)
        mine = [own_rows(part, rank, world) for part in joined]
        ring, by_parts = found(ring_info_nce, mine, temperature)
        expected = [own_rows(part, rank, world) for part in gradient[:-1]] + [gradient[-1]]
        torch.testing.assert_close(ring, value, rtol=1e-12, atol=1e-14)
        torch.testing.assert_close(list(by_parts), expected, rtol=1e-9, atol=1e-12)
    return True


@pytest.mark.parametrize("world", COUNTS)
def test_the_ring_is_one_batch(world):
    assert on_each(world, same_as_joined) == [True] * world


def refusals(rank, world):
    queries, keys = [
        own_rows(part, rank, world).requires_grad_() for part in joined_batch(world)[:2]
    ]
    loss = ring_info_nce(queries, keys)
    return [
        refusal(lambda: torch.autograd.grad(loss, queries, create_graph=True)),
        refusal(lambda: ring_info_nce(queries, keys[:, :2])),
    ]


def refusal(work):
    try:
        work()
    except (RuntimeError, ValueError) as error:
        return str(error)
    return "accepted"


def test_second_derivatives_and_other_shapes_are_refused():
    for twice, shapes in on_each(2, refusals):
        assert "has no second derivatives" in twice
        assert "the shapes differ" in shapes


def test_one_process_has_no_ring():
    batch = joined_batch(2)
    torch.testing.assert_close(found(ring_info_nce, batch, 0.3), found(info_nce, batch, 0.3))
