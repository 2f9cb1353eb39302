"""The process of a run, told apart from later ones of the same number."""

from __future__ import annotations

from pathlib import Path

import psutil

from lossprism.explorer.lab.training.run_records import RunState

# The system counts from a start that moves when its clock is set.
SAME_BIRTH_SECONDS = 10


def is_running(state: RunState) -> bool:
    """True if the process of a run still runs."""
    try:
        process = psutil.Process(state.process)
        if state.birth:
            same = state.birth == birth_of(state.process)
        else:
            same = abs(process.create_time() - state.born) < SAME_BIRTH_SECONDS
        return same and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def birth_of(process: int) -> str:
    """Identify the process of this number, whatever the clock is set to: the boot of the system and
    the tick at which it started. "" where the system does not have them."""
    try:
        start = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        stat = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return ""
    return f"{start} {stat.rpartition(')')[2].split()[19]}"  # its name may have spaces


def one_gpu(device: str | None, visible: str | None) -> dict[str, str]:
    """Return the environment that hides all GPUs but the chosen one from a process: the trainer
    would use them all, each with a batch of its own. `visible` is CUDA_VISIBLE_DEVICES as it
    stands."""
    kind, _, place = (device or "cuda").partition(":")
    if kind != "cuda" or visible == "":
        return {}
    known = visible.split(",") if visible else None
    return {"CUDA_VISIBLE_DEVICES": known[int(place or 0)] if known else place or "0"}
