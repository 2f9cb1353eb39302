"""Slots of the thread pool that answers requests: a waiting request lends its slot to another.

A pool answers a fixed number of requests at a time. With forty requests waiting in a queue, no
thread would be left for one that could be answered at once. So the pool has an additional slot
while one of its threads waits or does heavy work, of which little runs at a time.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

# Adds so many slots to the pool of the running thread; None if it has lent its own already or
# belongs to no pool.
Widen = Callable[[int], object]
_widen: ContextVar[Widen | None] = ContextVar("widen", default=None)


@contextmanager
def in_pool(widen: Widen | None) -> Iterator[None]:
    """Run the body as a thread of the pool that `widen(slots)` enlarges, or, with None, of
    none."""
    before = _widen.set(widen)
    try:
        yield
    finally:
        _widen.reset(before)


@contextmanager
def lent() -> Iterator[None]:
    """Lend the slot of this thread to a waiting request while the body runs."""
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
