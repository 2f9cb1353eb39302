"""ListNet and the softmax loss: a cross-entropy of each list with a target from its labels."""

import math
from functools import partial

import torch
from torch import Tensor

from lossprism.losses import input_checks
from lossprism.losses.kernels import mean_of
from lossprism.losses.kernels.softmax_list_losses import cross_entropy
from lossprism.losses.kernels.value_with_gradient import with_gradient
from lossprism.losses.labels import COSINES, Ends
from lossprism.losses.library_peer_record import LISTED, SENTENCE_TRANSFORMERS, Peer
from lossprism.losses.lists.list_common import (
    LIST_SYMBOLS,
    MEAN_OF_LISTS,
    READS,
    READS_GRADED,
    READS_JUDGED,
    TEMPERATURE,
    lists_at,
    log_shares_of,
    present_in,
)
from lossprism.losses.lists.minimum import least_cross_entropies, width_of
from lossprism.losses.spec import Convention, LossSpec, Parameter, Symbol
from lossprism.losses.symbols import list_by_candidate

TARGETS = ("softmax", "normalized", "raw")
RANK_TARGETS = ("raw", "normalized")
MULTIPLE_NEGATIVES = "cross_encoder.losses.MultipleNegativesRankingLoss"


def targets_of(labels: Tensor, present: Tensor, target: str) -> Tensor:
    """Return the target share of each candidate of a list [L, K], from its label; 0 if absent.

    "softmax" is e^y / Σ e^y, "normalized" y / Σ y (all 0 if no label is above 0), "raw" y.
    """
    if target == "softmax":
        labels = labels.masked_fill(~present, -torch.inf)
        empty = ~present.any(dim=1, keepdim=True)
        return labels.masked_fill(empty, 0).softmax(dim=1).masked_fill(~present, 0)
    labels = labels.masked_fill(~present, 0)
    if target == "raw":
        return labels
    return labels / labels.sum(dim=1, keepdim=True).clamp_min(torch.finfo(labels.dtype).tiny)


def list_net_definition(
    scores: Tensor,
    labels: Tensor,
    *,
    mask: Tensor | None = None,
    target: str = "softmax",
    temperature: float = 1.0,
) -> Tensor:
    present = present_in(scores, mask)
    logits = (scores / temperature).masked_fill(~present, -torch.inf)
    log_shares = log_shares_of(logits)
    targets = targets_of(labels.to(scores.dtype), present, target)
    terms = -targets * log_shares.masked_fill(~present, 0)
    per_list = terms.sum(dim=1)
    filled = present.any(dim=1)
    loss = mean_of(per_list, filled)
    return loss


def list_net(
    scores: Tensor,
    labels: Tensor,
    *,
    mask: Tensor | None = None,
    target: str = "softmax",
    temperature: float = 1.0,
) -> Tensor:
    r"""mean over lists of −Σ_j P_y(j) log softmax(s/τ)_j (Cao et al. 2007).

    >>> list_net(torch.zeros(1, 4), torch.tensor([[3, 1, 0, 0]]))  # log 4
    tensor(1.3863)

    Args:
        scores: [L, K], a list of candidates a row.
        labels: [L, K], their grades.
        mask: [L, K], true where there is a candidate; all, if it is left out. A list without any
            is left out of the mean.
        target: P_y: "softmax" of the labels, "normalized" to the sum 1, or "raw", the labels as
            they are. The last two want labels of 0 or more.
        temperature: τ, of the scores alone.
    """
    input_checks.one_of(TARGETS, target=target)
    return _cross_entropy(scores, labels, mask, target, temperature, list_net_definition)


def softmax_rank_definition(
    scores: Tensor,
    labels: Tensor,
    *,
    mask: Tensor | None = None,
    target: str = "raw",
    temperature: float = 1.0,
) -> Tensor:
    present = present_in(scores, mask)
    logits = (scores / temperature).masked_fill(~present, -torch.inf)
    log_shares = log_shares_of(logits)
    targets = targets_of(labels.to(scores.dtype), present, target)
    terms = -targets * log_shares.masked_fill(~present, 0)
    per_list = terms.sum(dim=1)
    filled = present.any(dim=1)
    loss = mean_of(per_list, filled)
    return loss


