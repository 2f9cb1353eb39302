"""The best available device, and the precision it computes in."""

import functools
import math
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import torch

Answer = TypeVar("Answer")

_chosen: str | None = None
_setting = threading.Lock()


def choose(device: str | None) -> None:
    """Use this device from now on ("cpu", "cuda", "cuda:1", "mps"); None for the best."""
    global _chosen
    if device is not None:
        torch.empty(0, device=device)  # a wrong name or an absent device fails here, at start
    _chosen = device


def device() -> torch.device:
    return torch.device(_chosen or _best())


@functools.cache
def _best() -> str:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def precision() -> torch.dtype:
    """Return float64 on devices that have it, so that figures are exact to the last digit
    shown."""
    return torch.float32 if device().type == "mps" else torch.float64


@contextmanager
def all_cores() -> Iterator[None]:
    """Let torch use all CPU cores inside: for an encoder, not for a small matrix.

    The page itself computes on one thread: at its sizes threads would wait for each other, and for
    the browser, longer than they compute.
    """
    before = torch.get_num_threads()
    _compute_here_on(os.cpu_count() or before)
    try:
        yield
    finally:
        _compute_here_on(before)


def _compute_here_on(cores: int) -> None:
    """Set the threads of this thread alone: torch applies the last number set anywhere to new
    threads."""
    with _setting:
        usual = _in_a_new_thread(torch.get_num_threads)
        torch.set_num_threads(cores)
        _in_a_new_thread(lambda: torch.set_num_threads(usual))


def _in_a_new_thread(call: Callable[[], Answer]) -> Answer:
    found: list[Answer] = []
    thread = threading.Thread(target=lambda: found.append(call()))
    thread.start()
    thread.join()
    return found[0]


def memory_left() -> float:
    """Return the free bytes of a GPU's own memory, including torch's cache; infinity without such
    memory."""
    here = device()
    if here.type != "cuda":
        return math.inf
    free, _ = torch.cuda.mem_get_info(here)
    return free + torch.cuda.memory_reserved(here) - torch.cuda.memory_allocated(here)


def device_name() -> str:
    return torch.cuda.get_device_name() if device().type == "cuda" else device().type.upper()
