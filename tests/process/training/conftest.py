"""The encoders, pairs and servers of the other tests, for those that start processes."""

from tests.unit.lab.training.conftest import bert, runs, trained
from tests.unit.web.conftest import address, kept

__all__ = ["address", "bert", "kept", "runs", "trained"]
