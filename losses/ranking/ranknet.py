"""RankNet: a logistic loss for each ordered pair, without a common logarithm."""

import math

from torch import Tensor

from lossprism.losses import input_checks
from lossprism.losses.gather import gathered
from lossprism.losses.kernels import logistic_sum, mean_of, softplus
from lossprism.losses.kernels.ordered_hinge_and_logistic_sums import ties_by_label
from lossprism.losses.labels import UNJUDGED
from lossprism.losses.library_peer_record import SCORES, SENTENCE_TRANSFORMERS, Peer
from lossprism.losses.loss_term_structures import LogisticSum
from lossprism.losses.ranking.ordered_pair_symbols import GRADED, PAIR_SYMBOLS, SCALE, ordered_count
from lossprism.losses.ranking.ranknet_minimum_and_collapse import (
    binary_floor,
    by_gap_collapse,
    by_gap_floor,
    judged_count,
    logistic_collapse,
    logistic_floor,
    of_judged,
    per_item_floor,
)
from lossprism.losses.spec import Convention, LossSpec, Parameter
from lossprism.losses.symbols import each_pair, loss_symbol, pair_by_pair

REDUCTIONS = ("sum", "mean", "none")


def pairwise_logistic_definition(
    scores: Tensor, labels: Tensor, *, scale: float = 20.0, reduction: str = "sum"
) -> Tensor:
    differences = scale * (scores[:, None] - scores[None, :])
    ordered = labels[:, None] < labels[None, :]
    terms = softplus(differences).masked_fill(~ordered, 0)
    if reduction == "none":
        return terms
    loss = terms.sum() if reduction == "sum" else mean_of(terms, ordered)
    return loss


def pairwise_logistic(
    scores: Tensor,
    labels: Tensor,
    *,
    scale: float = 20.0,
    reduction: str = "sum",
    gather: bool = False,
) -> Tensor:
    r"""Σ log(1 + exp(λ(s_j − s_i))) over y_i > y_j, or its mean (RankNet; S1 eq. 25–27).

    >>> pairwise_logistic(torch.tensor([0.0, 0.0]), torch.tensor([1, 0]))  # log 2
    tensor(0.6931)

    Args:
        scores, labels: [N] each.
        scale: λ.
        reduction: "sum", "mean" over the ordered pairs, or "none": the terms [N, N], row the
            lower pair, column the higher, 0 where the labels say nothing.
        gather: compare with the pairs of all processes too; see `losses.gather`.
    """
    input_checks.one_of(REDUCTIONS, reduction=reduction)
    scores, labels = input_checks.pair_scores(*gathered(gather, scores, labels))
    if reduction == "none":
        return pairwise_logistic_definition(scores, labels, scale=scale, reduction=reduction)
    return logistic_sum(scores, labels, scale=scale, mean=reduction == "mean")


def pairwise_logistic_judged_definition(
    scores: Tensor, labels: Tensor, *, scale: float = 1.0, reduction: str = "mean"
) -> Tensor:
    """The form of allRank and TF-Ranking: a label of −1 marks a pair without a judgement."""
    differences = scale * (scores[:, None] - scores[None, :])
    judged = labels != UNJUDGED
    ordered = (labels[:, None] < labels[None, :]) & judged[:, None] & judged[None, :]
    terms = softplus(differences).masked_fill(~ordered, 0)
    loss = terms.sum() if reduction == "sum" else mean_of(terms, ordered)
    return loss


