"""Arrays in answers, as base64 of their bytes."""

import binascii

import numpy as np
import torch
from torch import Tensor


def packed(values: Tensor | np.ndarray, dtype: torch.dtype = torch.float32) -> str:
    """Return an array as base64 of its little-endian bytes."""
    plain = torch.as_tensor(values).detach().to("cpu", dtype).contiguous()
    return binascii.b2a_base64(plain.numpy().data, newline=False).decode("ascii")
