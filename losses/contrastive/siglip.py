"""SigLIP: one binary decision for every cell of queries × keys."""

from __future__ import annotations

import torch
from torch import Tensor

from losses import inputs
from losses.contrastive.in_batch import (
    QUERY_SYMBOLS,
    directions_and_logits,
)
from losses.forms import Decisions
from losses.gather import gathered
from losses.geometry import cosine_matrix
from losses.kernels import softplus
from losses.kernels.gradient import with_gradient
from losses.kernels.tiled import (
    against_threshold,
)
from losses.landmarks import least_binary, softplus_at
from losses.spec import Convention, LossSpec, Parameter, Symbol


def decisions(queries, keys, scale, threshold):
    """1/N of the sum over all cells of log(1 + e^{±(scale · cosine − threshold)}).

    The sign is − on the diagonal, where a key is the query's own, and + elsewhere.
    """
    return with_gradient(_decisions_by_tiles, _decisions_densely, queries, keys, scale, threshold)


def _decisions_densely(queries, keys, scale, threshold):
    return siglip_definition(queries, keys, scale=scale, bias=-threshold)


def _decisions_by_tiles(wanted, queries, keys, scale, threshold):
    count = len(queries)
    points, logits = directions_and_logits(wanted, queries, keys, scale)
    total, by_threshold = against_threshold(logits, threshold)
    if not any(wanted):
        return total / count, ()
    gradient, by_scale = points.pull_back(1 / count, scale)
    return total / count, (*gradient.split(count), by_scale, by_threshold / count)


def siglip_definition(
    queries: Tensor, keys: Tensor, *, scale: float = 10.0, bias: float = -10.0
) -> Tensor:
    similarities = cosine_matrix(queries, keys)
    logits = scale * similarities + bias
    signs = 2 * torch.eye(*logits.shape, dtype=logits.dtype, device=logits.device) - 1
    terms = softplus(-signs * logits)
    loss = terms.sum() / len(queries)
    return loss


def siglip(
    queries: Tensor,
    keys: Tensor,
    *,
    scale: float = 10.0,
    bias: float = -10.0,
    gather: bool = False,
) -> Tensor:
    r"""1/N Σ_ij log(1 + exp(−z_ij (t·cos(q_i, k_j) + b))), z = 1 for own keys, −1 for others.

    >>> siglip(torch.eye(1), torch.eye(1), scale=1.0, bias=0.0)  # log(1 + e^−1)
    tensor(0.3133)

    Args:
        queries, keys: [N, D] each; key i belongs to query i.
        scale: t.
        bias: b, which starts low because most pairs are not positive (Zhai et al. 2023).
        gather: of the batch that all processes make together (see `losses.gather`).
    """
    inputs.one_number(scale=scale, bias=bias)
    queries, keys = gathered(gather, queries, keys)
    queries, keys = inputs.paired(inputs.for_products(queries), queries=queries, keys=keys)
    return decisions(queries, keys, scale, -bias)


def _siglip_collapse(given: dict[str, Tensor], scale: float = 10.0, bias: float = -10.0) -> float:
    logit = scale + bias
    return softplus_at(-logit) + (len(given["keys"]) - 1) * softplus_at(logit)


SIGLIP = LossSpec(
    function=siglip,
    definition=siglip_definition,
    title="SigLIP",
    group="in_batch",
    formula=r"\frac1N \sum_{i,j} \log\bigl(1 + e^{-z_{ij} (t \cos(q_i, k_j) + b)}\bigr)",
    symbols={
        **{name: QUERY_SYMBOLS[name] for name in ("queries", "keys", "similarities")},
        "logits": Symbol(
            r"s_{ij} = t\, c_{ij} + b",
            ("query", "key"),
            r"«scale» \cdot «similarities[r,c]» + «bias»",
        ),
        "signs": Symbol(r"z_{ij} = \pm 1", ("query", "key")),
        "terms": Symbol(
            r"t_{ij} = \log\bigl(1 + e^{-z_{ij} s_{ij}}\bigr)",
            ("query", "key"),
            r"\log\bigl(1 + e^{-(«signs[r,c]») \cdot («logits[r,c]»)}\bigr)",
            signed=False,
        ),
        "loss": Symbol(
            r"\mathcal L = \frac1N \sum_{i,j} t_{ij}", live=r"\frac{«Σ terms»}{«len(queries)»}"
        ),
    },
    parameters=(
        Parameter("scale", 10.0, "t", 0.1, 200.0, 0.1, logarithmic=True),
        Parameter("bias", -10.0, "b", -30.0, 10.0, 0.1),
    ),
    reads={"queries": "queries", "keys": "keys"},
    form=Decisions(scale=lambda scale, **_: scale, bias=lambda bias, **_: bias),
    terms="logits",
    collapse=_siglip_collapse,
    collapse_formula=r"\ln\bigl(1 + e^{-(t + b)}\bigr) + (N - 1) \ln\bigl(1 + e^{t + b}\bigr)",
    floor=lambda given, scale=10.0, bias=-10.0: least_binary(len(given["keys"]), scale, -bias),
    floor_formula=r"\min_{\lVert q \rVert = \lVert k \rVert = 1} \mathcal L",
    references=("Zhai et al. 2023",),
    conventions=(Convention("open_clip (initial values)", {"scale": 10.0, "bias": -10.0}),),
)
