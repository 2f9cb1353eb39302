"""Pairwise losses without a common logarithm: RankNet, the hinge, and the largest violation."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from losses import inputs
from losses.cosent import PAIR_SYMBOLS, SCALE, ordered_count
from losses.gather import gathered
from losses.reductions import hinge_sum, largest_violation, logistic_sum, mean_of, softplus
from losses.spec import Convention, LossSpec, Parameter, Symbol

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
    inputs.one_of(REDUCTIONS, reduction=reduction)
    scores, labels = inputs.pair_scores(*gathered(gather, scores, labels))
    if reduction == "none":
        return pairwise_logistic_definition(scores, labels, scale=scale, reduction=reduction)
    return logistic_sum(scores, labels, scale=scale, mean=reduction == "mean")


def pairwise_logistic_binary_definition(
    scores: Tensor, labels: Tensor, *, scale: float = 1.0
) -> Tensor:
    """As sentence-transformers writes RankNet: the mean, in bits."""
    differences = scale * (scores[:, None] - scores[None, :])
    ordered = labels[:, None] < labels[None, :]
    terms = softplus(differences).masked_fill(~ordered, 0)
    loss = mean_of(terms, ordered) / math.log(2)
    return loss


def pairwise_logistic_per_item_definition(
    scores: Tensor, labels: Tensor, *, scale: float = 1.0
) -> Tensor:
    """As keras-rs writes it: the sum over pairs of pairs by the number of pairs."""
    differences = scale * (scores[:, None] - scores[None, :])
    ordered = labels[:, None] < labels[None, :]
    terms = softplus(differences).masked_fill(~ordered, 0)
    loss = terms.sum() / len(scores)
    return loss


def pairwise_hinge_definition(
    scores: Tensor, labels: Tensor, *, margin: float = 0.3, eps: float = 1e-6
) -> Tensor:
    ordered = labels[:, None] < labels[None, :]
    gaps = (labels[None, :] - labels[:, None]).to(scores.dtype).relu()
    violations = scores[:, None] - scores[None, :] + margin
    terms = (gaps * violations.relu()).masked_fill(~ordered, 0)
    loss = terms.sum() / (gaps.sum() + eps)
    return loss


def pairwise_hinge(
    scores: Tensor,
    labels: Tensor,
    *,
    margin: float = 0.3,
    eps: float = 1e-6,
    gather: bool = False,
) -> Tensor:
    r"""Σ (y_i − y_j) max(0, s_j − s_i + m) / (Σ (y_i − y_j) + ε) over y_i > y_j (S3).

    >>> pairwise_hinge(torch.tensor([0.5, 0.4]), torch.tensor([1.0, 0.0]), eps=0.0)  # 0.3 − 0.1
    tensor(0.2000)

    Args:
        scores, labels: [N] each; label differences are the weights.
        margin: m, how far the higher pair must stand above the lower.
        eps: ε, keeps 0/0 away when all labels are equal.
        gather: as for `pairwise_logistic`.
    """
    scores, labels = inputs.pair_scores(*gathered(gather, scores, labels))
    return hinge_sum(scores, labels, margin=margin, eps=eps)


def max_violation_definition(scores: Tensor, labels: Tensor) -> Tensor:
    differences = scores[:, None] - scores[None, :]
    ordered = labels[:, None] < labels[None, :]
    terms = differences.masked_fill(~ordered, -torch.inf)
    loss = terms.max().clamp(min=0)
    return loss


def max_violation(scores: Tensor, labels: Tensor, *, gather: bool = False) -> Tensor:
    r"""max(0, max (s_j − s_i)) over y_i > y_j: the limit of cosent/λ for λ → ∞ (S1 eq. 39).

    >>> max_violation(torch.tensor([0.25, 0.75]), torch.tensor([1, 0]))
    tensor(0.5000)

    Args:
        scores, labels: [N] each.
        gather: as for `pairwise_logistic`.
    """
    scores, labels = inputs.pair_scores(*gathered(gather, scores, labels))
    return largest_violation(scores, labels, max_violation_definition)


def _two_levels(labels: Tensor) -> int | None:
    """|P| if the labels have at most two values, else None."""
    return ordered_count(labels) if len(labels.unique()) <= 2 else None


def _logistic_at(difference: float, count: int, reduction: str) -> float:
    """The loss when every one of `count` ordered pairs has this scaled difference."""
    each = float(softplus(torch.tensor(difference, dtype=torch.float64)))
    return each * (count if reduction == "sum" else min(count, 1))


def _logistic_floor(given: dict[str, Tensor], scale: float, reduction: str = "sum") -> float | None:
    count = _two_levels(given["labels"])
    return None if count is None else _logistic_at(-2 * scale, count, reduction)


def _hinge_collapse(given: dict[str, Tensor], margin: float, eps: float = 1e-6) -> float:
    labels = given["labels"]
    total = float((labels[None, :] - labels[:, None]).double().relu().sum())
    return max(margin, 0.0) * total / (total + eps) if total else 0.0


def _hinge_floor(given: dict[str, Tensor], margin: float, eps: float = 1e-6) -> float | None:
    """0 where all levels fit into [−1, 1] at this margin; else open."""
    return 0.0 if (len(given["labels"].unique()) - 1) * margin <= 2 else None


PAIRWISE_LOGISTIC = LossSpec(
    function=pairwise_logistic,
    definition=pairwise_logistic_definition,
    title="Pairwise logistic (RankNet)",
    group="pair_scores",
    order=2,
    formula=r"\sum_{y_i > y_j} \log\bigl(1 + e^{\lambda (s_j - s_i)}\bigr)",
    symbols={
        **PAIR_SYMBOLS,
        "differences": Symbol(
            r"d_{ji} = \lambda (s_j - s_i)",
            ("pair", "pair"),
            r"«scale»\,(«scores[r]» - «scores[c]»)",
        ),
        "terms": Symbol(
            r"t_{ji} = \log\bigl(1 + e^{d_{ji}}\bigr)\ \text{where}\ y_j < y_i",
            ("pair", "pair"),
            r"\log\bigl(1 + e^{«scale»(«scores[r]» - «scores[c]»)}\bigr)",
            signed=False,
        ),
        "loss": Symbol(
            r"\mathcal L = \sum_{j,i} t_{ji}",
            live=r"\frac{«Σ terms»}{«ordered.sum().clamp_min(1) if reduction == 'mean' else 1»}",
        ),
    },
    parameters=(SCALE, Parameter("reduction", "sum", choices=("sum", "mean"))),
    variants={
        "reduction=mean": r"\frac1{|P|} \sum_{y_i > y_j}"
        r" \log\bigl(1 + e^{\lambda (s_j - s_i)}\bigr)",
    },
    reads={"scores": "scores", "labels": "labels"},
    terms="differences",
    collapse=lambda given, reduction="sum", **_: _logistic_at(
        0.0, ordered_count(given["labels"]), reduction
    ),
    collapse_formula=r"|P| \ln 2\ \text{or}\ \ln 2",
    floor=_logistic_floor,
    floor_formula=r"|P| \ln(1 + e^{-2\lambda})",
    references=("S1 eq. 25–27", "Burges et al. 2005"),
    conventions=(
        Convention("rax", {"scale": 1.0, "reduction": "sum"}),
        Convention("allRank, TF-Ranking", {"scale": 1.0, "reduction": "mean"}),
        Convention(
            "sentence-transformers (mean / ln 2)",
            {"scale": 1.0},
            pairwise_logistic_binary_definition,
            formula=r"\frac{1}{|P| \ln 2} \sum_{y_i > y_j}"
            r" \log\bigl(1 + e^{\lambda (s_j - s_i)}\bigr)",
            symbols={
                "loss": Symbol(
                    r"\mathcal L = \frac{1}{|P| \ln 2} \sum_{j,i} t_{ji}",
                    live=r"\frac{«Σ terms»}{«ordered.sum().clamp_min(1)» \cdot \ln 2}",
                )
            },
        ),
        Convention(
            "keras-rs (sum / N)",
            {"scale": 1.0},
            pairwise_logistic_per_item_definition,
            formula=r"\frac1N \sum_{y_i > y_j} \log\bigl(1 + e^{\lambda (s_j - s_i)}\bigr)",
            symbols={
                "loss": Symbol(
                    r"\mathcal L = \frac1N \sum_{j,i} t_{ji}",
                    live=r"\frac{«Σ terms»}{«len(scores)»}",
                )
            },
        ),
    ),
)

PAIRWISE_HINGE = LossSpec(
    function=pairwise_hinge,
    definition=pairwise_hinge_definition,
    title="Pairwise hinge",
    group="pair_scores",
    order=2,
    formula=r"\frac{\sum_{y_i > y_j} (y_i - y_j)\,[s_j - s_i + m]_+}"
    r"{\sum_{y_i > y_j} (y_i - y_j) + \varepsilon}",
    symbols={
        **PAIR_SYMBOLS,
        "gaps": Symbol(
            r"w_{ji} = [y_i - y_j]_+",
            ("pair", "pair"),
            r"[«labels[c]» - «labels[r]»]_+",
            signed=False,
        ),
        "violations": Symbol(
            r"v_{ji} = s_j - s_i + m", ("pair", "pair"), r"«scores[r]» - «scores[c]» + «margin»"
        ),
        "terms": Symbol(
            r"t_{ji} = w_{ji}\,[v_{ji}]_+\ \text{where}\ y_j < y_i",
            ("pair", "pair"),
            r"[«labels[c]» - «labels[r]»]_+ \cdot [«scores[r]» - «scores[c]» + «margin»]_+",
            signed=False,
        ),
        "loss": Symbol(
            r"\mathcal L = \frac{\sum t_{ji}}{\sum w_{ji} + \varepsilon}",
            live=r"\frac{«Σ terms»}{«gaps.sum()» + «eps»}",
        ),
    },
    parameters=(
        Parameter("margin", 0.3, "m", 0.0, 2.0, 0.01),
        Parameter("eps", 1e-6, r"\varepsilon", 0.0, 1e-3, 1e-6),
    ),
    reads={"scores": "scores", "labels": "labels"},
    terms="violations",
    collapse=_hinge_collapse,
    collapse_formula=r"m \cdot \tfrac{\sum w}{\sum w + \varepsilon}",
    floor=_hinge_floor,
    floor_formula="0",
    references=("S3",),
)

MAX_VIOLATION = LossSpec(
    function=max_violation,
    definition=max_violation_definition,
    title="Largest violation",
    group="pair_scores",
    order=2,
    formula=r"\max\bigl(0, \max_{y_i > y_j} (s_j - s_i)\bigr)",
    symbols={
        **PAIR_SYMBOLS,
        "differences": Symbol(
            r"d_{ji} = s_j - s_i", ("pair", "pair"), r"«scores[r]» - «scores[c]»"
        ),
        "terms": Symbol(
            r"t_{ji} = d_{ji}\ \text{where}\ y_j < y_i",
            ("pair", "pair"),
            r"«scores[r]» - «scores[c]»",
        ),
        "loss": Symbol(
            r"\mathcal L = \max\bigl(0, \max_{j,i} t_{ji}\bigr)",
            live=r"\max\bigl(0, «max terms»\bigr)",
        ),
    },
    reads={"scores": "scores", "labels": "labels"},
    terms="terms",
    collapse=lambda given: 0.0,
    collapse_formula="0",
    floor=lambda given: 0.0,
    floor_formula="0",
    references=("S1 eq. 39",),
)
