"""Long work in the background, with progress to be asked for and a way to stop it."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any

from explorer import progress
from explorer.lab.large.memory import give_back
from explorer.progress import Cancelled

# Work that nobody has asked about for so long is stopped: the page was closed.
PATIENCE_S = 60.0
MOST_RESULTS = 3

# What work says of itself: what is being done, how much of it is done, and of how much.
Report = Callable[[str, int, int], None]


class Job:
    """One piece of work: `report(what, done, total)` is what it calls while it goes on."""

    def __init__(self, work: Callable[[Report], Any]) -> None:
        self.progress = ("start", 0, 0)
        self.stopped = False
        self.told = False  # it failed, and whoever asked has heard so
        self._asked = time.monotonic()
        self._outcome: tuple[bool, Any] | None = None
        self._done = threading.Event()
        self._work = work
        self._name = f"large {id(self):x}"
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        try:
            with progress.job(self._name):  # an encoder stops between two batches
                self._outcome = (True, self._work(self._report))
        except BaseException as error:  # raised again where it is asked for
            self._outcome = (False, error)
        self._work = None
        give_back()
        self._done.set()

    def _report(self, what: str, done: int, total: int) -> None:
        self.progress = (what, done, total)
        if self.stopped or time.monotonic() - self._asked > PATIENCE_S:
            self.stopped = True
            raise Cancelled

    def stop(self) -> None:
        """Let the work end as soon as it says how far it is."""
        self.stopped = True
        progress.cancel(self._name)

    def wait(self, seconds: float) -> bool:
        """Whether the work is done, at the latest after so many seconds."""
        self._asked = time.monotonic()
        return self._done.wait(seconds)

    @property
    def done(self) -> bool:
        return self._done.is_set()

    def result(self) -> Any:
        """What the work gave, or the error it ended with."""
        fine, value = self._outcome
        if fine:
            return value
        self.told = True
        raise value


class Jobs:
    """Work by key: the same work is done once, and its result kept while it is in use."""

    def __init__(self, most: int = MOST_RESULTS) -> None:
        self._most = most
        self._jobs: OrderedDict[Hashable, Job] = OrderedDict()
        self._lock = threading.Lock()

    def start(self, key: Hashable, work: Callable) -> Job:
        """The job of this key; one that was stopped, or has told its failure, begins again."""
        with self._lock:
            job = self._jobs.get(key)
            if job is None or job.stopped or job.told:
                job = self._jobs[key] = Job(work)
            self._jobs.move_to_end(key)
            finished = [other for other, kept in self._jobs.items() if kept.done]
            for oldest in finished[: max(0, len(self._jobs) - self._most)]:
                if oldest != key:
                    del self._jobs[oldest]
            return job

    def cancel(self, key: Hashable) -> None:
        """Stop the job, if it is under way."""
        with self._lock:
            if key in self._jobs and not self._jobs[key].done:
                self._jobs[key].stop()
