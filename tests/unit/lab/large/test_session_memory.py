"""What the page says it keeps is what is kept."""

from __future__ import annotations

import gc
import os
import sys
import tracemalloc
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from lossprism.explorer.lab.large.batch import drawn
from lossprism.explorer.lab.large.large_batch_response import details, look
from lossprism.explorer.lab.large.large_batch_session import LargeSession, checked, open_batch
from lossprism.explorer.lab.large.loss_matrix_methods import loss_input_of, offered
from lossprism.explorer.runtime.jobs import Job
from lossprism.explorer.runtime.object_size import bytes_of
from lossprism.explorer.sources.random_batch import RandomBatch
from lossprism.explorer.web.pages.large.request_handlers import read_window


@pytest.fixture(scope="module", autouse=True)
def _only_what_is_made_here_is_looked_through():
    """For garbage: what the tests before this keep takes half a second each time."""
    gc.collect()
    gc.freeze()


def used(loss: str, pairs: int) -> LargeSession:
    """A batch that was looked at, so that everything it keeps is there."""
    batch = drawn(RandomBatch(pairs=pairs, labels="graded"), loss_input_of(loss))
    opened = open_batch(batch, loss, checked(loss, {}), lambda done, total: None)
    look(opened, read_window(None, opened.shape))
    details(opened)
    return opened


@pytest.mark.thorough
@pytest.mark.parametrize("loss", offered())
def test_it_is_what_is_allocated(loss):
    used(loss, pairs=300)  # what is made once and stays is there
    gc.collect()
    tracemalloc.start()
    opened = used(loss, pairs=3000)
    gc.collect()
    traced = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    # torch's own memory is not traced: only the hinge's gradient, 8 bytes a pair, is there alone.
    alone = 8 * 3000 if loss == "pairwise_hinge" else 0
    assert bytes_of(opened) == pytest.approx(traced + alone, rel=0.05, abs=40_000)


def test_what_is_shared_is_counted_once():
    numbers = np.zeros(1000)
    shared = SimpleNamespace(a=numbers, b=numbers[10:], c=[torch.from_numpy(numbers), (numbers,)])
    assert bytes_of(shared) == 8000


def test_what_a_function_holds_on_to_is_counted():
    numbers = torch.zeros(1000)
    assert bytes_of(SimpleNamespace(cells=lambda: numbers + 1)) == 4000


@pytest.mark.skipif(sys.platform != "linux", reason="other systems keep nothing back")
def test_what_a_job_has_freed_goes_back_to_the_system():
    def resident():
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def work(report):
        pieces = [b"." * (20_000 + k % 2) for k in range(10_000)]
        return pieces[-1]  # which stands behind the room of the others

    gc.collect()
    before = resident()
    job = Job.in_background(work)
    assert job.wait(60)
    assert len(job.result()) == 20_001
    assert resident() - before < 100e6
