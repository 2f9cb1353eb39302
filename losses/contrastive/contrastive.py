"""The contrastive loss: similar pairs pulled together, dissimilar ones pushed beyond a margin."""

from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from lossprism.losses import geometry, input_checks
from lossprism.losses.kernels import mean_of
from lossprism.losses.kernels.value_with_gradient import with_gradient
from lossprism.losses.labels import UNIT
from lossprism.losses.library_peer_record import (
    METRIC_LEARNING,
    OF_SIDES,
    SENTENCE_TRANSFORMERS,
    VALUED,
    Peer,
)
from lossprism.losses.sentence_transformers_equivalent_record import Equivalent
from lossprism.losses.spec import Convention, LossSpec, Parameter, Symbol
from lossprism.losses.symbols import each_pair, loss_symbol


def contrastive_definition(
    first: Tensor,
    second: Tensor,
    labels: Tensor,
    *,
    margin: float = 2.0,
    distance: str = "euclidean",
    half: bool = False,
) -> Tensor:
    similar = labels.to(first.dtype)
    distances = geometry.distance(first, second, distance)
    pull = similar * distances.square()
    push = (1 - similar) * (margin - distances).relu().square()
    terms = pull + push
    loss = terms.mean() / 2 if half else terms.mean()
    return loss


def contrastive(
    first: Tensor,
    second: Tensor,
    labels: Tensor,
    *,
    margin: float = 2.0,
    distance: str = "euclidean",
    half: bool = False,
) -> Tensor:
    r"""mean(y d² + (1 − y) max(0, m − d)²), halved if `half` (S4; S2; S1 eq. 36).

    >>> first, second = torch.tensor([[0.0], [0.0]]), torch.tensor([[0.5], [0.5]])
    >>> contrastive(first, second, torch.tensor([1, 0]))  # (0.25 + 1.5²) / 2
    tensor(1.2500)

    Args:
        first, second: [N, D] each.
        labels: [N], 1 for a similar pair, 0 for a dissimilar one; in between, a share of each.
        margin: m, the distance beyond which a dissimilar pair is left alone.
        distance: "euclidean", or "cosine" for 1 − cos.
        half: with the ½ that S2 has in its formula and not in its code.
    """
    input_checks.one_of(("euclidean", "cosine"), distance=distance)
    first, second = input_checks.paired(first=first, second=second)
    labels = input_checks.ordinal(labels, len(first))
    arguments = (first, second, labels, margin, distance, half)
    if isinstance(margin, Tensor) or labels.requires_grad:
        return _dense_contrastive(*arguments)
    return with_gradient(_contrastive, _dense_contrastive, *arguments)


def _dense_contrastive(first, second, labels, margin, distance, half):
    return contrastive_definition(
        first, second, labels, margin=margin, distance=distance, half=half
    )


def _contrastive(needs_grad, first, second, labels, margin, distance, half):
    distances, to_vectors = geometry.distance_and_pull(first, second, distance)
    missing = (margin - distances).relu_()
    # Each term's share is formed and summed: the mean may fit where a term or the sum overflows.
    share = 1 / (2 * len(first) if half else len(first))
    similar = labels.to(first.dtype) * share
    pull, push = similar * distances, (share - similar) * missing
    loss = (pull * distances).addcmul_(push, missing).sum()
    if not any(needs_grad):
        return loss, ()
    return loss, (*to_vectors(pull.sub_(push).mul_(2)), None, None, None, None)


def contrastive_unsquared_definition(
    first: Tensor, second: Tensor, labels: Tensor, *, margin: float = 1.0
) -> Tensor:
    """pytorch-metric-learning's form: no squares, unit vectors, each side over its non-zero
    terms."""
    similar = labels > 0
    distances = (geometry.unit(first) - geometry.unit(second)).norm(dim=1)
    pull = distances.masked_fill(~similar, 0)
    push = (margin - distances).relu().masked_fill(similar, 0)
    pull_mean = mean_of(pull, pull > 0)
    push_mean = mean_of(push, push > 0)
    loss = pull_mean + push_mean
    return loss


def contrastive_unsquared_with_positive_margin_definition(
    first: Tensor,
    second: Tensor,
    labels: Tensor,
    *,
    margin: float = 1.0,
    positive_margin: float = 0.2,
) -> Tensor:
    """pytorch-metric-learning's form with pos_margin: nearer positives have no term."""
    similar = labels > 0
    distances = (geometry.unit(first) - geometry.unit(second)).norm(dim=1)
    pull = (distances - positive_margin).relu().masked_fill(~similar, 0)
    push = (margin - distances).relu().masked_fill(similar, 0)
    pull_mean = mean_of(pull, pull > 0)
    push_mean = mean_of(push, push > 0)
    loss = pull_mean + push_mean
    return loss


