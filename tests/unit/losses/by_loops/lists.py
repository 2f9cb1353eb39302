"""Losses on lists."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tests.unit.losses.by_loops.arithmetic import Rows, Vector, log_sum, mean, shares, softplus


def _lists_of(scores: Rows, labels: Rows, mask: Any) -> list[list[tuple[float, float]]]:
    """The candidates (s, y) of each list that has any."""
    found = [
        [(s, y) for k, (s, y) in enumerate(zip(*row, strict=True)) if mask is None or mask[i][k]]
        for i, row in enumerate(zip(scores, labels, strict=True))
    ]
    return [one for one in found if one]


def list_net(
    scores: Rows,
    labels: Rows,
    *,
    mask: Any = None,
    target: str = "softmax",
    temperature: float = 1.0,
) -> float:
    losses = []
    for one in _lists_of(scores, labels, mask):
        wanted = [y for _, y in one]
        if target == "softmax":
            wanted = shares(wanted)
        elif target == "normalized":
            whole = math.fsum(wanted)
            wanted = [y / whole if whole else 0.0 for y in wanted]
        logits = [s / temperature for s, _ in one]
        whole = log_sum(logits)
        losses.append(math.fsum(p * (whole - z) for p, z in zip(wanted, logits, strict=True)))
    return mean(losses)


def softmax_rank(
    scores: Rows,
    labels: Rows,
    *,
    mask: Any = None,
    target: str = "raw",
    temperature: float = 1.0,
) -> float:
    return list_net(scores, labels, mask=mask, target=target, temperature=temperature)


def list_mle(
    scores: Rows,
    labels: Rows,
    *,
    mask: Any = None,
    weighted: bool = False,
    order: str = "labels",
    temperature: float = 1.0,
) -> float:
    losses = []
    for one in _lists_of(scores, labels, mask):
        ordered = one if order == "given" else sorted(one, key=lambda pair: -pair[1])
        logits = [s / temperature for s, _ in ordered]
        count = len(logits)
        terms = [log_sum(logits[i:]) - logits[i] for i in range(count)]
        if weighted:
            raw = [2.0 ** (count - i) - 1 for i in range(1, count + 1)]
            whole = math.fsum(raw)
            terms = [t * w / whole if whole else 0.0 for t, w in zip(terms, raw, strict=True)]
        losses.append(math.fsum(terms))
    return mean(losses)


def _gains_of(labels: Sequence[float], k: int | None = None) -> list[float]:
    raw = [2.0 ** max(y, 0.0) - 1 for y in labels]
    best = sorted(raw, reverse=True)[: k or None]
    ideal = math.fsum(g / math.log2(2 + place) for place, g in enumerate(best))
    return [g / ideal if ideal else 0.0 for g in raw]


def lambda_loss(
    scores: Rows,
    labels: Rows,
    *,
    mask: Any = None,
    scheme: str = "ndcg2pp",
    k: int | None = None,
    sigma: float = 1.0,
    mu: float = 10.0,
    reduction: str = "mean",
) -> float:
    def discount(place: int) -> float:
        return 1 / math.log2(1 + place)

    terms = []
    for one in _lists_of(scores, labels, mask):
        gains = _gains_of([y for _, y in one], k)
        order = sorted(range(len(one)), key=lambda n: -one[n][0])
        rank = {n: place + 1 for place, n in enumerate(order)}
        for i, (s_i, y_i) in enumerate(one):
            for j, (s_j, y_j) in enumerate(one):
                if not (y_i > y_j or scheme == "ndcg1"):
                    continue
                if k and min(rank[i], rank[j]) > k:
                    continue
                gained = abs(gains[i] - gains[j])
                swapped = gained * abs(discount(rank[i]) - discount(rank[j]))
                moved = 0.0
                if i != j:
                    gap = abs(rank[i] - rank[j])
                    moved = gained * abs(discount(gap) - discount(gap + 1))
                weight = {
                    "none": 1.0,
                    "ndcg1": gains[i] * discount(rank[i]),
                    "ndcg2": moved,
                    "lambdarank": swapped,
                    "ndcg2pp": mu * moved + swapped,
                }[scheme]
                terms.append(weight * softplus(sigma * (s_j - s_i)) / math.log(2))
    return mean(terms) if reduction == "mean" else math.fsum(terms)


def _soft_ranks(scores: Vector, temperature: float) -> list[float]:
    def sigmoid(x: float) -> float:
        return math.exp(-softplus(-x))

    return [
        1 + math.fsum(sigmoid((b - a) / temperature) for j, b in enumerate(scores) if j != i)
        for i, a in enumerate(scores)
    ]


def approx_ndcg(scores: Rows, labels: Rows, *, mask: Any = None, temperature: float = 0.1) -> float:
    losses = []
    for one in _lists_of(scores, labels, mask):
        ranks = _soft_ranks([s for s, _ in one], temperature)
        gains = _gains_of([y for _, y in one])
        losses.append(-math.fsum(g / math.log2(1 + r) for g, r in zip(gains, ranks, strict=True)))
    return mean(losses)


def adr_mse(scores: Rows, labels: Rows, *, mask: Any = None, temperature: float = 1.0) -> float:
    terms = []
    for one in _lists_of(scores, labels, mask):
        wanted = [y for _, y in one]
        for y, soft in zip(wanted, _soft_ranks([s for s, _ in one], temperature), strict=True):
            above = sum(other > y for other in wanted)
            rank = above + (sum(other == y for other in wanted) + 1) / 2
            terms.append((soft - rank) ** 2 / math.log2(1 + rank))
    return mean(terms)
