"""Sums, cosines and logarithms of Python floats."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

Vector = Sequence[float]
Rows = Sequence[Vector]
SHORTEST = 1e-8  # a vector shorter than this has no direction


def dot(u: Vector, v: Vector) -> float:
    return math.fsum(a * b for a, b in zip(u, v, strict=True))


def cosine(u: Vector, v: Vector) -> float:
    return dot(u, v) / (max(math.hypot(*u), SHORTEST) * max(math.hypot(*v), SHORTEST))


def unit(u: Vector) -> list[float]:
    size = max(math.hypot(*u), SHORTEST)
    return [a / size for a in u]


def apart(u: Vector, v: Vector) -> float:
    """The squared distance of the directions, 2 − 2 cos."""
    return 2 - 2 * cosine(u, v)


def euclidean(u: Vector, v: Vector) -> float:
    return math.dist(u, v)


def log_sum(terms: Iterable[float]) -> float:
    """log Σ e^t; −inf of nothing."""
    held = [term for term in terms if term > -math.inf]
    if not held:
        return -math.inf
    top = max(held)
    return top + math.log(math.fsum(math.exp(term - top) for term in held))


def log_one_plus(terms: Iterable[float]) -> float:
    """log(1 + Σ e^t)."""
    return log_sum([0.0, *terms])


def softplus(x: float) -> float:
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def mean(values: Iterable[float]) -> float:
    """0 of nothing."""
    held = list(values)
    return math.fsum(held) / len(held) if held else 0.0


def shares(logits: Vector) -> list[float]:
    whole = log_sum(logits)
    return [math.exp(one - whole) if one > -math.inf else 0.0 for one in logits]
