"""Checks of memory and disk space before a hosted page begins heavy work.

On the user's own machine nothing is refused.
"""

import math
import shutil
from pathlib import Path

from lossprism.explorer.locale import grouped
from lossprism.explorer.runtime.deployment_policy import deployment_policy
from lossprism.explorer.runtime.hosted_budgets import budget
from lossprism.explorer.runtime.limits import MIB
from lossprism.explorer.runtime.memory_use import free_memory
from lossprism.explorer.runtime.problem import Problem, logged


def check_memory(pairs: int = 0, bytes_a_pair: int = 0, beside_mib: int = 0) -> None:
    """Refuse heavy work on so many pairs, with so much beside them, that would take more memory
    than a request may have, or than is free.

    Raises:
        Problem: with the number of pairs that would fit, if these are too many.
    """
    if not deployment_policy().has_budgets:
        return
    need, limit = beside_mib + pairs * bytes_a_pair / MIB, budget("request_mib")
    fits = max(int((limit - beside_mib) * MIB // max(bytes_a_pair, 1)), 0)
    _must_fit("request_memory", pairs, need, limit, fits)
    from lossprism.explorer.runtime import (
        device,  # torch, which who reads a table at home does without
    )

    # What is computed on a GPU takes of its memory, and hardly less of the machine's meanwhile.
    if min(free_memory(), device.memory_left()) / MIB - need < budget("memory_left_mib"):
        raise logged(Problem("low_memory", about="again"))


def check_matrices(pairs: int, bytes_a_cell: int) -> None:
    """Refuse work with matrices of all pairs against all that would take too much memory."""
    if not deployment_policy().has_budgets:
        return
    limit = budget("request_mib")
    fits = math.isqrt(int(limit * MIB) // bytes_a_cell)
    _must_fit("request_memory", pairs, pairs**2 * bytes_a_cell / MIB, limit, fits)
    check_memory(beside_mib=pairs**2 * bytes_a_cell // MIB)


def _must_fit(key: str, pairs: int, need: float, limit: float, fits: int) -> None:
    if need > limit:
        values = {"count": pairs, "need": grouped(math.ceil(need)), "most": grouped(int(limit))}
        raise logged(Problem(key, about="size", **values, fits=grouped(fits)))


def check_cells(pairs: int, times: float) -> None:
    """Refuse to visit the cells of a matrix of so many pairs too often. Raises Problem with the
    number of pairs that would fit."""
    if not deployment_policy().has_budgets:
        return
    limit = budget("request_cells")
    fits = math.isqrt(int(limit / max(times, 1)))
    _must_fit("request_cells", pairs, times * pairs**2, limit, fits)


def check_disk(folder: Path) -> None:
    """Raise Problem if the disk of this folder is nearly full."""
    if not deployment_policy().has_budgets:
        return
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if shutil.disk_usage(there).free / MIB < budget("disk_left_mib"):
        raise logged(Problem("low_disk", about="again"))
