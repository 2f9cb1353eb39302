"""Places in the pool of threads that answers requests: who only waits holds none.

A pool answers so many requests at a time. One that waits for its turn, or for other work, would
keep the place of somebody who could be answered at once: forty who wait, and nobody is answered.
So the pool has a place more for as long as one of its threads waits, or does heavy work, of which
little is under way at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

# Gives the pool of the running thread so many places more; None where it has lent its own already,
# or belongs to no pool.
Widen = Callable[[int], object]
_widen: ContextVar[Widen | None] = ContextVar("widen", default=None)


@contextmanager
def in_pool(widen: Widen | None) -> Iterator[None]:
    """What is called inside is done by a thread of the pool that `widen(places)` makes larger, or
    by one of no pool."""
    before = _widen.set(widen)
    try:
        yield
    finally:
        _widen.reset(before)


@contextmanager
def lent() -> Iterator[None]:
    """Lend the place of this thread to whoever waits for one; it is taken back at the end."""
    widen = _widen.get()
    if widen is None:
        yield
        return
    with in_pool(None):
        widen(1)
        try:
            yield
        finally:
            widen(-1)
