"""The encoders, pairs and servers of the other tests, for those that start processes."""

import sys

import pytest

from tests import warm
from tests.unit.lab.training.conftest import bert, runs, trained
from tests.unit.web.conftest import address, kept, opened

__all__ = ["address", "bert", "kept", "opened", "runs", "trained"]


@pytest.fixture(autouse=True)
def _libraries_are_loaded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs are forked; how one is started is shown by `test_commands.test_train`."""
    monkeypatch.setattr(sys, "executable", warm.python())
