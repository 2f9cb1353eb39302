"""ApproxNDCG: the NDCG of ranks that a gradient can follow."""

import math
from functools import partial

import torch
from torch import Tensor

from lossprism.losses.kernels import mean_of
from lossprism.losses.kernels.lambda_and_soft_rank_list_losses import (
    approx_ndcg as approx_ndcg_by_lists,
)
from lossprism.losses.kernels.value_with_gradient import with_gradient
from lossprism.losses.labels import COSINES, Ends
from lossprism.losses.library_peer_record import LISTED, Peer
from lossprism.losses.lists.list_common import (
    LIST_SYMBOLS,
    MEAN_OF_LISTS,
    READS,
    READS_GRADED,
    READS_JUDGED,
    both_present,
    differences_of,
    gains_of,
    lists_at,
    present_in,
)
from lossprism.losses.lists.minimum import least_soft_ranks, width_of
from lossprism.losses.lists.soft_ranks import RANK_SYMBOLS, soft_ranks
from lossprism.losses.minimum import Bound
from lossprism.losses.spec import Convention, LossSpec, Parameter, Symbol
from lossprism.losses.symbols import list_by_candidate


def approx_ndcg_definition(
    scores: Tensor, labels: Tensor, *, mask: Tensor | None = None, temperature: float = 0.1
) -> Tensor:
    present = present_in(scores, mask)
    pairs = both_present(present)
    differences = differences_of(scores, pairs) / temperature
    ranks = soft_ranks(differences, pairs)
    gains = gains_of(labels.to(scores.dtype), present)
    terms = gains / torch.log2(1 + ranks)
    per_list = -terms.sum(dim=1)
    filled = present.any(dim=1)
    loss = mean_of(per_list, filled)
    return loss


def approx_ndcg(
    scores: Tensor, labels: Tensor, *, mask: Tensor | None = None, temperature: float = 0.1
) -> Tensor:
    r"""mean over lists of −Σ_i G_i / log₂(1 + r̂_i), r̂_i = 1 + Σ_{j≠i} σ((s_j − s_i)/τ) (Qin 2010).

    >>> approx_ndcg(torch.zeros(1, 2), torch.tensor([[1, 0]]))  # −1 / log₂ 2.5
    tensor(-0.7565)

    G = (2^y − 1) / IDCG. A list without a label above 0 has no NDCG and counts as 0; labels below
    0 gain as much as 0.

    Args:
        scores, labels, mask: as for `list_net`.
        temperature: τ, how soft the comparisons are.
    """
    scores, labels, mask, temperature = lists_at(scores, labels, mask, temperature)

    def dense(scores, labels, mask):
        return approx_ndcg_definition(scores, labels, mask=mask, temperature=temperature)

    if labels.requires_grad:
        return dense(scores, labels, mask)
    exact = partial(approx_ndcg_by_lists, temperature=temperature)
    return with_gradient(exact, dense, scores, labels, mask)


def _collapse(tensors: dict[str, Tensor], **_: object) -> float:
    """Every candidate has the middle rank (n + 1) / 2."""
    labels = tensors["labels"].double()
    present = present_in(labels, tensors.get("mask"))
    middle = (present.sum(dim=1, keepdim=True).double() + 1) / 2
    terms = gains_of(labels, present) / torch.log2(1 + middle)
    return float(mean_of(-terms.sum(dim=1), present.any(dim=1)))


def _floor(tensors: dict[str, Tensor], temperature: float, within: Ends = COSINES) -> float:
    """−1 of every list that has an NDCG. Between ends no soft rank is a place, and the least is
    bounded by ranks of scores that all lie as far apart as the ends."""
    labels = tensors["labels"].double()
    present = present_in(labels, tensors.get("mask"))
    gains = gains_of(labels, present).sort(dim=1, descending=True).values
    width = width_of(within, temperature)
    count = gains.shape[1]
    places = torch.arange(1, count + 1, dtype=torch.float64, device=gains.device)[None, :]
    ranks = least_soft_ranks(present.sum(dim=1, keepdim=True), places, width)
    # Behind the candidates of a list nothing gains.
    terms = gains / torch.log2(1 + torch.where(gains > 0, ranks, places))
    least = float(mean_of(-terms.sum(dim=1), present.any(dim=1)))
    return least if math.isinf(width) else Bound(least)


APPROX_NDCG = LossSpec(
    function=approx_ndcg,
    definition=approx_ndcg_definition,
    title="ApproxNDCG",
    about="Maximises the NDCG with soft ranks. Its values are negative: −1 is the best order.",
    steps={
        "ranks": "A rank that a gradient can follow: 1, and how far each other candidate is above.",
        "terms": "The gain at that rank.",
    },
    group="lists",
    formula=r"-\frac1L \sum_l \sum_i \frac{G_{l,i}}{\log_2(1 + \hat r_{l,i})},\quad"
    r" \hat r_{l,i} = 1 + \sum_{j \ne i} \sigma\Bigl(\frac{s_{l,j} - s_{l,i}}{\tau}\Bigr)",
    symbols={
        **LIST_SYMBOLS,
        **RANK_SYMBOLS,
        "terms": list_by_candidate(
            "t_{l,i}",
            r"\frac{«gains[r,c]» \cdot \ln 2}{\log(1 + «ranks[r,c]»)}",
            equals=r"\frac{G_{l,i}}{\log_2(1 + \hat r_{l,i})}",
            signed=False,
        ),
        "per_list": Symbol(
            r"\ell_l", ("list",), r"-\bigl(«Σ terms[r]»\bigr)", equals=r"-\sum_i t_{l,i}"
        ),
        "loss": MEAN_OF_LISTS,
    },
    parameters=(
        Parameter(
            "temperature",
            0.1,
            r"\tau",
            0.001,
            10.0,
            0.001,
            logarithmic=True,
            role="sharpness",
            label="temperature",
        ),
    ),
    reads=READS,
    terms="differences",
    collapse=_collapse,
    collapse_formula=r"-\sum_i \frac{G_i}{\log_2\frac{n + 3}{2}}",
    floor=_floor,
    floor_formula=r"\ge -\sum_i \frac{G_i}{\log_2(1 + i + (n + 1 - 2 i)\, \sigma(-2/\tau))}",
    formulas_unbounded={"floor": "-1"},
    aliases=("ApproxNDCGLoss", "approxNDCG", "NDCG"),
    references=("Qin et al. 2010",),
    conventions=(
        Convention(
            "TF-Ranking 0.5.5 ApproxNDCGLoss",
            {"temperature": 0.1},
            reads=READS_GRADED,
            score="logit",
            peers=(Peer("tensorflow-ranking", "ApproxNDCGLoss", LISTED),),
        ),
        Convention(
            "allRank 1.4.3 approxNDCGLoss (α = 1)",
            {"temperature": 1.0},
            reads=READS_JUDGED,
            note="The library reads a label of −1 as no candidate. A list of only these is left "
            "out of the mean here, and counts as 0 there.",
            score="logit",
            peers=(Peer("allRank", "approxNDCGLoss", LISTED),),
        ),
        Convention(
            "rax 0.4.0 approx_t12n(ndcg_metric)",
            {"temperature": 1.0},
            score="logit",
            peers=(Peer("rax", "approx_t12n", LISTED),),
        ),
    ),
)
