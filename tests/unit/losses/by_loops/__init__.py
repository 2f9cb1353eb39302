"""The losses once more, as loops over lists of Python floats: no torch, no code of `losses`.

Each is read off the formula of its paper or library alone.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable

from tests.unit.losses.by_loops import classes, in_batch, lists, pairs, spread, teachers

LOSSES: dict[str, Callable[..., float]] = {
    name: function
    for module in (pairs, in_batch, classes, teachers, lists, spread)
    for name, function in inspect.getmembers(module, inspect.isfunction)
    if function.__module__ == module.__name__ and not name.startswith("_")
}
