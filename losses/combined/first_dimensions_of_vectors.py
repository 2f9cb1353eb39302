"""The first dimensions of vectors, as vectors of their own."""

import math
from typing import overload

from torch import Tensor

from lossprism.losses.geometry import unit


@overload
def prefix(vectors: Tensor, part: float) -> Tensor: ...
@overload
def prefix(vectors: None, part: float) -> None: ...
def prefix(vectors: Tensor | None, part: float) -> Tensor | None:
    """The first `part` dimensions of [..., D], brought back to length 1; of None, None.

    Up to 1 it is a share of D, and an even number of dimensions where less than all are taken, as
    AnglE wants them.

    >>> import torch
    >>> prefix(torch.tensor([[3.0, 4.0, 0.0, 0.0]]), 0.5)
    tensor([[0.6000, 0.8000]])

    Raises:
        ValueError: for more dimensions than there are.
    """
    if vectors is None:
        return None
    if part > vectors.shape[-1]:
        raise ValueError(f"a prefix has {part} dimensions, and the vectors {vectors.shape[-1]}")
    return unit(vectors[..., : length_of(part, vectors.shape[-1])])


def length_of(part: float, width: int) -> int:
    """Return the dimensions, of so many, that `prefix` takes."""
    return min(2 * math.ceil(width * part / 2), width) if part <= 1 else int(part)
