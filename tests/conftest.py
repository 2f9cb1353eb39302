"""What all tests share: what is drawn does not depend on the order."""

from __future__ import annotations

import functools
import gc
import os
import posix
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

from tests.warm import VARIABLE, Warm

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")


# The driver of a device does not outlive a fork.
DEVICE = Path("/dev/nvidiactl")


def pytest_configure(config: pytest.Config) -> None:
    """One Python with the libraries loaded, which it loads at its first use, for all processes.

    Those that share the tests are forked from it as well, and are then what they would be."""
    if shared := getattr(config, "workerinput", None):
        sys.executable = shared["python"]
        os.getpid = posix.getpid
        return
    warm = Warm()
    os.environ[VARIABLE] = warm.__enter__()
    config.add_cleanup(warm.__exit__)
    if not DEVICE.exists():
        forked = f"popen//python={os.environ[VARIABLE]}"
        config.option.tx = [forked if one == "popen" else one for one in config.option.tx]


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: WorkerController) -> None:
    node.workerinput["python"] = sys.executable


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Nearly all that is made here stays, so that to look for garbage meanwhile takes a tenth of it
    for nothing."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.fixture(autouse=True)
def _drawn_the_same_in_any_order() -> None:
    """What a test draws does not depend on the tests before it."""
    import numpy as np
    import torch  # not where tests are only handed out

    random.seed(0)
    np.random.seed(0)
    # `torch.manual_seed` keeps where it was called for every kind of device that is not in use.
    torch.default_generator.manual_seed(0)
    if torch.cuda.is_initialized():
        torch.cuda.manual_seed_all(0)


# The longest first: whoever has finished early finds short files to go on with.
FIRST = (
    *("browser/finetune", "browser/large", "release/test_types.py", "process"),
    *("browser", "compiled"),
    *("unit/lab", "unit/losses"),
)
HERE = Path(__file__).parent


# Folders whose files share what takes long to make, and so a process: a server with its runs, the
# map of a large batch, processes that answer together.
SHARING = ("tests/browser/finetune/", "tests/browser/large/", "tests/process/gather/")


class BySharing(LoadFileScheduling):
    def _split_scope(self, nodeid: str) -> str:
        shared = (folder for folder in SHARING if nodeid.startswith(folder))
        return next(shared, super()._split_scope(nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> BySharing | None:
    return BySharing(config, log) if config.getvalue("dist") == "loadfile" else None


# The fixtures that train.
TRAINING = {"trained", "trained_once", "prepared"}


@pytest.hookimpl(tryfirst=True)  # before they are chosen by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    @functools.cache
    def rank(path: Path) -> int:
        file = path.relative_to(HERE)
        ranks = (n for n, first in enumerate(FIRST) if file.is_relative_to(first))
        return next(ranks, len(FIRST))

    @functools.cache
    def is_of_release(path: Path) -> bool:
        return path.is_relative_to(HERE / "release")

    items.sort(key=lambda item: rank(item.path))
    for item in items:
        if is_of_release(item.path):
            item.add_marker("release")
        if TRAINING & set(getattr(item, "fixturenames", ())):
            item.add_marker("trains")


def pytest_collection_finish() -> None:
    """What was imported so far stays: no collection of garbage need go through it, now or later."""
    gc.freeze()
