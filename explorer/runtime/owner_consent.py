"""Consent of the machine's owner in a request: models and datasets that may be fetched, files and
folders that may be read, and Python files of a run folder that may be executed.

A link, a scenario file or a run folder may come from anybody, so nothing that it names is fetched,
read or executed without its owner's consent. In commands and Python calls, naming it is consent.
"""

import math
import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from pathlib import Path

from lossprism.explorer.runtime.deployment_policy import deployment_policy
from lossprism.explorer.runtime.limits import MIB
from lossprism.explorer.runtime.local_path import (
    file_inside,
    is_inside,
    is_network_path,
    local_path,
)
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.validation import finite, of_type

# By name, how many MiB may be fetched; None where whoever asks named everything.
_granted: ContextVar[Mapping[str, float] | None] = ContextVar("granted", default=None)
# Where the app keeps its own runs, and what its owner named as they started it.
_own_folders: set[str] = set()
_picture_folders: dict[str, None] = {}  # in the order in which the owner named them


def read_consent(value: object) -> dict[str, float]:
    """Read the consent of a request, {name: MiB}. Raises Problem for anything else."""
    return {name: finite(mib, "leave") for name, mib in of_type(dict)(value, "leave").items()}


@contextmanager
def with_consent(granted: Mapping[str, float]) -> Iterator[None]:
    """Run the body with no consent but `granted`."""
    before = _granted.set(granted)
    try:
        yield
    finally:
        _granted.reset(before)


def command_consent(fetch: bool) -> AbstractContextManager[None]:
    """Return the consent of a command that opens a scenario, which may be somebody else's; with
    `fetch` for its models."""
    return nullcontext() if fetch else with_consent({})


def consented_mib(name: str) -> float | None:
    """Return the MiB that may be fetched under a name, None without consent."""
    granted = _granted.get()
    return math.inf if granted is None else granted.get(name)


def has_consent(name: str) -> bool:
    return consented_mib(name) is not None


def require_consent(name: str, key: str) -> None:
    """Raise Problem with the sentence `key` without consent to this name."""
    if not has_consent(name):
        raise Problem(key, about="leave", name=name)


def allow_folder(folder: str | Path) -> None:
    """Let every request of this process read a folder that its owner named."""
    _own_folders.add(os.path.abspath(local_path(str(folder))))


def allow_pictures(folder: str | Path) -> None:
    """Let tables name the pictures in a folder of the owner's by their paths.

    Raises Problem where there is no such folder, and on a hosted page.
    """
    path = os.path.abspath(local_path(str(folder)))
    if not (deployment_policy().reads_local_paths and os.path.isdir(path)):
        raise Problem("picture_folder", folder=str(folder))
    _picture_folders[path] = None


def has_picture_folder() -> bool:
    """Return whether pictures may be named by paths: never on a hosted page."""
    return bool(_picture_folders) and deployment_policy().reads_local_paths


def picture_path(name: str) -> Path | None:
    """Return the file that a table names as a picture; None where it is in none of the owner's
    folders."""
    folders = _picture_folders if has_picture_folder() else ()
    return next(filter(None, (file_inside(name, folder) for folder in folders)), None)


def agreed_path(name: str) -> Path:
    """Return the path of a file or folder of this computer that a request names.

    The link that names it may be somebody else's, so the disk is not accessed.

    Raises Problem for a path on another computer, and without consent to it or, for a file, to its
    folder.
    """
    path = local_path(name)
    if not (has_consent(name.strip()) or is_agreed(path)):
        raise Problem("folder_leave", about="leave", name=name.strip())
    return path


def is_agreed(path: Path) -> bool:
    """Return whether the owner agreed to all of a path's folder."""
    return _is_in_agreed_folder(path) or _is_own(path)


def _is_in_agreed_folder(path: Path) -> bool:
    agreed = [name for name in _granted.get() or () if not is_network_path(name)]
    return os.path.dirname(os.path.abspath(path)) in [
        os.path.abspath(local_path(n)) for n in agreed
    ]


def _is_own(path: Path) -> bool:
    """Return whether a path leads into an own folder; the disk is accessed only if its text
    does."""
    written = Path(os.path.abspath(path))
    return any(written.is_relative_to(own) and is_inside(path, Path(own)) for own in _own_folders)


def require_consent_to_size(name: str, size: int, key: str) -> None:
    """Raise Problem with the sentence `key` for more bytes than were consented to."""
    agreed = consented_mib(name)
    if agreed is not None and size > agreed * MIB:
        raise Problem(key, about="leave", name=name, mib=size // MIB + 1)
