"""Rows of a dataset of the hub, as they are streamed; and the problems where they are not."""

from __future__ import annotations

import json
import threading
import time
from types import SimpleNamespace

import datasets
import httpx
import huggingface_hub
import pytest
from datasets.exceptions import DataFilesNotFoundError

from lossprism.explorer.runtime import limits
from lossprism.explorer.runtime.deployment_policy import HOSTED
from lossprism.explorer.runtime.jobs import Cancelled
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources import hub_datasets
from lossprism.explorer.sources.hub_datasets import first_rows, size_within_limits
from tests.sentences import raises_problem

ROWS = [{"first": f"a {place}", "second": "b", "score": place} for place in range(600)]


def quiet(what, done, total):
    """Nobody listens."""


@pytest.fixture
def hub(monkeypatch):
    """A hub that has one dataset; what it was asked for."""
    requests = []
    result = SimpleNamespace(siblings=[])
    monkeypatch.setattr(huggingface_hub.HfApi, "dataset_info", lambda api, *_, **__: result)

    def load(repo, subset, **how):
        requests.append((repo, subset, how))
        return datasets.Dataset.from_list(ROWS).to_iterable_dataset()

    monkeypatch.setattr(datasets, "load_dataset", load)
    return requests


def test_the_first_rows_are_read_and_no_more(hub, monkeypatch):
    reports = []
    monkeypatch.setenv(HOSTED, "1")
    content = first_rows("someone/set:sub", "train", 300, lambda *far: reports.append(far))
    assert [json.loads(line) for line in content.splitlines()] == ROWS[:300]
    assert ("fetching", 256, 300) in reports
    # A stranger's request carries no password of the page.
    how = {"split": "train", "token": False, "streaming": True}
    assert hub == [("someone/set", "sub", how)]


def test_it_can_be_stopped(hub):
    def stop(what, done, total):
        raise Cancelled

    with pytest.raises(Cancelled):
        first_rows("someone/set", "train", 600, stop)


def test_a_hub_that_falls_silent_is_left(hub, monkeypatch):
    over = threading.Event()

    def rows():
        yield ROWS[0]
        over.wait(30)

    stream = SimpleNamespace(features=None, take=lambda most: rows())
    monkeypatch.setattr(datasets, "load_dataset", lambda *_, **__: stream)
    monkeypatch.setattr(hub_datasets, "_TICK_S", 0.01)
    monkeypatch.setattr(limits, "HUB_SILENT_S", 0.05)
    began = time.monotonic()
    with raises_problem("hub_set_unreachable", name="someone/set"):
        first_rows("someone/set", "train", 10, quiet)
    assert time.monotonic() - began < 10
    over.set()


def test_a_hosted_page_fetches_no_data_set_that_is_too_large(monkeypatch):
    about = SimpleNamespace(
        siblings=[SimpleNamespace(size=size) for size in (3 * limits.MIB, None)]
    )
    monkeypatch.setenv("LOSSPRISM_HUB_MIB", "2")
    assert (
        size_within_limits("someone/set", about) == 3 * limits.MIB
    )  # at home as large as one likes
    monkeypatch.setenv(HOSTED, "1")
    with raises_problem("hub_set_large", name="someone/set", size=3, most=2):
        size_within_limits("someone/set", about)
    about.siblings[0].size -= limits.MIB
    assert size_within_limits("someone/set", about) == 2 * limits.MIB


def test_more_text_than_a_file_may_have_is_reported(hub, monkeypatch):
    monkeypatch.setattr(limits, "LARGE_FILE_BYTES", 2000)
    with raises_problem("hub_set_rows"):
        first_rows("someone/set", "train", 600, quiet)


@pytest.mark.parametrize(
    ("error", "problem", "reason"),
    [
        (OSError("no route to host"), "unreachable", ""),
        (ConnectionError("Couldn't reach it"), "unreachable", ""),
        (httpx.ConnectError("refused"), "unreachable", ""),
        (DataFilesNotFoundError("No (supported) data files found"), "unreadable", "No (supported)"),
        (RuntimeError("Dataset scripts are not supported, but found a.py"), "unreadable", "a.py"),
        (
            ValueError("Config name is missing.\nPick one of: ['a', 'triplet']\n`x`"),
            "subset",
            "'a'",
        ),
        (ValueError('Unknown split "dev". Should be one of [train]'), "split", "[train]"),
    ],
)
def test_the_reason_why_it_cannot_be_read_is_reported(hub, monkeypatch, error, problem, reason):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(datasets, "load_dataset", fail)
    with pytest.raises(Problem) as caught:
        first_rows("someone/set", "dev", 10, quiet)
    assert caught.value.key == f"problem.hub_set_{problem}"
    assert reason in str(caught.value)
