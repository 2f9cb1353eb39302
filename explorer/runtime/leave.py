"""What the owner of the machine has agreed to in a request: which models may be fetched, and which
Python files of a run folder may be run.

A link, a scene file or a run folder may come from anybody, so what it names is not fetched or run
before its owner says so. Commands and Python calls name things themselves: there all is agreed to.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar

from explorer.runtime.validation import finite, of_type

# By name, how many MiB may be fetched; None where whoever asks named everything.
_granted: ContextVar[Mapping[str, float] | None] = ContextVar("granted", default=None)


def read_leave(value: object) -> dict[str, float]:
    """What a request agrees to, {name: MiB}. Raises Problem for anything else."""
    return {name: finite(mib, "leave") for name, mib in of_type(dict)(value, "leave").items()}


@contextmanager
def with_leave(granted: Mapping[str, float]) -> Iterator[None]:
    """Within, nothing is agreed to but what is `granted`."""
    before = _granted.set(granted)
    try:
        yield
    finally:
        _granted.reset(before)


def leave_of(fetch: bool) -> AbstractContextManager[None]:
    """For a command that opens a scenario, which may be somebody else's; with `fetch` its models
    are agreed to."""
    return nullcontext() if fetch else with_leave({})


def leave_for(name: str) -> float | None:
    """The MiB that may be fetched under a name, or None where nobody agreed to it."""
    granted = _granted.get()
    return math.inf if granted is None else granted.get(name)


def has_leave(name: str) -> bool:
    return leave_for(name) is not None
