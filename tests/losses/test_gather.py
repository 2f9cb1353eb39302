"""Several processes and one joined batch: the same value, and at each row the same gradient."""

import pytest
import torch
import torch.distributed as distributed
from torch import multiprocessing

from losses.gather import gather_rows, processes

COUNTS = {2: (5, 3), 3: (4, 4, 0)}  # rows of each process, an uneven and an empty last batch


def started(rank, world, port_file, work, answers):
    distributed.init_process_group(
        "gloo", init_method=f"file://{port_file}", rank=rank, world_size=world
    )
    torch.set_num_threads(1)
    try:
        answers.put((rank, work(rank, world)))
    finally:
        distributed.barrier()
        distributed.destroy_process_group()


def on_each(world, work, folder):
    """What `work(rank, world)` returns in each of `world` processes."""
    context = multiprocessing.get_context("spawn")
    answers = context.SimpleQueue()
    meeting = folder / "meeting"
    run = multiprocessing.spawn(started, (world, meeting, work, answers), nprocs=world, join=False)
    while not run.join():
        pass
    return [answer for _, answer in sorted(answers.get() for _ in range(world))]


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
def test_rows_of_all_processes_are_joined_in_order(world, tmp_path):
    assert all(on_each(world, gathered_rows, tmp_path))


def test_one_process_is_its_own_batch():
    rows = torch.randn(3, 2)
    together, place = gather_rows(rows)
    assert processes() == 1
    assert together is rows
    assert place == slice(0, 3)
