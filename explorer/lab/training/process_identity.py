"""The process of a run, distinguished from later ones with the same number."""

import psutil

from lossprism.explorer.lab.training.run_json_types import RunState

# The clock may be set between two readings of the start of a process.
SAME_CLOCK_SECONDS = 10
# The system counts the start of a process from its boot in hundredths of a second.
SAME_TICK_SECONDS = 0.05


def is_running(state: RunState) -> bool:
    """Return True if the process of a run still runs."""
    try:
        clock, after_boot = start_of(state.process)
        same = abs(clock - state.born) < SAME_CLOCK_SECONDS
        if state.after_boot is not None:
            same |= abs(after_boot - state.after_boot) < SAME_TICK_SECONDS
        return same and psutil.Process(state.process).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def start_of(process: int) -> tuple[float, float]:
    """Return when the process of this number started: in seconds of the clock, and after the boot.

    When the clock is set, Linux moves the first with it and keeps the second; macOS and Windows
    keep the first and move the second.

    Raises:
        psutil.NoSuchProcess: if there is none.
    """
    booted, clock = psutil.boot_time(), psutil.Process(process).create_time()
    return clock, clock - booted
