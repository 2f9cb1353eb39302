"""Processes that answer tasks together, as the ranks of one training.

All are forked from one that is forked from the Python that has the libraries loaded: it hands on
what is asked of them, and ends with the tests.
"""

import subprocess
import sys
import tempfile
import traceback
from functools import cache
from multiprocessing.connection import Client, Listener
from pathlib import Path

import pytest
import torch
import torch.distributed as distributed
from torch import multiprocessing

import tests.tiny  # noqa: F401
from tests import warm

ROOT = Path(__file__).resolve().parents[3]
# Rows of each process: an uneven and an empty last batch, and as many as one machine often has.
COUNTS = {2: (5, 3), 3: (4, 4, 0), 8: (1, 2, 0, 3, 1, 1, 2, 2)}
PATIENCE = 600  # seconds, on a busy machine


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
    context = multiprocessing.get_context("fork")
    meeting = Path(tempfile.mkdtemp()) / "meeting"
    tasks, answers = [context.Queue() for _ in range(world)], context.Queue()
    members = []
    for rank, own in enumerate(tasks):
        given = (rank, world, meeting, own, answers)
        members.append(context.Process(target=member, args=given, daemon=True))
        members[-1].start()
    return members, tasks, answers


def answered(world, work):
    """What `work` returns in each of `world` processes, and None; or None, and what went wrong."""
    members, tasks, answers = team(world)
    for own in tasks:
        own.put(work)
    found = {}
    while len(found) < world:
        rank, answer, fault = answers.get(timeout=PATIENCE)
        if fault:
            for other in members:  # they may wait for this one for ever
                other.kill()
            team.cache_clear()
            return None, f"in process {rank}: {fault}"
        found[rank] = answer
    return [found[rank] for rank in range(world)], None


def lead(address):
    """Hand on what is asked until the tests are over."""
    with Client(address) as line:
        try:
            while True:
                line.send(answered(*line.recv()))
        except EOFError:
            return


@cache
def led():
    """The line to the process that leads the others."""
    address = str(Path(tempfile.mkdtemp()) / "socket")
    with Listener(address) as listening:
        subprocess.Popen([warm.python(), "-m", __name__, address], cwd=ROOT)
        return listening.accept()


def on_each(world, work):
    """What `work(rank, world)` returns in each of `world` processes."""
    line = led()
    line.send((world, work))
    found, fault = line.recv()
    if fault:
        pytest.fail(fault, pytrace=False)
    return found


def own_rows(joined, rank, world):
    counts = COUNTS[world]
    start = sum(counts[:rank])
    return joined[start : start + counts[rank]]


if __name__ == "__main__":
    lead(sys.argv[1])
