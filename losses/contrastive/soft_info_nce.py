"""InfoNCE with a target distribution over the keys in place of one own key."""

import math

import torch
from torch import Tensor

from lossprism.losses import input_checks
from lossprism.losses.contrastive.in_batch_symbols_and_counts import (
    QUERY_SYMBOLS,
    temperature_parameter,
)
from lossprism.losses.geometry import cosine_matrix
from lossprism.losses.kernels import small_batch_losses
from lossprism.losses.kernels.block_softmax import against_targets
from lossprism.losses.kernels.query_key_losses_by_tiles import directions_and_logits
from lossprism.losses.kernels.value_with_gradient import with_gradient
from lossprism.losses.spec import LossSpec
from lossprism.losses.symbols import each_query, query_by_key

SMALL_BATCH_CELLS = 2**14  # cells, up to which one matrix is faster than tiles


def soft_info_nce_definition(
    queries: Tensor, keys: Tensor, *, targets: Tensor, temperature: float = 0.05
) -> Tensor:
    similarities = cosine_matrix(queries, keys)
    logits = similarities / temperature
    log_probabilities = logits.log_softmax(dim=1)
    costs = -targets * log_probabilities
    per_query = costs.sum(dim=1)
    loss = per_query.mean()
    return loss


def soft_info_nce(
    queries: Tensor, keys: Tensor, *, targets: Tensor, temperature: float = 0.05
) -> Tensor:
    r"""mean_i −Σ_j t_ij log softmax_j(cos(q_i, k_j)/τ): cross-entropy with soft targets.

    >>> queries, keys = torch.eye(2), torch.eye(2)
    >>> soft_info_nce(queries, keys, targets=torch.full((2, 2), 0.5), temperature=1.0)
    tensor(0.8133)

    Args:
        queries: [N, D].
        keys: [K, D].
        targets: [N, K], none below 0. A row is a distribution, and where it sums to another number
            its cross-entropy is that many times as large; a row of zeros costs nothing.
        temperature: τ.
    """
    input_checks.above_zero(temperature=temperature)
    least = input_checks.for_products(queries)
    input_checks.must_be_tensor("targets", targets)
    small = least in input_checks.REAL and targets.numel() <= SMALL_BATCH_CELLS
    queries, keys = input_checks.vectors(least, not small, queries=queries, keys=keys)
    if targets.shape != (len(queries), len(keys)):
        raise ValueError(
            f"targets has shape {tuple(targets.shape)}; a row for each of the {len(queries)} "
            f"queries and a column for each of the {len(keys)} keys is needed"
        )
    if targets.dtype not in input_checks.REAL:
        targets = targets.to(torch.promote_types(targets.dtype, torch.float32))
    if input_checks.may_ask(targets):
        smallest, largest = torch.aminmax(targets.detach())
        if not 0 <= smallest.item() <= largest.item() < math.inf:
            _say_what_is_wrong(targets)
    arguments = (queries, keys, targets, 1 / temperature)
    return with_gradient(
        small_batch_losses.against_targets if small else _soft_by_tiles, _dense_soft, *arguments
    )


def _say_what_is_wrong(targets: Tensor) -> None:
    input_checks.must_be_finite("targets", targets)
    row, column = (targets < 0).nonzero()[0].tolist()
    value = float(targets[row, column])
    raise ValueError(f"targets[{row}][{column}] is {value:g}; it must be 0 or more")


def _dense_soft(queries, keys, targets, scale):
    return soft_info_nce_definition(queries, keys, targets=targets, temperature=1 / scale)


def _soft_by_tiles(needs_grad, queries, keys, targets, scale):
    count = len(queries)
    points, logits = directions_and_logits([*needs_grad[:2], needs_grad[3]], queries, keys, scale)
    by_targets = torch.empty_like(targets) if needs_grad[2] else None
    loss = against_targets(logits, targets, by_targets) / count
    if by_targets is not None:
        by_targets.div_(count)
    if points.gradient is None:
        return loss, (None, None, by_targets, None)
    gradient, by_scale = points.pull_back(1 / count, scale)
    return loss, (*gradient.split([count, len(keys)]), by_targets, by_scale)


def _soft_collapse(tensors: dict[str, Tensor], **_: object) -> float:
    targets = tensors["targets"].double()
    return float(targets.sum(dim=1).mean()) * math.log(targets.shape[1])


def _soft_floor(tensors: dict[str, Tensor], **_: object) -> float:
    """Return the value where the softmax equals the target."""
    targets = tensors["targets"].double()
    sizes = targets.sum(dim=1)
    each = torch.special.entr(targets).sum(dim=1) + torch.special.xlogy(sizes, sizes)
    return float(each.mean())


SOFT_INFO_NCE = LossSpec(
    function=soft_info_nce,
    definition=soft_info_nce_definition,
    title="InfoNCE with soft targets",
    about="Gives each query a target distribution over the keys, not a single key.",
    steps={"costs": "What each key costs, by its share of the target."},
    group="in_batch",
    formula=r"-\frac1N \sum_i \sum_j t_{ij}"
    r" \log \frac{e^{\cos(q_i, k_j)/\tau}}{\sum_l e^{\cos(q_i, k_l)/\tau}}",
    symbols={
        **QUERY_SYMBOLS,
        "targets": query_by_key("t_{ij}", signed=False),
        "log_probabilities": query_by_key(
            r"\log p_{ij}", r"«logits[r,c]» - \log\bigl(«Σ exp logits[r]»\bigr)"
        ),
        "costs": query_by_key(
            r"-t_{ij} \log p_{ij}", r"-«targets[r,c]» \cdot «log_probabilities[r,c]»", signed=False
        ),
        "per_query": each_query(
            r"\ell_i", "«Σ costs[r]»", equals=r"-\sum_j t_{ij} \log p_{ij}", signed=False
        ),
    },
    parameters=(temperature_parameter(0.05),),
    terms="logits",
    collapse=_soft_collapse,
    collapse_formula=r"\ln K",
    floor=_soft_floor,
    floor_formula=r"\overline{H(t_i)}",
    references=("Chen et al. 2024 (M3)",),
    aliases=("soft-label contrastive", "self-knowledge distillation"),
)
