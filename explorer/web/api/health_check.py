"""The answer of /healthz: the state of a hosted page, for its host."""

import shutil

import psutil
from anyio import CapacityLimiter, to_thread

from lossprism.explorer.lab.training.run_control import default_runs
from lossprism.explorer.lab.training.run_folder import all_runs
from lossprism.explorer.runtime import worker_process
from lossprism.explorer.runtime.cache_folder import cache_folder
from lossprism.explorer.runtime.fair_queue import HEAVY, MIDDLING, FairQueue
from lossprism.explorer.runtime.limits import MIB
from lossprism.explorer.runtime.memory_use import free_memory
from lossprism.explorer.runtime.response_field_types import Json
from lossprism.version import VERSION


def state_of_page() -> Json:
    """Return the state of a hosted page: middling and heavy work running and waiting, trainings
    running or waiting, and free memory and disk, in MiB."""
    try:
        left = shutil.disk_usage(cache_folder("files")).free
    except OSError:  # it can be neither written nor read
        left = 0
    beside = sum(worker.memory for worker in worker_process.WORKERS)
    return {
        "alive": True,
        "version": VERSION,
        "middling": _counts(MIDDLING),
        "heavy": _counts(HEAVY),
        "trainings": sum(run.is_live() for run in all_runs(default_runs().root)),
        "memory_mib": {
            "own": (psutil.Process().memory_info().rss + beside) // MIB,
            "left": free_memory() // MIB,
        },
        "disk_mib": {"left": left // MIB},
    }


def _counts(of: FairQueue) -> Json:
    begun, waiting = of.counts
    return {"under_way": begun, "waiting": waiting}


_own_thread = CapacityLimiter(1)


async def health() -> Json:
    """Return `state_of_page` from a thread of its own, so that it answers even if all others are
    busy."""
    return await to_thread.run_sync(state_of_page, limiter=_own_thread)
