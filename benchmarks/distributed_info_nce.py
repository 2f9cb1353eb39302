"""InfoNCE over many processes: ``python -m benchmarks scaling``.

Counts what one of several real processes, over gloo, receives and multiplies in a step of
`info_nce(..., gather=True)` and of `ring_info_nce`, and the most memory that the step added. Fails
where the counts are not those of the formulas `received` and `multiplied`; then writes what the
formulas say of more processes than one machine has.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

import torch
import torch.distributed as distributed
from torch import multiprocessing
from torch.multiprocessing.spawn import spawn
from torch.utils.flop_counter import FlopCounterMode

from benchmarks import report
from benchmarks.machine import describe
from lossprism.losses import info_nce
from lossprism.losses.ring import ring_info_nce

WAYS = ("gather", "ring")
CHECKED = (2, 4, 8)  # processes
PAPER = (2, 8, 64, 1_024)
ROWS, WIDTH = 512, 384  # of each process
NUMBER = 4  # bytes, float32


def received(way: str, world: int, rows: int, width: int) -> int:
    """Return the bytes of rows and gradients that one process receives in a step."""
    block = rows * width * NUMBER
    if way == "gather":  # queries and keys of the others
        return 2 * (world - 1) * block
    return (2 * (world - 1) + world) * block  # keys in both tours; gradients in the second


def multiplied(way: str, world: int, rows: int, width: int) -> int:
    """Return the multiplications of one process in a step: of logits, and of both gradients."""
    if way == "gather":
        return 3 * (world * rows) ** 2 * width
    return 4 * world * rows**2 * width  # the second tour forms the logits again


def held(way: str, world: int, rows: int, width: int) -> int:
    """Return the bytes of rows, gradients and logits that one process holds at least."""
    block = rows * width * NUMBER
    if way == "gather":  # queries and keys of all, and their gradients; logits by tiles
        return 4 * world * block
    return 8 * block + rows * rows * NUMBER  # the same of its own; keys and gradients that travel


def counted(way: str, world: int, rows: int, width: int) -> dict[str, float]:
    """Return what the first of `world` processes counted in a step."""
    answers = multiprocessing.get_context("spawn").SimpleQueue()
    meeting = Path(tempfile.mkdtemp()) / "meeting"
    arguments = (way, world, rows, width, str(meeting), answers)
    spawn(_process, arguments, nprocs=world)
    return answers.get()


def _process(
    rank: int, way: str, world: int, rows: int, width: int, meeting: str, answers: Any
) -> None:
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", f"file://{meeting}", rank=rank, world_size=world)
    with FlopCounterMode(display=False):
        _step(way, 8, width)  # loads what is loaded once
    before = _peak_memory()
    traffic, products = counts_of_a_step(way, world, rows, width)
    if rank == 0:
        memory = _peak_memory() - before
        answers.put({"received": traffic, "multiplied": products, "memory": memory})
    distributed.barrier()
    distributed.destroy_process_group()


def counts_of_a_step(way: str, world: int, rows: int, width: int) -> tuple[int, int]:
    """Return the bytes of rows and gradients that this process, one of `world` that are connected,
    receives in a step, and its multiplications."""
    traffic = 0
    all_gather, passed_on = distributed.all_gather, distributed.batch_isend_irecv

    def gathering(parts: list[torch.Tensor], own: torch.Tensor) -> None:
        nonlocal traffic
        traffic += (world - 1) * own.nbytes if own.ndim > 1 else 0  # counts of rows are left out
        all_gather(parts, own)

    def passing(both: list[distributed.P2POp]) -> list[distributed.Work]:
        nonlocal traffic
        traffic += both[1].tensor.nbytes
        return passed_on(both)

    with (
        mock.patch.object(distributed, "all_gather", gathering),
        mock.patch.object(distributed, "batch_isend_irecv", passing),
        FlopCounterMode(display=False) as flops,
    ):
        _step(way, rows, width)
    return traffic, flops.get_total_flops() // 2


def _step(way: str, rows: int, width: int) -> None:
    queries, keys = (torch.randn(rows, width, requires_grad=True) for _ in range(2))
    loss = ring_info_nce(queries, keys) if way == "ring" else info_nce(queries, keys, gather=True)
    loss.backward()


def _peak_memory() -> int:
    """Return the most bytes that this process has held."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks scaling", description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS, metavar="N", help="of each process")
    report.add_option(parser)
    chosen = parser.parse_args(arguments)
    rows = [_checked(way, world, chosen.rows) for world in CHECKED for way in WAYS]
    rows += [on_paper(way, world, chosen.rows) for world in PAPER for way in WAYS]
    print(report.table(HEADS, rows))
    place = report.folder(chosen, whole=chosen.rows == ROWS)
    if place:
        title = f"InfoNCE over many processes, {chosen.rows} pairs of {WIDTH} numbers in each"
        report.write(place, "scaling", title, describe(), (HEADS, rows))


def _checked(way: str, world: int, rows: int) -> tuple[str, ...]:
    """Return the row of a run in real processes, whose counts are those of the formulas.

    Raises ValueError where they are not.
    """
    found = counted(way, world, rows, WIDTH)
    for name, formula in (("received", received), ("multiplied", multiplied)):
        expected = formula(way, world, rows, WIDTH)
        if found[name] != expected:
            raise ValueError(f"{way}, {world} processes: {name} {found[name]}, not {expected}")
    counts = (found["received"], found["multiplied"], found["memory"])
    return _row(way, world, "counted", *counts)


def on_paper(way: str, world: int, rows: int) -> tuple[str, ...]:
    """Return the row of the formulas, which no process has run."""
    values = [formula(way, world, rows, WIDTH) for formula in (received, multiplied, held)]
    return _row(way, world, "on paper", *values)


def _row(
    way: str, world: int, how: str, traffic: float, products: float, memory: float
) -> tuple[str, ...]:
    figures = f"{traffic / 1e6:,.1f} MB", f"{products / 1e9:,.2f}", f"{memory / 1e6:,.1f} MB"
    return f"{world:,}", way, how, *figures


HEADS = ("processes", "way", "figures", "received", "10⁹ multiplications", "memory")
