"""Focal InfoNCE: a query that already finds its own key weighs less."""

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from lossprism.losses import input_checks
from lossprism.losses.contrastive.in_batch_symbols_and_counts import (
    QUERY_SYMBOLS,
    in_all,
    temperature_parameter,
)
from lossprism.losses.contrastive.info_nce_minimum_and_collapse import keys_beside
from lossprism.losses.gather import gathered
from lossprism.losses.geometry import cosine_matrix
from lossprism.losses.kernels import log1p_sum_exp
from lossprism.losses.kernels.block_softmax import Block, mean_over_queries
from lossprism.losses.kernels.cell_terms import logistic_terms, share_of_others
from lossprism.losses.kernels.value_with_gradient import with_gradient
from lossprism.losses.library_peer_record import Peer
from lossprism.losses.minimum import least_in_batch, log1p_of
from lossprism.losses.spec import Convention, LossSpec, Parameter
from lossprism.losses.symbols import each_query, query_by_key


def focal_info_nce_definition(
    queries: Tensor,
    keys: Tensor,
    *,
    negatives: Tensor | None = None,
    temperature: float = 0.05,
    gamma: float = 0.5,
) -> Tensor:
    candidates = keys if negatives is None else torch.cat((keys, negatives))
    similarities = cosine_matrix(queries, candidates)
    logits = similarities / temperature
    positive = logits.diagonal()
    others = ~torch.eye(*logits.shape, dtype=torch.bool, device=logits.device)
    terms = (logits - positive[:, None]).masked_fill(~others, -torch.inf)
    costs = log1p_sum_exp(terms, dim=1)
    missed = -torch.expm1(-costs)
    weights = missed.masked_fill(missed == 0, 1) ** gamma
    per_query = weights * costs
    loss = per_query.mean()
    return loss


def focal_info_nce(
    queries: Tensor,
    keys: Tensor,
    *,
    negatives: Tensor | None = None,
    temperature: float = 0.05,
    gamma: float = 0.5,
    gather: bool = False,
) -> Tensor:
    r"""mean_i (1 − p_i)^γ · (−log p_i), p_i the softmax share of the own key (KaLM-Embedding-V2).

    >>> queries, keys = torch.eye(2), torch.eye(2)
    >>> focal_info_nce(queries, keys, temperature=1.0, gamma=1.0)  # 0.2689 · 0.3133
    tensor(0.0842)

    Args:
        queries, keys: [N, D] each; key i belongs to query i.
        negatives: [Q, D], further keys for every query.
        temperature: τ.
        gamma: γ ≥ 0; at 0 it is InfoNCE. The weight carries a gradient, as that of focal loss.
        gather: of the batch that all processes make together (see `losses.gather`).
    """
    input_checks.above_zero(temperature=temperature)
    input_checks.not_below_zero(gamma=gamma)
    queries, keys, negatives = gathered(gather, queries, keys, negatives)
    queries, keys, negatives = input_checks.with_negatives(
        input_checks.for_products(queries), negatives, queries=queries, keys=keys
    )
    arguments = (queries, keys, negatives, 1 / temperature, gamma)
    return with_gradient(_focal_by_tiles, _dense_focal, *arguments)


def _dense_focal(queries, keys, negatives, scale, gamma):
    return focal_info_nce_definition(
        queries, keys, negatives=negatives, temperature=1 / scale, gamma=gamma
    )


def _focal_by_tiles(needs_grad, queries, keys, negatives, scale, gamma):
    def focal(gaps: Tensor, _rows: slice) -> tuple[Tensor, Tensor]:
        costs = logistic_terms(gaps)
        missed = share_of_others(costs)
        weights = missed**gamma
        return weights * costs, weights * (gamma * (1 - missed) * costs + missed)

    candidates = [Block(slice(0, len(queries)), slice(len(queries), None))]
    value, gradient = mean_over_queries(
        queries, keys, negatives, scale, candidates, shape=focal, needs_grad=any(needs_grad)
    )
    return value, (*gradient, None) if gradient else ()


def focal_by_exponents_definition(
    queries: Tensor,
    keys: Tensor,
    *,
    negatives: Tensor | None = None,
    temperature: float = 0.05,
    margin: float = 0.3,
) -> Tensor:
    """Focal-InfoNCE (Hou & Li 2023): s² of the own pair, s (s + m) of the others, over τ."""
    candidates = keys if negatives is None else torch.cat((keys, negatives))
    similarities = cosine_matrix(queries, candidates)
    others = ~torch.eye(*similarities.shape, dtype=torch.bool, device=similarities.device)
    sharpened = similarities * torch.where(others, similarities + margin, similarities)
    logits = sharpened / temperature
    positive = logits.diagonal()
    terms = (logits - positive[:, None]).masked_fill(~others, -torch.inf)
    per_query = log1p_sum_exp(terms, dim=1)
    loss = per_query.mean()
    return loss


def _by_exponents_collapse(tensors: dict[str, Tensor], temperature: float = 0.05) -> float:
    others = len(tensors["keys"]) + keys_beside(tensors) - 1
    return log1p_of(others, 0.3 / temperature)


def _at(cost: float, gamma: float) -> float:
    return (-math.expm1(-cost)) ** gamma * cost


