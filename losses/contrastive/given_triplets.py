"""The triplet loss of triplets as they are given: an anchor, its positive, its own negative."""

import math

import torch
from torch import Tensor

from lossprism.losses import geometry, input_checks
from lossprism.losses.gather import gathered
from lossprism.losses.kernels import softplus
from lossprism.losses.kernels.value_with_gradient import with_gradient


def triplet_given_definition(
    anchors: Tensor,
    positives: Tensor,
    negatives: Tensor,
    *,
    margin: float = 5.0,
    distance: str = "euclidean",
    soft_margin: bool = False,
) -> Tensor:
    to_positive = geometry.distance(anchors, positives, distance)
    to_negative = geometry.distance(anchors, negatives, distance)
    violations = to_positive - to_negative + margin
    terms = softplus(violations) if soft_margin else violations.relu()
    loss = terms.mean()
    return loss


def triplet_given(
    anchors: Tensor,
    positives: Tensor,
    negatives: Tensor,
    *,
    margin: float = 5.0,
    distance: str = "euclidean",
    soft_margin: bool = False,
    gather: bool = False,
) -> Tensor:
    r"""mean max(0, d(a, p) − d(a, n) + m) over the given triplets (S2; S1 eq. 35).

    >>> anchors, positives, negatives = torch.zeros(1, 1), torch.ones(1, 1), torch.ones(1, 1)
    >>> triplet_given(anchors, positives, negatives, margin=0.5)  # 1 − 1 + 0.5
    tensor(0.5000)

    Args:
        anchors, positives, negatives: [T, D] each, a row for each triplet.
        margin: m.
        distance: "euclidean", "squared_euclidean" or "cosine".
        soft_margin: log(1 + e^x) in place of max(0, x).
        gather: the batch is that of all processes of torch.distributed (`losses.gather`).
    """
    input_checks.one_of(geometry.DISTANCES, distance=distance)
    anchors, positives, negatives = gathered(gather, anchors, positives, negatives)
    learned = isinstance(margin, Tensor)
    anchors, positives, negatives = input_checks.paired(
        torch.float32, learned, anchors=anchors, positives=positives, negatives=negatives
    )
    arguments = (anchors, positives, negatives, margin, distance, soft_margin)
    if learned:
        return _dense(*arguments)
    return with_gradient(_at_once, _dense, *arguments)


def _dense(anchors, positives, negatives, margin, distance, soft_margin):
    settings = {"margin": margin, "distance": distance, "soft_margin": soft_margin}
    return triplet_given_definition(anchors, positives, negatives, **settings)


def _at_once(needs_grad, anchors, positives, negatives, margin, distance, soft_margin):
    arguments = (anchors, positives, negatives, distance)
    violations, pull = geometry.excess_and_pull(*arguments, of_any_size=False)
    if input_checks.may_ask(violations) and not math.isfinite(violations.sum().item()):
        input_checks.must_be_finite("anchors", anchors)
        input_checks.must_be_finite("positives", positives)
        input_checks.must_be_finite("negatives", negatives)
        violations, pull = geometry.excess_and_pull(*arguments)
    violations.add_(margin)
    terms = softplus(violations) if soft_margin else violations.relu_()
    # Each term's share is summed: the mean may fit where the sum would overflow.
    loss = terms.div(len(anchors)).sum()
    if not any(needs_grad):
        return loss, ()
    slopes = violations.sigmoid_() if soft_margin else violations.sign_()
    return loss, (*pull(slopes.div_(len(anchors))), None, None, None)


def triplet_given_shifted_definition(
    anchors: Tensor, positives: Tensor, negatives: Tensor, *, margin: float = 1.0, eps: float = 1e-6
) -> Tensor:
    """torch's distance: ε is added to each difference before the norm."""
    to_positive = (anchors - positives + eps).norm(dim=1)
    to_negative = (anchors - negatives + eps).norm(dim=1)
    violations = to_positive - to_negative + margin
    terms = violations.relu()
    loss = terms.mean()
    return loss


def triplet_given_swapped_definition(
    anchors: Tensor, positives: Tensor, negatives: Tensor, *, margin: float = 1.0, eps: float = 1e-6
) -> Tensor:
    """torch's form with swap=True: the negative is measured from whichever of both is nearer
    to it."""
    to_positive = (anchors - positives + eps).norm(dim=1)
    to_anchor = (anchors - negatives + eps).norm(dim=1)
    from_positive = (positives - negatives + eps).norm(dim=1)
    to_negative = torch.minimum(to_anchor, from_positive)
    violations = to_positive - to_negative + margin
    terms = violations.relu()
    loss = terms.mean()
    return loss


def triplet_given_manhattan_definition(
    anchors: Tensor, positives: Tensor, negatives: Tensor, *, margin: float = 5.0
) -> Tensor:
    """sentence-transformers' form with TripletDistanceMetric.MANHATTAN: sums of differences."""
    to_positive = (anchors - positives).abs().sum(dim=1)
    to_negative = (anchors - negatives).abs().sum(dim=1)
    violations = to_positive - to_negative + margin
    terms = violations.relu()
    loss = terms.mean()
    return loss
