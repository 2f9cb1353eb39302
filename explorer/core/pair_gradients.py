"""Gradients of a loss by the similarity of each pair."""

from collections.abc import Collection

import torch
from torch import Tensor

from lossprism.explorer.core.batch import Batch
from lossprism.explorer.core.trace import Trace
from lossprism.losses import LossSpec
from lossprism.losses.geometry import unit


def score_gradient(
    batch: Batch, spec: LossSpec, trace: Trace, scores: Tensor | None
) -> Tensor | None:
    """Return ∂L/∂s of each pair, [N], with all other similarities fixed. NaN for a pair that the
    loss does not compare; None for a loss without such a derivative.

    For a loss of pair scores this is the gradient by `scores`. For a loss that compares the
    sentences of a batch it is that of its step `similarities`, summed over the cells that hold the
    two sentences of the pair.
    """
    if spec.reads_scores:
        return torch.zeros_like(batch.labels) if scores is None else scores
    step, symbol = trace.last("similarities"), spec.symbols.get("similarities")
    if step is None or step.gradient is None or symbol is None or step.value.ndim != 2:
        return None
    axes = [batch.axis(*axis) for axis in zip(symbol.axes, step.value.shape, strict=True)]
    if any(axis is None or bool((axis[1] < 0).any()) for axis in axes):
        return None  # its columns are no sentences
    rows, columns = (axis[1] for axis in axes if axis is not None)
    count = len(batch.classes)
    by_row = step.gradient.new_zeros(count, step.value.shape[1]).index_add_(0, rows, step.gradient)
    by_both = by_row.new_zeros(count, count).index_add_(1, columns, by_row)
    among_rows, among_columns = (torch.zeros(count, dtype=torch.bool) for _ in range(2))
    among_rows[rows.cpu()] = among_columns[columns.cpu()] = True
    compared = (among_rows[:, None] & among_columns).to(by_both.device)
    first, second = batch.first, batch.second
    gradient = by_both[first, second] + torch.where(first == second, 0.0, by_both[second, first])
    return gradient.masked_fill(~(compared[first, second] | compared[second, first]), torch.nan)


def pair_gradient(batch: Batch, vectors: Tensor | None, scores: Tensor | None) -> Tensor:
    """Return the gradient of the loss along each pair's own similarity, [..., N].

    `vectors` [..., S, D] and `scores` [..., N] are ∂L/∂vectors and ∂L/∂scores (None if the loss
    does not depend on them), of one loss or of many on this batch. A gradient by vectors is
    projected: u_i and v_i are turned towards each other in the direction of fastest growth of their
    cosine, and the result is the change of the loss per unit of cosine. Their similarities to other
    sentences change too, so it equals ∂L/∂s_i only if the loss sees s_i alone.
    """
    gradient = torch.zeros_like(batch.labels)
    if scores is not None:
        gradient = gradient + scores
    if vectors is not None:
        rise_first, rise_second = cosine_gradients(batch)
        first, second = vectors[..., batch.first, :], vectors[..., batch.second, :]
        change = (first * rise_first + second * rise_second).sum(-1)
        size = rise_first.square().sum(1) + rise_second.square().sum(1)
        # Parallel vectors have no direction in which the cosine grows.
        gradient = gradient + torch.where(size > 1e-12, change / size.clamp_min(1e-12), 0.0)
    return gradient


def gradient_share(gradient: Tensor, pairs: Collection[int]) -> float:
    """Return the share of the sizes of all pairs' gradients [N] that falls to these pairs; NaN if
    all are 0."""
    sizes = gradient.abs()
    return float(sizes[list(pairs)].sum() / sizes.sum())


def cosine_gradients(batch: Batch) -> tuple[Tensor, Tensor]:
    """Return the gradients of each pair's cosine by its first and second vector, [N, D] each."""
    lengths = batch.needed_vectors.norm(dim=1, keepdim=True).clamp_min(1e-12)
    directions = unit(batch.needed_vectors)
    first, second = directions[batch.first], directions[batch.second]
    cosines = (first * second).sum(dim=1, keepdim=True)
    return (
        (second - cosines * first) / lengths[batch.first],
        (first - cosines * second) / lengths[batch.second],
    )
