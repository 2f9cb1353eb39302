"""Jobs: work that can be followed and cancelled, in the thread that asked or in the background.

The code that does the work says `step(…)` between its batches and need not know who asked; the
job it belongs to is a context variable. Cancellation is cooperative: the next step raises. Nobody
follows or cancels what another visitor of a hosted page asked for.
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

from explorer.runtime import fair_queue, thread_slots
from explorer.runtime.budgets import budget
from explorer.runtime.deployment_policy import deployment_policy
from explorer.runtime.limits import JOB_IDLE_S, JOB_RESULTS
from explorer.runtime.numbers import display_number
from explorer.runtime.problem import Problem, logged
from explorer.runtime.processes import give_back
from explorer.runtime.visitors import visitor

NICE = 10  # of background work; a training has half as much
# What work says of itself: what is being done, how much of it is done, and of how much.
Report = Callable[[str, int, int], None]


class Cancelled(Exception):
    """The job was cancelled; what it finished before is kept where it keeps such things."""


@dataclass(frozen=True)
class Progress:
    """How far a job is: `what` names a sentence of the catalogues, `values` belong into it."""

    what: str = ""
    done: int = 0
    total: int = 0
    values: dict[str, str] = field(default_factory=dict)


class Job:
    """One piece of work; its result, where it runs in the background, is a future."""

    def __init__(self) -> None:
        self.progress = Progress()
        self.cancelled = False
        self.in_foreground = True  # done by the thread that asked for it
        self._future: Future = Future()
        self._failure_told = False
        self._asked = time.monotonic()
        self._begun = math.inf  # when heavy work had its turn
        self.askers: set[str] = set()
        self._left: threading.Event | None = None  # set when whoever asked has gone
        self._thread = threading.get_ident()
        self._light = time.thread_time()  # when light work began, by this thread's own clock
        self._lent = False  # by one who waits for this work, and has a turn

    @classmethod
    def in_background(cls, work: Callable[[Report], Any]) -> Job:
        """Start `work(report)` in a daemon thread; cancelled once nobody waits for it any more.

        Daemon threads, and not an executor's: work waits for other work, so a bounded pool could
        lock up, and an executor's threads would keep a stopped server until the work has ended.
        """
        made = cls()
        made.progress = Progress("start")
        made.in_foreground = False
        _background.add(made)
        inherited = contextvars.copy_context()  # whoever asks, asks in the thread, too
        threading.Thread(target=inherited.run, args=(made._run, work), daemon=True).start()
        return made

    def _run(self, work: Callable[[Report], Any]) -> None:
        current.set(self)
        _give_way()
        try:
            with thread_slots.in_pool(None), fair_queue.in_turn(self._queues), self.counted():
                result, error = work(self.report), None
        except BaseException as raised:  # raised again where the result is asked for
            result, error = None, raised
        del work  # and what it holds on to
        give_back()
        if error is None:
            self._future.set_result(result)
        else:
            self._future.set_exception(error)

    def _queues(self, ahead: int) -> bool:
        self.report("turn", ahead, 0)
        return self._lent

    @contextmanager
    def counted(self) -> Iterator[None]:
        """What is done inside is heavy: its time counts, with that of the heavy work around it."""
        before, self._begun = self._begun, min(self._begun, time.monotonic())
        began = time.thread_time()
        try:
            yield
        finally:
            self._begun = before
            self._light += time.thread_time() - began  # that was not light

    def lend(self) -> None:
        """Let the work go on in the turn of one who waits for it: else those who have all turns
        could wait for work that waits for theirs."""
        self._lent = True

    def cancel(self) -> None:
        """Ask the work to end at its next step."""
        self.cancelled = True

    def report(self, what: str, done: int, total: int, **values: object) -> None:
        """Tell how far the work is.

        Raises:
            Cancelled, Problem: as `check`.
        """
        self.check()
        said = {name: str(value) for name, value in values.items()}
        self.progress = Progress(what, done, total, said)

    def check(self) -> None:
        """Raise Cancelled if that was asked for, if whoever asked has gone, or if nobody has waited
        for background work for so long that the page must have been closed; Problem if the work
        takes longer than a hosted page gives it."""
        if not self.in_foreground and time.monotonic() - self._asked > JOB_IDLE_S:
            self.cancelled = True
        if self._left is not None and self._left.is_set():
            self.cancelled = True
        if self.cancelled:
            raise Cancelled
        if time.monotonic() - self._begun > (most := budget("heavy_seconds")):
            raise logged(Problem("heavy_seconds", about="size", most=display_number(most)))
        if self._light_seconds() > (most := budget("light_seconds")):
            raise logged(Problem("light_seconds", about="size", most=display_number(most)))
        self._begun += fair_queue.give_way()  # which is not counted

    def _light_seconds(self) -> float:
        """What light work in the foreground has taken of the processor so far."""
        if not self.in_foreground or self._begun < math.inf:
            return 0.0
        if threading.get_ident() != self._thread:  # whose clock is another
            return 0.0
        return time.thread_time() - self._light

    def leave(self, whose: str) -> None:
        """This visitor wants the work no more; it is cancelled where nobody else does."""
        self.askers.discard(whose)
        if not self.askers:
            self.cancel()

    def wait(self, seconds: float) -> bool:
        """Whether the work is done, at the latest after so many seconds."""
        self._asked = time.monotonic()
        if self._future.done() or not seconds:
            return self._future.done()
        try:
            with thread_slots.lent():
                self._future.exception(seconds)
        except TimeoutError:
            return False
        return True

    @property
    def done(self) -> bool:
        return self._future.done()

    @property
    def is_over(self) -> bool:
        """Whether asking for the same work begins it again: cancelled, or its failure was told."""
        return self.cancelled or self._failure_told

    def result(self) -> Any:
        """What the work returned, or the error it raised."""
        self._failure_told = self._future.exception() is not None
        return self._future.result()


def _give_way() -> None:
    """On a hosted page this thread, and those that compute for it, leave the cores to light answers
    and to a training, as far as these want them. Linux alone has a priority for each thread."""
    if deployment_policy().keeps_apart and sys.platform == "linux":
        here = threading.get_native_id()
        before = os.getpriority(os.PRIO_PROCESS, here)
        os.setpriority(os.PRIO_PROCESS, here, before + NICE)


# ---- The job that the running code belongs to ------------------------------------------------

current: ContextVar[Job | None] = ContextVar("job", default=None)
_left: ContextVar[threading.Event | None] = ContextVar("left", default=None)
_running: dict[tuple[str, str], Job] = {}
_background: WeakSet[Job] = WeakSet()


def end_all(seconds: float) -> bool:
    """Cancel all work and wait for it to end, at most so many seconds; whether it did.

    A process that ends while threads compute is torn down under them.
    """
    until = time.monotonic() + seconds
    left = list(_background)
    for one in (*left, *_running.values()):
        one.cancel()
    return all(one.wait(max(until - time.monotonic(), 0.0)) for one in left)


@contextmanager
def asked_until(left: threading.Event) -> Iterator[None]:
    """What is begun inside ends at its next step once whoever asked for it has `left`. Work in the
    background does not: others may wait for it, and it ends when nobody asks any more."""
    before = _left.set(left)
    try:
        yield
    finally:
        _left.reset(before)


@contextmanager
def job(name: str | None = None) -> Iterator[Job]:
    """The work done inside is one job; by its name, where it has one, it can be followed and
    cancelled."""
    started = Job()
    started._left = _left.get()
    before = current.set(started)
    mine = None if name is None else (visitor(), name)
    if mine is not None:
        _running[mine] = started
    try:
        yield started
    finally:
        current.reset(before)
        if mine is not None and _running.get(mine) is started:
            del _running[mine]


class _Overheard(Job):
    """Work of which one function hears."""

    def __init__(self, hear: Report) -> None:
        super().__init__()
        self._hear = hear

    def report(self, what: str, done: int, total: int, **_: object) -> None:
        self._hear(what, done, total)


@contextmanager
def heard_by(hear: Report) -> Iterator[None]:
    """What the work done inside says of itself is told to `hear`, which may raise to end it."""
    before = current.set(_Overheard(hear))
    try:
        yield
    finally:
        current.reset(before)


def step(what: str, done: int = 0, total: int = 0, **values: object) -> None:
    """Say how far the work is; outside a job nobody listens.

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
    """End the running job here, if it is to end. Raises Cancelled, Problem as `Job.check`."""
    if (mine := current.get()) is not None:
        mine.check()


