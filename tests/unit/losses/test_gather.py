"""Gathering in one process: the batch is its own."""

import torch

from lossprism.losses import cosent
from lossprism.losses.gather import gather_rows, processes
from lossprism.losses.modules import CosentLoss


def test_one_process_is_its_own_batch():
    rows = torch.randn(3, 2)
    together, place = gather_rows(rows)
    assert processes() == 1
    assert together is rows
    assert place == slice(0, 3)


def test_a_module_gathers_on_request():
    module = CosentLoss(gather=True)
    assert repr(module) == "CosentLoss(scale=20.0, gather=True)"
    scores, labels = torch.tensor([0.0, 0.5]), torch.tensor([1, 0])
    assert module(scores, labels) == cosent(scores, labels)  # in one process
