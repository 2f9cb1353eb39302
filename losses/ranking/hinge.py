"""The pairwise hinge: each ordered pair beside a margin, weighted by its label gap."""

import torch
from torch import Tensor

from lossprism.losses import input_checks
from lossprism.losses.gather import gathered
from lossprism.losses.kernels import hinge_sum, mean_of
from lossprism.losses.kernels.ordered_hinge_and_logistic_sums import sum_of_gaps
from lossprism.losses.labels import COSINES, Ends
from lossprism.losses.library_peer_record import SCORES, Peer
from lossprism.losses.loss_term_structures import HingeSum
from lossprism.losses.ranking.ordered_pair_symbols import GRADED, PAIR_SYMBOLS, ordered_count
from lossprism.losses.spec import Convention, LossSpec, Parameter
from lossprism.losses.symbols import loss_symbol, pair_by_pair


def pairwise_hinge_definition(
    scores: Tensor, labels: Tensor, *, margin: float = 0.3, eps: float = 1e-6
) -> Tensor:
    ordered = labels[:, None] < labels[None, :]
    gaps = (labels[None, :] - labels[:, None]).to(scores.dtype).relu()
    violations = scores[:, None] - scores[None, :] + margin
    terms = (gaps * violations.relu()).masked_fill(~ordered, 0)
    # Without a term and without ε, 0/0 is 0.
    loss = terms.sum() / (gaps.sum() + eps).clamp_min(torch.finfo(scores.dtype).tiny)
    return loss


def pairwise_hinge(
    scores: Tensor, labels: Tensor, *, margin: float = 0.3, eps: float = 1e-6, gather: bool = False
) -> Tensor:
    r"""Σ (y_i − y_j) max(0, s_j − s_i + m) / (Σ (y_i − y_j) + ε) over y_i > y_j (S3).

    >>> pairwise_hinge(torch.tensor([0.5, 0.4]), torch.tensor([1.0, 0.0]), eps=0.0)  # 0.3 − 0.1
    tensor(0.2000)

    Args:
        scores, labels: [N] each; label differences are the weights.
        margin: m, how far the higher pair must stand above the lower.
        eps: ε in the denominator. The loss of equal labels is 0, also at ε = 0.
        gather: as for `pairwise_logistic`.
    """
    scores, labels = input_checks.pair_scores(*gathered(gather, scores, labels))
    return hinge_sum(scores, labels, margin=margin, eps=eps)


def pairwise_hinge_unweighted_definition(
    scores: Tensor, labels: Tensor, *, margin: float = 1.0
) -> Tensor:
    """rax's form: every ordered pair weighs equally, and the mean is over them."""
    ordered = labels[:, None] < labels[None, :]
    violations = scores[:, None] - scores[None, :] + margin
    terms = violations.relu().masked_fill(~ordered, 0)
    loss = mean_of(terms, ordered)
    return loss


def pairwise_hinge_unweighted(
    scores: Tensor, labels: Tensor, *, margin: float = 1.0, gather: bool = False
) -> Tensor:
    r"""`pairwise_hinge` as rax has it: the mean over the ordered pairs, all of one weight.

    >>> pairwise_hinge_unweighted(torch.tensor([0.5, 0.0]), torch.tensor([4.0, 1.0]))  # 1 − 0.5
    tensor(0.5000)

    Args:
        scores, labels, margin, gather: as for `pairwise_hinge`.
    """
    scores, labels = input_checks.pair_scores(*gathered(gather, scores, labels))
    return hinge_sum(scores, labels, margin=margin, by_gap=False)


def pairwise_hinge_per_item_definition(
    scores: Tensor, labels: Tensor, *, margin: float = 1.0
) -> Tensor:
    """The form of keras-rs and TF-Ranking's Keras loss: the sum over ordered pairs, by N."""
    graded = labels >= 0
    ordered = (labels[:, None] < labels[None, :]) & graded[:, None]
    violations = scores[:, None] - scores[None, :] + margin
    terms = violations.relu().masked_fill(~ordered, 0)
    loss = terms.sum() / len(scores)
    return loss


