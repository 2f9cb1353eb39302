"""ArcFace: the softmax over angles to prototypes, with the own angle widened."""

import math

import torch
from torch import Tensor

from lossprism.losses import input_checks
from lossprism.losses.geometry import cosine_matrix, sine
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


def arcface_definition(
    embeddings: Tensor,
    classes: Tensor,
    *,
    prototypes: Tensor,
    scale: float = 64.0,
    margin: float = 0.5,
) -> Tensor:
    similarities = cosine_matrix(embeddings, prototypes)
    own = similarities.gather(1, classes[:, None])
    moved = own * math.cos(margin) - sine(own) * math.sin(margin)
    others = classes[:, None] != torch.arange(len(prototypes), device=classes.device)
    terms = (scale * (similarities - moved)).masked_fill(~others, -torch.inf)
    per_sentence = log1p_sum_exp(terms, dim=1)
    loss = per_sentence.mean()
    return loss


def arcface(
    embeddings: Tensor,
    classes: Tensor,
    *,
    prototypes: Tensor,
    scale: float = 64.0,
    margin: float = 0.5,
) -> Tensor:
    r"""Softmax over s·cos θ in which the own angle is widened by m (S1 eq. 37).

    mean −log( e^{s cos(θ_c + m)} / (e^{s cos(θ_c + m)} + Σ_{j≠c} e^{s cos θ_j}) ). The gradient
    is finite at θ = 0 and θ = π too.

    >>> embeddings, classes = torch.tensor([[1.0, 0.0]]), torch.tensor([0])
    >>> arcface(embeddings, classes, prototypes=torch.eye(2), scale=1.0)  # log(1 + e^−cos(½))
    tensor(0.3477)

    Args:
        embeddings: [N, D].
        classes: [N], the number of each one's prototype.
        prototypes: [C, D], one row for each class.
        scale: s.
        margin: m, in radians.
    """
    embeddings, classes, prototypes = input_checks.at_prototypes(embeddings, classes, prototypes)
    input_checks.one_number(scale=scale)
    input_checks.plain_number(margin=margin)
    return with_gradient(
        _arcface_by_tiles, _dense_arcface, embeddings, prototypes, classes, scale, margin
    )


def _dense_arcface(embeddings, prototypes, classes, scale, margin):
    return arcface_definition(
        embeddings, classes, prototypes=prototypes, scale=scale, margin=margin
    )


def _arcface_by_tiles(needs_grad, embeddings, prototypes, classes, scale, margin):
    def move(own):
        sines = sine(own)
        flat = sines == 0  # where the slope of the sine is taken as 0
        slopes = math.cos(margin) + math.sin(margin) * (own / sines).masked_fill(flat, 0)
        return own * math.cos(margin) - sines * math.sin(margin), slopes

    return moved_by_tiles(needs_grad, embeddings, prototypes, classes, scale, move)


def arcface_monotone_definition(
    embeddings: Tensor,
    classes: Tensor,
    *,
    prototypes: Tensor,
    scale: float = 64.0,
    margin: float = 0.5,
) -> Tensor:
    """pytorch-metric-learning's form: cos θ − m sin m where θ + m would pass π and turn back."""
    similarities = cosine_matrix(embeddings, prototypes)
    own = similarities.gather(1, classes[:, None])
    widened = own * math.cos(margin) - sine(own) * math.sin(margin)
    moved = torch.where(own >= -math.cos(margin), widened, own - margin * math.sin(margin))
    others = classes[:, None] != torch.arange(len(prototypes), device=classes.device)
    terms = (scale * (similarities - moved)).masked_fill(~others, -torch.inf)
    per_sentence = log1p_sum_exp(terms, dim=1)
    loss = per_sentence.mean()
    return loss


def arcface_easy_definition(
    embeddings: Tensor,
    classes: Tensor,
    *,
    prototypes: Tensor,
    scale: float = 64.0,
    margin: float = 0.5,
) -> Tensor:
    """`easy_margin`: the margin only where the embedding is on its prototype's side already."""
    similarities = cosine_matrix(embeddings, prototypes)
    own = similarities.gather(1, classes[:, None])
    widened = own * math.cos(margin) - sine(own) * math.sin(margin)
    moved = torch.where(own > 0, widened, own)
    others = classes[:, None] != torch.arange(len(prototypes), device=classes.device)
    terms = (scale * (similarities - moved)).masked_fill(~others, -torch.inf)
    per_sentence = log1p_sum_exp(terms, dim=1)
    loss = per_sentence.mean()
    return loss


def arcface_straight_definition(
    embeddings: Tensor,
    classes: Tensor,
    *,
    prototypes: Tensor,
    scale: float = 64.0,
    margin: float = 0.5,
) -> Tensor:
    """insightface's form: the angle is widened without a gradient, which passes straight
    through."""
    similarities = cosine_matrix(embeddings, prototypes)
    own = similarities.gather(1, classes[:, None])
    widened = own * math.cos(margin) - sine(own) * math.sin(margin)
    moved = own + (widened - own).detach()
    others = classes[:, None] != torch.arange(len(prototypes), device=classes.device)
    terms = (scale * (similarities - moved)).masked_fill(~others, -torch.inf)
    per_sentence = log1p_sum_exp(terms, dim=1)
    loss = per_sentence.mean()
    return loss