@contextmanager
def in_turn() -> Iterator[None]:
    """Heavy work of the running job begins when it is its turn (`explorer.runtime.fair_queue`)."""
    mine = current.get()
    with (
        fair_queue.in_turn(lambda ahead: step("turn", ahead)),
        mine.counted() if mine else nullcontext(),
    ):
        yield


def in_order(seconds: float) -> AbstractContextManager[None]:
    """Light and middling work of the running job, estimated to take so many seconds of a processor,
    is done after such work of others."""
    return fair_queue.in_order(seconds, lambda ahead: check())


def in_turn_if(heavy: bool) -> AbstractContextManager[None]:
    """What may be light or heavy takes its turn where it is heavy."""
    return in_turn() if heavy else nullcontext()


def look(name: str) -> Progress | None:
    """How far the job of this name is, if it is running."""
    found = _running.get((visitor(), name))
    return found and found.progress


def cancel(name: str) -> bool:
    """Ask the job to stop at its next step; whether there was one."""
    found = _running.get((visitor(), name))
    if found is not None:
        found.cancel()
    return found is not None


# ---- Work in the background, by key ----------------------------------------------------------


class Jobs:
    """Single flight: the same work is done once, and its last results are kept."""

    def __init__(self, most: int = JOB_RESULTS) -> None:
        _kept.add(self)
        self._most = most
        self._jobs: OrderedDict[Hashable, Job] = OrderedDict()
        self._lock = threading.Lock()

    def start(self, key: Hashable, work: Callable[[Report], Any]) -> Job:
        """The job of this key; one that was cancelled, or has told its failure, begins again."""
        with self._lock:
            found = self._jobs.get(key)
            if found is None or found.is_over:
                found = self._jobs[key] = Job.in_background(work)
            found.askers.add(visitor())
            self._jobs.move_to_end(key)
            finished = [other for other, kept in self._jobs.items() if kept.done]
            for oldest in finished[: max(0, len(finished) - self._most)]:
                if oldest != key:
                    del self._jobs[oldest]
            return found

    def cancel(self, key: Hashable) -> None:
        """Cancel the job, if it is under way and no other visitor wants it."""
        with self._lock:
            found = self._jobs.get(key)
            if found is None or found.done:
                return
            found.leave(visitor())

    def forget(self, whose: str) -> None:
        """Cancel and drop the jobs that this visitor alone has asked for."""
        with self._lock:
            for key, one in list(self._jobs.items()):
                one.leave(whose)
                if one.cancelled:
                    del self._jobs[key]


_kept: WeakSet[Jobs] = WeakSet()


def forget_mine() -> None:
    """Cancel and drop what nobody but the visitor who asks has asked for."""
    for one in list(_kept):
        one.forget(visitor())


def within(start: Callable[[], Job], report: Report) -> Any:
    """The result of background work that other work waits for; cancelling this cancels that."""

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
