"""What the tests share: where the data lie that never enter the repository."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder beside the repository with data and golden cases."""
    if not SHARED.is_dir():
        pytest.skip(f"{SHARED} is absent: what reads the shared data was not tested")
    return SHARED
