"""The contrastive loss of hard pairs only: far positives and near negatives."""

from functools import partial

import torch
from torch import Tensor

from lossprism.losses import geometry, input_checks
from lossprism.losses.gather import gathered
from lossprism.losses.kernels.value_with_gradient import with_gradient
from lossprism.losses.labels import UNIT
from lossprism.losses.sentence_transformers_equivalent_record import Equivalent
from lossprism.losses.spec import Convention, LossSpec, Parameter, Symbol
from lossprism.losses.symbols import each_pair, loss_symbol

METRICS = ("cosine", "euclidean")


def online_contrastive_definition(
    first: Tensor, second: Tensor, labels: Tensor, *, margin: float = 0.5, distance: str = "cosine"
) -> Tensor:
    distances = geometry.distance(first, second, distance)
    similar, dissimilar = labels == 1, labels == 0
    farthest, nearest = bounds(distances, similar, dissimilar)
    far = similar & (distances > nearest)
    near = dissimilar & (distances < farthest)
    pull = distances.square().masked_fill(~far, 0)
    push = (margin - distances).relu().square().masked_fill(~near, 0)
    terms = pull + push
    loss = terms.sum()
    return loss


def bounds(distances: Tensor, similar: Tensor, dissimilar: Tensor) -> tuple[Tensor, Tensor]:
    """Return the farthest positive, below which negatives are hard, and the nearest negative, above
    which positives are; if one kind is missing, the mean of the other."""
    detached = distances.detach()
    farthest = detached.masked_fill(~similar, -torch.inf).amax()
    nearest = detached.masked_fill(~dissimilar, torch.inf).amin()
    mean = detached.masked_fill(~(similar | dissimilar), 0).sum() / (similar | dissimilar).sum()
    return torch.where(similar.any(), farthest, mean), torch.where(dissimilar.any(), nearest, mean)


def online_contrastive(
    first: Tensor,
    second: Tensor,
    labels: Tensor,
    *,
    margin: float = 0.5,
    distance: str = "cosine",
    gather: bool = False,
) -> Tensor:
    r"""Σ d² over positives farther than the nearest negative, + Σ max(0, m − d)² over negatives
    nearer than the farthest positive: a sum, not a mean (sentence-transformers).

    >>> first, second = torch.zeros(3, 1), torch.tensor([[0.2], [0.4], [0.3]])
    >>> labels = torch.tensor([1, 1, 0])  # of the positives, only the second is hard
    >>> online_contrastive(first, second, labels, distance="euclidean")  # 0.4² + 0.2²
    tensor(0.2000)
    >>> online_contrastive(first[:2], second[:2], labels[:2], distance="euclidean")  # 0.4²
    tensor(0.1600)

    In a batch without negatives, positives count that are farther than the mean of the positives;
    without positives, negatives that are nearer than the mean of the negatives.

    Args:
        first, second: [N, D] each.
        labels: [N], 1 for a similar pair, 0 for a dissimilar one; a pair of any other is left out.
        margin: m, the distance beyond which a dissimilar pair is left alone.
        distance: "cosine" for 1 − cos, or "euclidean".
        gather: of the batch that all processes make together (see `losses.gather`).
    """
    input_checks.one_of(METRICS, distance=distance)
    first, second, labels = gathered(gather, first, second, labels)
    first, second = input_checks.paired(first=first, second=second)
    labels = input_checks.ordinal(labels, len(first))
    arguments = (first, second, labels, margin, distance)
    if isinstance(margin, Tensor):
        return _dense(*arguments)
    return with_gradient(_online, _dense, *arguments)


def _dense(first, second, labels, margin, distance):
    return online_contrastive_definition(first, second, labels, margin=margin, distance=distance)


def _online(needs_grad, first, second, labels, margin, distance):
    distances, to_vectors = geometry.distance_and_pull(first, second, distance)
    similar, dissimilar = labels == 1, labels == 0
    farthest, nearest = bounds(distances, similar, dissimilar)
    pull = distances.masked_fill(~(similar & (distances > nearest)), 0)
    push = (margin - distances).relu_().masked_fill_(~(dissimilar & (distances < farthest)), 0)
    loss = (pull * pull).addcmul_(push, push).sum()
    if not any(needs_grad):
        return loss, ()
    return loss, (*to_vectors(pull.sub_(push).mul_(2)), None, None, None)


