"""Jobs: work with progress and cancellation, in the requesting thread or in the background.

The code that does the work calls `step(…)` between its batches and need not know the caller; its
job is a context variable. Cancellation is cooperative: the next step raises. A visitor of a hosted
page can neither follow nor cancel the work of another.
"""

from __future__ import annotations

import contextvars
import math
import os
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future, TimeoutError
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakSet

from lossprism.explorer.runtime import fair_queue, waiting_request_lends_its_thread
from lossprism.explorer.runtime.current_visitor import visitor
from lossprism.explorer.runtime.deployment_policy import deployment_policy
from lossprism.explorer.runtime.hosted_budgets import budget
from lossprism.explorer.runtime.limits import JOB_IDLE_S, JOB_RESULTS
from lossprism.explorer.runtime.memory_use import release_freed_memory
from lossprism.explorer.runtime.number_format import display_number
from lossprism.explorer.runtime.problem import Problem, logged

END_POLL_S = 0.02  # between looks at whether work has ended
NICE = 10  # of background work; a training has half as much
# What work says of itself: what is being done, how much of it is done, and of how much.
Report = Callable[[str, int, int], None]


class Cancelled(Exception):
    """The job was cancelled; its cached intermediate results remain."""


@dataclass(frozen=True)
class Progress:
    """Progress of a job: `what` names a sentence of the catalogues, with `values` for its
    placeholders."""

    what: str = ""
    done: int = 0
    total: int = 0
    values: dict[str, str] = field(default_factory=dict)


