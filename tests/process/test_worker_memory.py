"""The process of a run takes no more memory than a hosted page gives it."""

from __future__ import annotations

import subprocess
import sys

import pytest

WORK = """
from lossprism.explorer.lab.training.worker import bound_memory
bound_memory({mib})
held = bytearray({take} * 2**20)
print("taken")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the system has no such bound")
@pytest.mark.parametrize(("mib", "take", "taken"), [(200, 50, True), (200, 300, False)])
def test_what_asks_for_more_is_refused_it(mib, take, taken):
    code = WORK.format(mib=mib, take=take)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ("taken" in done.stdout) == taken
    assert ("MemoryError" in done.stderr) != taken
