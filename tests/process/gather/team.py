"""Processes that answer tasks together, as the ranks of one training."""

import tempfile
import traceback
from functools import cache
from pathlib import Path

import pytest
import torch
import torch.distributed as distributed
from torch import multiprocessing

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
    """`world` processes, the queue of tasks of each, and their answers."""
    context = multiprocessing.get_context("forkserver")
    # Loaded once, not by each of them.
    context.set_forkserver_preload(["torch", "losses.sentence_transformers", "tests.tiny"])
    meeting = Path(tempfile.mkdtemp()) / "meeting"
    tasks, answers = [context.Queue() for _ in range(world)], context.Queue()
    members = []
    for rank, own in enumerate(tasks):
        given = (rank, world, meeting, own, answers)
        members.append(context.Process(target=member, args=given, daemon=True))
        members[-1].start()
    return members, tasks, answers


def on_each(world, work):
    """What `work(rank, world)` returns in each of `world` processes."""
    members, tasks, answers = team(world)
    for own in tasks:
        own.put(work)
    answered = {}
    while len(answered) < world:
        rank, answer, fault = answers.get(timeout=PATIENCE)
        if fault:
            for other in members:  # they may wait for this one for ever
                other.kill()
            team.cache_clear()
            pytest.fail(f"in process {rank}: {fault}", pytrace=False)
        answered[rank] = answer
    return [answered[rank] for rank in range(world)]


def own_rows(joined, rank, world):
    counts = COUNTS[world]
    start = sum(counts[:rank])
    return joined[start : start + counts[rank]]