def _focal_collapse(tensors: dict[str, Tensor], gamma: float = 0.5, **_: object) -> float:
    return _at(math.log(len(tensors["keys"]) + keys_beside(tensors)), gamma)


def _focal_with_copies(copies: Mapping[str, Tensor], gamma: float = 0.5, **_: object) -> float:
    """A row costs the more, the more it misses: at least as if the copies were all its others."""
    costs = in_all(copies).log1p()
    return float((costs * share_of_others(costs) ** gamma).mean())


def _focal_floor(
    tensors: dict[str, Tensor], temperature: float = 0.05, gamma: float = 0.5
) -> float | None:
    """Return InfoNCE's minimum, where all queries are alike, under the same weight, if no query can
    gain by another's loss, because the cost lies above its tangent there."""
    least = least_in_batch(len(tensors["keys"]), keys_beside(tensors), temperature)
    if least == 0:
        return 0.0
    gaps = torch.linspace(-60, 60, 1201, dtype=torch.float64)
    gap = math.log(math.expm1(least))
    missed = 1 / (1 + math.exp(-gap))
    slope = missed**gamma * (gamma * (1 - missed) * least + missed)
    every = logistic_terms(gaps)
    every = every * share_of_others(every) ** gamma
    tangent = _at(least, gamma) + slope * (gaps - gap)
    return _at(least, gamma) if bool((every >= tangent - 1e-9).all()) else None


FOCAL_INFO_NCE = LossSpec(
    function=focal_info_nce,
    definition=focal_info_nce_definition,
    title="Focal InfoNCE",
    about="Weighs InfoNCE's queries less once they find their key.",
    steps={
        "sharpened": "The cosine times itself; of the others, times itself plus the margin.",
        "weights": "A query that is nearly right weighs little.",
    },
    group="in_batch",
    formula=r"-\frac1N \sum_i (1 - p_i)^\gamma \log p_i,\quad"
    r" p_i = \frac{e^{\cos(q_i, k_i)/\tau}}{\sum_j e^{\cos(q_i, k_j)/\tau}}",
    symbols={
        **QUERY_SYMBOLS,
        "costs": each_query(
            r"-\log p_i",
            r"\log\bigl(1 + «Σ exp terms[r]»\bigr)",
            equals=r"\log\Bigl(1 + \sum_{j \ne i} e^{t_{ij}}\Bigr)",
            signed=False,
        ),
        "missed": each_query(r"1 - p_i", r"1 - e^{-«costs[r]»}", signed=False),
        "weights": each_query(r"(1 - p_i)^\gamma", r"«missed[r]»^{«gamma»}", signed=False),
        "per_query": each_query(
            r"\ell_i",
            r"«weights[r]» \cdot «costs[r]»",
            equals=r"-(1 - p_i)^\gamma \log p_i",
            signed=False,
        ),
    },
    parameters=(
        temperature_parameter(0.05),
        Parameter("gamma", 0.5, r"\gamma", 0.0, 5.0, 0.05, label="focus"),
    ),
    terms="terms",
    negatives=("terms",),
    with_copies=_focal_with_copies,
    collapse=_focal_collapse,
    collapse_formula=r"\bigl(1 - \tfrac1K\bigr)^\gamma \ln K",
    floor=_focal_floor,
    floor_formula=r"\bigl(1 - e^{-\ell}\bigr)^\gamma \ell,\quad"
    r" \ell = \ln\bigl(1 + (K - 1)\, e^{-\frac{K}{(K - 1)\tau}}\bigr)",
    references=("KaLM-Embedding-V2 2025", "Lin et al. 2017 (focal loss)", "Hou & Li 2023"),
    aliases=("KaLM-Embedding-V2", "KaLM-Embedding", "KaLM", "focal loss", "Focal-InfoNCE"),
    conventions=(
        Convention(
            "puerrrr/Focal-InfoNCE bba18e4 (the authors' code, m = 0.3)",
            {"temperature": 0.05},
            focal_by_exponents_definition,
            formula=r"-\frac1N \sum_i \log \frac{e^{c_{ii}^2/\tau}}"
            r"{e^{c_{ii}^2/\tau} + \sum_{j \ne i} e^{c_{ij}(c_{ij} + 0.3)/\tau}}",
            symbols={
                "sharpened": query_by_key(
                    r"c_{ij}(c_{ij} + m [j \ne i])",
                    r"«similarities[r,c]»\,(«similarities[r,c]» + «either(0.3, 0, others[r,c])»)",
                ),
                "logits": query_by_key(
                    "s_{ij}",
                    "«sharpened[r,c]» / «temperature»",
                    equals=r"c_{ij}(c_{ij} + m [j \ne i]) / \tau",
                ),
                "per_query": QUERY_SYMBOLS["per_query"],
            },
            note="Another loss of the same name (arXiv 2310.06918), with squares in its "
            "exponents. A positive pair with a cosine below 0 is pulled the wrong way, and a "
            "negative is pushed only as far as −m/2.",
            collapse=_by_exponents_collapse,
            collapse_formula=r"\ln\bigl(1 + (K - 1)\, e^{0.3/\tau}\bigr)",
            former=("puerrrr/Focal-InfoNCE (the authors' code, m = 0.3)",),
            peers=(Peer("puerrrr/Focal-InfoNCE", "sp_logits"),),
        ),
    ),
)
