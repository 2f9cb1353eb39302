"""Fair queues: a hosted page does a few pieces of work at a time and serves visitors in turn.

There are three, by duration: light work (a slider, a small picture), middling work (hundreds of
pairs) and heavy work (a million pairs, encoding). No queue waits for a longer one, and longer work
pauses at its steps while light work runs. On the user's own machine nothing waits.
"""

import contextlib
import itertools
import math
import threading
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field

from lossprism.explorer.runtime import waiting_request_lends_its_thread
from lossprism.explorer.runtime.current_visitor import has_key, is_among_strangers, visitor
from lossprism.explorer.runtime.hosted_budgets import budget
from lossprism.explorer.runtime.problem import Problem, logged
from lossprism.explorer.runtime.resource_checks import check_memory

POLL_S = 0.5
# Light work is estimated to take less of a processor; a hand on a slider notices more.
LIGHT_S = 0.15
# Longer work pauses at most PAUSE_RATIO times as long as it has worked since its last pause, of
# which at most COUNTED_WORK_S count; before MIN_WORK_S it does not pause.
PAUSE_RATIO, MIN_WORK_S, COUNTED_WORK_S = 4.0, 0.002, 0.1
Bound = Callable[[], float]
# Hears now and then how many go before, and may raise to leave the queue; it answers true where
# somebody who has a turn waits for this and lends it.
Waiting = Callable[[int], bool | None]


@dataclass(eq=False)
class _Ticket:
    visitor: str
    tag: int
    number: int
    begun: bool = False
    called: threading.Event = field(default_factory=threading.Event)

    @property
    def place(self) -> tuple[int, int]:
        return self.tag, self.number


@dataclass(eq=False)
class FairQueue:
    """Start-time fair queueing: each visitor has the same weight, however many requests they send.

    A visitor's requests are tagged in sequence, starting at the tag served when the first arrives;
    the lowest tag is next. A new key never overtakes anyone who already waits.

    Up to `at_once` run; one visitor has at most `of_one` running or waiting, and at most `most`
    wait in total. More are refused with `problem.KEY` or `problem.KEY_own`.
    """

    at_once: Bound
    of_one: Bound = lambda: math.inf
    most: Bound = lambda: math.inf
    key: str = "busy"
    _tickets: list[_Ticket] = field(default_factory=list)
    _tags: dict[str, int] = field(default_factory=dict)  # the next of each visitor
    _served: int = 0  # the tag that was called last
    _numbers: Iterator[int] = field(default_factory=itertools.count)
    _changed: threading.Condition = field(default_factory=threading.Condition)

    @contextlib.contextmanager
    def taken(self, whose: str, waiting: Waiting = lambda ahead: None) -> Iterator[None]:
        """Run the body in this visitor's turn.

        Raises:
            Problem: if the visitor, or all together, have too much running or waiting.
        """
        ticket = self._join(whose)
        try:
            while not ticket.called.is_set():
                if waiting(self._ahead(ticket)):
                    self._leave(ticket)
                    break
                ticket.called.wait(POLL_S)
            yield
        finally:
            self._leave(ticket)

    @property
    def counts(self) -> tuple[int, int]:
        """Return the numbers of running and of waiting pieces of work."""
        with self._changed:
            begun = sum(ticket.begun for ticket in self._tickets)
            return begun, len(self._tickets) - begun

    def until_idle(self, seconds: float) -> None:
        """Wait until nothing runs, for at most so many seconds."""
        if self._tickets:  # looked at without the lock: whoever comes now is waited for next time
            with self._changed:
                self._changed.wait_for(lambda: not self._tickets, seconds)

    def _join(self, whose: str) -> _Ticket:
        with self._changed:
            own = sum(ticket.visitor == whose for ticket in self._tickets)
            if own >= self.of_one():
                raise logged(Problem(f"{self.key}_own", about="again", count=own))
            waiting = len(self._waiting())
            if waiting >= self.most():
                raise logged(Problem(self.key, about="again", count=waiting))
            tag = max(self._served, self._tags.setdefault(whose, 0))
            self._tags[whose] = tag + 1
            ticket = _Ticket(whose, tag, next(self._numbers))
            self._tickets.append(ticket)
            self._call()
            return ticket

    def _leave(self, ticket: _Ticket) -> None:
        with self._changed:
            if ticket not in self._tickets:
                return
            self._tickets.remove(ticket)
            if not ticket.begun:  # what was not done counts for nothing
                self._tags[ticket.visitor] = self._tags.get(ticket.visitor, 1) - 1
            self._call()
            if not self._tickets:
                self._served = 0
                self._tags.clear()
                self._changed.notify_all()
            elif len(self._tags) > 2 * len(self._tickets) + 64:
                # Who would be tagged alike without it need not be known any more.
                self._tags = {who: tag for who, tag in self._tags.items() if tag > self._served}

    def _call(self) -> None:
        """Start the next ones while slots are free."""
        free = self.at_once() - sum(ticket.begun for ticket in self._tickets)
        while free > 0 and (waiting := self._waiting()):
            following = min(waiting, key=lambda one: one.place)
            following.begun = True
            self._served = max(self._served, following.tag)
            following.called.set()
            free -= 1

    def _waiting(self) -> list[_Ticket]:
        return [ticket for ticket in self._tickets if not ticket.begun]

    def _ahead(self, ticket: _Ticket) -> int:
        with self._changed:
            return sum(other.place < ticket.place for other in self._waiting())


