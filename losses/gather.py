"""The rows of several processes (torch.distributed) as one batch, with gradient.

Every process computes the loss of the whole joined batch, so all of them have its value, and the
gradient that arrives at the rows of a process is the one that these rows have in that batch.
Nothing is communicated in the backward pass.

A parameter of the encoder feels all rows, so its gradient is the *sum* over processes.
DistributedDataParallel takes their mean: multiply the loss by `processes()` there, or hand
`for_mean(rows)` to it. (Libraries in which each process averages only its own anchors have that
factor built in; so have the classes of `losses.sentence_transformers`.) What is learned beside
the encoder, a temperature say, has the gradient of the joined batch on every process already,
and needs no such factor.
"""

from __future__ import annotations

from typing import TypeVarTuple, cast

import torch
import torch.distributed as distributed
from torch import Tensor

Given = TypeVarTuple("Given")


def processes() -> int:
    """How many processes share the batch; 1 where torch.distributed is not in use."""
    started = distributed.is_available() and distributed.is_initialized()
    return distributed.get_world_size() if started else 1


def for_mean(rows: Tensor) -> Tensor:
    """The same rows, their gradient such that its *mean* over processes is that of the batch."""
    if processes() == 1 or not rows.requires_grad:
        return rows
    return rows + (processes() - 1) * (rows - rows.detach())


def gather_rows(tensor: Tensor) -> tuple[Tensor, slice]:
    """The rows of all processes in the order of their ranks, and where one's own rows stand.

    Every process must call this as often and in the same order. The numbers of rows may differ,
    and may be 0; all other dimensions and the type are alike. Gradient reaches a process's own
    rows of the joined tensor, and through them `tensor`; the rows of the others are constants.

    With one process this is `tensor` itself.
    """
    if processes() == 1:
        return tensor, slice(0, len(tensor))
    count = torch.tensor([len(tensor)], device=tensor.device)
    counts = torch.cat(_from_all(count)).tolist()
    padded = tensor.detach().new_zeros(max(counts), *tensor.shape[1:])  # all of one shape
    padded[: len(tensor)] = tensor.detach()
    parts = [rows[:some] for rows, some in zip(_from_all(padded), counts, strict=True)]
    rank = distributed.get_rank()
    parts[rank] = tensor
    start = sum(counts[:rank])
    return torch.cat(parts), slice(start, start + len(tensor))


def gathered(wanted: bool, *tensors: *Given) -> tuple[*Given]:
    """Each tensor with the rows of all processes, if that is wanted; None stays None."""
    if not wanted:
        return tensors
    joined = [gather_rows(one)[0] if isinstance(one, Tensor) else one for one in tensors]
    return cast("tuple[*Given]", tuple(joined))  # as many as were given, in their order


def _from_all(tensor: Tensor) -> list[Tensor]:
    received = [torch.empty_like(tensor) for _ in range(processes())]
    distributed.all_gather(received, tensor)
    return received
