"""The process of a page that strangers share: its preparation, its state, and what it deletes."""

import shutil
import sys
import threading
import time

import psutil
from anyio import CapacityLimiter, to_thread

from lossprism.explorer.lab.training.run_control import default_runs
from lossprism.explorer.lab.training.run_folder import all_runs
from lossprism.explorer.runtime import device, downloads, jobs, memory_use, uploads, worker_process
from lossprism.explorer.runtime.cache import cache_folder
from lossprism.explorer.runtime.child_processes import allow_connections, give_back
from lossprism.explorer.runtime.deployment_policy import deployment_policy
from lossprism.explorer.runtime.fair_queue import HEAVY, MIDDLING, FairQueue
from lossprism.explorer.runtime.hosted_budgets import BUDGETS, budget
from lossprism.explorer.runtime.limits import MIB
from lossprism.explorer.runtime.redaction import log_without_words
from lossprism.explorer.runtime.response_types import Json
from lossprism.explorer.sources import hub_cache_pruning
from lossprism.explorer.sources.encoders.encoder_output_cache import limit_cache
from lossprism.explorer.web.middleware.exception_handler import report_defect
from lossprism.version import VERSION

TIDIED_S = 300.0
SWITCHED_S = 0.0005


def health() -> Json:
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
            "left": memory_use.left() // MIB,
        },
        "disk_mib": {"left": left // MIB},
    }


def _counts(of: FairQueue) -> Json:
    begun, waiting = of.counts
    return {"under_way": begun, "waiting": waiting}


_watched = CapacityLimiter(1)


async def watched() -> Json:
    """Return a route of `health` with its own thread, so that it answers even if all others are
    busy."""
    return await to_thread.run_sync(health, limiter=_watched)


def forget_mine() -> None:
    """Delete all data of the requesting visitor on a hosted page: files, derived data, and
    runs."""
    if not deployment_policy().knows_visitors:
        return
    jobs.forget_mine()
    uploads.forget_mine()
    downloads.forget_mine()
    default_runs().forget_mine()


def prepare_for_strangers() -> None:
    """Prepare this process to serve strangers.

    Raises ValueError if a budget in the environment is no number.
    """
    for known in BUDGETS:
        known.read()
    allow_connections()
    answer_soon()
    log_without_words()
    keep_tidy()
    limit_cache(int(budget("vectors_mib") * MIB))
    if device.device().type == "cpu":  # a GPU computes in few processes, and beside Python
        for worker in worker_process.WORKERS:
            worker.is_allowed = True


def answer_soon(seconds: float = SWITCHED_S) -> None:
    """Shorten the time for which a thread keeps Python's lock: an answer waits for it several
    times. Beside two readers of large files a light answer took 38 ms, 107 at the 95th percentile,
    with Python's own 5 ms; with this 12 and 39."""
    sys.setswitchinterval(seconds)


def keep_tidy(every: float = TIDIED_S) -> None:
    """Start a periodic deletion of expired data, also of a process that crashed."""

    def tidy() -> None:
        while True:
            drop_old()
            give_back()  # what large requests have left
            time.sleep(every)

    threading.Thread(target=tidy, daemon=True).start()


def drop_old() -> None:
    """Delete data unused for longer than a hosted page keeps them."""
    for drop in (
        uploads.drop_old,
        downloads.drop_old,
        default_runs().drop_old,
        hub_cache_pruning.drop_old,
    ):
        try:
            drop()
        except OSError as error:  # the others go all the same, and this one the next time
            print(f"nothing old is removed: {type(error).__name__}", file=sys.stderr, flush=True)
        except Exception as error:
            report_defect(error)
