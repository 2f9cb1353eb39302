"""Sizes of objects in memory, and free memory."""

import sys
from array import array
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
import psutil

if TYPE_CHECKING:
    from torch import Tensor

CGROUP = Path("/sys/fs/cgroup")
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


def left() -> int:
    """Return the free bytes of the machine, or of the container if it has fewer (cgroup v2; the
    system's file cache counts as free)."""
    free = psutil.virtual_memory().available
    try:
        limit = (CGROUP / "memory.max").read_text().strip()
        used = int((CGROUP / "memory.current").read_text())
        statistics = dict(
            line.split() for line in (CGROUP / "memory.stat").read_text().splitlines()
        )
    except OSError:  # no container, or an old one
        return free
    if limit == "max":
        return free
    return min(free, int(limit) - used + int(statistics.get("inactive_file", 0)))


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
