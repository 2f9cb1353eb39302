"""CosFace: the softmax over cosines to prototypes, with a margin taken off the own cosine."""

import torch
from torch import Tensor

from lossprism.losses import input_checks
from lossprism.losses.geometry import cosine_matrix
from lossprism.losses.kernels import log1p_sum_exp
from lossprism.losses.kernels.value_with_gradient import with_gradient
from lossprism.losses.library_peer_record import METRIC_LEARNING, PROTOTYPED, Peer
from lossprism.losses.minimum import log1p_of
from lossprism.losses.prototypes.softmax import (
    PROTOTYPE_SYMBOLS,
    evenly_many,
    moved_by_tiles,
)
from lossprism.losses.spec import Convention, LossSpec, Parameter
from lossprism.losses.symbols import sentence_by_class


def cosface_definition(
    embeddings: Tensor,
    classes: Tensor,
    *,
    prototypes: Tensor,
    scale: float = 64.0,
    margin: float = 0.35,
) -> Tensor:
    similarities = cosine_matrix(embeddings, prototypes)
    own = similarities.gather(1, classes[:, None])
    moved = own - margin
    others = classes[:, None] != torch.arange(len(prototypes), device=classes.device)
    terms = (scale * (similarities - moved)).masked_fill(~others, -torch.inf)
    per_sentence = log1p_sum_exp(terms, dim=1)
    loss = per_sentence.mean()
    return loss


def cosface(
    embeddings: Tensor,
    classes: Tensor,
    *,
    prototypes: Tensor,
    scale: float = 64.0,
    margin: float = 0.35,
) -> Tensor:
    r"""Softmax over s·cos θ in which the own cosine is lowered by m (Wang et al. 2018).

    mean −log( e^{s(cos θ_c − m)} / (e^{s(cos θ_c − m)} + Σ_{j≠c} e^{s cos θ_j}) ). `arcface` widens
    the angle instead.

    >>> embeddings, classes = torch.tensor([[1.0, 0.0]]), torch.tensor([0])
    >>> cosface(embeddings, classes, prototypes=torch.eye(2), scale=1.0)  # log(1 + e^−0.65)
    tensor(0.4201)

    Args:
        embeddings: [N, D].
        classes: [N], the number of each one's prototype.
        prototypes: [C, D], one row for each class.
        scale: s.
        margin: m, a difference of cosines.
    """
    embeddings, classes, prototypes = input_checks.at_prototypes(embeddings, classes, prototypes)
    input_checks.one_number(scale=scale)
    input_checks.plain_number(margin=margin)
    return with_gradient(
        _cosface_by_tiles, _dense_cosface, embeddings, prototypes, classes, scale, margin
    )


def _dense_cosface(embeddings, prototypes, classes, scale, margin):
    return cosface_definition(
        embeddings, classes, prototypes=prototypes, scale=scale, margin=margin
    )


def _cosface_by_tiles(needs_grad, embeddings, prototypes, classes, scale, margin):
    def move(own):
        return own - margin, None

    return moved_by_tiles(needs_grad, embeddings, prototypes, classes, scale, move)


def _cosface_floor(
    tensors: dict[str, Tensor], scale: float = 64.0, margin: float = 0.35
) -> float | None:
    """Return the minimum, known for classes of one size: prototypes a simplex, each embedding at
    its own."""
    count = len(tensors["prototypes"])
    if count == 1:
        return 0.0
    if not evenly_many(tensors):
        return None
    return log1p_of(count - 1, -scale * (1 - margin + 1 / (count - 1)))


COSFACE = LossSpec(
    function=cosface,
    definition=cosface_definition,
    title="CosFace",
    about="Classifies sentences; the right class must lead by a margin of cosine.",
    steps={"moved": "The same with the margin taken off."},
    group="prototypes",
    aliases=(
        "AM-Softmax",
        "additive margin softmax",
        "large margin cosine loss",
        "LMCL",
        "CosFaceLoss",
    ),
    formula=r"-\frac1N \sum_i \log \frac{e^{s (\cos\theta_{i c_i} - m)}}"
    r"{e^{s (\cos\theta_{i c_i} - m)} + \sum_{j \ne c_i} e^{s \cos\theta_{ij}}}",
    symbols={
        **PROTOTYPE_SYMBOLS,
        "own": sentence_by_class(r"\cos\theta_{i c_i}", "«similarities[r,classes[r]]»"),
        "moved": sentence_by_class(r"\cos\theta_{i c_i} - m", "«own[r,0]» - «margin»"),
        "terms": sentence_by_class(
            "t_{ij}",
            r"«scale»\,(«similarities[r,c]» - «moved[r,0]»)",
            equals=r"s\,\bigl(\cos\theta_{ij} - \cos\theta_{i c_i} + m\bigr)"
            r"\ \text{where}\ j \ne c_i",
        ),
    },
    parameters=(
        Parameter(
            "scale", 64.0, "s", 0.1, 256.0, 0.1, logarithmic=True, role="sharpness", label="scale"
        ),
        Parameter("margin", 0.35, "m", 0.0, 1.0, 0.01, role="margin", label="margin"),
    ),
    terms="terms",
    collapse=lambda tensors, scale=64.0, margin=0.35: log1p_of(
        len(tensors["prototypes"]) - 1, scale * margin
    ),
    collapse_formula=r"\ln\bigl(1 + (C - 1)\, e^{s m}\bigr)",
    floor=_cosface_floor,
    floor_formula=r"\ln\bigl(1 + (C - 1)\, e^{-s (1 - m + \frac{1}{C - 1})}\bigr)",
    references=("Wang et al. 2018 (CosFace)",),
    conventions=(
        Convention(
            "pytorch-metric-learning 2.9 CosFaceLoss",
            {"scale": 64.0, "margin": 0.35},
            peers=(Peer(METRIC_LEARNING, "CosFaceLoss", PROTOTYPED),),
        ),
        Convention(
            "insightface arcface_torch 2e2e8c9",
            {"scale": 64.0, "margin": 0.4},
            former=("insightface arcface_torch",),
            peers=(Peer("deepinsight/insightface", "CosFace"),),
        ),
    ),
)
