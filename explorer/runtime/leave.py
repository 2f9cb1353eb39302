"""What the owner of the machine has agreed to in a request: which models and data sets may be
fetched, which files and folders may be read, and which Python files of a run folder may be run.

A link, a scene file or a run folder may come from anybody, so what it names is not fetched, read or
run before its owner says so. Commands and Python calls name things themselves: there all is agreed
to.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from pathlib import Path

from explorer.runtime.limits import MIB
from explorer.runtime.local_path import is_inside, is_network_path, local_path
from explorer.runtime.problem import Problem
from explorer.runtime.validation import finite, of_type

# By name, how many MiB may be fetched; None where whoever asks named everything.
_granted: ContextVar[Mapping[str, float] | None] = ContextVar("granted", default=None)
# Where the app keeps its own runs, and what its owner named as they started it.
_own_folders: set[str] = set()


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


def require_leave(name: str, key: str) -> None:
    """Raise Problem with the sentence `key` where nobody agreed to what goes by this name."""
    if not has_leave(name):
        raise Problem(key, about="leave", name=name)


def allow_folder(folder: str | Path) -> None:
    """Let every request of this process read what is in a folder, which its owner named."""
    _own_folders.add(os.path.abspath(local_path(str(folder))))


def agreed_path(name: str) -> Path:
    """Return the path of a file or folder of this computer that a request names.

    The link that names it may be somebody else's, so nothing on the disk is looked at.

    Raises Problem for a path on another computer, and where nobody agreed to this one or, of a
    file, to the folder that it is in.
    """
    path = local_path(name)
    if not (has_leave(name.strip()) or _is_in_agreed_folder(path) or _is_own(path)):
        raise Problem("folder_leave", about="leave", name=name.strip())
    return path


def _is_in_agreed_folder(path: Path) -> bool:
    agreed = [name for name in _granted.get() or () if not is_network_path(name)]
    return os.path.dirname(os.path.abspath(path)) in [
        os.path.abspath(local_path(n)) for n in agreed
    ]


def _is_own(path: Path) -> bool:
    """Whether a path leads into an own folder; only what is written as one is looked at."""
    written = Path(os.path.abspath(path))
    return any(written.is_relative_to(own) and is_inside(path, Path(own)) for own in _own_folders)


def require_leave_for_size(name: str, size: int, key: str) -> None:
    """Raise Problem with the sentence `key` where these are more bytes than anybody agreed to."""
    agreed = leave_for(name)
    if agreed is not None and size > agreed * MIB:
        raise Problem(key, about="leave", name=name, mib=size // MIB + 1)