def _arcface_floor(
    tensors: dict[str, Tensor], scale: float = 64.0, margin: float = 0.5
) -> float | None:
    """Return the minimum, known for classes of one size and margins up to 60°: prototypes a
    simplex, θ = 0."""
    count = len(tensors["prototypes"])
    if count == 1:
        return 0.0
    if not evenly_many(tensors) or not 0 <= margin <= math.pi / 3:
        return None
    return log1p_of(count - 1, -scale * (math.cos(margin) + 1 / (count - 1)))


WIDENED = r"«own[r,0]» \cdot \cos «margin» - \sqrt{1 - «own[r,0]»^2} \cdot \sin «margin»"

ARCFACE = LossSpec(
    function=arcface,
    definition=arcface_definition,
    title="ArcFace",
    about="Classifies sentences, with a margin added to the angle of the right class.",
    group="prototypes",
    formula=r"-\frac1N \sum_i \log \frac{e^{s \cos(\theta_{i c_i} + m)}}"
    r"{e^{s \cos(\theta_{i c_i} + m)} + \sum_{j \ne c_i} e^{s \cos\theta_{ij}}}",
    symbols={
        **PROTOTYPE_SYMBOLS,
        "own": sentence_by_class(r"\cos\theta_{i c_i}", "«similarities[r,classes[r]]»"),
        "moved": sentence_by_class(
            r"\cos(\theta_{i c_i} + m)",
            WIDENED,
            equals=r"\cos\theta_{i c_i} \cos m - \sin\theta_{i c_i} \sin m",
        ),
        "widened": sentence_by_class(r"\cos(\theta_{i c_i} + m)", WIDENED),
        "terms": sentence_by_class(
            "t_{ij}",
            r"«scale»\,(«similarities[r,c]» - «moved[r,0]»)",
            equals=r"s\,\bigl(\cos\theta_{ij} - \cos(\theta_{i c_i} + m)\bigr)"
            r"\ \text{where}\ j \ne c_i",
        ),
    },
    parameters=(
        Parameter(
            "scale", 64.0, "s", 0.1, 256.0, 0.1, logarithmic=True, role="sharpness", label="scale"
        ),
        Parameter("margin", 0.5, "m", 0.0, 1.5, 0.01, role="margin", label="margin"),
    ),
    terms="terms",
    collapse=lambda tensors, scale=64.0, margin=0.5: log1p_of(
        len(tensors["prototypes"]) - 1, scale * (1 - math.cos(margin))
    ),
    collapse_formula=r"\ln\bigl(1 + (C - 1)\, e^{s (1 - \cos m)}\bigr)",
    floor=_arcface_floor,
    floor_formula=r"\ln\bigl(1 + (C - 1)\, e^{-s (\cos m + \frac{1}{C - 1})}\bigr)",
    references=("S1 eq. 37", "Deng et al. 2019"),
    aliases=("additive angular margin", "ArcFaceLoss"),
    conventions=(
        Convention(
            "pytorch-metric-learning 2.9 ArcFaceLoss (cos θ − m sin m beyond π − m)",
            {"margin": math.radians(28.6), "scale": 64.0},
            arcface_monotone_definition,
            symbols={
                "moved": sentence_by_class(
                    r"\cos(\theta_{i c_i} + m)\ \text{or}\ \cos\theta_{i c_i} - m \sin m",
                    "«either(widened, own - margin * sin(margin), own >= -cos(margin))[r,0]»",
                )
            },
            former=("pytorch-metric-learning (cos θ − m sin m beyond π − m)",),
            peers=(Peer(METRIC_LEARNING, "ArcFaceLoss", PROTOTYPED),),
        ),
        Convention(
            "speechbrain 1.1.2, easy_margin",
            {},
            arcface_easy_definition,
            symbols={
                "moved": sentence_by_class(
                    r"\cos(\theta_{i c_i} + m)\ \text{where}\ \cos\theta_{i c_i} > 0",
                    "«either(widened, own, own > 0)[r,0]»",
                )
            },
            former=("easy_margin",),
            peers=(Peer("speechbrain", "AdditiveAngularMargin"),),
        ),
        Convention(
            "insightface arcface_torch 657ae30 (gradient straight through)",
            {},
            arcface_straight_definition,
            note="Has the same value with another gradient, because arccos, + m and cos run "
            "under no_grad. The right class's cosine has slope 1 instead of sin(θ + m) / sin θ.",
            former=("insightface arcface_torch (gradient straight through)",),
            peers=(Peer("deepinsight/insightface", "CombinedMarginLoss"),),
        ),
    ),
)
