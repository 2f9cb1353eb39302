"""Triplets mined from classes, and the triplet loss as other libraries define it."""

from collections.abc import Callable

import torch
from torch import Tensor

from lossprism.losses import geometry, input_checks
from lossprism.losses.gather import gathered
from lossprism.losses.kernels import mean_of, small_batch_losses, softplus
from lossprism.losses.kernels import mined_triplets as large
from lossprism.losses.kernels.class_label_losses import is_small
from lossprism.losses.kernels.value_with_gradient import with_gradient


def from_classes(
    anchors: Tensor,
    classes: Tensor,
    mining: str,
    margin: float | Tensor,
    distance: str,
    definition: Callable[..., Tensor],
) -> Tensor:
    """The mean over the triplets that `mining` finds, by the kernel for a batch of this size.

    `definition` is the same loss of (anchors, classes, mining, margin, distance) in plain torch.
    """
    (anchors,) = input_checks.vectors(anchors=anchors)
    classes = input_checks.class_numbers(classes, len(anchors))
    arguments = (anchors, classes, mining, margin, distance)
    if isinstance(margin, Tensor):
        return definition(*arguments)
    exact = small_batch_losses if is_small(len(anchors), anchors, side=160) else large
    return with_gradient(exact.mined, definition, *arguments)


def triplet_over_violating_definition(
    anchors: Tensor, classes: Tensor, *, margin: float = 5.0, distance: str = "euclidean"
) -> Tensor:
    """Every triplet, but the mean over those with a loss (BatchAll of sentence-transformers)."""
    distances = geometry.distance_matrix(anchors, anchors, distance)
    alike = classes[:, None] == classes[None, :]
    itself = torch.eye(len(classes), dtype=torch.bool, device=classes.device)
    anchor, positive = (alike & ~itself).nonzero(as_tuple=True)
    to_positive = distances[anchor, positive]
    to_others = distances[anchor]
    differences = to_positive[:, None] - to_others + margin
    violations = differences.masked_fill(alike[anchor], -torch.inf)
    terms = violations.relu()
    loss = mean_of(terms, terms > 0)
    return loss


def triplet_over_violating(
    anchors: Tensor,
    classes: Tensor,
    *,
    margin: float = 5.0,
    distance: str = "euclidean",
    gather: bool = False,
) -> Tensor:
    """Every triplet of the classes, the mean over those with a loss (BatchAll of
    sentence-transformers).

    >>> embeddings, classes = torch.tensor([[0.0], [1.0], [3.0]]), torch.tensor([0, 0, 1])
    >>> triplet_over_violating(embeddings, classes, margin=1.5)  # 1 − 3 + 1.5 < 0 and 1 − 2 + 1.5
    tensor(0.5000)

    Args:
        anchors: [S, D], all embeddings.
        classes: [S], whole numbers.
        margin: m.
        distance: "euclidean", "squared_euclidean" or "cosine".
        gather: the batch is that of all processes of torch.distributed (`losses.gather`).
    """
    input_checks.one_of(geometry.DISTANCES, distance=distance)
    anchors, classes = gathered(gather, anchors, classes)
    return from_classes(anchors, classes, "violating", margin, distance, _dense_violating)


def _dense_violating(anchors, classes, _mining, margin, distance):
    return triplet_over_violating_definition(anchors, classes, margin=margin, distance=distance)


def triplet_unit_definition(anchors: Tensor, classes: Tensor, *, margin: float = 0.05) -> Tensor:
    """pytorch-metric-learning's form: unit vectors, and the mean over the violating triplets."""
    directions = geometry.unit(anchors)
    distances = geometry.distance_matrix(directions, directions)
    alike = classes[:, None] == classes[None, :]
    itself = torch.eye(len(classes), dtype=torch.bool, device=classes.device)
    anchor, positive = (alike & ~itself).nonzero(as_tuple=True)
    to_positive = distances[anchor, positive]
    to_others = distances[anchor]
    differences = to_positive[:, None] - to_others + margin
    violations = differences.masked_fill(alike[anchor], -torch.inf)
    terms = violations.relu()
    loss = mean_of(terms, terms > 0)
    return loss


