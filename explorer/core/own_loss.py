"""A user's own loss, from a Python file, as one more entry of the registry."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from explorer.runtime.problem import Problem
from losses import LOSSES, LossSpec, spec_of


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
    module_spec.loader.exec_module(module)
    found = getattr(module, name, None)
    if not callable(found) and not isinstance(found, LossSpec):
        functions = [key for key, value in vars(module).items() if callable(value)]
        raise Problem(
            "own_loss_no_function", about="loss", path=path, name=name, known=", ".join(functions)
        )
    spec = found if isinstance(found, LossSpec) else _spec_in(module, found)
    LOSSES[spec.name] = spec
    return spec


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
