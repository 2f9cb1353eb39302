"""Work on all cores, and what is left of it for the rest."""

from __future__ import annotations

import os
import threading

import pytest
import torch

from lossprism.explorer.runtime.torch_threads import all_cores

CORES = 3


@pytest.fixture(autouse=True)
def _as_the_page(monkeypatch):
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    monkeypatch.setattr(os, "cpu_count", lambda: CORES)
    yield
    torch.set_num_threads(before)


def in_a_thread(call):
    found = []
    thread = threading.Thread(target=lambda: found.append(call()))
    thread.start()
    thread.join()
    return found[0]


def test_work_on_all_cores_is_that_of_one_thread():
    with all_cores():
        assert torch.get_num_threads() == CORES
        assert in_a_thread(torch.get_num_threads) == 1
        with all_cores():
            assert torch.get_num_threads() == CORES
        assert torch.get_num_threads() == CORES
    assert torch.get_num_threads() == 1


def test_work_that_overlaps_leaves_the_number_as_it_was():
    """The one that began last ends last."""
    begun, over, left = threading.Event(), threading.Event(), {}

    def first():
        with all_cores():
            begun.set()
            over.wait()
        left["first"] = torch.get_num_threads()

    def second():
        with all_cores():
            over.set()
            one.join()
        left["second"] = torch.get_num_threads()

    one = threading.Thread(target=first)
    one.start()
    begun.wait()
    in_a_thread(second)
    assert left == {"first": 1, "second": 1}
    assert in_a_thread(torch.get_num_threads) == 1
    assert torch.get_num_threads() == 1
