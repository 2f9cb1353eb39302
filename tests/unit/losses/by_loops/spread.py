"""Losses on how vectors lie."""

from __future__ import annotations

import math

from tests.unit.losses.by_loops.arithmetic import (
    Rows,
    apart,
    cosine,
    dot,
    euclidean,
    log_sum,
    mean,
    unit,
)


def alignment(first: Rows, second: Rows) -> float:
    return mean(euclidean(unit(u), unit(v)) ** 2 for u, v in zip(first, second, strict=True))


def uniformity(embeddings: Rows, *, t: float = 2.0) -> float:
    count = len(embeddings)
    if count < 2:
        return 0.0
    terms = [
        -t * apart(embeddings[i], embeddings[j]) for i in range(count) for j in range(i + 1, count)
    ]
    return log_sum(terms) - math.log(len(terms))


def _columns(rows: Rows) -> list[list[float]]:
    """The dimensions, each without its mean."""
    centred = []
    for column in zip(*rows, strict=True):
        middle = mean(column)
        centred.append([one - middle for one in column])
    return centred


def vicreg(
    first: Rows,
    second: Rows,
    *,
    invariance_weight: float = 25.0,
    variance_weight: float = 25.0,
    covariance_weight: float = 1.0,
    eps: float = 1e-4,
) -> float:
    free = max(len(first) - 1, 1)
    loss = invariance_weight * mean(
        euclidean(u, v) ** 2 for u, v in zip(first, second, strict=True)
    )
    for side in (first, second):
        columns = _columns(side)
        spread = [math.sqrt(dot(one, one) / free + eps) for one in columns]
        loss += variance_weight * mean(max(0.0, 1 - one) for one in spread)
        loss += covariance_weight * mean(
            math.fsum((dot(one, other) / free) ** 2 for other in columns if other is not one)
            for one in columns
        )
    return loss


def barlow_twins(first: Rows, second: Rows, *, off_diagonal_weight: float = 0.005) -> float:
    columns, others = _columns(first), _columns(second)
    loss = 0.0
    for j, one in enumerate(columns):
        for k, other in enumerate(others):
            sizes = math.hypot(*one) * math.hypot(*other)
            found = dot(one, other) / sizes if sizes else 0.0
            loss += (1 - found) ** 2 if j == k else off_diagonal_weight * found**2
    return loss


def orthogonal(
    first: Rows,
    second: Rows,
    *,
    mean_weight: float = 1.0,
    second_moment_weight: float = 1.0,
    aggregation: str = "mean",
) -> float:
    sides = []
    for side in (first, second):
        found = [cosine(u, v) for i, u in enumerate(side) for v in side[:i]]
        beyond = max(0.0, mean(s * s for s in found) - 1 / len(side[0]))
        sides.append(mean_weight * mean(found) ** 2 + second_moment_weight * beyond)
    return mean(sides) if aggregation == "mean" else math.fsum(sides)
