"""The process of a page that strangers share: its preparation, its state, and what it deletes."""

import sys
import threading
import time

from lossprism.explorer.lab.training.run_control import default_runs
from lossprism.explorer.runtime import device, downloads, jobs, uploads, worker_process
from lossprism.explorer.runtime.deployment_policy import deployment_policy
from lossprism.explorer.runtime.hosted_budgets import BUDGETS, budget
from lossprism.explorer.runtime.limits import MIB
from lossprism.explorer.runtime.memory_use import release_freed_memory
from lossprism.explorer.runtime.redaction import log_without_words
from lossprism.explorer.sources import hub_cache_pruning
from lossprism.explorer.sources.encoders.encoder_output_cache import limit_cache
from lossprism.explorer.web.middleware.exception_handler import report_defect

TIDIED_S = 300.0
SWITCHED_S = 0.0005


def forget_visitor() -> None:
    """Delete all data of the requesting visitor on a hosted page: files, derived data, and
    runs."""
    if not deployment_policy().separates_visitors:
        return
    jobs.forget_visitor()
    uploads.forget_visitor()
    downloads.forget_visitor()
    default_runs().forget_visitor()


def prepare_for_strangers() -> None:
    """Prepare this process to serve strangers.

    Raises ValueError if a budget in the environment is no number.
    """
    for known in BUDGETS:
        known.read()
    allow_connections()
    shorten_thread_switches()
    log_without_words()
    start_cleanup()
    limit_cache(int(budget("vectors_mib") * MIB))
    if device.device().type == "cpu":  # a GPU computes in few processes, and beside Python
        for worker in worker_process.WORKERS:
            worker.is_allowed = True


def shorten_thread_switches() -> None:
    """Shorten the time for which a thread keeps Python's lock: an answer waits for it several
    times. Beside two readers of large files a light answer took 38 ms, 107 at the 95th percentile,
    with Python's own 5 ms; with this 12 and 39."""
    sys.setswitchinterval(SWITCHED_S)


def start_cleanup() -> None:
    """Start a periodic deletion of expired data, also of a process that crashed."""

    def tidy() -> None:
        while True:
            delete_expired()
            release_freed_memory()  # what large requests have left
            time.sleep(TIDIED_S)

    threading.Thread(target=tidy, daemon=True).start()


def delete_expired() -> None:
    """Delete data unused for longer than a hosted page keeps them."""
    for drop in (
        uploads.delete_expired,
        downloads.delete_expired,
        default_runs().delete_expired,
        hub_cache_pruning.delete_expired,
    ):
        try:
            drop()
        except OSError as error:  # the others go all the same, and this one the next time
            print(f"nothing old is removed: {type(error).__name__}", file=sys.stderr, flush=True)
        except Exception as error:
            report_defect(error)


CONNECTIONS = 16_384  # also the most that docs/nginx.conf passes on


def allow_connections(most: int = CONNECTIONS) -> None:
    """Raise this process's limit of connections as far as permitted: a shell allows a
    thousand."""
    try:
        import resource
    except ImportError:  # the system sets no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
    if soft != resource.RLIM_INFINITY and soft < limit:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
