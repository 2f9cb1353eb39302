"""What another process of this app holds."""

from __future__ import annotations

from multiprocessing.process import BaseProcess

import psutil


def memory_of(process: BaseProcess | None) -> int:
    """The bytes that a process holds; 0 of none, and of one that has ended."""
    if process is None or process.pid is None:
        return 0
    try:
        return psutil.Process(process.pid).memory_info().rss
    except psutil.Error:
        return 0
