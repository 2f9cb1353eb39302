"""Losses that judge each pair by itself: regression and cross-entropy."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from losses import inputs
from losses.reductions import softplus
from losses.spec import Convention, LossSpec, Symbol


def cosine_mse_definition(scores: Tensor, labels: Tensor) -> Tensor:
    errors = scores - labels
    terms = errors.square()
    loss = terms.mean()
    return loss


def cosine_mse(scores: Tensor, labels: Tensor) -> Tensor:
    r"""mean (s_i − y_i)², the regression baseline.

    >>> cosine_mse(torch.tensor([0.5, 0.0]), torch.tensor([1.0, 0.0]))  # 0.25 / 2
    tensor(0.1250)

    Args:
        scores: [N], cosines.
        labels: [N], on the scale of the scores.
    """
    return functional.mse_loss(*_of_one_type(*inputs.pair_scores(scores, labels)))


def _of_one_type(scores: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    if scores.dtype == labels.dtype:
        return scores, labels
    both = torch.promote_types(scores.dtype, labels.dtype)
    return scores.to(both), labels.to(both)


def binary_cross_entropy_definition(scores: Tensor, labels: Tensor) -> Tensor:
    log_partition = softplus(scores)
    terms = log_partition - labels * scores
    loss = terms.mean()
    return loss


def binary_cross_entropy(scores: Tensor, labels: Tensor) -> Tensor:
    r"""mean(log(1 + exp(s_i)) − y_i s_i), with the scores as logits (S1; S3 eq. 1-1).

    >>> binary_cross_entropy(torch.tensor([0.0, 0.0]), torch.tensor([1, 0]))  # log 2
    tensor(0.6931)

    Args:
        scores: [N], logits of "this pair is positive".
        labels: [N], 0/1, or a probability between.
    """
    scores, labels = _of_one_type(*inputs.pair_scores(scores, labels))
    return functional.binary_cross_entropy_with_logits(scores, labels)


def _at_best_cosine(given: dict[str, Tensor]) -> float:
    """Each score at its own best place between −1 and 1, the logit of its label."""
    labels = given["labels"].double()
    scores = labels.logit().clamp(-1, 1)
    return float((softplus(scores) - labels * scores).mean())


def _outside(given: dict[str, Tensor]) -> float:
    """Cosines reach every label between −1 and 1; what lies outside stays as error."""
    labels = given["labels"].double()
    return float((labels - labels.clamp(-1, 1)).square().mean())


MEAN_OF_TERMS = r"\frac{«Σ terms»}{«terms.numel()»}"
COSINE_MSE = LossSpec(
    function=cosine_mse,
    definition=cosine_mse_definition,
    title="Cosine regression (MSE)",
    group="pair_scores",
    order=4,
    formula=r"\frac1N \sum_i (s_i - y_i)^2",
    symbols={
        "scores": Symbol("s_i", ("pair",)),
        "labels": Symbol("y_i", ("pair",)),
        "errors": Symbol("r_i = s_i - y_i", ("pair",), r"«scores[r]» - «labels[r]»"),
        "terms": Symbol("t_i = r_i^2", ("pair",), r"(«scores[r]» - «labels[r]»)^2", signed=False),
        "loss": Symbol(r"\mathcal L = \frac1N \sum_i t_i", live=MEAN_OF_TERMS),
    },
    reads={"scores": "scores", "labels": "unit_labels"},
    terms="errors",
    collapse=lambda given: float((1 - given["labels"].double()).square().mean()),
    collapse_formula=r"\tfrac1N \sum_i (1 - y_i)^2",
    floor=_outside,
    floor_formula="0",
    references=("Reimers & Gurevych 2019",),
    conventions=(Convention("sentence-transformers"),),
)

BINARY_CROSS_ENTROPY = LossSpec(
    function=binary_cross_entropy,
    definition=binary_cross_entropy_definition,
    title="Binary cross-entropy",
    group="pair_scores",
    order=4,
    formula=r"\frac1N \sum_i \bigl(\log(1 + e^{s_i}) - y_i s_i\bigr)",
    symbols={
        "scores": Symbol("s_i", ("pair",)),
        "labels": Symbol("y_i", ("pair",)),
        "log_partition": Symbol(
            r"z_i = \log(1 + e^{s_i})",
            ("pair",),
            r"\log\bigl(1 + e^{«scores[r]»}\bigr)",
            signed=False,
        ),
        "terms": Symbol(
            "t_i = z_i - y_i s_i",
            ("pair",),
            r"«log_partition[r]» - «labels[r]» \cdot «scores[r]»",
            signed=False,
        ),
        "loss": Symbol(r"\mathcal L = \frac1N \sum_i t_i", live=MEAN_OF_TERMS),
    },
    reads={"scores": "scores", "labels": "binary_labels"},
    terms="scores",  # the mean weighs every term alike; what pulls at a pair is its σ(s) − y
    collapse=lambda given: float(
        torch.tensor(1.0, dtype=torch.float64).exp().log1p() - given["labels"].double().mean()
    ),
    collapse_formula=r"\ln(1 + e) - \bar y",
    floor=_at_best_cosine,
    floor_formula=r"\min_{-1 \le s \le 1} \mathcal L",
    references=("S1", "S3 eq. 1-1"),
    conventions=(Convention("sentence-transformers"),),
)
