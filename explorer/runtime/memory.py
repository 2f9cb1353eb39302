"""What is kept in memory, and what is given back."""

from __future__ import annotations

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


def held_bytes(thing: object) -> int:
    """What the arrays and texts take that can be reached from `thing`, each counted once."""
    waiting, known, held = [thing], set(), 0
    while waiting:
        one = waiting.pop()
        if isinstance(one, np.ndarray) and one.base is not None:
            waiting.append(one.base)
            continue
        place, size = _room(one)
        if place in known:
            continue
        known.add(place)
        held += size
        if not size:
            waiting += _parts(one)
    return held


def left() -> int:
    """How many bytes may still be taken: of the machine's, and of the container's if it has fewer
    (cgroup v2; files that the system keeps in memory are given up when it is needed)."""
    free = psutil.virtual_memory().available
    try:
        most = (CGROUP / "memory.max").read_text().strip()
        used = int((CGROUP / "memory.current").read_text())
        told = dict(line.split() for line in (CGROUP / "memory.stat").read_text().splitlines())
    except OSError:  # no container, or an old one
        return free
    if most == "max":
        return free
    return min(free, int(most) - used + int(told.get("inactive_file", 0)))


def _room(thing: object) -> tuple[int, int]:
    """What tells it from others, and the bytes it takes; 0 for what only leads to others."""
    if isinstance(thing, np.ndarray):
        return thing.ctypes.data, thing.nbytes
    torch = sys.modules.get("torch")  # where nobody imported it there is no tensor
    if torch is not None and isinstance(thing, torch.Tensor):
        storage = cast("Tensor", thing).untyped_storage()
        return storage.data_ptr(), storage.nbytes()
    return id(thing), sys.getsizeof(thing) if isinstance(thing, BUFFERS) else 0


def _parts(thing: object) -> list[object]:
    """What a thing without arrays of its own leads to."""
    if isinstance(thing, list | tuple):
        return list(thing)
    if closure := getattr(thing, "__closure__", None):
        return [cell.cell_contents for cell in closure]
    return [] if isinstance(thing, type) else list(getattr(thing, "__dict__", {}).values())
