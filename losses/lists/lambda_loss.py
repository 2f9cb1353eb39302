"""The LambdaLoss family: RankNet within lists, each pair weighted by the value of its order."""

import math
from functools import partial
from typing import Any

import torch
from torch import Tensor

from lossprism.losses import input_checks
from lossprism.losses.kernels import softplus
from lossprism.losses.kernels.lambda_and_soft_rank_list_losses import (
    lambda_loss as lambda_loss_by_lists,
)
from lossprism.losses.kernels.value_with_gradient import with_gradient
from lossprism.losses.labels import COSINES, Ends
from lossprism.losses.library_peer_record import LISTED, SENTENCE_TRANSFORMERS, Peer
from lossprism.losses.lists.list_common import (
    LIST_SYMBOLS,
    READS,
    READS_JUDGED,
    both_present,
    differences_of,
    gains_of,
    present_in,
    scored_lists,
)
from lossprism.losses.minimum import Bound, softplus_at
from lossprism.losses.spec import Convention, LossSpec, Parameter
from lossprism.losses.symbols import candidate_by_candidate, list_by_candidate, loss_symbol

SCHEMES = ("ndcg2pp", "ndcg2", "lambdarank", "ndcg1", "none")
REDUCTIONS = ("mean", "sum")


def ranks_of(scores: Tensor, pairs: Tensor) -> Tensor:
    """Return 1 + the number of the list above, ties in their order: int64 [L, K]."""
    places = torch.arange(scores.shape[1], device=scores.device)
    above = scores[:, None, :] > scores[:, :, None]
    tied = (scores[:, None, :] == scores[:, :, None]) & (places[None, :] < places[:, None])
    return 1 + (pairs & (above | tied)).sum(dim=2)


def weights_by(scheme: str, gains: Tensor, ranks: Tensor, mu: float) -> Tensor:
    """Return the weight of a pair, before any is left out: row i, column j, [L, K, K]."""
    inverse = 1 / torch.log2(1 + ranks.to(gains.dtype))
    if scheme == "none":
        return torch.ones_like(gains)[:, :, None].expand(-1, -1, gains.shape[1])
    if scheme == "ndcg1":
        return (gains * inverse)[:, :, None].expand(-1, -1, gains.shape[1])
    swapped = (inverse[:, :, None] - inverse[:, None, :]).abs()
    apart = (ranks[:, :, None] - ranks[:, None, :]).abs().to(gains.dtype)
    # A pair that is d places apart: 1/D_d − 1/D_{d+1}; a candidate and itself: 0.
    moved = 1 / torch.log2(1 + apart.clamp_min(1)) - 1 / torch.log2(2 + apart)
    moved = moved.masked_fill(apart == 0, 0)
    across = {"lambdarank": swapped, "ndcg2": moved, "ndcg2pp": mu * moved + swapped}[scheme]
    return across * (gains[:, :, None] - gains[:, None, :]).abs()


def lambda_loss_definition(
    scores: Tensor,
    labels: Tensor,
    *,
    mask: Tensor | None = None,
    scheme: str = "ndcg2pp",
    k: int | None = None,
    sigma: float = 1.0,
    mu: float = 10.0,
    reduction: str = "mean",
) -> Tensor:
    present = present_in(scores, mask)
    pairs = both_present(present)
    ranks = ranks_of(scores, pairs)
    gains = gains_of(labels.to(scores.dtype), present, k)
    ordered = pairs if scheme == "ndcg1" else pairs & (labels[:, :, None] > labels[:, None, :])
    if k is not None:
        reached = ranks <= k
        ordered = ordered & (reached[:, :, None] | reached[:, None, :])
    weights = weights_by(scheme, gains, ranks, mu).masked_fill(~ordered, 0)
    differences = sigma * differences_of(scores, pairs)
    terms = weights * softplus(differences) / math.log(2)
    loss = terms.sum() / {"mean": ordered.sum().clamp_min(1), "sum": 1}[reduction]
    return loss


