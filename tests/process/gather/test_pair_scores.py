"""Several processes and one joined batch: the same value, and at each row the same gradient."""

import pytest
import torch

from lossprism.losses import LOSSES, cosent
from lossprism.losses.gather import gather_rows, processes
from tests.process.gather.team import COUNTS, on_each, own_rows
from tests.unit.losses.made import inputs_for, learned


def gathered_rows(rank, world):
    made = torch.Generator().manual_seed(0)
    joined = torch.randn(sum(COUNTS[world]), 3, generator=made, dtype=torch.float64)
    mine = own_rows(joined, rank, world).clone().requires_grad_()
    together, place = gather_rows(mine)
    (together**3).sum().backward()
    kinds = [torch.bool, torch.uint8, torch.int64, torch.float16, torch.bfloat16]
    alike = [torch.equal(gather_rows(mine.detach().to(k))[0], joined.to(k)) for k in kinds]
    return (
        torch.equal(together, joined)
        and torch.equal(together[place], mine)
        and torch.allclose(mine.grad, 3 * mine.detach() ** 2)
        and all(alike)
    )


@pytest.mark.parametrize("world", COUNTS)
def test_rows_of_all_processes_are_joined_in_order(world):
    assert all(on_each(world, gathered_rows))


ORDERED = [name for name, spec in LOSSES.items() if spec.group == "pair_scores"]
ALONE = ("cosine_mse", "binary_cross_entropy")  # each pair by itself: nothing to gather


def joined_losses(rank, world):
    """For each loss on ordered pairs: is it that of the joined batch, here and in gradient?"""
    right = {}
    for name in ORDERED:
        spec = LOSSES[name]
        if name in ALONE:
            continue
        given = inputs_for(spec, seed=2, count=sum(COUNTS[world]))
        names = learned(spec, given)

        def rows_first(name, tensor, spec=spec):
            return tensor.T if spec.reads[name] == "level_scores" else tensor

        mine = {
            key: rows_first(key, own_rows(rows_first(key, tensor), rank, world)).detach().clone()
            for key, tensor in given.items()
        }
        for leaf in [given[key] for key in names] + [mine[key] for key in names]:
            leaf.requires_grad_()
        whole, found = spec.function(**given), spec.function(**mine, gather=True)
        whole.backward()
        found.backward()
        right[name] = torch.allclose(found, whole, rtol=1e-12) and all(
            torch.allclose(
                rows_first(key, mine[key].grad),
                own_rows(rows_first(key, given[key].grad), rank, world),
                rtol=1e-10,
                atol=1e-14,
            )
            for key in names
        )
    return right


@pytest.mark.parametrize("world", COUNTS)
def test_every_process_has_the_loss_and_the_gradient_of_the_joined_batch(world):
    for right in on_each(world, joined_losses):
        assert set(right) == set(ORDERED) - set(ALONE)
        assert all(right.values()), right


def encoder():
    torch.manual_seed(4)
    return torch.nn.Linear(3, 1, dtype=torch.float64)


def trained(rank, world):
    """Does DistributedDataParallel give a model the gradient that it has by itself?"""
    made = torch.Generator().manual_seed(0)
    rows = torch.randn(sum(COUNTS[world]), 3, generator=made, dtype=torch.float64)
    labels = torch.randint(0, 4, (len(rows),), generator=made)
    alone, shared = encoder(), torch.nn.parallel.DistributedDataParallel(encoder())
    cosent(alone(rows)[:, 0], labels).backward()
    scores = shared(own_rows(rows, rank, world))[:, 0]
    (processes() * cosent(scores, own_rows(labels, rank, world), gather=True)).backward()
    return torch.allclose(shared.module.weight.grad, alone.weight.grad)


@pytest.mark.parametrize("world", COUNTS)
def test_a_model_trained_by_several_processes_takes_the_same_step(world):
    assert all(on_each(world, trained))
