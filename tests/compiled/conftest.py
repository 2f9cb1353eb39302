"""What all that compile share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch._dynamo


@pytest.fixture(scope="package", autouse=True)
def _compilers_collect_no_garbage() -> Iterator[None]:
    """After each graph a compiler goes through all that the tests keep."""
    with torch._dynamo.config.patch(run_gc_after_compile=False):
        yield
