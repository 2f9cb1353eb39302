"""Numbers of threads that torch computes on."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import torch

Answer = TypeVar("Answer")
_setting_threads = threading.Lock()


@contextmanager
def all_cores() -> Iterator[None]:
    """Let torch use all CPU cores inside: for an encoder, not for a small matrix.

    The page itself computes on one thread: at its sizes threads would wait for each other, and for
    the browser, longer than they compute.
    """
    before = torch.get_num_threads()
    _set_threads_here(os.cpu_count() or before)
    try:
        yield
    finally:
        _set_threads_here(before)


def _set_threads_here(cores: int) -> None:
    """Set the threads of this thread alone: torch applies the last number set anywhere to new
    threads."""
    with _setting_threads:
        usual = _in_a_new_thread(torch.get_num_threads)
        torch.set_num_threads(cores)
        _in_a_new_thread(lambda: torch.set_num_threads(usual))


def _in_a_new_thread(call: Callable[[], Answer]) -> Answer:
    found: list[Answer] = []
    thread = threading.Thread(target=lambda: found.append(call()))
    thread.start()
    thread.join()
    return found[0]