class Job:
    """A piece of work; in the background, its result is a future."""

    def __init__(self) -> None:
        self.progress = Progress()
        self.cancelled = False
        self.in_foreground = True  # done by the thread that asked for it
        self._future: Future = Future()
        self._failure_reported = False
        self._last_poll = time.monotonic()
        self._begun = math.inf  # when heavy work had its turn
        self.requesters: set[str] = set()
        self._left: threading.Event | None = None  # set when whoever asked has gone
        self._thread = threading.get_ident()
        self._light = time.thread_time()  # when light work began, by this thread's own clock
        self._lent = False  # by one who waits for this work, and has a turn

    @classmethod
    def in_background(cls, work: Callable[[Report], Any]) -> Job:
        """Start `work(report)` in a daemon thread; it is cancelled when nobody waits for it any
        more.

        Not in an executor: work waits for other work, so a bounded pool could lock up, and an
        executor's threads would keep a stopped server until the work has ended.
        """
        made = cls()
        made.progress = Progress("start")
        made.in_foreground = False
        _under_way.add(made)
        inherited = contextvars.copy_context()  # whoever asks, asks in the thread, too
        threading.Thread(target=inherited.run, args=(made._run, work), daemon=True).start()
        return made

    def _run(self, work: Callable[[Report], Any]) -> None:
        current.set(self)
        _lower_priority()
        try:
            with (
                waiting_request_lends_its_thread.in_pool(None),
                fair_queue.heavy_work_turn(self._queues),
                self.counted(),
            ):
                result, error = work(self.report), None
        except BaseException as raised:  # raised again where the result is asked for
            result, error = None, raised
        del work  # and what it holds on to
        release_freed_memory()
        if error is None:
            self._future.set_result(result)
        else:
            self._future.set_exception(error)
        _under_way.discard(self)

    def _queues(self, ahead: int) -> bool:
        self.report("turn", ahead, 0)
        return self._lent

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count the time of the heavy work inside, with that of the heavy work around it."""
        before, self._begun = self._begun, min(self._begun, time.monotonic())
        began = time.thread_time()
        try:
            yield
        finally:
            self._begun = before
            self._light += time.thread_time() - began  # that was not light

    def lend(self) -> None:
        """Lend the turn of a waiting job to this work: otherwise all turns could wait for work that
        waits for a turn."""
        self._lent = True

    def cancel(self) -> None:
        """Tell the work to end at its next step."""
        self.cancelled = True

    def report(self, what: str, done: int, total: int, **values: object) -> None:
        """Report progress.

        Raises:
            Cancelled, Problem: as `check`.
        """
        self.check()
        texts = {name: str(value) for name, value in values.items()}
        self.progress = Progress(what, done, total, texts)

    def check(self) -> None:
        """Raise Cancelled if requested, if the requester has left, or if nobody has waited for
        background work for so long that the page must have been closed; Problem if the work takes
        longer than a hosted page allows."""
        if not self.in_foreground and time.monotonic() - self._last_poll > JOB_IDLE_S:
            self.cancelled = True
        if self._left is not None and self._left.is_set():
            self.cancelled = True
        if self.cancelled:
            raise Cancelled
        if time.monotonic() - self._begun > (limit := budget("heavy_seconds")):
            raise logged(Problem("heavy_seconds", about="size", most=display_number(limit)))
        if self._light_seconds() > (limit := budget("light_seconds")):
            raise logged(Problem("light_seconds", about="size", most=display_number(limit)))
        self._begun += fair_queue.pause_for_light_work()  # which is not counted

    def _light_seconds(self) -> float:
        """Return the processor seconds that light work in the foreground has taken so far."""
        if not self.in_foreground or self._begun < math.inf:
            return 0.0
        if threading.get_ident() != self._thread:  # whose clock is another
            return 0.0
        return time.thread_time() - self._light

    def leave(self, whose: str) -> None:
        """Remove this visitor from the work; it is cancelled without any other."""
        self.requesters.discard(whose)
        if not self.requesters:
            self.cancel()

    def wait(self, seconds: float) -> bool:
        """Wait for the work, at most so many seconds; return whether it is done."""
        self._last_poll = time.monotonic()
        if self._future.done() or not seconds:
            return self._future.done()
        try:
            with waiting_request_lends_its_thread.lent():
                self._future.exception(seconds)
        except TimeoutError:
            return False
        return True

    @property
    def done(self) -> bool:
        return self._future.done()

    @property
    def is_over(self) -> bool:
        """Return whether the same request starts anew: after a cancellation, or a reported
        failure."""
        return self.cancelled or self._failure_reported

    def result(self) -> Any:
        """Return the result of the work, or raise its error."""
        self._failure_reported = self._future.exception() is not None
        return self._future.result()


def _lower_priority() -> None:
    """Lower the priority of this thread and its helpers on a hosted page, below light answers and a
    training. Only Linux has priorities of threads."""
    if deployment_policy().uses_worker_processes and sys.platform == "linux":
        here = threading.get_native_id()
        before = os.getpriority(os.PRIO_PROCESS, here)
        os.setpriority(os.PRIO_PROCESS, here, before + NICE)


# ---- The job that the running code belongs to ------------------------------------------------

current: ContextVar[Job | None] = ContextVar("job", default=None)
_left: ContextVar[threading.Event | None] = ContextVar("left", default=None)
_running: dict[tuple[str, str], Job] = {}
_under_way: set[Job] = set()


def end_all(seconds: float) -> bool:
    """Cancel all work and wait for its end, at most so many seconds; return whether none is under
    way.

    If a process exits while threads compute, their data are destroyed under them.
    """
    until = time.monotonic() + seconds
    left = set(_under_way)
    for one in left:
        one.cancel()
    while left & _under_way and time.monotonic() < until:
        time.sleep(END_POLL_S)
    return not _under_way


@contextmanager
def cancelled_when(left: threading.Event) -> Iterator[None]:
    """End work that starts inside at its next step once its requester has `left`. Background work
    goes on while others wait for it."""
    before = _left.set(left)
    try:
        yield
    finally:
        _left.reset(before)


@contextmanager
def job(name: str | None = None) -> Iterator[Job]:
    """Make the work inside one job, which can be followed and cancelled by its name, if it has
    one."""
    started = Job()
    started._left = _left.get()
    before = current.set(started)
    mine = None if name is None else (visitor(), name)
    if mine is not None:
        _running[mine] = started
    _under_way.add(started)
    try:
        yield started
    finally:
        _under_way.discard(started)
        current.reset(before)
        if mine is not None and _running.get(mine) is started:
            del _running[mine]


class _ReportingJob(Job):
    """A piece of work that reports to a single function."""

    def __init__(self, hear: Report) -> None:
        super().__init__()
        self._hear = hear

    def report(self, what: str, done: int, total: int, **_: object) -> None:
        self._hear(what, done, total)


@contextmanager
def reports_to(hear: Report) -> Iterator[None]:
    """Pass the progress of the work inside to `hear`, which may raise to end it."""
    before = current.set(_ReportingJob(hear))
    try:
        yield
    finally:
        current.reset(before)


def step(what: str, done: int = 0, total: int = 0, **values: object) -> None:
    """Report progress; ignored outside a job.

    Raises:
        Cancelled, Problem: as `Job.check`.
    """
    mine = current.get()
    if mine is None:
        return
    if mine.in_foreground:
        mine.report(what, done, total, **values)
    else:  # it reports itself, and knows of more than this step
        mine.check()


def check() -> None:
    """End the running job here if requested. Raises Cancelled, Problem as `Job.check`."""
    if (mine := current.get()) is not None:
        mine.check()


@contextmanager
def heavy_work_turn() -> Iterator[None]:
    """Wait for the turn of the running job's heavy work (`explorer.runtime.fair_queue`)."""
    mine = current.get()
    with (
        fair_queue.heavy_work_turn(lambda ahead: step("turn", ahead)),
        mine.counted() if mine else nullcontext(),
    ):
        yield