def pairwise_hinge_per_item(
    scores: Tensor, labels: Tensor, *, margin: float = 1.0, gather: bool = False
) -> Tensor:
    r"""`pairwise_hinge` as keras-rs has it: the sum over ordered pairs, all of one weight, by the
    number of pairs N; a label below 0 is compared with none, and counted.

    >>> pairwise_hinge_per_item(torch.tensor([0.5, 0.0]), torch.tensor([4.0, 1.0]))  # 0.5 / 2
    tensor(0.2500)

    Args:
        scores, labels, margin, gather: as for `pairwise_hinge`.
    """
    scores, labels = input_checks.pair_scores(*gathered(gather, scores, labels))
    if not input_checks.may_ask(labels):  # how many are left is not to be known
        return pairwise_hinge_per_item_definition(scores, labels, margin=margin)
    graded = labels >= 0
    if not graded.any():
        return 0 * scores.sum()
    mean = hinge_sum(scores[graded], labels[graded], margin=margin, by_gap=False)
    return mean * (ordered_count(labels[graded]) / len(scores))


def _unweighted_collapse(tensors: dict[str, Tensor], margin: float = 1.0) -> float:
    return max(margin, 0.0) * min(ordered_count(tensors["labels"]), 1)


def _per_item_collapse(tensors: dict[str, Tensor], margin: float = 1.0) -> float:
    labels = tensors["labels"]
    return max(margin, 0.0) * ordered_count(labels[labels >= 0]) / len(labels)


def _hinge_collapse(tensors: dict[str, Tensor], margin: float, eps: float = 1e-6) -> float:
    total = float(sum_of_gaps(tensors["labels"].double()))
    return max(margin, 0.0) * total / (total + eps) if total else 0.0


def _hinge_floor(
    tensors: dict[str, Tensor], margin: float, eps: float = 1e-6, within: Ends = COSINES
) -> float | None:
    """Return 0 if all levels fit between the ends at this margin; else None."""
    fits = (len(tensors["labels"].unique()) - 1) * margin <= within[1] - within[0]
    return 0.0 if fits else None


def _per_item_floor(tensors: dict[str, Tensor], margin: float, within: Ends = COSINES):
    labels = tensors["labels"]
    return _hinge_floor({"labels": labels[labels >= 0]}, margin, within=within)


UNWEIGHTED = {
    "terms": pair_by_pair(
        "t_{ji}",
        "[«violations[r,c]»]_+",
        equals=r"[v_{ji}]_+\ \text{where}\ y_j < y_i",
        signed=False,
        indices=("j", "i"),
    )
}
UNWEIGHTED_NOTE = (
    "All ordered pairs count the same, whatever their label gap, and the margin is always 1."
)

MARGIN_RANKING_NOTE = (
    "The class takes two scores for each comparison: here those of all pairs whose labels "
    "differ. Its default margin is 0, at which equal scores cost nothing."
)