def triplet_unit(
    anchors: Tensor, classes: Tensor, *, margin: float = 0.05, gather: bool = False
) -> Tensor:
    """`triplet_over_violating` of the directions of the embeddings (pytorch-metric-learning).

    >>> embeddings, classes = torch.tensor([[2.0], [3.0], [-1.0]]), torch.tensor([0, 0, 1])
    >>> triplet_unit(embeddings, classes, margin=2.5)  # 0 − 2 + 2.5, twice
    tensor(0.5000)

    Args:
        anchors: [S, D], all embeddings.
        classes: [S], whole numbers.
        margin: m.
        gather: the batch is that of all processes of torch.distributed (`losses.gather`).
    """
    anchors, classes = gathered(gather, anchors, classes)
    return from_classes(anchors, classes, "violating", margin, "chord", _dense_unit)


def _dense_unit(anchors, classes, _mining, margin, _distance):
    return triplet_unit_definition(anchors, classes, margin=margin)


def triplet_semi_hard_or_itself_definition(
    anchors: Tensor, classes: Tensor, *, margin: float = 5.0, distance: str = "euclidean"
) -> Tensor:
    """BatchSemiHard of sentence-transformers: in a batch of one class the anchor is its own
    negative, at distance 0."""
    distances = geometry.distance_matrix(anchors, anchors, distance)
    alike = classes[:, None] == classes[None, :]
    itself = torch.eye(len(classes), dtype=torch.bool, device=classes.device)
    partners = alike & ~itself
    anchor, positive = partners.nonzero(as_tuple=True)
    to_positive = distances[anchor, positive]
    to_others = distances[anchor]
    strangers = ~alike[anchor]
    place = torch.arange(len(classes), device=classes.device)
    beyond = strangers & (to_others > to_positive[:, None])
    nearest_beyond = to_others.masked_fill(~beyond, torch.inf).argmin(dim=1)
    farthest = to_others.masked_fill(~(strangers | itself[anchor]), -torch.inf).argmax(dim=1)
    negative = torch.where(beyond.any(dim=1), nearest_beyond, farthest)
    valid = place == negative[:, None]
    differences = to_positive[:, None] - to_others + margin
    violations = differences.masked_fill(~valid, -torch.inf)
    terms = violations.relu()
    loss = mean_of(terms, valid)
    return loss


def triplet_semi_hard_or_itself(
    anchors: Tensor,
    classes: Tensor,
    *,
    margin: float = 5.0,
    distance: str = "euclidean",
    gather: bool = False,
) -> Tensor:
    """Semi-hard triplets as sentence-transformers' BatchSemiHard takes them.

    >>> embeddings, classes = torch.tensor([[0.0], [1.0]]), torch.tensor([0, 0])
    >>> triplet_semi_hard_or_itself(embeddings, classes, margin=5.0)  # 1 − 0 + 5, both ways
    tensor(6.)

    Args:
        anchors: [S, D], all embeddings.
        classes: [S], whole numbers; of one class alone, each anchor is its own negative.
        margin: m.
        distance: "euclidean", "squared_euclidean" or "cosine".
        gather: the batch is that of all processes of torch.distributed (`losses.gather`).
    """
    anchors, classes = gathered(gather, anchors, classes)
    mined = from_classes(anchors, classes, "semi_hard", margin, distance, _dense_semi_hard)
    one_class = (classes == classes[:1]).all()
    if input_checks.may_ask(classes) and not one_class:
        return mined
    return torch.where(one_class, _against_itself(anchors, margin, distance), mined)


def _against_itself(anchors: Tensor, margin: float, distance: str) -> Tensor:
    """Every pair of a batch of one class, its anchor the negative, at distance 0."""
    (anchors,) = input_checks.vectors(anchors=anchors)
    distances = geometry.distance_matrix(anchors, anchors, distance)
    itself = torch.eye(len(anchors), dtype=torch.bool, device=anchors.device)
    return mean_of((distances + margin).relu(), ~itself)


def _dense_semi_hard(anchors, classes, _mining, margin, distance):
    return triplet_semi_hard_or_itself_definition(
        anchors, classes, margin=margin, distance=distance
    )


