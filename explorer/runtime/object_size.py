"""Sizes of objects in memory: of the arrays and texts that they hold."""

import sys
from array import array
from typing import TYPE_CHECKING, cast

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor


BUFFERS = bytes | bytearray | array | str


def bytes_of(thing: object) -> int:
    """Return the bytes of arrays and texts reachable from `thing`, each counted once; of texts in a
    temporary file (`nbytes`), too."""
    waiting, visited, total = [thing], set(), 0
    while waiting:
        one = waiting.pop()
        if isinstance(one, np.ndarray) and one.base is not None:
            waiting.append(one.base)
            continue
        place, size = _identity_and_size(one)
        if place in visited:
            continue
        visited.add(place)
        total += size
        if not size:
            waiting += _parts(one)
    return total


def _identity_and_size(thing: object) -> tuple[int, int]:
    """Return an object's identity and its bytes, 0 for a mere container."""
    if isinstance(thing, np.ndarray):
        return thing.ctypes.data, thing.nbytes
    torch = sys.modules.get("torch")  # where nobody imported it there is no tensor
    if torch is not None and isinstance(thing, torch.Tensor):
        storage = cast("Tensor", thing).untyped_storage()
        return storage.data_ptr(), storage.nbytes()
    if isinstance(thing, BUFFERS):
        return id(thing), sys.getsizeof(thing)
    return id(thing), 0 if isinstance(thing, type) else getattr(thing, "nbytes", 0)


def _parts(thing: object) -> list[object]:
    """Return the objects that a container refers to."""
    if isinstance(thing, list | tuple):
        return list(thing)
    if closure := getattr(thing, "__closure__", None):
        return [cell.cell_contents for cell in closure]
    return [] if isinstance(thing, type) else list(getattr(thing, "__dict__", {}).values())
