"""A fair queue with a semaphore: on a hosted page heavy work is taken up by few at a time, and by
visitor in turn.

Who has a turn keeps it for the work that it waits for. At home nobody waits.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import threading
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field

from explorer.runtime import places
from explorer.runtime.budgets import budget
from explorer.runtime.problem import Problem, logged
from explorer.runtime.room import check_memory
from explorer.runtime.visitors import has_key, is_hosted, visitor

LOOK_S = 0.2
_has_turn: ContextVar[bool] = ContextVar("has_turn", default=False)


@dataclass(eq=False)
class _Ticket:
    visitor: str
    number: int
    begun: bool = False


@dataclass
class Turns:
    """A queue in which each visitor has the same weight, however much they ask for."""

    _tickets: list[_Ticket] = field(default_factory=list)
    _served: dict[str, int] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=itertools.count)
    _changed: threading.Condition = field(default_factory=threading.Condition)

    @contextlib.contextmanager
    def taken(
        self, whose: str, waiting: Callable[[int], bool | None] = lambda ahead: None
    ) -> Iterator[None]:
        """Do what is inside when it is this visitor's turn.

        `waiting(ahead)` hears now and then how many go before, and may raise to leave the queue;
        it answers true where somebody who has a turn waits for this and lends it.

        Raises:
            Problem: where the visitor, or all together, have too much under way already.
        """
        ticket = self._join(whose)
        try:
            while not self._may_begin(ticket):
                if waiting(self._ahead(ticket)):
                    self._leave(ticket)
                    break
            yield
        finally:
            self._leave(ticket)

    def _leave(self, ticket: _Ticket) -> None:
        with self._changed:
            if ticket in self._tickets:
                self._tickets.remove(ticket)
            if not self._tickets:
                self._served.clear()
            self._changed.notify_all()

    @property
    def counts(self) -> tuple[int, int]:
        """How many are under way, and how many wait."""
        with self._changed:
            begun = sum(ticket.begun for ticket in self._tickets)
            return begun, len(self._tickets) - begun

    def _join(self, whose: str) -> _Ticket:
        with self._changed:
            own = sum(ticket.visitor == whose for ticket in self._tickets)
            if own >= budget("heavy_of_one"):
                raise logged(Problem("busy_own", about="again", count=own))
            waiting = sum(not ticket.begun for ticket in self._tickets)
            if waiting >= budget("heavy_waiting"):
                raise logged(Problem("busy", about="again", count=waiting))
            ticket = _Ticket(whose, next(self._numbers))
            self._tickets.append(ticket)
            return ticket

    def _may_begin(self, ticket: _Ticket) -> bool:
        with self._changed:
            if not self._is_next(ticket):
                self._changed.wait(LOOK_S)
            if not self._is_next(ticket):
                return False
            ticket.begun = True
            self._served[ticket.visitor] = next(self._numbers)
            return True

    def _is_next(self, ticket: _Ticket) -> bool:
        begun = [one for one in self._tickets if one.begun]
        return len(begun) < budget("heavy_at_once") and self._order()[0] is ticket

    def _order(self) -> list[_Ticket]:
        """Those that wait: whose visitor has the least under way first, then whose visitor waited
        longest since their last turn."""
        under_way: dict[str, int] = {}
        for one in self._tickets:
            if one.begun:
                under_way[one.visitor] = under_way.get(one.visitor, 0) + 1
        waiting = [one for one in self._tickets if not one.begun]
        return sorted(
            waiting,
            key=lambda one: (
                under_way.get(one.visitor, 0),
                self._served.get(one.visitor, -1),
                one.number,
            ),
        )

    def _ahead(self, ticket: _Ticket) -> int:
        with self._changed:
            return self._order().index(ticket)


TURNS = Turns()


class _OneByOne:
    """Light work that is done one piece after the other, while at most so many wait."""

    def __init__(self, most: float = math.inf) -> None:
        self._most = most
        self._waiting = 0
        self._lock, self._counting = threading.Lock(), threading.Lock()

    @contextlib.contextmanager
    def taken(self, waiting: Callable[[], object]) -> Iterator[None]:
        self._wait(waiting)
        try:
            yield
        finally:
            self._lock.release()

    def _wait(self, waiting: Callable[[], object]) -> None:
        if self._lock.acquire(blocking=False):
            return
        with self._counting:
            if self._waiting >= self._most:
                raise logged(Problem("busy", about="again", count=self._waiting))
            self._waiting += 1
        try:
            while not self._lock.acquire(timeout=LOOK_S):
                waiting()
        finally:
            with self._counting:
                self._waiting -= 1


# An exploration of few pairs holds Python's lock for most of its time: forty at once take half as
# much again of the processor as one after the other. Few pairs never wait for many.
FEW_PAIRS = 256
_of_few, _of_many = _OneByOne(), _OneByOne(most=64)


@contextlib.contextmanager
def one_by_one(pairs: int, waiting: Callable[[], object] = lambda: None) -> Iterator[None]:
    """Do light work on so many pairs after that of others; at once at home.

    `waiting()` is called now and then, and may raise to leave. Raises Problem where too many wait.
    """
    if not is_hosted():
        yield
    elif pairs <= FEW_PAIRS:
        with _of_few.taken(waiting):
            yield
    else:  # whoever looks at few pairs needs the place
        with places.lent(), _of_many.taken(waiting):
            yield


def has_turn() -> bool:
    """Whether the running code has a turn, which it may lend to what it waits for."""
    return _has_turn.get()


@contextlib.contextmanager
def in_turn(waiting: Callable[[int], bool | None] = lambda ahead: None) -> Iterator[None]:
    """Do heavy work when it is the turn of whoever asks; at once at home, and within other heavy
    work. All who came without a key are one in the queue."""
    if not is_hosted() or _has_turn.get():
        yield
        return
    check_memory()
    with places.lent(), TURNS.taken(visitor() if has_key() else "", waiting):
        before = _has_turn.set(True)
        try:
            yield
        finally:
            _has_turn.reset(before)