def pairwise_logistic_judged(
    scores: Tensor,
    labels: Tensor,
    *,
    scale: float = 1.0,
    reduction: str = "mean",
    gather: bool = False,
) -> Tensor:
    r"""`pairwise_logistic` as allRank and TF-Ranking have it: without the pairs of label −1.

    >>> pairwise_logistic_judged(torch.tensor([0.0, 0.0, 5.0]), torch.tensor([1, 0, -1]))  # log 2
    tensor(0.6931)

    Args:
        scores, labels, scale, gather: as for `pairwise_logistic`.
        reduction: "sum", or "mean" over the ordered pairs.
    """
    input_checks.one_of(REDUCTIONS[:2], reduction=reduction)
    scores, labels = input_checks.pair_scores(*gathered(gather, scores, labels))
    chosen = {"scale": scale, "reduction": reduction}
    if not input_checks.may_ask(labels):  # how many are left is not to be known
        return pairwise_logistic_judged_definition(scores, labels, **chosen)
    return _of_some(labels != UNJUDGED, scores, labels, scale=scale, mean=reduction == "mean")


def _of_some(
    chosen: Tensor, scores: Tensor, labels: Tensor, *, scale: float, **how: bool
) -> Tensor:
    """Return the sum or mean over the ordered pairs of the chosen pairs [N]; 0 without any."""
    if not chosen.any():
        return 0 * scores.sum()
    return logistic_sum(scores[chosen], labels[chosen], scale=scale, **how)


def pairwise_logistic_binary_definition(
    scores: Tensor, labels: Tensor, *, scale: float = 1.0
) -> Tensor:
    """sentence-transformers' form of RankNet: the mean, in bits."""
    differences = scale * (scores[:, None] - scores[None, :])
    ordered = labels[:, None] < labels[None, :]
    terms = softplus(differences).masked_fill(~ordered, 0)
    loss = mean_of(terms, ordered) / math.log(2)
    return loss


def pairwise_logistic_binary(
    scores: Tensor, labels: Tensor, *, scale: float = 1.0, gather: bool = False
) -> Tensor:
    r"""`pairwise_logistic` as sentence-transformers' RankNetLoss has it: the mean, in bits.

    >>> pairwise_logistic_binary(torch.tensor([0.0, 0.0]), torch.tensor([1, 0]))
    tensor(1.)

    Args:
        scores, labels, scale, gather: as for `pairwise_logistic`.
    """
    mean = pairwise_logistic(scores, labels, scale=scale, reduction="mean", gather=gather)
    return mean / math.log(2)


def pairwise_logistic_per_item_definition(
    scores: Tensor, labels: Tensor, *, scale: float = 1.0
) -> Tensor:
    """The form of keras-rs and TF-Ranking's Keras loss: the sum over pairs of pairs by the number
    of pairs."""
    differences = scale * (scores[:, None] - scores[None, :])
    graded = labels >= 0
    ordered = (labels[:, None] < labels[None, :]) & graded[:, None]
    terms = softplus(differences).masked_fill(~ordered, 0)
    loss = terms.sum() / len(scores)
    return loss


def pairwise_logistic_per_item(
    scores: Tensor, labels: Tensor, *, scale: float = 1.0, gather: bool = False
) -> Tensor:
    r"""`pairwise_logistic` as TF-Ranking's Keras loss has it: the sum over ordered pairs by the
    number of pairs N; a label below 0 is compared with none, and counted.

    >>> pairwise_logistic_per_item(torch.tensor([0.0, 0.0]), torch.tensor([1, 0]))  # log 2 / 2
    tensor(0.3466)

    Args:
        scores, labels, scale, gather: as for `pairwise_logistic`.
    """
    scores, labels = input_checks.pair_scores(*gathered(gather, scores, labels))
    if not input_checks.may_ask(labels):  # how many are left is not to be known
        return pairwise_logistic_per_item_definition(scores, labels, scale=scale)
    return _of_some(labels >= 0, scores, labels, scale=scale) / len(scores)


def pairwise_logistic_still_at_ties_definition(
    scores: Tensor, labels: Tensor, *, scale: float = 1.0
) -> Tensor:
    """keras-rs's form of the logistic: the same number, and no gradient where two scores tie."""
    differences = scale * (scores[:, None] - scores[None, :])
    graded = labels >= 0
    ordered = (labels[:, None] < labels[None, :]) & graded[:, None]
    logistic = differences.relu() + (-differences.abs()).exp().log1p()
    terms = logistic.masked_fill(~ordered, 0)
    loss = terms.sum() / len(scores)
    return loss


