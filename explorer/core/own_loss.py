"""A user's own loss, from a Python file, as one more entry of the registry."""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

from explorer.runtime.problem import Problem
from losses import LOSSES, LossSpec, spec_of

# More of a message than this is for the terminal.
LETTERS = 300


def add_own_loss(place: str) -> LossSpec:
    """Load `file.py:function` and register it; what the file says of itself is used.

    The file may hold a `LossSpec` for the function; without one, arguments are matched by name
    and keyword-only numbers become sliders. The file is run: only ever one's own.

    Raises:
        Problem: if there is no such file or function, or its arguments cannot be filled.
    """
    path_text, colon, name = place.rpartition(":")
    path = Path(path_text).expanduser()
    if not colon or not name.isidentifier():
        raise Problem("own_loss_form", about="loss", place=place)
    if not path.is_file():
        raise Problem("own_loss_no_file", about="loss", path=path)
    module_spec = importlib.util.spec_from_file_location(f"own_loss_{path.stem}", path)
    if module_spec is None or module_spec.loader is None:  # its name says nothing of Python
        raise Problem("own_loss_form", about="loss", place=place)
    module = importlib.util.module_from_spec(module_spec)
    sys.modules[module_spec.name] = module  # so that its source can be listed
    try:
        module_spec.loader.exec_module(module)
    except Exception as error:
        raise _raised(path.name, path, error) from error
    found = getattr(module, name, None)
    if not callable(found) and not isinstance(found, LossSpec):
        functions = [key for key, value in vars(module).items() if callable(value)]
        raise Problem(
            "own_loss_no_function", about="loss", path=path, name=name, known=", ".join(functions)
        )
    spec = found if isinstance(found, LossSpec) else _spec_in(module, found)
    LOSSES[spec.name] = spec
    return spec


@contextlib.contextmanager
def own_faults(spec: LossSpec) -> Iterator[None]:
    """What a function of the user's own raises is theirs to read: type, message, file and line."""
    if spec.group != "own":
        yield
        return
    try:
        yield
    except Problem:
        raise
    except Exception as error:
        place = Path(inspect.getfile(inspect.unwrap(spec.definition)))
        raise _raised(spec.name, place, error) from error


def _raised(name: str, place: Path, error: Exception) -> Problem:
    """The last line of the user's file that the error came through; of a SyntaxError its own."""
    line = error.lineno if isinstance(error, SyntaxError) else None
    for frame, number in traceback.walk_tb(error.__traceback__):
        if Path(frame.f_code.co_filename) == place:
            line = number
    said = " ".join(str(error).split())
    kind = type(error).__name__
    about = {"name": name, "kind": kind, "reason": said[:LETTERS], "file": place, "line": line or 0}
    return Problem("own_loss_raised", about="loss", **about)


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