# One after the other: an exploration of few pairs holds Python's lock for most of its time, and
# forty at once take half as much again of the processor. No more wait than the pool has places.
LIGHT = FairQueue(lambda: 1)
MIDDLING = FairQueue(
    at_once=lambda: budget("middling_at_once"),
    of_one=lambda: budget("middling_of_one"),
    most=lambda: budget("middling_waiting"),
    key="busy_middling",
)
HEAVY = FairQueue(
    at_once=lambda: budget("heavy_at_once"),
    of_one=lambda: budget("heavy_of_one"),
    most=lambda: budget("heavy_waiting"),
)
_mine: ContextVar[FairQueue | None] = ContextVar("turn", default=None)
_pace = threading.local()  # when this thread last stood still


@contextlib.contextmanager
def _turn(of: FairQueue, waiting: Waiting) -> Iterator[None]:
    """Count all visitors without a key as one."""
    with of.taken(visitor() if has_key() else "", waiting):
        before = _mine.set(of)
        try:
            yield
        finally:
            _mine.reset(before)


@contextlib.contextmanager
def light_work_turn(seconds: float, waiting: Waiting = lambda ahead: None) -> Iterator[None]:
    """Run work that takes this estimated number of processor seconds, and is not heavy, in its
    turn; at once on the user's own machine, and inside another turn.

    Raises Problem if too much waits.
    """
    if not is_among_strangers() or _mine.get():
        yield
    elif is_light(seconds):
        with _turn(LIGHT, waiting):
            yield
    else:  # whoever waits for light work needs the place
        with waiting_request_lends_its_thread.lent(), _turn(MIDDLING, waiting):
            yield


def is_light(seconds: float) -> bool:
    """Return whether work of so many processor seconds is light."""
    return seconds < LIGHT_S


def pause_for_light_work() -> float:
    """Pause while light work runs, at a step of longer work. Returns the seconds paused.

    A thread that computes in Python holds Python's lock, for which light work would wait at each of
    its operations. Under constant light work the longer one keeps a part of its pace.
    """
    if _mine.get() in (None, LIGHT):
        return 0.0
    began = time.monotonic()
    worked = began - getattr(_pace, "at", 0.0)
    if worked < MIN_WORK_S:
        return 0.0
    LIGHT.until_idle(PAUSE_RATIO * min(worked, COUNTED_WORK_S))
    _pace.at = time.monotonic()
    return _pace.at - began


def has_turn() -> bool:
    """Return whether the running code does heavy work with a turn to lend to work that it waits
    for."""
    return _mine.get() is HEAVY


@contextlib.contextmanager
def heavy_work_turn(waiting: Waiting = lambda ahead: None) -> Iterator[None]:
    """Run heavy work in the visitor's turn; at once on the user's own machine, and inside another
    turn."""
    if not is_among_strangers() or _mine.get():
        yield
        return
    check_memory()
    with waiting_request_lends_its_thread.lent(), _turn(HEAVY, waiting):
        yield
