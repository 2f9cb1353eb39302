"""What the tests share: where the data lie that never enter the repository."""

from __future__ import annotations

import os
import random
from pathlib import Path

import numpy as np
import pytest
import torch

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(autouse=True)
def _drawn_the_same_in_any_order() -> None:
    """What a test draws does not depend on the tests before it."""
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder beside the repository with data and golden cases."""
    if not SHARED.is_dir():
        pytest.skip(f"{SHARED} is absent: what reads the shared data was not tested")
    return SHARED
