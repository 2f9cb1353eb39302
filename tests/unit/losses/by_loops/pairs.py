"""Losses on the scores and labels of pairs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from tests.unit.losses.by_loops.arithmetic import (
    Rows,
    Vector,
    cosine,
    euclidean,
    log_one_plus,
    mean,
    softplus,
)


def _ordered(labels: Sequence[float]) -> Iterator[tuple[int, int]]:
    """Each two pairs of which the first has the greater label."""
    for i, above in enumerate(labels):
        yield from ((i, j) for j, below in enumerate(labels) if above > below)


def cosent(scores: Vector, labels: Vector, *, scale: float = 20.0) -> float:
    return log_one_plus(scale * (scores[j] - scores[i]) for i, j in _ordered(labels))


def weighted_cosent(scores: Vector, labels: Vector, *, scale: float = 20.0) -> float:
    return log_one_plus(
        scale * (scores[j] - scores[i]) + math.log(labels[i] - labels[j])
        for i, j in _ordered(labels)
    )


def hierarchical_cosent(
    level_scores: Rows, labels: Vector, *, weights: Vector, scale: float = 20.0
) -> float:
    return math.fsum(
        weight * cosent(scores, labels, scale=scale)
        for weight, scores in zip(weights, level_scores, strict=True)
    )


def pairwise_logistic(
    scores: Vector, labels: Vector, *, scale: float = 20.0, reduction: str = "sum"
) -> float:
    terms = [softplus(scale * (scores[j] - scores[i])) for i, j in _ordered(labels)]
    return mean(terms) if reduction == "mean" else math.fsum(terms)


def pairwise_hinge(
    scores: Vector, labels: Vector, *, margin: float = 0.3, eps: float = 1e-6
) -> float:
    terms, gaps = [], []
    for i, j in _ordered(labels):
        gaps.append(labels[i] - labels[j])
        terms.append(gaps[-1] * max(0.0, scores[j] - scores[i] + margin))
    return math.fsum(terms) / (math.fsum(gaps) + eps)


def max_violation(scores: Vector, labels: Vector) -> float:
    return max((0.0, *(scores[j] - scores[i] for i, j in _ordered(labels))))


def circle(
    scores: Vector,
    labels: Vector,
    *,
    scale: float = 64.0,
    positive_margin: float = 0.0,
    negative_margin: float = 0.0,
) -> float:
    return log_one_plus(
        scale * (scores[j] - negative_margin - scores[i] + positive_margin)
        for i, j in _ordered(labels)
    )


def circle_self_paced(
    scores: Vector,
    labels: Vector,
    *,
    scale: float = 64.0,
    margin: float = 0.25,
    still: dict[str, Vector] | None = None,
) -> float:
    """`still` has the scores that the paces are made of: those given, unless a difference is
    taken."""
    paced = scores if still is None else still["scores"]
    return log_one_plus(
        scale * max(0.0, paced[j] + margin) * (scores[j] - margin)
        - scale * max(0.0, 1 + margin - paced[i]) * (scores[i] - 1 + margin)
        for i, j in _ordered(labels)
    )


def cosine_mse(scores: Vector, labels: Vector) -> float:
    return mean((s - y) ** 2 for s, y in zip(scores, labels, strict=True))


def binary_cross_entropy(scores: Vector, labels: Vector) -> float:
    """−y log p − (1 − y) log(1 − p) of p = 1 / (1 + e^−s)."""
    return mean(
        y * softplus(-s) + (1 - y) * softplus(s) for s, y in zip(scores, labels, strict=True)
    )


def contrastive(
    first: Rows,
    second: Rows,
    labels: Vector,
    *,
    margin: float = 2.0,
    distance: str = "euclidean",
    half: bool = False,
) -> float:
    measured: dict[str, Callable[[Vector, Vector], float]] = {
        "euclidean": euclidean,
        "cosine": lambda u, v: 1 - cosine(u, v),
    }
    gaps = [measured[distance](u, v) for u, v in zip(first, second, strict=True)]
    loss = mean(
        y * d**2 + (1 - y) * max(0.0, margin - d) ** 2 for d, y in zip(gaps, labels, strict=True)
    )
    return loss / 2 if half else loss
