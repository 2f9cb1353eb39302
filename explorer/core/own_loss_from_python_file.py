"""A user's own loss from a Python file, as one more entry of the registry.

Each use reads the file again if it changed (`reload_if_changed`). Where allowed, the page edits it
(`write`).
"""

import contextlib
import hashlib
import inspect
import linecache
import math
import shutil
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from lossprism.bare_names import find_bare_names
from lossprism.explorer.core.function_source import source_of
from lossprism.explorer.runtime.atomic_write import atomic_write
from lossprism.explorer.runtime.deployment_policy import deployment_policy
from lossprism.explorer.runtime.jobs import Cancelled
from lossprism.explorer.runtime.local_path import local_path
from lossprism.explorer.runtime.loopback import is_this_computer
from lossprism.explorer.runtime.owner_consent import consented_mib
from lossprism.explorer.runtime.problem import Problem
from lossprism.losses import LOSSES, LossSpec, spec_of

# More of a message than this is for the terminal.
MAX_REASON_LETTERS = 300


# A file of code that is edited in the page is smaller.
MAX_FILE_BYTES = 2**20


@dataclass
class OwnLoss:
    """A user's loss: its `function` in the file at `path`, and the state of the last reading.

    `stamp` is the file's system status, which changes with it, `digest` identifies the content read
    at `read_at` (seconds since 1970); `problem` is the reason if it could not be used.
    """

    path: Path
    function: str
    stamp: tuple[int, int] = (0, 0)
    digest: str = ""
    read_at: float = 0.0
    problem: Problem | None = None


# By the name of the loss.
_OWN_LOSSES: dict[str, OwnLoss] = {}
_LOCK = threading.RLock()
_editor = {"host": ""}


def add_own_loss(place: str) -> LossSpec:
    """Load `file.py:function` and register it.

    The file may hold a `LossSpec` for the function; without one, arguments are matched by name and
    keyword-only numbers become sliders. The file is executed, so it must be the user's own.

    Raises:
        Problem: if there is no such file or function, or its arguments cannot be filled.
    """
    path_text, colon, name = place.rpartition(":")
    path = local_path(path_text)
    if not colon or not name.isidentifier() or path.suffix != ".py":
        raise Problem("own_loss_form", about="loss", place=place)
    own = OwnLoss(path.resolve(), name)
    with _LOCK:
        spec = _read(own)
        LOSSES[spec.name] = spec
        _OWN_LOSSES[spec.name] = own
    return spec


def own_loss(name: str) -> OwnLoss | None:
    """Return the state of the user's loss of this name; None for any other loss."""
    return _OWN_LOSSES.get(name)


def check_consent(place: str, repeated: str = "") -> None:
    """Raise Problem if a run folder names a user's loss without consent to execute it.

    Consent is to repeat its file.py:function here or in the request, or to have opened it before.
    The file is not read, nor its path checked.
    """
    opened = {f"{own.path}:{own.function}" for own in _OWN_LOSSES.values()}
    is_agreed = place in (repeated, *opened) or consented_mib(place) not in (None, math.inf)
    if place and not is_agreed:
        raise Problem("own_loss_leave", about="leave", name=place)


def reload_if_changed(name: str) -> None:
    """Read a user's loss again if its file changed; do nothing for any other loss.

    Raises:
        Problem: the problem of the file as it is, until it changes.
    """
    own = _OWN_LOSSES.get(name)
    if own is None:
        return
    with _LOCK:
        if _stamp_of(own.path) != own.stamp or not own.stamp[0]:
            content = _content_of(own)
            if _digest(content) == own.digest:
                own.stamp = _stamp_of(own.path)
            else:
                try:
                    LOSSES[name] = _read(own)
                except Problem as problem:
                    own.problem = problem
        if own.problem is not None:
            raise own.problem


def _stamp_of(path: Path) -> tuple[int, int]:
    try:
        about = path.stat()
    except OSError:
        return 0, 0
    return about.st_mtime_ns, about.st_size


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:20]


def _content_of(own: OwnLoss) -> bytes:
    try:
        return own.path.read_bytes()
    except OSError as error:
        raise Problem("own_loss_no_file", about="loss", path=own.path) from error


