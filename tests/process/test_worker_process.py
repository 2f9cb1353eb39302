"""The worker process of a hosted page: it answers as this one would, and its end is no end."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Iterator

import orjson
import psutil
import pytest
import torch

from lossprism.explorer.runtime import worker_process
from lossprism.explorer.runtime.current_visitor import as_visitor
from lossprism.explorer.runtime.deployment_policy import HOSTED
from lossprism.explorer.runtime.json_encoding import encoded
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.visitor_key_signing import new_key
from lossprism.explorer.runtime.worker_process import Worker
from lossprism.explorer.web.pages.explore.request_handlers import _explore
from lossprism.losses import LOSSES
from tests import warm

PATIENCE = 300  # seconds, on a machine that has other things to do
ROWS = [["a cat", "a dog", "0.5"], ["a car", "a bus", "0.7"], ["one", "two", "0.1"]]


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    made = Worker("lossprism.explorer.export.exploration_and_slider_stop_in_worker")
    made.is_allowed = True
    wait_for(made)
    yield made
    made.end()


@pytest.fixture
def one_thread() -> Iterator[None]:
    """As the page computes, so that sums are taken in one order."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def wait_for(worker: Worker) -> int:
    """The number of the process, once it answers."""
    deadline = time.monotonic() + PATIENCE
    while (number := worker.call(os.getpid)) == os.getpid():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return number


def refuse(**values: object) -> None:
    raise Problem("no_pairs", about="size", **values)


def test_until_it_is_allowed_all_is_done_here():
    assert Worker().call(os.getpid) == os.getpid()
    assert Worker().memory == 0


def test_what_is_refused_there_is_refused_here(worker):
    with pytest.raises(Problem, match="pair") as refused:
        worker.call(refuse)
    assert refused.value.about == "size"
    assert worker.call(os.getpid) != os.getpid()
    assert worker.memory > 2**20


def test_requests_during_its_work_are_computed_here(worker):
    there = wait_for(worker)
    task = threading.Thread(target=worker.call, args=(time.sleep, 3.0))
    task.start()
    while not worker._busy.locked():
        time.sleep(0.01)
    assert worker.call(os.getpid) == os.getpid()
    task.join()
    assert worker.call(os.getpid) == there


SCENES = [
    *({"loss": loss, "data": {"source": "random", "random": {"pairs": 12}}} for loss in LOSSES),
    {"loss": "info_nce", "data": {"source": "example"}},
    {"loss": "cosent", "data": {"source": "table", "rows": ROWS}},
    {"loss": "cosent", "parameters": {"scale": -1}},
    {"loss": "cosent", "data": {"source": "random", "random": {"pairs": 300}}},
]


def test_a_hosted_page_is_answered_the_same_by_it(worker, one_thread, monkeypatch):
    monkeypatch.setenv(HOSTED, "1")
    key = new_key()

    def answer(scenario: dict, known: str = "") -> dict:
        with as_visitor(key):
            result = orjson.loads(encoded(_explore({"scenario": scenario, "known": known})))
        result.get("picture", {}).get("figures", {}).pop("milliseconds", None)
        return result

    for scenario in SCENES:
        here = answer(scenario)
        with monkeypatch.context() as changed:
            changed.setattr(worker_process, "LIGHT", worker)
            changed.setattr(worker_process, "MIDDLING", worker)
            assert answer(scenario) == here, scenario
            # A batch that the page knows is not described once more.
            of_batch = set() if "error" in here else {"batch", "skipped", "limited"}
            assert set(answer(scenario, key_of(here))) == set(here) - of_batch


def key_of(answer: dict) -> str:
    return answer.get("batch", {}).get("key", "")


def test_where_it_is_killed_the_next_begins(worker):
    there = wait_for(worker)
    psutil.Process(there).kill()
    assert worker.call(os.getpid) == os.getpid()
    assert wait_for(worker) not in (there, os.getpid())


def test_what_takes_longer_than_light_work_may_is_refused(worker, monkeypatch):
    there = wait_for(worker)
    monkeypatch.setenv(HOSTED, "1")
    monkeypatch.setenv("LOSSPRISM_LIGHT_SECONDS", "0.3")
    with pytest.raises(Problem, match=r"0\.3"):
        worker.call(time.sleep, PATIENCE)
    assert not psutil.pid_exists(there)


def test_it_ends_with_its_parent():
    """Who began it is forked: of the two processes only its own starts as a user's does."""
    code = (
        "from lossprism.explorer.runtime.worker_process import Worker\n"
        "import posix, time\n"
        "if __name__ == '__main__':\n"
        "    worker = Worker()\n"
        "    worker.is_allowed = True\n"
        "    while (number := worker.call(posix.getpid)) == posix.getpid(): time.sleep(0.05)\n"
        "    print(number, flush=True)\n"
        "    time.sleep(1000)\n"
    )
    began = subprocess.Popen([warm.python(), "-c", code], stdout=subprocess.PIPE, text=True)
    assert began.stdout is not None
    number = int(began.stdout.readline())
    assert psutil.pid_exists(number)
    began.kill()
    began.wait()
    began.stdout.close()
    psutil.wait_procs([psutil.Process(number)] if psutil.pid_exists(number) else [], PATIENCE)
    assert not psutil.pid_exists(number)
