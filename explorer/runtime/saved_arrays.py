"""Arrays in files that other processes may read or remove at any time."""

import io
from pathlib import Path

import numpy as np

from lossprism.explorer.runtime.atomic_write import atomic_write


def save_array(path: Path, values: np.ndarray) -> None:
    """Write an array atomically; a full disk raises the system's error for that."""
    packed = io.BytesIO()  # written straight into a file by numpy, the word would be lost
    np.save(packed, values)
    with atomic_write(path) as file:
        file.write(packed.getbuffer())


def load_array(path: Path) -> np.ndarray | None:
    """Return the array in a file; None if the file is gone or damaged."""
    try:
        return np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError, MemoryError):
        return None
