"""The process of one run: ``python -m lossprism.explorer.lab.training.worker FOLDER [--trial]``.

It waits in the queue, trains, and saves the model in the run's folder. Failures become a problem in
the run's state.
"""

import errno
import math
import os
import shutil
import sys
import time
import traceback
from pathlib import Path

from lossprism.explorer.lab.training.run_folder import MIN_FREE_BYTES, RunFolder
from lossprism.explorer.runtime.hosted_budgets import budget
from lossprism.explorer.runtime.jobs import Cancelled
from lossprism.explorer.runtime.limits import MIB
from lossprism.explorer.runtime.problem import Problem

QUEUE_POLL_SECONDS = 0.2  # between two looks at the queue; times the place in it, at most
MAX_TURNS = 10


def main(folder: str, *options: str) -> int:
    run = RunFolder(Path(folder))
    if hasattr(os, "nice"):
        os.nice(5)  # the page is drawn by the same machine
    bound_memory(budget("training_mib"))
    places = 1
    while not run.belongs_to(os.getpid()) or (places := run.runs_ahead()):
        # Looking at all runs takes time: a run far back in the queue looks less often.
        for _ in range(min(places, MAX_TURNS)):
            time.sleep(QUEUE_POLL_SECONDS)
            if run.command() == "stop":
                run.set_stage("stopped")
                return 0
    return work(run, trial="--trial" in options)


def bound_memory(mib: float) -> None:
    """Limit the memory of this process, in MiB, so that an allocation beyond it fails with a
    problem before the system kills a process."""
    if math.isfinite(mib) and sys.platform == "linux":
        import resource

        limit = int(mib * MIB)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def work(run: RunFolder, trial: bool = False) -> int:
    """Train; store failures in the state of the run."""
    run.set_stage("loading", part="libraries", began=time.time())
    try:
        # Imported only now: a waiting run should not take their memory.
        from lossprism.explorer.lab.training.training_run import train

        train(run, trial)
    except Cancelled:  # stopped before there was a model to keep
        run.set_stage("stopped")
    except Exception as error:
        traceback.print_exc()
        run.set_stage("failed", problem=_problem(run, error))
        return 1
    return 0


def _problem(run: RunFolder, error: Exception) -> Problem:
    if isinstance(error, Problem):
        return error
    # Libraries that write weights wrap the system's error, at best with its text.
    free = shutil.disk_usage(run.path).free
    is_full = getattr(error, "errno", None) == errno.ENOSPC or os.strerror(errno.ENOSPC) in str(
        error
    )
    if is_full or free < MIN_FREE_BYTES:
        return Problem("training_disk_full", folder=run.path, free=free // 2**20)
    reason = (str(error).strip() or type(error).__name__).splitlines()[0][:300]
    return Problem("training_crashed", reason=reason, file=run.path / "worker.txt")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