def triplet_every_anchor_definition(
    anchors: Tensor, classes: Tensor, *, margin: float = 5.0, distance: str = "euclidean"
) -> Tensor:
    """BatchHard of sentence-transformers: an anchor without a positive counts, at distance 0.

    An anchor without a negative takes for one the nearest of its class, moved away by its
    farthest distance.
    """
    distances = geometry.distance_matrix(anchors, anchors, distance)
    alike = classes[:, None] == classes[None, :]
    itself = torch.eye(len(classes), dtype=torch.bool, device=classes.device)
    to_positive = distances.masked_fill(~(alike & ~itself), 0).amax(dim=1)
    farthest = distances.amax(dim=1)
    to_negative = (distances + farthest[:, None] * alike).amin(dim=1)
    violations = to_positive - to_negative + margin
    terms = violations.relu()
    loss = terms.mean()
    return loss


def triplet_every_anchor_softly_definition(
    anchors: Tensor, classes: Tensor, *, distance: str = "euclidean"
) -> Tensor:
    """BatchHardSoftMargin of sentence-transformers: `triplet_every_anchor_definition` with
    log(1 + e^x), and without a margin."""
    distances = geometry.distance_matrix(anchors, anchors, distance)
    alike = classes[:, None] == classes[None, :]
    itself = torch.eye(len(classes), dtype=torch.bool, device=classes.device)
    to_positive = distances.masked_fill(~(alike & ~itself), 0).amax(dim=1)
    farthest = distances.amax(dim=1)
    to_negative = (distances + farthest[:, None] * alike).amin(dim=1)
    violations = to_positive - to_negative
    terms = softplus(violations)
    loss = terms.mean()
    return loss


def triplet_shifted_definition(
    anchors: Tensor, classes: Tensor, *, margin: float = 1.0, eps: float = 1e-6
) -> Tensor:
    """torch's distance: ε is added to each difference before the norm."""
    distances = (anchors[:, None, :] - anchors[None, :, :] + eps).norm(dim=2)
    alike = classes[:, None] == classes[None, :]
    itself = torch.eye(len(classes), dtype=torch.bool, device=classes.device)
    anchor, positive = (alike & ~itself).nonzero(as_tuple=True)
    to_positive = distances[anchor, positive]
    to_others = distances[anchor]
    strangers = ~alike[anchor]
    differences = to_positive[:, None] - to_others + margin
    violations = differences.masked_fill(~strangers, -torch.inf)
    terms = violations.relu()
    loss = mean_of(terms, strangers)
    return loss


def triplet_unit_swapped_definition(
    anchors: Tensor, classes: Tensor, *, margin: float = 0.05
) -> Tensor:
    """pytorch-metric-learning's form with swap=True: a negative counts from the anchor or from the
    positive, whichever is nearer to it."""
    directions = geometry.unit(anchors)
    distances = geometry.distance_matrix(directions, directions)
    alike = classes[:, None] == classes[None, :]
    itself = torch.eye(len(classes), dtype=torch.bool, device=classes.device)
    anchor, positive = (alike & ~itself).nonzero(as_tuple=True)
    to_positive = distances[anchor, positive]
    to_others = torch.minimum(distances[anchor], distances[positive])
    differences = to_positive[:, None] - to_others + margin
    violations = differences.masked_fill(alike[anchor], -torch.inf)
    terms = violations.relu()
    loss = mean_of(terms, terms > 0)
    return loss


def triplet_unit_smooth_definition(
    anchors: Tensor, classes: Tensor, *, margin: float = 0.05
) -> Tensor:
    """pytorch-metric-learning's form with smooth_loss=True: log(1 + e^x), so that every triplet
    counts."""
    directions = geometry.unit(anchors)
    distances = geometry.distance_matrix(directions, directions)
    alike = classes[:, None] == classes[None, :]
    itself = torch.eye(len(classes), dtype=torch.bool, device=classes.device)
    anchor, positive = (alike & ~itself).nonzero(as_tuple=True)
    to_positive = distances[anchor, positive]
    to_others = distances[anchor]
    differences = to_positive[:, None] - to_others + margin
    violations = differences.masked_fill(alike[anchor], -torch.inf)
    terms = softplus(violations)
    loss = mean_of(terms, terms > 0)
    return loss