def _equivalent(labels: str = "binary_labels", *, margin: float, distance: str) -> Equivalent:
    kind = "COSINE_DISTANCE" if distance == "cosine" else "EUCLIDEAN"
    return Equivalent(
        "OnlineContrastiveLoss, SiameseDistanceMetric",
        {"first": "first", "second": "second", "labels": labels},
        f"metric = SiameseDistanceMetric.{kind}\n"
        f"theirs = OnlineContrastiveLoss(None, distance_metric=metric, margin={margin!r})\n"
        "loss = theirs.compute_loss_from_embeddings([first, second], labels)\n",
    )


ONLINE_CONTRASTIVE = LossSpec(
    function=online_contrastive,
    definition=online_contrastive_definition,
    title="Online contrastive",
    about="Applies contrastive loss to far positives and near negatives only.",
    steps={
        "farthest": "The farthest positive: what is nearer among the negatives is hard.",
        "similar": "Pairs that should lie together.",
        "terms": "Only hard pairs cost anything.",
    },
    group="distances",
    formula=r"\sum_{y_i = 1,\, d_i > \min d^-} d_i^2"
    r" + \sum_{y_i = 0,\, d_i < \max d^+} [m - d_i]_+^2",
    symbols={
        "first": Symbol("u_i", ("pair", "dimension"), stem="u"),
        "second": Symbol("v_i", ("pair", "dimension"), stem="v"),
        "labels": each_pair("y_i", stem="y"),
        "distances": each_pair("d_i", equals="d(u_i, v_i)"),
        "similar": each_pair("y_i = 1", "«labels[r]» = 1", signed=False),
        "dissimilar": each_pair("y_i = 0", "«labels[r]» = 0", signed=False),
        "farthest": Symbol(r"\max d^+"),
        "nearest": Symbol(r"\min d^-"),
        "far": each_pair(r"y_i = 1,\ d_i > \min d^-", signed=False),
        "near": each_pair(r"y_i = 0,\ d_i < \max d^+", signed=False),
        "pull": each_pair(
            r"d_i^2\ \text{where}\ y_i = 1,\ d_i > \min d^-",
            r"«distances[r]»^2 \cdot «far[r]»",
            signed=False,
        ),
        "push": each_pair(
            r"[m - d_i]_+^2\ \text{where}\ y_i = 0,\ d_i < \max d^+",
            r"[«margin» - «distances[r]»]_+^2 \cdot «near[r]»",
            signed=False,
        ),
        "terms": each_pair("t_i", "«pull[r]» + «push[r]»", signed=False),
        "loss": loss_symbol(r"\sum_i t_i", "«Σ terms»"),
    },
    parameters=(
        Parameter("margin", 0.5, "m", 0.0, 4.0, 0.01, role="margin", label="margin"),
        Parameter("distance", "cosine", choices=METRICS, label="distance"),
    ),
    reads={"first": "first", "second": "second", "labels": "binary_labels"},
    terms="distances",
    collapse=lambda tensors, **_: 0.0,
    collapse_formula="0",
    floor=lambda tensors, **_: 0.0,
    floor_formula="0",
    references=("Hadsell et al. 2006", "sentence-transformers (OnlineContrastiveLoss)"),
    aliases=("OnlineContrastiveLoss",),
    note="At exact collapse nothing is selected and the loss is 0; close to it, the loss is "
    "about m² for each negative. In a batch of one kind, positives farther than their mean "
    "count, or negatives nearer than theirs, as in sentence-transformers.",
    equivalent=_equivalent,
    conventions=(
        Convention(
            "sentence-transformers 6.2 OnlineContrastiveLoss",
            {"margin": 0.5, "distance": "cosine"},
            reads={"first": "first", "second": "second", "labels": "labels"},
            equivalent=partial(_equivalent, "labels"),
            note="The library uses labels unchanged: pairs labelled neither 0 nor 1 are left out.",
            former=("sentence-transformers 6.2",),
            label_ends=UNIT,
        ),
    ),
)
