"""InfoNCE of a batch that several processes (torch.distributed) share, without gathering it.

`info_nce(..., gather=True)` gives every process all rows and the whole N × N sum. Here keys travel
around a ring, and each process compares its own queries with the keys that are there: it holds
one block of logits at a time and does its share of the work. Value and gradients are the same.
"""

from collections.abc import Iterator
from typing import cast

import torch
import torch.distributed as distributed
from torch import Tensor

from lossprism.losses import input_checks
from lossprism.losses.contrastive.info_nce import info_nce
from lossprism.losses.gather import processes, row_counts
from lossprism.losses.geometry import unit


def ring_info_nce(
    queries: Tensor, keys: Tensor, *, negatives: Tensor | None = None, temperature: float = 0.05
) -> Tensor:
    """InfoNCE of the batch that all processes make together, as `info_nce(..., gather=True)`.

    >>> queries, keys = torch.eye(2), torch.eye(2)
    >>> ring_info_nce(queries, keys, temperature=1.0)  # of one process: log(1 + e^(0 − 1))
    tensor(0.3133)

    Every process must call this equally often and in the same order; their numbers of rows may
    differ, and may be 0 where other processes have some. The backward pass communicates nothing,
    and second derivatives are refused. As with `gather=True`, the gradient of an encoder's
    parameter is the sum over processes: see `losses.gather`.

    Args:
        queries, keys: [N, D] each, this process's rows; key i belongs to query i.
        negatives: [Q, D], further keys for every query of every process.
        temperature: τ; a tensor gets the gradient of the whole batch on every process.
    """
    if processes() == 1:
        return info_nce(queries, keys, negatives=negatives, temperature=temperature)
    input_checks.above_zero(temperature=temperature)
    raised = input_checks.real(torch.float32, queries=queries, keys=keys, negatives=negatives)
    queries, keys, negatives = cast("tuple[Tensor, Tensor, Tensor | None]", raised)
    input_checks.must_be_paired(queries=queries, keys=keys)
    candidates = keys if negatives is None else torch.cat((keys, negatives))
    scale = torch.as_tensor(1 / temperature, dtype=queries.dtype, device=queries.device)
    return cast("Tensor", _Ring.apply(unit(queries), unit(candidates), scale))


class _Ring(torch.autograd.Function):
    """Two tours of unit rows: in the first, each query sums its terms; in the second, the sums
    weigh them, and the gradient of a key travels with it. Gradients are computed with the value.
    """

    @staticmethod
    def forward(ctx, queries: Tensor, keys: Tensor, scale: Tensor) -> Tensor:
        counts = row_counts(keys)
        total = queries.new_tensor(len(queries))
        distributed.all_reduce(total)
        own = keys[: len(queries)]
        own_logits = scale * (queries * own).sum(dim=1)
        log_sum = torch.full_like(own_logits, -torch.inf)
        for block, _ in _tour(keys, counts):
            log_sum = torch.logaddexp(log_sum, (scale * (queries @ block.T)).logsumexp(dim=1))
        value = (log_sum - own_logits).sum() / total
        distributed.all_reduce(value)
        if any(ctx.needs_input_grad):
            by_queries = -own
            by_keys = torch.zeros_like(keys)
            by_keys[: len(queries)] = -queries
            for block, by_block in _tour(keys, counts, by_keys):
                assert by_block is not None, "it travels with the block"
                weights = (scale * (queries @ block.T) - log_sum[:, None]).exp_()
                by_queries += weights @ block
                by_block += weights.T @ queries
            by_scale = (queries * by_queries).sum() / total
            distributed.all_reduce(by_scale)
            share = scale / total
            ctx.save_for_backward(by_queries.mul_(share), by_keys.mul_(share), by_scale)
        return value

    @staticmethod
    def backward(ctx, *grad_outputs: Tensor) -> tuple[Tensor, ...]:
        if torch.is_grad_enabled():  # this pass is to be differentiated in its turn
            raise RuntimeError(
                "ring_info_nce has no second derivatives; info_nce(..., gather=True) has them"
            )
        return tuple(grad_outputs[0] * gradient for gradient in ctx.saved_tensors)


def _tour(
    rows: Tensor, counts: list[int], carried: Tensor | None = None
) -> Iterator[tuple[Tensor, Tensor | None]]:
    """Yield the rows of each process, this one's first, with what they carry: the caller adds to
    it, and each process ends with that of its own rows in `carried`."""
    rank, world = distributed.get_rank(), len(counts)
    block, load = rows, carried
    for step in range(world):
        last = step == world - 1
        count = counts[(rank - step - 1) % world]
        moving = None if last else _pass_on(block, count)  # while the caller computes
        yield block, load
        if moving is not None:
            block = _arrived(moving)
        if load is not None:
            load = _arrived(_pass_on(load, count))
    if carried is not None and load is not None:
        carried.copy_(load)


Moving = tuple[Tensor, list[distributed.Work]]


def _pass_on(rows: Tensor, count: int) -> Moving:
    """Send rows to the next process, while `count` rows come from the one before."""
    rank, world = distributed.get_rank(), processes()
    arriving = rows.new_empty(count, rows.shape[1])
    sending = distributed.P2POp(distributed.isend, rows.contiguous(), (rank + 1) % world)
    receiving = distributed.P2POp(distributed.irecv, arriving, (rank - 1) % world)
    return arriving, distributed.batch_isend_irecv([sending, receiving])


def _arrived(moving: Moving) -> Tensor:
    arriving, works = moving
    for work in works:
        work.wait()
    return arriving