def lambda_loss(
    scores: Tensor,
    labels: Tensor,
    *,
    mask: Tensor | None = None,
    scheme: str = "ndcg2pp",
    k: int | None = None,
    sigma: float = 1.0,
    mu: float = 10.0,
    reduction: str = "mean",
) -> Tensor:
    r"""mean over pairs y_i > y_j of a list of w_ij log₂(1 + e^(σ(s_j − s_i))) (Wang et al. 2018).

    >>> lambda_loss(torch.zeros(1, 2), torch.tensor([[1, 0]]), scheme="none")  # 1 bit
    tensor(1.)

    With G = (2^y − 1) / IDCG, D_r = log₂(1 + r) and r the rank by score, w_ij is by `scheme`

        "lambdarank"  |G_i − G_j| · |1/D_{r_i} − 1/D_{r_j}|
        "ndcg2"       |G_i − G_j| · |1/D_d − 1/D_{d+1}|, d = |r_i − r_j|
        "ndcg2pp"     μ · ndcg2 + lambdarank
        "ndcg1"       G_i / D_{r_i}, over all i and j of a list whatever their labels, as its paper
                      and the libraries have it
        "none"        1, RankNet in bits

    Weights carry no gradient. Labels below 0 gain as much as 0.

    Args:
        scores, labels, mask: as for `list_net`. Of equal scores, the first of the list stands
            above.
        scheme: w.
        k: only pairs of which one stands among the first k, and the IDCG of the first k; None
            or 0: all.
        sigma: σ, the steepness.
        mu: μ.
        reduction: "mean" over the pairs that count, or "sum".
    """
    input_checks.one_of(SCHEMES, scheme=scheme)
    input_checks.one_of(REDUCTIONS, reduction=reduction)
    input_checks.above_zero(sigma=sigma)
    input_checks.plain_number(mu=mu)
    if k is not None and (k < 0 or k != int(k)):
        raise ValueError(f"k is {k}; it must be a whole number of 1 or more, or None for all")
    scores, labels, mask = scored_lists(scores, labels, mask)
    if isinstance(sigma, Tensor):  # it may want a gradient too
        scores, sigma = scores * sigma, 1.0
    k, mu, mean = int(k) if k else None, float(mu), reduction == "mean"
    chosen = {"scheme": scheme, "k": k, "sigma": sigma, "mu": mu}

    def dense(scores, labels, mask):
        return lambda_loss_definition(scores, labels, mask=mask, reduction=reduction, **chosen)

    exact = partial(lambda_loss_by_lists, mean=mean, **chosen)
    return with_gradient(exact, dense, scores, labels.detach(), mask)


def _collapse(tensors: dict[str, Tensor], **parameters: Any) -> float:
    """Every pair one bit by its weight, ranks as the list stands."""
    scores = torch.zeros_like(tensors["scores"].double())
    return float(lambda_loss_definition(**{**tensors, "scores": scores}, **parameters))


def _floor(
    tensors: dict[str, Tensor],
    scheme: str,
    k: float | None,
    sigma: float,
    reduction: str,
    within: Ends = COSINES,
    **_: Any,
) -> Bound:
    """No two scores are farther apart than their ends. What a pair weighs follows the ranks: of
    weighted pairs only that each is above 0 is certain."""
    present = present_in(tensors["labels"], tensors.get("mask"))
    labels = tensors["labels"]
    ordered = both_present(present) & (labels[:, :, None] > labels[:, None, :])
    count = int(ordered.sum())
    if scheme != "none" or not count or (k is not None and reduction == "sum"):
        return Bound(0.0)
    each = softplus_at(sigma * (within[0] - within[1])) / math.log(2)
    return Bound(each * (count if reduction == "sum" else 1))


WEIGHTING = "weighting_scheme"  # the argument of the library's class