def pairwise_logistic_still_at_ties(
    scores: Tensor, labels: Tensor, *, scale: float = 1.0, gather: bool = False
) -> Tensor:
    r"""`pairwise_logistic_per_item` as keras-rs has it: a pair of equal scores is not moved.

    >>> scores = torch.tensor([0.0, 0.0], requires_grad=True)
    >>> pairwise_logistic_still_at_ties(scores, torch.tensor([1, 0])).backward()
    >>> scores.grad
    tensor([0., 0.])

    Args:
        scores, labels, scale, gather: as for `pairwise_logistic`.
    """
    scores, labels = input_checks.pair_scores(*gathered(gather, scores, labels))
    if not input_checks.may_ask(labels):  # how many are left is not to be known
        return pairwise_logistic_still_at_ties_definition(scores, labels, scale=scale)
    graded = labels >= 0
    loss, tied = _of_some(graded, scores, labels, scale=scale), scores[graded]
    # The slope of the logistic is λ/2 at a tie: what is taken away is 0, and has these slopes.
    slopes = scale / 2 * ties_by_label(tied.detach(), labels[graded])
    return (loss - (tied - tied.detach()).dot(slopes)) / len(scores)


def pairwise_logistic_by_gap_definition(
    scores: Tensor, labels: Tensor, *, scale: float = 1.0
) -> Tensor:
    """allRank's weighted RankNet: each pair by its label difference, the mean over pairs; a label
    of −1 marks a pair without a judgement."""
    differences = scale * (scores[:, None] - scores[None, :])
    judged = labels != UNJUDGED
    ordered = (labels[:, None] < labels[None, :]) & judged[:, None] & judged[None, :]
    gaps = (labels[None, :] - labels[:, None]).to(scores.dtype).relu()
    terms = gaps * softplus(differences).masked_fill(~ordered, 0)
    loss = mean_of(terms, ordered)
    return loss


def pairwise_logistic_by_gap(
    scores: Tensor, labels: Tensor, *, scale: float = 1.0, gather: bool = False
) -> Tensor:
    r"""`pairwise_logistic` as allRank's rankNet_weightByGTDiff has it: each term times y_i − y_j,
    and the mean over the ordered pairs; a label of −1 marks a pair that nobody judged.

    >>> pairwise_logistic_by_gap(torch.tensor([0.0, 0.0, 5.0]), torch.tensor([3, 0, -1]))  # 3 log 2
    tensor(2.0794)

    Args:
        scores, labels, scale, gather: as for `pairwise_logistic`.
    """
    scores, labels = input_checks.pair_scores(*gathered(gather, scores, labels))
    if not input_checks.may_ask(labels):  # how many are left is not to be known
        return pairwise_logistic_by_gap_definition(scores, labels, scale=scale)
    return _of_some(labels != UNJUDGED, scores, labels, scale=scale, mean=True, by_gap=True)