def cosine_embedding_definition(
    first: Tensor, second: Tensor, labels: Tensor, *, margin: float = 0.0
) -> Tensor:
    """torch's CosineEmbeddingLoss: no squares, and a margin of the cosine."""
    similar = labels.to(first.dtype)
    distances = geometry.distance(first, second, "cosine")
    pull = similar * distances
    push = (1 - similar) * (1 - distances - margin).relu()
    terms = pull + push
    loss = terms.mean()
    return loss


def contrastive_manhattan_definition(
    first: Tensor, second: Tensor, labels: Tensor, *, margin: float = 0.5
) -> Tensor:
    """sentence-transformers' form with SiameseDistanceMetric.MANHATTAN: sums of differences."""
    similar = labels.to(first.dtype)
    distances = (first - second).abs().sum(dim=1)
    pull = similar * distances.square()
    push = (1 - similar) * (margin - distances).relu().square()
    terms = pull + push
    loss = terms.mean() / 2
    return loss


def _contrastive_collapse(
    tensors: dict[str, Tensor], margin: float = 2.0, half: bool = False, **_: object
) -> float:
    dissimilar = float((1 - tensors["labels"].double()).mean())
    return max(margin, 0.0) ** 2 * dissimilar * (0.5 if half else 1.0)


def _unsquared_collapse(tensors: dict[str, Tensor], margin: float = 1.0) -> float:
    """Return the value at collapse: positives have no term; all others are a margin short."""
    return max(margin, 0.0) if bool((tensors["labels"] <= 0).any()) else 0.0


def _unsquared_floor(tensors: dict[str, Tensor], margin: float = 1.0) -> float:
    """Return the minimum: positives in one point, all others a diameter apart."""
    return _unsquared_collapse(tensors, margin - _reach())


def _cosine_embedding_collapse(tensors: dict[str, Tensor], margin: float = 0.0) -> float:
    return max(1 - margin, 0.0) * float((1 - tensors["labels"].double()).mean())


def _reach(**_: object) -> float:
    """Return the distance of two opposite unit vectors, by their chord and by their cosine."""
    return 2.0


def _contrastive_floor(
    tensors: dict[str, Tensor], margin: float = 2.0, distance: str = "euclidean", half: bool = False
) -> float | None:
    """Return the minimum, each pair at its own best distance: (1 − y)·m if it can reach it; for a
    label below 0 as far as possible. Unit vectors reach a diameter."""
    labels = tensors["labels"].double()
    reach = torch.inf
    if distance == "cosine" or (
        all(geometry.are_unit(tensors[side]) for side in ("first", "second"))
    ):
        reach = 2 * tensors["first"].shape[1] ** 0.5 if distance == "manhattan" else 2.0
    if reach == torch.inf and bool((labels < 0).any()):
        return None
    best = torch.where(labels < 0, reach, ((1 - labels) * margin).clamp(0, reach))
    terms = labels * best.square() + (1 - labels) * (margin - best).relu().square()
    return float(terms.mean()) * (0.5 if half else 1.0)


def _equivalent(
    labels: str = "binary_labels", *, margin: float, distance: str, half: bool
) -> Equivalent:
    kind = "COSINE_DISTANCE" if distance == "cosine" else "EUCLIDEAN"
    halved = "{}" if half else "2 * {}  # the library halves"
    loss = halved.format("theirs.compute_loss_from_embeddings([first, second], labels)")
    return Equivalent(
        "ContrastiveLoss, SiameseDistanceMetric",
        {"first": "first", "second": "second", "labels": labels},
        f"metric = SiameseDistanceMetric.{kind}\n"
        f"theirs = ContrastiveLoss(None, distance_metric=metric, margin={margin!r})\n"
        f"loss = {loss}\n",
    )


AS_THEY_ARE = {"first": "first", "second": "second", "labels": "labels"}
GRADED_NOTE = (
    "Uses labels unchanged, as the library does: 0.3 is a pull of 0.3 and a push of 0.7, and "
    "above 1 the push changes sign. Other conventions make each label 1 or 0 by the threshold."
)

