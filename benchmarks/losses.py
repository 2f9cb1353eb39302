"""Our losses beside their dense definitions and the installed peers, in one run.

``python -m benchmarks losses``: forward and backward, float32, all rivals of a case in turns over
several rounds. One table: median times, how much slower the others are, what is kept for the
backward pass, the peak of memory, and the error of the gradient against float64. A second one:
how time grows with N. ``--quick`` takes a minute; ``--device cuda`` measures a GPU.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import torch
from torch import Tensor

from benchmarks import report
from benchmarks.cases import CASES, LARGE, Case
from benchmarks.library_losses import all_peers
from benchmarks.machine import describe
from benchmarks.time_over_size_chart import drawn
from benchmarks.timing_result import HEADS, Result, growth, row

Loss = Callable[..., Tensor]

ROUNDS = 9
SLOW = 3.0  # seconds of a first call, from which on one more call must do
BUDGET = 5.0  # seconds for the rounds of one case at one size
QUICK = 512  # pairs, or classes, at most
GROWTH = ("loss", "time grows as", "from N", "to N")


def gradient_of(loss: Loss, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    value = loss(*inputs)
    moving = [one for one in inputs if one.requires_grad]
    # A guide or a teacher is a constant.
    return torch.autograd.grad(value, moving, allow_unused=True, materialize_grads=True)


def leaves(inputs: tuple[Tensor, ...], device: str, dtype: torch.dtype | None = None) -> tuple:
    """Copies; scores and vectors, which come first or have two dimensions, get a gradient."""
    made = []
    for place, one in enumerate(inputs):
        moving = one.is_floating_point() and (place == 0 or one.ndim == 2)
        to = dtype if dtype is not None and one.is_floating_point() else one.dtype
        made.append(one.to(device, to, copy=True).requires_grad_(moving))
    return tuple(made)


@dataclass(frozen=True)
class Look:
    """Seconds, memory and gradients of one call of a loss; profiling makes it slower."""

    seconds: float
    saved_bytes: int
    peak_bytes: int
    gradient: tuple[Tensor, ...]


def looked_at(loss: Loss, inputs: tuple[Tensor, ...]) -> Look:
    """Saved is what is kept between the passes, each piece of memory once, inputs included; peak
    is the most that is allocated at one time in both, inputs not included."""
    kept: dict[int, int] = {}

    def pack(tensor: Tensor) -> Tensor:
        memory = tensor.untyped_storage()
        kept[memory.data_ptr()] = memory.nbytes()
        return tensor

    with (
        watched(inputs[0].device) as peak,
        torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor),
    ):
        started = time.perf_counter()
        gradient = gradient_of(loss, inputs)
        taken = time.perf_counter() - started
    return Look(taken, sum(kept.values()), peak(), gradient)


@contextmanager
def watched(device: torch.device) -> Iterator[Callable[[], int]]:
    """Answers afterwards how many bytes were allocated at most within."""
    if device.type == "cuda":
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        yield lambda: torch.cuda.max_memory_allocated() - before
        return
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # or it writes of every start and stop
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities, profile_memory=True) as profile:
        yield lambda: peak_memory(profile.profiler.kineto_results.events())


def peak_memory(events: Iterable) -> int:
    changes = sorted((e.start_ns(), e.nbytes()) for e in events if e.name() == "[memory]")
    return max(itertools.accumulate(change for _, change in changes), default=0)


def seconds(loss: Loss, inputs: tuple[Tensor, ...], repeats: int = 1) -> float:
    started = time.perf_counter()
    for _ in range(repeats):
        gradient_of(loss, inputs)
    if inputs[0].is_cuda:
        torch.cuda.synchronize()
    return (time.perf_counter() - started) / repeats


def interleaved(
    rivals: dict[str, Loss], inputs: tuple[Tensor, ...], first: dict[str, float], rounds: int
) -> dict[str, float]:
    """Median seconds of each rival; their rounds alternate, so that all see the same machine.

    `first` is about what each takes: one call of a slow one must do.
    """
    repeats = {who: max(1, min(50, int(0.01 / first[who]))) for who in rivals}
    times: dict[str, list[float]] = {who: [] for who in rivals}
    started = time.perf_counter()
    for turn in range(rounds):
        start = turn % len(rivals)  # who comes second finds caches that the first has warmed
        for who, loss in [*rivals.items()][start:] + [*rivals.items()][:start]:
            if turn == 0 or first[who] < SLOW:
                times[who].append(seconds(loss, inputs, repeats[who]))
        if turn >= 2 and time.perf_counter() - started > BUDGET:
            break
    return {who: statistics.median(taken) for who, taken in times.items()}


def relative_error(found: tuple[Tensor, ...], exact: tuple[Tensor, ...]) -> float:
    """The largest error of any gradient, relative to the largest entry of that gradient."""
    return max(
        float((one.double() - true).abs().max() / true.abs().max().clamp_min(1e-300))
        for one, true in zip(found, exact, strict=True)
    )


def measured(case: Case, size: int, peers: dict[str, Loss], chosen: argparse.Namespace):
    torch.manual_seed(0)
    given = case.inputs(size)
    inputs = leaves(given, chosen.device)
    rivals = {"ours": case.ours}
    if size <= case.dense:
        rivals["definition"] = case.definition
    if size <= case.peers:
        rivals |= peers
    exactly = case.definition if size <= min(case.dense, 2048) else case.ours
    exact = gradient_of(exactly, leaves(given, chosen.device, torch.float64))
    looks = {}
    for who, loss in rivals.items():
        try:
            looks[who] = looked_at(loss, inputs)
        except RuntimeError as error:  # too large for a GPU, or a library that leaves one out
            if who == "ours" or inputs[0].is_cpu:
                raise
            message = str(error).partition("\n")[0]
            print(f"{case.name} at {size} without {who}: {message}", file=sys.stderr)
            torch.cuda.empty_cache()
    rivals = {who: rivals[who] for who in looks}
    # Being looked at slows a small batch down several times: how often it fits is asked apart.
    first = {
        who: look.seconds if look.seconds >= SLOW else seconds(rivals[who], inputs)
        for who, look in looks.items()
    }
    times = interleaved(rivals, inputs, first, chosen.rounds)
    for who, look in looks.items():
        error = relative_error(look.gradient, exact)
        kept, most = look.saved_bytes, look.peak_bytes
        yield Result(case.name, size, who, 1000 * times[who], kept, most, error)


def all_measured(chosen: argparse.Namespace) -> Iterator[list[Result]]:
    """The results of each case at each size, as they come."""
    peers = all_peers()
    cases = [*CASES, *LARGE] if chosen.large else CASES
    for case in cases:
        if case.on and not chosen.device.startswith(case.on):
            continue
        if chosen.losses and not any(case.name.startswith(name) for name in chosen.losses):
            continue
        for size in chosen.sizes or case.sizes:
            if chosen.sizes or size <= QUICK or not chosen.quick:
                yield list(measured(case, size, peers.get(case.rival, {}), chosen))


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--quick", action="store_true", help=f"sizes up to {QUICK}, 3 rounds")
    parser.add_argument("--losses", nargs="+", metavar="NAME", help="cases that begin so")
    parser.add_argument("--sizes", nargs="+", type=int, metavar="N", help="not the case's own")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--threads", type=int, help="torch threads")
    parser.add_argument("--large", action="store_true", help="32,768 pairs of vectors too")
    report.add_option(parser)
    parser.add_argument("--plot", metavar="FILE", help="draw times over N as SVG")
    chosen = parser.parse_args(arguments)
    chosen.rounds = chosen.rounds or (3 if chosen.quick else ROUNDS)
    if chosen.threads:
        torch.set_num_threads(chosen.threads)
    machine = describe(chosen.device)
    print(machine, "", report.line(HEADS), report.line(["---"] * len(HEADS)), sep="\n")
    results: list[Result] = []
    rows: list[list[str]] = []
    for found in all_measured(chosen):
        rows.append(row(found))
        print(report.line(rows[-1]), flush=True)
        results += found
    grown = [
        (case, f"N^{slope:.2f}", str(low), str(high))
        for (case, who), (slope, low, high) in growth(results).items()
        if who == "ours"
    ]
    print("", report.table(GROWTH, grown), sep="\n")
    whole = not (chosen.quick or chosen.losses or chosen.sizes or chosen.threads or chosen.large)
    folder = report.folder(chosen, whole)
    if folder:
        tables = (HEADS, rows), (GROWTH, grown)
        if chosen.device == "cpu":
            report.write(folder, "losses", "The losses", machine, *tables)
            write_csv(folder / "losses.csv", machine, results)
        else:
            run = f"losses --device {chosen.device}"
            report.write(folder, "losses-gpu", "The losses on a GPU", machine, *tables, command=run)
    if chosen.plot:
        Path(chosen.plot).write_text(drawn(results, machine), encoding="utf-8")


def write_csv(path: Path, machine: str, results: list[Result]) -> None:
    """Every figure of the run, unrounded, one line each."""
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow([*(field.name for field in fields(Result)), "machine", "date"])
        table.writerows([*asdict(one).values(), machine, report.today()] for one in results)