PAIRWISE_HINGE = LossSpec(
    function=pairwise_hinge,
    definition=pairwise_hinge_definition,
    title="Pairwise hinge",
    about="Penalises ordered pairs closer than the margin, weighted by their label gap.",
    steps={"terms": "What is missed, weighted as the formula says; the rest is 0."},
    group="pair_scores",
    formula=r"\frac{\sum_{y_i > y_j} (y_i - y_j)\,[s_j - s_i + m]_+}"
    r"{\sum_{y_i > y_j} (y_i - y_j) + \varepsilon}",
    symbols={
        **PAIR_SYMBOLS,
        "gaps": pair_by_pair(
            "w_{ji}",
            r"[«labels[c]» - «labels[r]»]_+",
            equals="[y_i - y_j]_+",
            signed=False,
            indices=("j", "i"),
        ),
        "violations": pair_by_pair(
            "v_{ji}",
            r"«scores[r]» - «scores[c]» + «margin»",
            equals="s_j - s_i + m",
            indices=("j", "i"),
        ),
        "terms": pair_by_pair(
            "t_{ji}",
            r"[«labels[c]» - «labels[r]»]_+ \cdot [«scores[r]» - «scores[c]» + «margin»]_+",
            equals=r"w_{ji}\,[v_{ji}]_+\ \text{where}\ y_j < y_i",
            signed=False,
            indices=("j", "i"),
        ),
        "loss": loss_symbol(
            r"\frac{\sum t_{ji}}{\sum w_{ji} + \varepsilon}",
            r"\frac{«Σ terms»}{«gaps.sum()» + «eps»}",
        ),
    },
    parameters=(
        Parameter("margin", 0.3, "m", 0.0, 2.0, 0.01, role="margin", label="margin"),
        Parameter("eps", 1e-6, r"\varepsilon", 0.0, 1e-3, 1e-6, label="stabiliser"),
    ),
    form=HingeSum(margin=lambda margin, **_: margin, eps=lambda eps, **_: eps),
    terms="violations",
    collapse=_hinge_collapse,
    collapse_formula=r"m \cdot \tfrac{\sum w}{\sum w + \varepsilon}",
    floor=_hinge_floor,
    floor_formula="0",
    aliases=("MarginRankingLoss", "RankSVM", "pairwise hinge loss", "hinge loss"),
    references=("S3",),
    conventions=(
        *(
            Convention(
                name,
                {"margin": margin},
                pairwise_hinge_unweighted_definition,
                formula=r"\frac{1}{|P|} \sum_{y_i > y_j} [s_j - s_i + m]_+",
                symbols={
                    **UNWEIGHTED,
                    "loss": loss_symbol(
                        r"\frac{1}{|P|} \sum_{j,i} t_{ji}",
                        r"\frac{«Σ terms»}{«ordered.sum().clamp_min(1)»}",
                    ),
                },
                note=note,
                function=pairwise_hinge_unweighted,
                collapse=_unweighted_collapse,
                collapse_formula="m",
                floor=_hinge_floor,
                score=score,
                peers=(peer,),
            )
            for name, margin, note, score, peer in (
                (
                    "rax 0.4.0 pairwise_hinge_loss",
                    1.0,
                    UNWEIGHTED_NOTE,
                    "logit",
                    Peer("rax", "pairwise_hinge_loss", SCORES),
                ),
                (
                    "torch 2.13 MarginRankingLoss",
                    0.0,
                    MARGIN_RANKING_NOTE,
                    "",
                    Peer("torch", "MarginRankingLoss", SCORES),
                ),
            )
        ),
        *(
            Convention(
                name,
                {"margin": 1.0},
                pairwise_hinge_per_item_definition,
                formula=r"\frac1N \sum_{y_i > y_j} [s_j - s_i + m]_+",
                symbols={
                    **UNWEIGHTED,
                    **GRADED,
                    "loss": loss_symbol(
                        r"\frac1N \sum_{j,i} t_{ji}", r"\frac{«Σ terms»}{«len(scores)»}"
                    ),
                },
                note=f"{UNWEIGHTED_NOTE} Pairs labelled below 0 are left out.",
                function=pairwise_hinge_per_item,
                collapse=_per_item_collapse,
                collapse_formula=r"m \cdot \tfrac{|P|}{N}",
                floor=_per_item_floor,
                score="logit",
                peers=(Peer(library, "PairwiseHingeLoss", SCORES),),
            )
            for name, library in (
                ("keras-rs 0.4.0 PairwiseHingeLoss (sum / N)", "keras-rs"),
                ("TF-Ranking 0.5.5, Keras PairwiseHingeLoss (sum / N)", "tensorflow-ranking"),
            )
        ),
    ),
)