UNSQUARED = {
    "similar": each_pair("y_i = 1", "«labels[r]» > 0", signed=False),
    "distances": each_pair(
        "d_i",
        equals=r"\bigl\lVert \tfrac{u_i}{\lVert u_i \rVert}"
        r" - \tfrac{v_i}{\lVert v_i \rVert} \bigr\rVert",
        signed=False,
    ),
    "pull": each_pair(
        "a_i",
        r"«labels[r]» \cdot «distances[r]»",
        equals=r"d_i\ \text{where}\ y_i = 1",
        stem="a",
        signed=False,
    ),
    "push": each_pair(
        "b_i",
        r"(1 - «labels[r]»)\,[«margin» - «distances[r]»]_+",
        equals=r"[m - d_i]_+\ \text{where}\ y_i = 0",
        signed=False,
    ),
    "pull_mean": Symbol(
        r"\bar a",
        equals=r"\text{mean of}\ a_i > 0",
        live=r"\frac{«Σ pull»}{«(pull > 0).sum().clamp_min(1)»}",
    ),
    "push_mean": Symbol(
        r"\bar b",
        equals=r"\text{mean of}\ b_i > 0",
        live=r"\frac{«Σ push»}{«(push > 0).sum().clamp_min(1)»}",
    ),
    "loss": loss_symbol(r"\bar a + \bar b", "«pull_mean» + «push_mean»"),
}

CONTRASTIVE_SYMBOLS = {
    "first": Symbol("u_i", ("pair", "dimension"), stem="u"),
    "second": Symbol("v_i", ("pair", "dimension"), stem="v"),
    "labels": each_pair("y_i", stem="y"),
    "similar": each_pair("y_i", "«labels[r]»", stem="y", signed=False),
    "distances": each_pair("d_i", equals="d(u_i, v_i)", signed=False),
    "pull": each_pair("y_i d_i^2", r"«labels[r]» \cdot «distances[r]»^2", signed=False),
    "push": each_pair(
        r"(1 - y_i)\,[m - d_i]_+^2",
        r"(1 - «labels[r]»)\,[«margin» - «distances[r]»]_+^2",
        signed=False,
    ),
    "terms": each_pair(
        "t_i", "«pull[r]» + «push[r]»", equals=r"y_i d_i^2 + (1 - y_i)\,[m - d_i]_+^2", signed=False
    ),
    "loss": loss_symbol(
        r"\frac1N \sum_i t_i\ \text{or half of it}",
        r"\frac{«Σ terms»}{«len(terms) * (2 if half else 1)»}",
    ),
}
# Of labels that are not between 0 and 1.
OF_EITHER_SIGN = {
    name: replace(CONTRASTIVE_SYMBOLS[name], signed=True)
    for name in ("similar", "pull", "push", "terms")
}

# Each pair at its own best distance.
_LEAST = r"\overline{\min_d \bigl(y\, d^2 + (1 - y)\,[m - d]_+^2\bigr)}"

