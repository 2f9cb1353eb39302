"""The rows of several processes (torch.distributed) as one batch, with gradient.

Every process computes the loss of the whole joined batch, so all have its value, and the gradient
that reaches a process's rows is the one that they have in that batch. The backward pass
communicates nothing. `losses.ring` computes InfoNCE of that batch without joining it.

The gradient of an encoder's parameter comes from all rows, so it is the *sum* over processes.
DistributedDataParallel takes the mean: multiply the loss by `processes()` there, or pass
`for_mean(rows)` to it. (Libraries in which each process averages only its own anchors have that
factor built in, as have the classes of `losses.sentence_transformers`.) Parameters beside the
encoder, such as a temperature, have the gradient of the joined batch on every process already and
need no factor.
"""

from typing import TypeVarTuple, cast

import torch
import torch.distributed as distributed
from torch import Tensor

Given = TypeVarTuple("Given")


def processes() -> int:
    """Return the number of processes that share the batch; 1 without torch.distributed."""
    started = distributed.is_available() and distributed.is_initialized()
    return distributed.get_world_size() if started else 1


def for_mean(rows: Tensor) -> Tensor:
    """Return the same rows with a gradient whose *mean* over processes is that of the batch."""
    if processes() == 1 or not rows.requires_grad:
        return rows
    return rows + (processes() - 1) * (rows - rows.detach())


def gather_rows(tensor: Tensor) -> tuple[Tensor, slice]:
    """Return the rows of all processes in rank order, and the slice of this process's own rows.

    Every process must call this equally often and in the same order. The numbers of rows may
    differ, and may be 0; other dimensions and the type must agree. The gradient reaches a process's
    own rows of the joined tensor, and through them `tensor`; the rows of the others are constants.

    With one process this is `tensor` itself.
    """
    if processes() == 1:
        return tensor, slice(0, len(tensor))
    counts = row_counts(tensor)
    padded = tensor.detach().new_zeros(max(counts), *tensor.shape[1:])  # all of one shape
    padded[: len(tensor)] = tensor.detach()
    parts = [rows[:some] for rows, some in zip(_from_all(padded), counts, strict=True)]
    rank = distributed.get_rank()
    parts[rank] = tensor
    start = sum(counts[:rank])
    return torch.cat(parts), slice(start, start + len(tensor))


def row_counts(tensor: Tensor) -> list[int]:
    """Return the number of rows that each process has."""
    count = torch.tensor([len(tensor)], device=tensor.device)
    return torch.cat(_from_all(count)).tolist()


def gathered(needed: bool, *tensors: *Given) -> tuple[*Given]:
    """Return each tensor with the rows of all processes if `needed`; None stays None."""
    if not needed:
        return tensors
    joined = [gather_rows(one)[0] if isinstance(one, Tensor) else one for one in tensors]
    return cast("tuple[*Given]", tuple(joined))  # as many as were given, in their order


def _from_all(tensor: Tensor) -> list[Tensor]:
    received = [torch.empty_like(tensor) for _ in range(processes())]
    distributed.all_gather(received, tensor)
    return received
