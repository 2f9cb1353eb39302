"""Worker processes that compute explorations of a hosted page outside the answering process.

An exploration is some hundred operations of torch, each of which releases Python's lock and waits
for it again. Beside threads that refuse a thousand requests a second, or read a large file, it
takes twenty times as long. A separate process has its own lock and the other core.
"""

import contextlib
import importlib
import math
import os
import pickle
import signal
import threading
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

import torch

from lossprism.explorer.runtime.child_process_start import spawn
from lossprism.explorer.runtime.hosted_budgets import budget
from lossprism.explorer.runtime.memory_use import process_memory
from lossprism.explorer.runtime.number_format import display_number
from lossprism.explorer.runtime.problem import Problem, logged

Result = TypeVar("Result")

# Wall-clock seconds until a time limit, for each second of the budget: the core is shared.
SECONDS_PER_LIGHT_SECOND = 3.0


class Worker:
    """A process that does one thing at a time for the threads of this one, at this niceness.

    It starts at the first call after it was allowed, and imports `modules`. Until it is ready,
    while it is busy, and after a failure there, calls run here.
    """

    def __init__(self, *modules: str, niceness: int = 0) -> None:
        self._modules, self._niceness = modules, niceness
        self.is_allowed = False
        self._busy = threading.Lock()
        self._process: BaseProcess | None = None
        self._line: Connection | None = None
        self._is_ready = False

    def end(self) -> None:
        """Stop the process; from now on calls run here."""
        self.is_allowed = False
        with self._busy:
            self._stop()

    @property
    def memory(self) -> int:
        """Return the bytes that the process holds."""
        return process_memory(self._process)

    def call(self, function: Callable[..., Result], *arguments: object) -> Result:
        """Return the result of the function, found by name in its module.

        Raises:
            Problem: as the function, and if it takes longer than light work may.
        """
        if not self.is_allowed or not self._busy.acquire(blocking=False):
            return function(*arguments)
        try:
            answer = self._response(pickle.dumps((function, arguments)))
        finally:
            self._busy.release()
        if isinstance(answer, Problem):
            raise answer
        return function(*arguments) if answer is None else answer[0]

    def _response(self, question: bytes) -> tuple[Any] | Problem | None:
        """Return the answer; None if there was none, after which the process is replaced."""
        if self._line is None:
            self._begin()
        line, timeout = self._line, SECONDS_PER_LIGHT_SECOND * budget("light_seconds")
        assert line is not None
        try:
            if not self._is_ready:
                if not line.poll():
                    return None
                self._is_ready = bool(line.recv_bytes())
            line.send_bytes(question)
            if line.poll(None if timeout == math.inf else timeout):
                return pickle.loads(line.recv_bytes())
        except (EOFError, OSError):  # it was killed
            self._stop()
            return None
        self._stop()
        limit = display_number(budget("light_seconds"))
        raise logged(Problem("light_seconds", about="size", most=limit))

    def _begin(self) -> None:
        self._is_ready = False
        self._process, self._line = spawn(_serve, self._modules, self._niceness)

    def _stop(self) -> None:
        if self._line is not None:
            self._line.close()
        if self._process is not None:
            self._process.kill()
            self._process.join()
        self._line = self._process = None


# All take their turn (`explorer.runtime.fair_queue`), so that one for each queue is enough.
LIGHT = Worker("lossprism.explorer.export.exploration_and_slider_stop_in_worker")
MIDDLING = Worker("lossprism.explorer.export.exploration_and_slider_stop_in_worker", niceness=5)
WORKERS = (LIGHT, MIDDLING)


def _serve(line: Connection, modules: Sequence[str], niceness: int) -> None:
    """Answer calls until the other end closes."""
    if hasattr(os, "nice"):
        os.nice(niceness)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets it too, and ends this
    torch.set_num_threads(1)  # as `torch_threads.all_cores` says of the page
    for name in modules:
        importlib.import_module(name)
    line.send_bytes(b"ready")
    with contextlib.suppress(EOFError, OSError):
        while True:
            function, arguments = pickle.loads(line.recv_bytes())
            line.send_bytes(pickle.dumps(_done(function, arguments)))


def _done(function: Callable[..., Any], arguments: Sequence[object]) -> tuple[Any] | Problem | None:
    """Return the result of the function, or its refusal. None after any other error: the answering
    process repeats the call and reports it as a defect."""
    try:
        return (function(*arguments),)
    except Problem as problem:
        return problem.with_traceback(None)
    except Exception:
        return None
