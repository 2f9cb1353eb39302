"""Arrays in files that others may read, or remove, while they are used."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np

from explorer.runtime.files import atomic_write


def save_array(path: Path, values: np.ndarray) -> None:
    """What `np.save` writes, whole; where the disk is full, with the system's word for that."""
    packed = io.BytesIO()  # written straight into a file by numpy, the word would be lost
    np.save(packed, values)
    with atomic_write(path) as file:
        file.write(packed.getbuffer())


def load_array(path: Path) -> np.ndarray | None:
    """What was saved there, if it still is: what a disk has spoilt is not."""
    try:
        return np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError, MemoryError):
        return None
