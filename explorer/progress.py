"""How far a long job has come, and the wish that it stop, told between threads by its name.

Whoever asks for the work names it; the code that does it says `step(…)` between its batches and
need not know who asked. By the name anyone can read how far it is, or cancel it. Nothing stays of
a job that has ended.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field


class Cancelled(Exception):
    """The job was cancelled; what it finished before is kept where it keeps such things."""


@dataclass
class Job:
    """`what` names a sentence of the catalogues under ``progress.``, `values` belong into it."""

    what: str = ""
    done: int = 0
    total: int = 0
    values: dict[str, str] = field(default_factory=dict)
    cancelled: bool = False


_running: dict[str, Job] = {}
_mine: ContextVar[Job | None] = ContextVar("job", default=None)


@contextmanager
def job(name: str) -> Iterator[Job]:
    """The work done inside can be followed, and cancelled, by this name."""
    started = _running[name] = Job()
    before = _mine.set(started)
    try:
        yield started
    finally:
        _mine.reset(before)
        if _running.get(name) is started:
            del _running[name]


def step(what: str, done: int = 0, total: int = 0, **values: object) -> None:
    """Say how far the work is; outside a job nobody listens.

    Raises:
        Cancelled: if the job was cancelled since the last step.
    """
    mine = _mine.get()
    if mine is None:
        return
    if mine.cancelled:
        raise Cancelled
    mine.what, mine.done, mine.total = what, done, total
    mine.values = {name: str(value) for name, value in values.items()}


def look(name: str) -> Job | None:
    """The job of this name, if it is running."""
    return _running.get(name)


def cancel(name: str) -> bool:
    """Ask the job to stop at its next step; whether there was one."""
    found = _running.get(name)
    if found is not None:
        found.cancelled = True
    return found is not None