def softmax_rank_of_sigmoids_definition(
    scores: Tensor,
    labels: Tensor,
    *,
    mask: Tensor | None = None,
    target: str = "raw",
    temperature: float = 0.1,
) -> Tensor:
    """The same of probabilities: what a cross-encoder's head says goes through a sigmoid first."""
    present = present_in(scores, mask)
    logits = (scores.sigmoid() / temperature).masked_fill(~present, -torch.inf)
    log_shares = log_shares_of(logits)
    targets = targets_of(labels.to(scores.dtype), present, target)
    terms = -targets * log_shares.masked_fill(~present, 0)
    per_list = terms.sum(dim=1)
    filled = present.any(dim=1)
    loss = mean_of(per_list, filled)
    return loss


def softmax_rank(
    scores: Tensor,
    labels: Tensor,
    *,
    mask: Tensor | None = None,
    target: str = "raw",
    temperature: float = 1.0,
) -> Tensor:
    r"""mean over lists of −Σ_j y_j log softmax(s/τ)_j, labels as weights (Bruch et al. 2019).

    >>> softmax_rank(torch.zeros(1, 4), torch.tensor([[3, 1, 0, 0]]))  # (3 + 1) log 4
    tensor(5.5452)

    Args:
        scores, labels, mask, temperature: as for `list_net`; labels of 0 or more.
        target: "raw" labels, or "normalized" to the sum 1 in each list.
    """
    input_checks.one_of(RANK_TARGETS, target=target)
    return _cross_entropy(scores, labels, mask, target, temperature, softmax_rank_definition)


def _cross_entropy(scores, labels, mask, target, temperature, definition):
    least = -math.inf if target == "softmax" else 0.0
    scores, labels, mask, temperature = lists_at(scores, labels, mask, temperature, least)

    def dense(scores, labels, mask):
        return definition(scores, labels, mask=mask, target=target, temperature=temperature)

    if labels.requires_grad:
        return dense(scores, labels, mask)
    exact = partial(cross_entropy, target=target, temperature=temperature)
    return with_gradient(exact, dense, scores, labels, mask)


def _targets_given(tensors: dict[str, Tensor], target: str) -> tuple[Tensor, Tensor, Tensor]:
    labels = tensors["labels"].double()
    present = present_in(labels, tensors.get("mask"))
    return targets_of(labels, present, target), present, present.any(dim=1)


def _collapse(tensors: dict[str, Tensor], target: str, **_: object) -> float:
    """Every candidate has the same share: ln K for each unit of the target."""
    targets, present, filled = _targets_given(tensors, target)
    each = targets.sum(dim=1) * present.sum(dim=1).clamp_min(1).double().log()
    return float(mean_of(each, filled))


def _floor(
    tensors: dict[str, Tensor], target: str, temperature: float = 1.0, within: Ends = COSINES
) -> float:
    """Shares as near to the target's as the ends of scores allow; without ends its entropy."""
    targets, present, filled = _targets_given(tensors, target)
    total = targets.sum(dim=1, keepdim=True)
    shares = targets / total.clamp_min(torch.finfo(targets.dtype).tiny)
    each = total[:, 0] * least_cross_entropies(shares, present, width_of(within, temperature))
    return float(mean_of(each, filled))


def _floor_of_sigmoids(tensors: dict[str, Tensor], target: str, temperature: float = 0.1) -> float:
    """Every score is between 0 and 1, however far the logit."""
    return _floor(tensors, target, temperature, within=(0.0, 1.0))


SHARE_SYMBOLS = {
    **LIST_SYMBOLS,
    "logits": list_by_candidate(
        "z_{l,j}", r"\frac{«scores[r,c]»}{«temperature»}", equals=r"s_{l,j} / \tau"
    ),
    "log_shares": list_by_candidate(
        r"\log p_{l,j}",
        r"«logits[r,c]» - \log\bigl(«Σ exp logits[r]»\bigr)",
        equals=r"z_{l,j} - \log\sum_k e^{z_{l,k}}",
    ),
    "targets": list_by_candidate(r"P_{l,j}", signed=False),
    "terms": list_by_candidate(
        "t_{l,j}",
        r"-«targets[r,c]» \cdot «log_shares[r,c]»",
        equals=r"-P_{l,j} \log p_{l,j}",
        signed=False,
    ),
    "per_list": Symbol(
        r"\ell_l", ("list",), r"«Σ terms[r]»", equals=r"\sum_j t_{l,j}", signed=False
    ),
    "loss": MEAN_OF_LISTS,
}