LAMBDA_LOSS = LossSpec(
    function=lambda_loss,
    definition=lambda_loss_definition,
    title="LambdaLoss",
    about="Applies RankNet within each list, and weighs a pair by what its order is worth to the "
    "NDCG.",
    steps={
        "ordered": "The row's label is higher, so its score should be higher too.",
        "reached": "Whether a candidate stands among the first k.",
        "terms": "A logarithm for each pair, by its weight.",
        "weights": "What it would cost the NDCG to swap the two.",
    },
    group="lists",
    formula=r"\frac{1}{|P|} \sum_l \sum_{y_i > y_j} w_{l,ij}"
    r" \log_2\bigl(1 + e^{\sigma (s_{l,j} - s_{l,i})}\bigr)",
    symbols={
        **LIST_SYMBOLS,
        "pairs": candidate_by_candidate(r"m_{l,i} m_{l,j}"),
        "ranks": list_by_candidate(r"r_{l,j}", signed=False),
        "reached": list_by_candidate(r"r_{l,j} \le k"),
        "ordered": candidate_by_candidate(r"y_{l,i} > y_{l,j}"),
        "weights": candidate_by_candidate(r"w_{l,ij}", signed=False),
        "differences": candidate_by_candidate(
            "d_{l,ij}",
            r"«sigma»\,(«scores[l,c]» - «scores[l,r]»)",
            equals=r"\sigma (s_{l,j} - s_{l,i})",
        ),
        "terms": candidate_by_candidate(
            "t_{l,ij}",
            r"\frac{«weights[l,r,c]»}{\ln 2} \cdot \log\bigl(1 + e^{«differences[l,r,c]»}\bigr)",
            equals=r"w_{l,ij} \log_2\bigl(1 + e^{d_{l,ij}}\bigr)",
            signed=False,
        ),
        "loss": loss_symbol(
            r"\frac{1}{|P|} \sum_{l,i,j} t_{l,ij}",
            r"\frac{«Σ terms»}{«ordered.sum().clamp_min(1) if reduction == 'mean' else 1»}",
        ),
    },
    parameters=(
        Parameter("scheme", "ndcg2pp", choices=SCHEMES, label="weights"),
        Parameter(
            "k",
            None,
            "k",
            1,
            50,
            1,
            whole=True,
            on_value=10.0,
            former_off=0.0,
            label="first k only",
        ),
        Parameter(
            "sigma",
            1.0,
            r"\sigma",
            0.01,
            100.0,
            0.01,
            logarithmic=True,
            role="sharpness",
            label="width of the weights",
        ),
        Parameter("mu", 10.0, r"\mu", 0.0, 100.0, 0.5, label="share of NDCG-Loss2"),
        Parameter("reduction", "mean", choices=REDUCTIONS, label="reduction"),
    ),
    variants={
        "scheme=ndcg1": r"\frac{1}{|P|} \sum_l \sum_{i, j} \frac{G_{l,i}}{D_{r_i}}"
        r" \log_2\bigl(1 + e^{\sigma (s_{l,j} - s_{l,i})}\bigr)",
        "reduction=sum": r"\sum_l \sum_{y_i > y_j} w_{l,ij}"
        r" \log_2\bigl(1 + e^{\sigma (s_{l,j} - s_{l,i})}\bigr)",
    },
    reads=READS,
    terms="differences",
    collapse=_collapse,
    collapse_formula=r"\bar w",
    floor=_floor,
    floor_formula=r"\ge 0",
    aliases=(
        "LambdaRank",
        "NDCGLoss2++",
        "LambdaMART",
        "NDCGLoss1Scheme",
        "NDCGLoss2Scheme",
        "NDCGLoss2PPScheme",
        "LambdaRankScheme",
        "NDCGLoss1",
        "NDCGLoss2",
        "NoWeightingScheme",
        "NDCG",
    ),
    references=("Wang et al. 2018", "Burges 2010"),
    note='NDCG-Loss1 (scheme "ndcg1") sums over all i and j of a list, with ties and i = j, as '
    "in its paper, sentence-transformers and allRank. Over pairs with y_i > y_j alone, as in the "
    "other schemes, it would be another number.",
    conventions=(
        Convention(
            "sentence-transformers 6.2 LambdaLoss",
            {"scheme": "ndcg2pp"},
            aliases=("NDCGLoss2PPScheme", "NDCGLoss2++"),
            score="logit",
            peers=(Peer(SENTENCE_TRANSFORMERS, "LambdaLoss", LISTED),),
        ),
        *(
            Convention(
                f"sentence-transformers 6.2 LambdaLoss, {kind}",
                {"scheme": scheme},
                aliases=tuple(names),
                score="logit",
                peers=(Peer(SENTENCE_TRANSFORMERS, "LambdaLoss", LISTED, {WEIGHTING: kind}),),
            )
            for scheme, kind, *names in (
                ("ndcg1", "NDCGLoss1Scheme", "NDCGLoss1"),
                ("ndcg2", "NDCGLoss2Scheme", "NDCGLoss2"),
                ("lambdarank", "LambdaRankScheme", "LambdaRank", "LambdaMART"),
                ("none", "NoWeightingScheme"),
            )
        ),
        Convention(
            "allRank 1.4.3 lambdaLoss, ndcgLoss2PP_scheme",
            {"reduction": "sum"},
            reads=READS_JUDGED,
            note="The library reads a label of −1 as no candidate. With k it keeps pairs with "
            "both among the first k; here, as in the paper and in sentence-transformers, one of "
            "them is enough.",
            score="logit",
            peers=(
                Peer("allRank", "lambdaLoss", LISTED, {"weighing_scheme": "ndcgLoss2PP_scheme"}),
            ),
        ),
    ),
)