def _read(own: OwnLoss) -> LossSpec:
    """Execute the file and take the loss from it."""
    stamp, content = _stamp_of(own.path), _content_of(own)
    own.stamp, own.digest, own.read_at, own.problem = stamp, _digest(content), time.time(), None
    linecache.cache.pop(str(own.path), None)
    source_of.cache_clear()
    module = ModuleType(f"own_loss_{own.path.stem}")
    module.__file__ = str(own.path)
    sys.modules[module.__name__] = module  # so that its source can be listed
    find_bare_names()  # a file from before the package was called lossprism has them
    try:
        # Compiled here: Python's own cache takes a file of the same size and second for the same.
        exec(compile(content, str(own.path), "exec", dont_inherit=True), vars(module))
    except (Exception, SystemExit) as error:
        raise _error_in_file(own.path.name, own.path, error) from error
    function = getattr(module, own.function, None)
    if not callable(function) and not isinstance(function, LossSpec):
        functions = [key for key, value in vars(module).items() if callable(value)]
        values = {"path": own.path, "name": own.function, "known": ", ".join(functions)}
        raise Problem("own_loss_no_function", about="loss", **values)
    return function if isinstance(function, LossSpec) else _spec_in(module, function)


# ---- Editing


def set_page_host(host: str) -> None:
    """Set the host of the page: files are edited only if no other computer reaches it."""
    _editor["host"] = host


def may_edit() -> bool:
    """Return whether the page may change a loss's file: only for the user who started the app."""
    return deployment_policy().edits_loss_files and is_this_computer(_editor["host"])


def read_text(name: str) -> tuple[OwnLoss, str, str]:
    """Return the loss of this name, the text of its file, and the digest of the text.

    Raises:
        Problem: if it may not be edited here, or cannot be read.
    """
    own = _editable(name)
    content = _content_of(own)
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise Problem("file_unreadable", name=own.path) from error
    return own, text, _digest(content)


def _editable(name: str) -> OwnLoss:
    own = _OWN_LOSSES.get(name)
    if own is None or not may_edit():
        raise Problem("own_loss_not_here", about="loss")
    return own


def write(name: str, text: str, digest: str) -> None:
    """Replace the file's text atomically if it still has this digest.

    Raises:
        Problem: if it may not be edited here, or the file was changed meanwhile.
    """
    with _LOCK:
        own = _editable(name)
        content = _content_of(own)
        if _digest(content) != digest:
            raise Problem("own_loss_changed", about="loss", name=own.path.name)
        if b"\r\n" in content:
            text = text.replace("\n", "\r\n")
        mark = b"\xef\xbb\xbf" if content.startswith(b"\xef\xbb\xbf") else b""
        written = mark + text.encode("utf-8", "backslashreplace")
        if len(written) > MAX_FILE_BYTES:
            most = MAX_FILE_BYTES // 2**20
            raise Problem("file_too_large", name=own.path.name, most=most)
        try:
            with atomic_write(own.path) as file:
                shutil.copymode(own.path, file.name)
                file.write(written)
        except OSError as error:
            raise Problem("own_loss_not_written", about="loss", name=own.path.name) from error


@contextlib.contextmanager
def own_loss_errors(spec: LossSpec) -> Iterator[None]:
    """Turn an exception of the user's function into a problem with type, message, file and line."""
    if spec.group != "own":
        yield
        return
    try:
        yield
    except (Problem, Cancelled):
        raise
    except Exception as error:
        place = Path(inspect.getfile(inspect.unwrap(spec.definition)))
        raise _error_in_file(spec.name, place, error) from error


def _error_in_file(name: str, place: Path, error: BaseException) -> Problem:
    """Return the last line of the user's file in the traceback; for a SyntaxError its own line."""
    line = error.lineno if isinstance(error, SyntaxError) else None
    for frame, number in traceback.walk_tb(error.__traceback__):
        if Path(frame.f_code.co_filename) == place:
            line = number
    message = " ".join(str(error).split())
    return Problem(
        "own_loss_raised",
        about="loss",
        name=name,
        kind=type(error).__name__,
        reason=message[:MAX_REASON_LETTERS],
        file=place,
        line=line or 0,
    )


def _spec_in(module: ModuleType, function: Callable) -> LossSpec:
    for value in vars(module).values():
        if isinstance(value, LossSpec) and value.function is function:
            return value
    try:
        return spec_of(function)
    except (ValueError, TypeError) as error:
        raise Problem(
            "own_loss_arguments", about="loss", name=function.__name__, reason=error
        ) from error
