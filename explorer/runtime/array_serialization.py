"""Arrays in answers, and in files that other processes may read or remove at any time."""

import binascii
import io
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from lossprism.explorer.runtime.concurrent_files import atomic_write


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


def packed(values: Tensor | np.ndarray, dtype: torch.dtype = torch.float32) -> str:
    """Return an array as base64 of its little-endian bytes."""
    plain = torch.as_tensor(values).detach().to("cpu", dtype).contiguous()
    return binascii.b2a_base64(plain.numpy().data, newline=False).decode("ascii")
