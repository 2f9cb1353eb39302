"""Processes of this app: starting one, its memory, and memory to give back."""

import ctypes
import multiprocessing
import signal
import sys
import time
from collections.abc import Callable
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

import psutil

IDLE_S, BUSY_SHARE = 2.0, 0.1  # so long, at less than this share of a core
CONNECTIONS = 16_384  # also the most that docs/nginx.conf passes on


def memory_of(process: BaseProcess | None) -> int:
    """Return the bytes that a process holds; 0 for none, and for one that has ended."""
    if process is None or process.pid is None:
        return 0
    try:
        return psutil.Process(process.pid).memory_info().rss
    except psutil.Error:
        return 0


def begin(process: BaseProcess) -> None:
    """Start a process that only the app ends. Ctrl-C in a terminal reaches all processes, and one
    that is still importing would print a traceback."""
    if not hasattr(signal, "pthread_sigmask"):  # on Windows
        process.start()
        return
    resource_tracker.ensure_running()  # it would let the signal through as it begins
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # which it inherits
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def spawn(serve: Callable[..., None], *arguments: object) -> tuple[BaseProcess, Connection]:
    """Start a process that runs `serve(line, *arguments)` and ends with this one; return it, and
    the end of the line to it."""
    context = multiprocessing.get_context("spawn")
    line, theirs = context.Pipe()
    process = context.Process(target=serve, args=(theirs, *arguments), daemon=True)
    begin(process)
    theirs.close()
    return process, line


def give_back() -> None:
    """Return freed memory of finished work to the system: the C library of Linux would keep
    it."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # other C libraries keep nothing
        if trim is not None:
            trim(0)


def allow_connections(most: int = CONNECTIONS) -> None:
    """Raise this process's limit of connections as far as permitted: a shell allows a
    thousand."""
    try:
        import resource
    except ImportError:  # the system sets no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
    if soft != resource.RLIM_INFINITY and soft < limit:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))


def wait_until_idle(most: float, idle: float = IDLE_S) -> None:
    """Wait until this process has computed next to nothing for `idle` seconds; at most `most`
    seconds, as one with many visitors never does."""
    ends = time.monotonic() + most
    while time.monotonic() < ends:
        before = time.process_time()
        time.sleep(idle)
        if time.process_time() - before < BUSY_SHARE * idle:
            return
