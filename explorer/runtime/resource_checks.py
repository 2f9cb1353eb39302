"""Checks of memory and disk space before a hosted page begins heavy work.

On the user's own machine nothing is refused.
"""

from __future__ import annotations

import math
import shutil
from pathlib import Path

from explorer.locale import grouped
from explorer.runtime.budgets import budget
from explorer.runtime.deployment_policy import deployment_policy
from explorer.runtime.limits import MIB
from explorer.runtime.memory import left
from explorer.runtime.problem import Problem, logged


def check_memory(pairs: int = 0, bytes_a_pair: int = 0, beside_mib: int = 0) -> None:
    """Refuse heavy work on so many pairs, and with so much beside them, that would take more memory
    than a request may have, or than is left.

    Raises:
        Problem: with the number of pairs that would fit where these are too many.
    """
    if not deployment_policy().bounded:
        return
    need, most = beside_mib + pairs * bytes_a_pair / MIB, budget("request_mib")
    fits = max(int((most - beside_mib) * MIB // max(bytes_a_pair, 1)), 0)
    _must_fit("request_memory", pairs, need, most, fits)
    from explorer.runtime import device  # torch, which who reads a table at home does without

    # What is computed on a GPU takes of its memory, and hardly less of the machine's meanwhile.
    if min(left(), device.memory_left()) / MIB - need < budget("memory_left_mib"):
        raise logged(Problem("low_memory", about="again"))


def check_matrices(pairs: int, bytes_a_cell: int) -> None:
    """The same of work that holds matrices of these pairs, each beside each."""
    if not deployment_policy().bounded:
        return
    most = budget("request_mib")
    fits = math.isqrt(int(most * MIB) // bytes_a_cell)
    _must_fit("request_memory", pairs, pairs**2 * bytes_a_cell / MIB, most, fits)
    check_memory(beside_mib=pairs**2 * bytes_a_cell // MIB)


def _must_fit(key: str, pairs: int, need: float, most: float, fits: int) -> None:
    if need > most:
        told = {"count": pairs, "need": grouped(math.ceil(need)), "most": grouped(int(most))}
        raise logged(Problem(key, about="size", **told, fits=grouped(fits)))


def check_cells(pairs: int, times: float) -> None:
    """Refuse to go so often through the cells of so many pairs, each beside each. Raises Problem
    with the number of pairs that would fit."""
    if not deployment_policy().bounded:
        return
    most = budget("request_cells")
    fits = math.isqrt(int(most / max(times, 1)))
    _must_fit("request_cells", pairs, times * pairs**2, most, fits)


def check_disk(folder: Path) -> None:
    """Refuse to keep something in this folder where the disk is nearly full. Raises Problem."""
    if not deployment_policy().bounded:
        return
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if shutil.disk_usage(there).free / MIB < budget("disk_left_mib"):
        raise logged(Problem("low_disk", about="again"))
