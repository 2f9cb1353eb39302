"""Arrays as an answer to the browser carries them."""

from __future__ import annotations

import binascii
from typing import Any, TypeGuard

import numpy as np
import torch
from torch import Tensor

Json = dict[str, Any]  # an object on its way to the browser or from it, before it is checked


def is_number(value: object) -> TypeGuard[float]:
    """Whether it is an int or a float. Python counts True and False among the ints."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def packed(values: Tensor | np.ndarray, dtype: torch.dtype = torch.float32) -> str:
    """An array as base64 of its little-endian bytes."""
    plain = torch.as_tensor(values).detach().to("cpu", dtype).contiguous()
    return binascii.b2a_base64(plain.numpy().data, newline=False).decode("ascii")