CONTRASTIVE = LossSpec(
    function=contrastive,
    definition=contrastive_definition,
    title="Contrastive",
    about="Pulls positives to distance 0 and pushes negatives beyond the margin.",
    steps={"terms": "What each pair costs by itself."},
    group="distances",
    formula=r"\frac1N \sum_i \bigl(y_i d_i^2 + (1 - y_i)\,[m - d_i]_+^2\bigr)",
    symbols=CONTRASTIVE_SYMBOLS,
    parameters=(
        Parameter("margin", 2.0, "m", 0.0, 4.0, 0.01, role="margin", label="margin"),
        Parameter("distance", "euclidean", choices=("euclidean", "cosine"), label="distance"),
        Parameter("half", False, label="halved"),
    ),
    variants={"half=true": r"\frac1{2N} \sum_i \bigl(y_i d_i^2 + (1 - y_i)\,[m - d_i]_+^2\bigr)"},
    reads={"first": "first", "second": "second", "labels": "binary_labels"},
    terms="distances",
    collapse=_contrastive_collapse,
    collapse_formula=r"m^2 \cdot \overline{1 - y}\ \text{or half of it}",
    floor=_contrastive_floor,
    floor_formula=_LEAST + r"\ \text{or half of it}",
    reach=_reach,
    aliases=("ContrastiveLoss", "Siamese contrastive", "Siamese loss"),
    references=("S4", "S2", "Chopra et al. 2005", "S1 eq. 36", "Hadsell et al. 2006"),
    equivalent=_equivalent,
    note="Labels at or above the threshold are 1, others 0. The function also takes labels in "
    "between, as shares of both sides.",
    conventions=(
        Convention(
            "sentence-transformers 6.2 ContrastiveLoss",
            {"margin": 0.5, "distance": "cosine", "half": True},
            symbols=OF_EITHER_SIGN,
            reads=AS_THEY_ARE,
            equivalent=partial(_equivalent, "labels"),
            note=GRADED_NOTE,
            label_ends=UNIT,
            former=("sentence-transformers",),
        ),
        Convention(
            "sentence-transformers 6.2, Manhattan distance",
            {"margin": 0.5},
            contrastive_manhattan_definition,
            formula=r"\frac1{2N} \sum_i \bigl(y_i d_i^2 + (1 - y_i)\,[m - d_i]_+^2\bigr),"
            r"\quad d_i = \sum_k |u_{ik} - v_{ik}|",
            symbols={
                **OF_EITHER_SIGN,
                "distances": each_pair("d_i", equals=r"\sum_k |u_{ik} - v_{ik}|", signed=False),
                "loss": loss_symbol(
                    r"\frac1{2N} \sum_i t_i", r"\frac{«Σ terms»}{«len(terms) * 2»}"
                ),
            },
            reads=AS_THEY_ARE,
            note=GRADED_NOTE,
            label_ends=UNIT,
            collapse=partial(_contrastive_collapse, half=True),
            collapse_formula=r"\tfrac12 m^2 \cdot \overline{1 - y}",
            floor=partial(_contrastive_floor, distance="manhattan", half=True),
            floor_formula=r"\tfrac12\, " + _LEAST,
            peers=(Peer(SENTENCE_TRANSFORMERS, "ContrastiveLoss", VALUED),),
        ),
        Convention(
            "torch 2.13 CosineEmbeddingLoss",
            {"margin": 0.0},
            cosine_embedding_definition,
            formula=r"\frac1N \sum_i \bigl(y_i (1 - \cos_i) + (1 - y_i)\,[\cos_i - m]_+\bigr)",
            symbols={
                "distances": each_pair("d_i", equals=r"1 - \cos(u_i, v_i)", signed=False),
                "pull": each_pair("y_i d_i", r"«labels[r]» \cdot «distances[r]»", signed=False),
                "push": each_pair(
                    r"(1 - y_i)\,[1 - d_i - m]_+",
                    r"(1 - «labels[r]»)\,[1 - «distances[r]» - «margin»]_+",
                    signed=False,
                ),
                "terms": each_pair(
                    "t_i",
                    "«pull[r]» + «push[r]»",
                    equals=r"y_i d_i + (1 - y_i)\,[1 - d_i - m]_+",
                    signed=False,
                ),
                "loss": loss_symbol(r"\frac1N \sum_i t_i", r"\frac{«Σ terms»}{«len(terms)»}"),
            },
            note="The margin is a cosine: a dissimilar pair below it, that is at a distance "
            "above 1 − m, costs nothing. torch's labels are 1 and −1; −1 is our 0.",
            collapse=_cosine_embedding_collapse,
            collapse_formula=r"(1 - m) \cdot \overline{1 - y}",
            floor=lambda tensors, **_: 0.0,
            floor_formula="0",
            former=("torch CosineEmbeddingLoss",),
            peers=(Peer("torch", "CosineEmbeddingLoss", OF_SIDES),),
        ),
        Convention(
            "pytorch-metric-learning 2.9, pos_margin=0.2",
            {"margin": 1.0},
            contrastive_unsquared_with_positive_margin_definition,
            formula=r"\overline{d_i - m^+}\,\big|_{y_i = 1,\, d_i > m^+}"
            r" + \overline{m - d_i}\,\big|_{y_i = 0,\, d_i < m},\quad m^+ = 0.2",
            symbols={
                **UNSQUARED,
                "pull": each_pair(
                    "a_i",
                    r"«labels[r]» \cdot [«distances[r]» - 0.2]_+",
                    equals=r"[d_i - m^+]_+\ \text{where}\ y_i = 1",
                    stem="a",
                    signed=False,
                ),
            },
            note="The library's default pos_margin is 0; this shows another value. Positives "
            "nearer than it cost nothing and are left out of the mean.",
            peers=(Peer(METRIC_LEARNING, "ContrastiveLoss", OF_SIDES, {"pos_margin": 0.2}),),
            collapse=_unsquared_collapse,
            collapse_formula="m",
            floor=_unsquared_floor,
            floor_formula="[m - 2]_+",
            reach=_reach,
        ),
        Convention(
            "pytorch-metric-learning 2.9 ContrastiveLoss",
            {"margin": 1.0},
            contrastive_unsquared_definition,
            formula=r"\overline{d_i}\,\big|_{y_i = 1,\, d_i > 0}"
            r" + \overline{m - d_i}\,\big|_{y_i = 0,\, d_i < m}",
            symbols=UNSQUARED,
            collapse=_unsquared_collapse,
            collapse_formula="m",
            floor=_unsquared_floor,
            floor_formula="[m - 2]_+",
            reach=_reach,
            former=("pytorch-metric-learning",),
            peers=(Peer(METRIC_LEARNING, "ContrastiveLoss", OF_SIDES),),
        ),
    ),
)
