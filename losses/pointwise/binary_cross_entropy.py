"""Binary cross-entropy: the score of a pair as the logit of its label."""

import math
from dataclasses import replace

import torch
from torch import Tensor
from torch.nn import functional

from lossprism.losses import input_checks
from lossprism.losses.kernels import softplus
from lossprism.losses.labels import COSINES, UNIT, Ends
from lossprism.losses.library_peer_record import SCORES, SENTENCE_TRANSFORMERS, Peer
from lossprism.losses.minimum import softplus_at
from lossprism.losses.spec import Convention, LossSpec
from lossprism.losses.symbols import each_pair, loss_symbol


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
    scores, labels = input_checks.of_one_type(*input_checks.pair_scores(scores, labels))
    return functional.binary_cross_entropy_with_logits(scores, labels)


def _collapse(tensors: dict[str, Tensor], at: float | None = 1.0) -> float | None:
    """Return the value for equal scores."""
    return None if at is None else softplus_at(at) - at * float(tensors["labels"].double().mean())


def _floor(tensors: dict[str, Tensor], within: Ends = COSINES) -> float | None:
    """Return the minimum: each score at the logit of its label, or at the nearer end.

    Unbounded, it is the entropy of the labels, and does not exist for labels beyond 0 and 1: the
    loss falls with the score for ever.
    """
    labels = tensors["labels"].double()
    if math.isinf(within[1] - within[0]):
        outside = bool(((labels < 0) | (labels > 1)).any())
        chances = torch.stack((labels, 1 - labels))
        return None if outside else float(torch.special.entr(chances).sum(dim=0).mean())
    scores = labels.clamp(0, 1).logit().clamp(*within)
    return float((softplus(scores) - labels * scores).mean())


TERMS = each_pair(
    "t_i",
    r"«log_partition[r]» - «labels[r]» \cdot «scores[r]»",
    equals="z_i - y_i s_i",
    signed=False,
)

AS_THEY_ARE = (
    "Uses labels unchanged, as the library does: 0.3 is a probability of 30 %, and with labels "
    "above 1 the loss has no minimum. Elsewhere each label becomes 1 or 0 by the threshold."
)
CONVERTED = {"scores": "scores", "labels": "unit_labels"}

BINARY_CROSS_ENTROPY = LossSpec(
    function=binary_cross_entropy,
    definition=binary_cross_entropy_definition,
    title="Binary cross-entropy",
    about="Reads each score as the logit of “this pair is positive”.",
    steps={
        "labels": "1 for a pair whose label reaches the threshold, 0 for the others.",
        "scores": "The similarity of each pair, as the model sees it now, read as a logit.",
        "terms": "What each pair costs by itself.",
    },
    group="pair_scores",
    formula=r"\frac1N \sum_i \bigl(\log(1 + e^{s_i}) - y_i s_i\bigr)",
    symbols={
        "scores": each_pair("s_i", stem="s"),
        "labels": each_pair("y_i", stem="y"),
        "log_partition": each_pair(
            "z_i",
            r"\log\bigl(1 + e^{«scores[r]»}\bigr)",
            equals=r"\log(1 + e^{s_i})",
            stem="z",
            signed=False,
        ),
        "terms": TERMS,
        "loss": loss_symbol(r"\frac1N \sum_i t_i", r"\frac{«Σ terms»}{«terms.numel()»}"),
    },
    reads={"scores": "scores", "labels": "binary_labels"},
    terms="scores",  # the mean weighs every term alike; what pulls at a pair is its σ(s) − y
    collapse=_collapse,
    collapse_formula=r"\ln(1 + e) - \bar y",
    floor=_floor,
    floor_formula=r"\min_{-1 \le s \le 1} \mathcal L",
    formulas_unbounded={"collapse": r"\ln 2", "floor": r"\tfrac1N \sum_i H(y_i)"},
    aliases=("BCEWithLogitsLoss", "BinaryCrossEntropyLoss", "BCE", "pointwise logistic"),
    references=("spaces.ac.cn/archives/9341", "S3 eq. 1-1"),
    note="Labels at or above the threshold are 1, others 0. The function also takes labels in "
    "between, as probabilities.",
    conventions=(
        Convention(
            "sentence-transformers 6.2 BinaryCrossEntropyLoss",
            symbols={"terms": replace(TERMS, signed=True)},
            reads={"scores": "scores", "labels": "labels"},
            note=AS_THEY_ARE,
            former=("sentence-transformers",),
            aliases=("BCE",),
            peers=(
                Peer(SENTENCE_TRANSFORMERS, "BinaryCrossEntropyLoss", SCORES),
                Peer("torch", "BCEWithLogitsLoss", {"input": "scores", "target": "labels"}),
            ),
            score="logit",
            label_ends=UNIT,
        ),
        Convention(
            "sentence-transformers 6.2 BinaryCrossEntropyLoss, labels brought to 0…1",
            symbols={"terms": replace(TERMS, signed=True)},
            reads={"scores": "scores", "labels": "unit_labels"},
            note="Labels such as 0 to 4 are probabilities once divided by 4. The library does "
            "not divide, so the label column must hold the quotients.",
            peers=(Peer(SENTENCE_TRANSFORMERS, "BinaryCrossEntropyLoss", CONVERTED),),
            score="logit",
        ),
    ),
    label_ends=UNIT,
    peers=(Peer("torch", "BCEWithLogitsLoss", {"input": "scores", "target": "binary_labels"}),),
)
