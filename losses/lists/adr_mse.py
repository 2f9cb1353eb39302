"""ADR-MSE: the distance of each candidate's soft rank from the rank that its label gives it."""

from functools import partial

import torch
from torch import Tensor

from lossprism.losses.kernels import mean_of
from lossprism.losses.kernels.lambda_and_soft_rank_list_losses import adr_mse as adr_mse_by_lists
from lossprism.losses.kernels.value_with_gradient import with_gradient
from lossprism.losses.labels import COSINES, Ends
from lossprism.losses.library_peer_record import LISTED, SENTENCE_TRANSFORMERS, Peer
from lossprism.losses.lists.list_common import (
    LIST_SYMBOLS,
    READS,
    TEMPERATURE,
    both_present,
    differences_of,
    lists_at,
    present_in,
)
from lossprism.losses.lists.minimum import width_of
from lossprism.losses.lists.soft_ranks import RANK_SYMBOLS, soft_ranks
from lossprism.losses.minimum import Bound
from lossprism.losses.spec import Convention, LossSpec
from lossprism.losses.symbols import list_by_candidate, loss_symbol


def true_ranks_of(labels: Tensor, pairs: Tensor, dtype: torch.dtype) -> Tensor:
    """The ranks by label [L, K], 1 the best; equal labels share the mean of their places."""
    above = (pairs & (labels[:, None, :] > labels[:, :, None])).sum(dim=2)
    alike = (pairs & (labels[:, None, :] == labels[:, :, None])).sum(dim=2)
    return above.to(dtype) + (alike.to(dtype) + 1) / 2


def adr_mse_definition(
    scores: Tensor, labels: Tensor, *, mask: Tensor | None = None, temperature: float = 1.0
) -> Tensor:
    present = present_in(scores, mask)
    pairs = both_present(present)
    differences = differences_of(scores, pairs) / temperature
    ranks = soft_ranks(differences, pairs)
    true_ranks = true_ranks_of(labels, pairs, scores.dtype)
    errors = (ranks - true_ranks).masked_fill(~present, 0)
    discounts = 1 / torch.log2(1 + true_ranks.clamp_min(1))
    terms = discounts * errors.square()
    loss = mean_of(terms, present)
    return loss


def adr_mse(
    scores: Tensor, labels: Tensor, *, mask: Tensor | None = None, temperature: float = 1.0
) -> Tensor:
    r"""mean over candidates of (r_i − r̂_i)² / log₂(1 + r_i), r̂ as in `approx_ndcg` (2405.07920).

    >>> adr_mse(torch.zeros(1, 2), torch.tensor([[1, 0]]))  # (0.5² / 1 + 0.5² / log₂ 3) / 2
    tensor(0.2039)

    Args:
        scores, labels, mask: as for `list_net`. r is the rank by label; equal labels share the
            mean of their places.
        temperature: τ, how soft the comparisons are; 1/α.
    """
    scores, labels, mask, temperature = lists_at(scores, labels, mask, temperature)

    def dense(scores, labels, mask):
        return adr_mse_definition(scores, labels, mask=mask, temperature=temperature)

    exact = partial(adr_mse_by_lists, temperature=temperature)
    return with_gradient(exact, dense, scores, labels.detach(), mask)


def _collapse(tensors: dict[str, Tensor], temperature: float) -> float:
    scores = torch.zeros_like(tensors["scores"].double())
    return float(adr_mse_definition(**{**tensors, "scores": scores}, temperature=temperature))


def _floor(tensors: dict[str, Tensor], temperature: float, within: Ends = COSINES) -> Bound:
    """No soft rank is nearer to 1, or to the last place, than the ends of scores allow."""
    labels = tensors["labels"].double()
    present = present_in(labels, tensors.get("mask"))
    true_ranks = true_ranks_of(labels, both_present(present), torch.float64)
    others = present.sum(dim=1, keepdim=True) - 1
    closest = others * torch.tensor(-width_of(within, temperature)).double().sigmoid()
    errors = true_ranks - torch.minimum(
        torch.maximum(true_ranks, 1 + closest), 1 + others - closest
    )
    terms = errors.square() / torch.log2(1 + true_ranks.clamp_min(1))
    return Bound(mean_of(terms, present))


ADR_MSE = LossSpec(
    function=adr_mse,
    definition=adr_mse_definition,
    title="ADR-MSE",
    about="Pulls each candidate's soft rank to the rank of its label, the top ones most of all.",
    steps={
        "discounts": "The first places count most.",
        "errors": "How far each candidate is from its place.",
        "ranks": "A rank that a gradient can follow: 1, and how far each other candidate is above.",
        "terms": "The square of it, by the place's discount.",
        "true_ranks": "The rank by label; equal labels share the mean of their places.",
    },
    group="lists",
    formula=r"\frac1N \sum_{l,i} \frac{(r_{l,i} - \hat r_{l,i})^2}{\log_2(1 + r_{l,i})},\quad"
    r" \hat r_{l,i} = 1 + \sum_{j \ne i} \sigma\Bigl(\frac{s_{l,j} - s_{l,i}}{\tau}\Bigr)",
    symbols={
        **LIST_SYMBOLS,
        **RANK_SYMBOLS,
        "true_ranks": list_by_candidate(r"r_{l,i}", signed=False),
        "errors": list_by_candidate(
            "e_{l,i}", r"«ranks[r,c]» - «true_ranks[r,c]»", equals=r"\hat r_{l,i} - r_{l,i}"
        ),
        "discounts": list_by_candidate(
            r"\delta_{l,i}",
            r"\frac{\ln 2}{\log(1 + «true_ranks[r,c]»)}",
            equals=r"\frac{1}{\log_2(1 + r_{l,i})}",
            signed=False,
        ),
        "terms": list_by_candidate(
            "t_{l,i}",
            r"«discounts[r,c]» \cdot («errors[r,c]»)^2",
            equals=r"\delta_{l,i}\, e_{l,i}^2",
            signed=False,
        ),
        "loss": loss_symbol(r"\frac1N \sum_{l,i} t_{l,i}", r"\frac{«Σ terms»}{«present.sum()»}"),
    },
    parameters=(TEMPERATURE,),
    reads=READS,
    terms="errors",
    collapse=_collapse,
    floor=_floor,
    floor_formula=r"\ge 0",
    collapse_formula=r"\frac1N \sum_i \frac{(r_i - \frac{n + 1}{2})^2}{\log_2(1 + r_i)}",
    aliases=("ADRMSELoss", "Rank-DistiLLM"),
    references=("Schlatt et al. 2024",),
    conventions=(
        Convention(
            "sentence-transformers 6.2 ADRMSELoss",
            {"temperature": 1.0},
            score="logit",
            peers=(Peer(SENTENCE_TRANSFORMERS, "ADRMSELoss", LISTED),),
        ),
    ),
)
