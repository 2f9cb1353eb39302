"""Start of processes that end with this one."""

import multiprocessing
import signal
from collections.abc import Callable
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess


def start_process(process: BaseProcess) -> None:
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
    start_process(process)
    theirs.close()
    return process, line
