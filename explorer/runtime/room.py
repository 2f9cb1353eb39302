"""Admission control: whether a hosted page has room for what is asked, in memory and on the disk,
looked at before it is begun. At home all may be tried."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

from explorer.locale import grouped
from explorer.runtime.budgets import budget
from explorer.runtime.limits import MIB
from explorer.runtime.memory import left
from explorer.runtime.problem import Problem
from explorer.runtime.visitors import is_hosted


def check_memory(pairs: int = 0, bytes_a_pair: int = 0, beside_mib: int = 0) -> None:
    """Refuse heavy work on so many pairs, and with so much beside them, that would take more memory
    than a request may have, or than is left.

    Raises:
        Problem: with the number of pairs that would fit where these are too many.
    """
    if not is_hosted():
        return
    need, most = beside_mib + pairs * bytes_a_pair / MIB, budget("request_mib")
    if need > most:
        fits = grouped(max(int((most - beside_mib) * MIB // max(bytes_a_pair, 1)), 0))
        told = {"count": pairs, "need": grouped(math.ceil(need)), "most": grouped(int(most))}
        raise Problem("request_memory", about="size", **told, fits=fits)
    if left() / MIB - need < budget("memory_left_mib"):
        raise Problem("low_memory", about="again")


def check_disk(folder: Path) -> None:
    """Refuse to keep something in this folder where the disk is nearly full. Raises Problem."""
    if not is_hosted():
        return
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if shutil.disk_usage(there).free / MIB < budget("disk_left_mib"):
        raise Problem("low_disk", about="again")
