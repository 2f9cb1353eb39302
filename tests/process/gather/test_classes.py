"""Losses from classes over several processes: those of the joined batch, in every process."""

import pytest
import torch

from lossprism import losses
from tests.process.gather.team import COUNTS, on_each, own_rows

MINED = ("hard", "semi_hard", "all")
FUNCTIONS = (
    losses.supcon,
    losses.supcon_with_zeros,
    losses.nt_xent_of_classes,
    losses.circle_per_anchor,
    losses.triplet_over_violating,
    losses.triplet_unit,
)


def batch(world):
    made = torch.Generator().manual_seed(world)
    embeddings = torch.randn(sum(COUNTS[world]), 4, generator=made, dtype=torch.float64)
    return embeddings, torch.arange(sum(COUNTS[world])) % 3


def calls():
    """Each loss as a function of embeddings, classes and `gather`."""
    for function in FUNCTIONS:
        yield function.__name__, lambda e, c, gather, f=function: f(e, c, gather=gather)
    for mining in MINED:
        yield (
            f"triplet {mining}",
            lambda e, c, gather, m=mining: losses.triplet(e, classes=c, mining=m, gather=gather),
        )
    yield (
        "triplet given",
        lambda e, c, gather: losses.triplet(e, 2 * e.roll(1, 1), e.roll(2, 1), gather=gather),
    )
    queue, queue_classes = torch.ones(2, 4).double().cumsum(1), torch.tensor([0, 2])
    yield (
        "supcon with a queue",
        lambda e, c, gather: losses.supcon(
            e, c, queue=queue, queue_classes=queue_classes, gather=gather
        ),
    )


def each_loss(rank, world):
    """Of each loss the value and the gradient at one's own rows."""
    embeddings, classes = batch(world)
    mine = own_rows(classes, rank, world)
    found = {}
    for name, call in calls():
        own = own_rows(embeddings, rank, world).clone().requires_grad_()
        loss = call(own, mine, True)
        (gradient,) = torch.autograd.grad(loss, own)
        found[name] = (loss.item(), gradient.tolist())
    return found


@pytest.mark.parametrize("world", COUNTS)
def test_every_process_has_the_loss_of_the_joined_batch_and_the_gradient_of_its_rows(world):
    embeddings, classes = batch(world)
    answers = on_each(world, each_loss)
    for name, call in calls():
        joined = embeddings.clone().requires_grad_()
        loss = call(joined, classes, False)
        (gradient,) = torch.autograd.grad(loss, joined)
        assert gradient.any()
        for answer in answers:
            assert answer[name][0] == pytest.approx(loss.item(), rel=1e-12)
        rows = [row for answer in answers for row in answer[name][1]]
        found = torch.tensor(rows, dtype=torch.float64)
        torch.testing.assert_close(found, gradient, rtol=1e-10, atol=1e-12)


def test_gathering_alone_changes_nothing():
    embeddings, classes = batch(2)
    for _, call in calls():
        assert call(embeddings, classes, True) == call(embeddings, classes, False)