JUDGED = {"judged": each_pair(r"y_i \ne -1", r"«labels[r]» \ne -1")}
PAIRWISE_LOGISTIC = LossSpec(
    function=pairwise_logistic,
    definition=pairwise_logistic_definition,
    title="Pairwise logistic (RankNet)",
    about="Penalises each ordered pair by a logarithm of its own, as in RankNet.",
    steps={
        "logistic": "What each cell would cost, ordered or not.",
        "terms": "A logarithm for each comparison, where CoSENT has one for all.",
    },
    group="pair_scores",
    formula=r"\sum_{y_i > y_j} \log\bigl(1 + e^{\lambda (s_j - s_i)}\bigr)",
    symbols={
        **PAIR_SYMBOLS,
        "differences": pair_by_pair(
            "d_{ji}",
            r"«scale»\,(«scores[r]» - «scores[c]»)",
            equals=r"\lambda (s_j - s_i)",
            indices=("j", "i"),
        ),
        "terms": pair_by_pair(
            "t_{ji}",
            r"\log\bigl(1 + e^{«scale»(«scores[r]» - «scores[c]»)}\bigr)",
            equals=r"\log\bigl(1 + e^{d_{ji}}\bigr)\ \text{where}\ y_j < y_i",
            signed=False,
            indices=("j", "i"),
        ),
        "loss": loss_symbol(
            r"\sum_{j,i} t_{ji}",
            r"\frac{«Σ terms»}{«ordered.sum().clamp_min(1) if reduction == 'mean' else 1»}",
        ),
    },
    parameters=(SCALE, Parameter("reduction", "sum", choices=("sum", "mean"), label="reduction")),
    variants={
        "reduction=mean": r"\frac1{|P|} \sum_{y_i > y_j}"
        r" \log\bigl(1 + e^{\lambda (s_j - s_i)}\bigr)"
    },
    form=LogisticSum(
        scale=lambda scale, **_: scale, mean=lambda reduction, **_: reduction == "mean"
    ),
    terms="differences",
    collapse=logistic_collapse,
    collapse_formula=r"|P| \ln 2\ \text{or}\ \ln 2",
    floor=logistic_floor,
    floor_formula=r"|P| \ln(1 + e^{-2\lambda})",
    formulas_unbounded={"floor": "0"},
    aliases=(
        "RankNet",
        "RankNetLoss",
        "BPR",
        "Bayesian personalized ranking",
        "DPO",
        "pairwise logistic loss",
    ),
    references=("S1 eq. 25–27", "Burges et al. 2005"),
    conventions=(
        Convention(
            "rax 0.4.0 pairwise_logistic_loss",
            {"scale": 1.0, "reduction": "mean"},
            list_weight=ordered_count,
            former=("rax",),
            score="logit",
            peers=(Peer("rax", "pairwise_logistic_loss", SCORES),),
        ),
        Convention(
            "allRank 1.4.3, TF-Ranking 0.5.5",
            {"scale": 1.0, "reduction": "mean"},
            pairwise_logistic_judged_definition,
            symbols=JUDGED,
            function=pairwise_logistic_judged,
            list_weight=judged_count,
            collapse=of_judged(logistic_collapse),
            floor=of_judged(logistic_floor),
            note="TF-Ranking here is its function make_loss_fn; its Keras loss divides by the "
            "number of items and is another convention. Pairs labelled −1 are left out.",
            former=("allRank, TF-Ranking",),
            score="logit",
            peers=(
                Peer("allRank", "rankNet", SCORES),
                Peer(
                    "tensorflow-ranking",
                    "make_loss_fn",
                    SCORES,
                    {"loss_name": "pairwise_logistic_loss"},
                ),
            ),
        ),
        Convention(
            "sentence-transformers 6.2 RankNetLoss (mean / ln 2)",
            {"scale": 1.0},
            pairwise_logistic_binary_definition,
            formula=r"\frac{1}{|P| \ln 2} \sum_{y_i > y_j}"
            r" \log\bigl(1 + e^{\lambda (s_j - s_i)}\bigr)",
            symbols={
                "loss": loss_symbol(
                    r"\frac{1}{|P| \ln 2} \sum_{j,i} t_{ji}",
                    r"\frac{«Σ terms»}{«ordered.sum().clamp_min(1)» \cdot \ln 2}",
                )
            },
            function=pairwise_logistic_binary,
            floor=binary_floor,
            floor_formula=r"\log_2(1 + e^{-2\lambda})",
            former=("sentence-transformers (mean / ln 2)",),
            list_weight=ordered_count,
            score="logit",
            peers=(Peer(SENTENCE_TRANSFORMERS, "RankNetLoss", SCORES),),
        ),
        Convention(
            "allRank 1.4.3 rankNet_weightByGTDiff",
            {"scale": 1.0},
            pairwise_logistic_by_gap_definition,
            formula=r"\frac{1}{|P|} \sum_{y_i > y_j} (y_i - y_j)"
            r" \log\bigl(1 + e^{\lambda (s_j - s_i)}\bigr)",
            symbols={
                **JUDGED,
                "gaps": pair_by_pair(
                    "w_{ji}",
                    r"[«labels[c]» - «labels[r]»]_+",
                    equals="[y_i - y_j]_+",
                    signed=False,
                    indices=("j", "i"),
                ),
                "terms": pair_by_pair(
                    "t_{ji}",
                    r"«gaps[r,c]» \cdot \log\bigl(1 + e^{«differences[r,c]»}\bigr)",
                    equals=r"w_{ji} \log\bigl(1 + e^{d_{ji}}\bigr)",
                    signed=False,
                    indices=("j", "i"),
                ),
                "loss": loss_symbol(
                    r"\frac{1}{|P|} \sum_{j,i} t_{ji}",
                    r"\frac{«Σ terms»}{«ordered.sum().clamp_min(1)»}",
                ),
            },
            note="The mean is over pairs, not over their weights, so it changes with the scale "
            "of the labels. Pairs labelled −1 are left out.",
            function=pairwise_logistic_by_gap,
            collapse=of_judged(by_gap_collapse),
            collapse_formula=r"\overline{y_i - y_j}\, \ln 2\ \text{over}\ P",
            floor=of_judged(by_gap_floor),
            floor_formula=r"(y_{\max} - y_{\min}) \ln(1 + e^{-2\lambda})",
            score="logit",
            list_weight=judged_count,
            peers=(Peer("allRank", "rankNet_weightByGTDiff", SCORES),),
        ),
        *(
            Convention(
                name,
                {"scale": 1.0},
                definition,
                formula=r"\frac1N \sum_{y_i > y_j} \log\bigl(1 + e^{\lambda (s_j - s_i)}\bigr)",
                symbols={
                    **GRADED,
                    "logistic": pair_by_pair(
                        r"\log\bigl(1 + e^{d_{ji}}\bigr)",
                        r"\log\bigl(1 + e^{«differences[r,c]»}\bigr)",
                        signed=False,
                        indices=("j", "i"),
                    ),
                    "loss": loss_symbol(
                        r"\frac1N \sum_{j,i} t_{ji}", r"\frac{«Σ terms»}{«len(scores)»}"
                    ),
                },
                note=note,
                floor=per_item_floor,
                floor_formula=r"\tfrac{|P|}{N} \ln(1 + e^{-2\lambda})",
                former=(former,),
                score="logit",
                list_weight=len,
                function=function,
                peers=(Peer(library, "PairwiseLogisticLoss", SCORES),),
            )
            for library, name, former, definition, function, note in (
                (
                    "keras-rs",
                    "keras-rs 0.4.0 PairwiseLogisticLoss (sum / N)",
                    "keras-rs (sum / N)",
                    pairwise_logistic_still_at_ties_definition,
                    pairwise_logistic_still_at_ties,
                    "keras-rs 0.4.0 writes [d]₊ + log(1 + e^−|d|), whose slope on torch is 0 "
                    "where two scores are equal, so ties do not move. Labels below 0 are "
                    "compared with none.",
                ),
                (
                    "tensorflow-ranking",
                    "TF-Ranking 0.5.5, Keras PairwiseLogisticLoss (sum / N)",
                    "TF-Ranking, Keras (sum / N)",
                    pairwise_logistic_per_item_definition,
                    pairwise_logistic_per_item,
                    "A label below 0 is compared with none.",
                ),
            )
        ),
    ),
)