def light_work_turn(seconds: float) -> AbstractContextManager[None]:
    """Wait for the turn of the running job's light or middling work of so many estimated processor
    seconds."""
    return fair_queue.light_work_turn(seconds, lambda ahead: check())


def heavy_work_turn_if(heavy: bool) -> AbstractContextManager[None]:
    """Wait for a turn if the work is heavy."""
    return heavy_work_turn() if heavy else nullcontext()


def look(name: str) -> Progress | None:
    """Return the progress of the job with this name, if it runs."""
    job = _running.get((visitor(), name))
    return job and job.progress


def cancel(name: str) -> bool:
    """Tell the job to stop at its next step; return whether there was one."""
    job = _running.get((visitor(), name))
    if job is not None:
        job.cancel()
    return job is not None


# ---- Work in the background, by key ----------------------------------------------------------


class Jobs:
    """Single flight: concurrent requests for the same work share one run, and its last results are
    cached."""

    def __init__(self, most: int = JOB_RESULTS) -> None:
        _all_jobs.add(self)
        self._most = most
        self._jobs: OrderedDict[Hashable, Job] = OrderedDict()
        self._lock = threading.Lock()

    def start(self, key: Hashable, work: Callable[[Report], Any]) -> Job:
        """Return the job of this key; start it anew after a cancellation, or a reported
        failure."""
        with self._lock:
            known = self._jobs.get(key)
            if known is None or known.is_over:
                known = self._jobs[key] = Job.in_background(work)
            known.requesters.add(visitor())
            self._jobs.move_to_end(key)
            finished = [other for other, kept in self._jobs.items() if kept.done]
            for oldest in finished[: max(0, len(finished) - self._most)]:
                if oldest != key:
                    del self._jobs[oldest]
            return known

    def cancel(self, key: Hashable) -> None:
        """Cancel the job, if it runs and no other visitor needs it."""
        with self._lock:
            job = self._jobs.get(key)
            if job is None or job.done:
                return
            job.leave(visitor())

    def forget(self, whose: str) -> None:
        """Cancel and drop jobs that only this visitor has started."""
        with self._lock:
            for key, one in list(self._jobs.items()):
                one.leave(whose)
                if one.cancelled:
                    del self._jobs[key]


_all_jobs: WeakSet[Jobs] = WeakSet()


def forget_visitor() -> None:
    """Cancel and drop jobs that only the requesting visitor has started."""
    for one in list(_all_jobs):
        one.forget(visitor())


def result_within(start: Callable[[], Job], report: Report) -> Any:
    """Return the result of background work for other work that waits for it; cancelling this one
    cancels it."""

    def pass_on(progress: Progress) -> None:
        report(progress.what, progress.done, progress.total)

    while True:
        inner = start()
        if fair_queue.has_turn():
            inner.lend()
        while not inner.wait(0.1):
            try:
                pass_on(inner.progress)
            except Cancelled:
                inner.leave(visitor())
                raise
        try:
            return inner.result()
        except Cancelled:
            # Who cancelled it asked for it too; it begins again unless this one was as well.
            pass_on(inner.progress)