LIST_NET = LossSpec(
    function=list_net,
    definition=list_net_definition,
    title="ListNet",
    about="Matches the probabilities of a list's scores to those of its labels.",
    group="lists",
    formula=r"-\frac1L \sum_l \sum_j P_{l,j} \log \frac{e^{s_{l,j}/\tau}}{\sum_k e^{s_{l,k}/\tau}}",
    symbols=SHARE_SYMBOLS,
    parameters=(Parameter("target", "softmax", choices=TARGETS, label="target"), TEMPERATURE),
    reads=READS,
    terms="logits",  # the mean weighs every term alike; what pulls at a candidate is p − P
    collapse=_collapse,
    collapse_formula=r"\ln K \cdot \sum_j P_j",
    floor=_floor,
    floor_formula=r"\min_{-1 \le s \le 1} \mathcal L",
    formulas_unbounded={"floor": "H(P)"},
    aliases=("ListNetLoss", "listwise softmax cross-entropy"),
    references=("Cao et al. 2007",),
    conventions=(
        Convention(
            "sentence-transformers 6.2 ListNetLoss",
            {"target": "softmax"},
            score="logit",
            peers=(Peer(SENTENCE_TRANSFORMERS, "ListNetLoss", LISTED),),
        ),
        Convention(
            "allRank 1.4.3 listNet",
            {"target": "softmax"},
            reads=READS_JUDGED,
            note="The library reads a label of −1 as no candidate. It adds 10⁻¹⁰ inside its "
            "logarithm, left out here: the numbers differ only for shares below that.",
            former=("allRank 1.4.3 listNet (ε = 1e-10)",),
            score="logit",
            peers=(Peer("allRank", "listNet", LISTED),),
        ),
    ),
)

SOFTMAX_RANK = LossSpec(
    function=softmax_rank,
    definition=softmax_rank_definition,
    title="Softmax loss of lists",
    about="Takes a softmax over each list and weighs every candidate by its label.",
    group="lists",
    formula=r"-\frac1L \sum_l \sum_j y_{l,j} \log \frac{e^{s_{l,j}/\tau}}{\sum_k e^{s_{l,k}/\tau}}",
    symbols={
        **SHARE_SYMBOLS,
        "targets": list_by_candidate("P_{l,j}", equals="y_{l,j}", signed=False),
    },
    variants={
        "target=normalized": r"-\frac1L \sum_l \sum_j \frac{y_{l,j}}{\sum_k y_{l,k}}"
        r" \log \frac{e^{s_{l,j}/\tau}}{\sum_k e^{s_{l,k}/\tau}}"
    },
    parameters=(Parameter("target", "raw", choices=RANK_TARGETS, label="target"), TEMPERATURE),
    reads=READS,
    terms="logits",
    collapse=_collapse,
    collapse_formula=r"\ln K \cdot \sum_j P_j",
    floor=_floor,
    floor_formula=r"\min_{-1 \le s \le 1} \mathcal L",
    formulas_unbounded={"floor": "H(P)"},
    aliases=(
        "softmax_loss",
        "SoftmaxLoss",
        "listwise softmax",
        "LCE",
        "localized contrastive estimation",
    ),
    references=("Bruch et al. 2019",),
    conventions=(
        Convention(
            "rax 0.4.0 softmax_loss",
            {"target": "raw"},
            score="logit",
            peers=(Peer("rax", "softmax_loss", LISTED),),
        ),
        Convention(
            "TF-Ranking 0.5.5, Keras SoftmaxLoss",
            {"target": "raw"},
            reads=READS_GRADED,
            score="logit",
            peers=(Peer("tensorflow-ranking", "SoftmaxLoss", LISTED),),
        ),
        Convention(
            "sentence-transformers 6.2, in-batch negatives of a cross-encoder (10 σ(s))",
            {"target": "raw", "temperature": 0.1},
            softmax_rank_of_sigmoids_definition,
            formula=r"-\frac1L \sum_l \sum_j y_{l,j}"
            r" \log \frac{e^{\sigma(s_{l,j})/\tau}}{\sum_k e^{\sigma(s_{l,k})/\tau}}",
            symbols={
                "logits": list_by_candidate(
                    "z_{l,j}",
                    r"\frac{1}{«temperature» \cdot (1 + e^{-«scores[r,c]»})}",
                    equals=r"\sigma(s_{l,j}) / \tau",
                )
            },
            note="For each query the library draws 4 other second sentences beside its hard "
            "negatives: a list holds the positive, labelled 1, and these. For bi-encoders its "
            "class of this name is InfoNCE.",
            collapse=_collapse,
            floor=_floor_of_sigmoids,
            floor_formula=r"\min_{0 \le \sigma(s) \le 1} \mathcal L",
            aliases=("cross_encoder.losses.CachedMultipleNegativesRankingLoss",),
            peers=(Peer(SENTENCE_TRANSFORMERS, MULTIPLE_NEGATIVES, LISTED),),
            score="logit",
        ),
    ),
)
