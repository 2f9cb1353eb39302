"""Several processes and one joined batch: the same value, and at each row the same gradient."""

import tempfile
import traceback
from functools import cache
from pathlib import Path

import pytest
import torch
import torch.distributed as distributed
from torch import multiprocessing

from losses import LOSSES, cosent
from losses.gather import gather_rows, processes
from losses.modules import CosentLoss
from tests.losses.made import inputs_for, learned

COUNTS = {2: (5, 3), 3: (4, 4, 0)}  # rows of each process, an uneven and an empty last batch


PATIENCE = 600  # seconds, for processes that load torch on a busy machine


def member(rank, world, meeting, tasks, answers):
    """One of `world` processes: it answers each task until the tests are over."""
    torch.set_num_threads(1)
    distributed.init_process_group(
        "gloo", init_method=f"file://{meeting}", rank=rank, world_size=world
    )
    for work in iter(tasks.get, None):
        try:
            answers.put((rank, work(rank, world), None))
        except Exception:
            answers.put((rank, None, traceback.format_exc()))


@cache
def team(world):
    """The queue of tasks of each of `world` processes, and their answers."""
    context = multiprocessing.get_context("spawn")
    meeting = Path(tempfile.mkdtemp()) / "meeting"
    tasks, answers = [context.Queue() for _ in range(world)], context.Queue()
    for rank, own in enumerate(tasks):
        given = (rank, world, meeting, own, answers)
        context.Process(target=member, args=given, daemon=True).start()
    return tasks, answers


def on_each(world, work):
    """What `work(rank, world)` returns in each of `world` processes."""
    tasks, answers = team(world)
    for own in tasks:
        own.put(work)
    answered = {}
    while len(answered) < world:
        rank, answer, fault = answers.get(timeout=PATIENCE)
        if fault:
            team.cache_clear()  # the others may wait for this one for ever
            pytest.fail(f"in process {rank}: {fault}", pytrace=False)
        answered[rank] = answer
    return [answered[rank] for rank in range(world)]


def own_rows(joined, rank, world):
    counts = COUNTS[world]
    start = sum(counts[:rank])
    return joined[start : start + counts[rank]]


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


def test_one_process_is_its_own_batch():
    rows = torch.randn(3, 2)
    together, place = gather_rows(rows)
    assert processes() == 1
    assert together is rows
    assert place == slice(0, 3)


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


def test_a_module_gathers_if_asked():
    module = CosentLoss(gather=True)
    assert repr(module) == "CosentLoss(scale=20.0, gather=True)"
    scores, labels = torch.tensor([0.0, 0.5]), torch.tensor([1, 0])
    assert module(scores, labels) == cosent(scores, labels)  # in one process
