"""Memory of this machine and of processes: what is free, what one holds, what it gives back."""

import ctypes
import sys
from multiprocessing.process import BaseProcess
from pathlib import Path

import psutil

CGROUP = Path("/sys/fs/cgroup")


def free_memory() -> int:
    """Return the free bytes of the machine, or of the container if it has fewer (cgroup v2; the
    system's file cache counts as free)."""
    free = psutil.virtual_memory().available
    try:
        limit = (CGROUP / "memory.max").read_text().strip()
        used = int((CGROUP / "memory.current").read_text())
        statistics = dict(
            line.split() for line in (CGROUP / "memory.stat").read_text().splitlines()
        )
    except OSError:  # no container, or an old one
        return free
    if limit == "max":
        return free
    return min(free, int(limit) - used + int(statistics.get("inactive_file", 0)))


def process_memory(process: BaseProcess | None) -> int:
    """Return the bytes that a process holds; 0 for none, and for one that has ended."""
    if process is None or process.pid is None:
        return 0
    try:
        return psutil.Process(process.pid).memory_info().rss
    except psutil.Error:
        return 0


def release_freed_memory() -> None:
    """Return freed memory of finished work to the system: the C library of Linux would keep
    it."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # other C libraries keep nothing
        if trim is not None:
            trim(0)
