"""Losses on in-batch negatives."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tests.unit.losses.by_loops.arithmetic import (
    Rows,
    Vector,
    cosine,
    dot,
    log_one_plus,
    log_sum,
    mean,
    softplus,
)


def info_nce(
    queries: Rows,
    keys: Rows,
    *,
    negatives: Any = None,
    own_negatives: Sequence[Rows] | None = None,
    temperature: float = 0.05,
    symmetric: bool = False,
    similarity: str = "cosine",
    directions: str = "query_to_key",
    partition: str = "joint",
    in_batch: bool = True,
    mask_above: float | None = None,
    hardness: float = 0.0,
    hardness_on: str = "in_batch",
    log_weight: float = 0.0,
    same_text: Sequence[int] | None = None,
    still: dict[str, Any] | None = None,
) -> float:
    """`still` are the vectors that the constants of hardness are made of: those given, unless a
    difference is taken."""
    sim = cosine if similarity == "cosine" else dot
    ways = directions.split(",")
    if symmetric:
        ways, partition = ["query_to_key", "key_to_query"], "per_direction"
    count = len(queries)

    def vectors_of(given: dict[str, Any]) -> dict[tuple[str, int, int], Vector]:
        """By kind, the query it belongs to, and its place."""
        found = {("query", i, 0): one for i, one in enumerate(given["queries"])}
        found |= {("key", i, 0): one for i, one in enumerate(given["keys"])}
        for n, row in enumerate(given["negatives"] or ()):
            nested = isinstance(row[0], Sequence)
            named = [("hard", n, k) for k in range(len(row))] if nested else [("given", -1, n)]
            found |= dict(zip(named, row if nested else [row], strict=True))
        for i, row in enumerate(given["own_negatives"] or ()):
            found |= {("alone", i, k): one for k, one in enumerate(row)}
        return found

    given = {"queries": queries, "keys": keys}
    given |= {"negatives": negatives, "own_negatives": own_negatives}
    at = vectors_of(given)
    still_at = at if still is None else vectors_of({**given, **still})
    own = [sim(queries[i], keys[i]) for i in range(count)]

    def term(way: str, i: int, other: tuple[str, int, int]) -> float:
        """The logit of a candidate; −inf where it does not stand."""
        looks = (way.split("_")[0], i, 0)
        kind, of, _ = other
        is_row = kind in ("query", "key")
        at_keys = way.endswith("key")
        if (kind == "query") == at_keys or (kind == "alone" and of != i):
            return -math.inf
        if kind == "alone" and way != "query_to_key":
            return -math.inf
        if is_row and of == i:
            return -math.inf
        if kind == "hard" and of == i and way == "key_to_key":
            return -math.inf
        if kind == "key" and way == "query_to_key" and not in_batch:
            return -math.inf
        if is_row and same_text is not None and same_text[i] == same_text[of]:
            return -math.inf
        found = sim(at[looks], at[other])
        if mask_above is not None and found > own[i] + mask_above:
            return -math.inf
        logit = found / temperature
        if way == "query_to_key":
            is_own = of == i
            hard = is_own or kind == "given"
            if hardness_on == "all" or hardness_on == ("hard" if hard else "in_batch"):
                logit += hardness * sim(still_at[looks], still_at[other])
            if is_own:
                logit += log_weight
        return logit - own[i] / temperature

    if partition == "joint":
        twice = {"query_to_key", "key_to_query"} <= set(ways)
        return mean(
            log_one_plus([0.0] * twice + [term(way, i, one) for way in ways for one in at])
            for i in range(count)
        )
    return mean(
        mean(log_one_plus(term(way, i, one) for one in at) for i in range(count)) for way in ways
    )


def gist(
    queries: Rows,
    keys: Rows,
    *,
    guide_queries: Rows,
    guide_keys: Rows,
    negatives: Rows | None = None,
    guide_negatives: Rows | None = None,
    temperature: float = 0.01,
    margin: float = 0.0,
    margin_kind: str = "absolute",
    contrast_anchors: bool = True,
    contrast_positives: bool = True,
) -> float:
    losses = []
    for i, (query, key) in enumerate(zip(queries, keys, strict=True)):
        own = cosine(guide_queries[i], guide_keys[i])
        bound = own - (margin * abs(own) if margin_kind == "relative" else margin)
        looks = [(query, guide_queries[i], keys, guide_keys)]
        if contrast_anchors:
            looks.append((query, guide_queries[i], queries, guide_queries))
        if contrast_positives:
            looks.append((key, guide_keys[i], keys, guide_keys))
        terms = [
            (cosine(one, other) - cosine(query, key)) / temperature
            for one, guide_one, others, guide_others in looks
            for j, (other, guide_other) in enumerate(zip(others, guide_others, strict=True))
            if j != i and not cosine(guide_one, guide_other) > bound
        ]
        terms += [
            (cosine(query, other) - cosine(query, key)) / temperature
            for other, guide_other in zip(negatives or (), guide_negatives or (), strict=True)
            if not cosine(guide_queries[i], guide_other) > bound
        ]
        losses.append(log_one_plus(terms))
    return mean(losses)


def decoupled(
    first: Rows,
    second: Rows,
    *,
    negatives: Rows | None = None,
    temperature: float = 0.1,
    weighted: bool = False,
    sigma: float = 0.5,
) -> float:
    own = [cosine(u, v) for u, v in zip(first, second, strict=True)]
    usual = mean(math.exp(s / sigma) for s in own)
    losses = []
    for i, u in enumerate(first):
        others = [v for j, v in enumerate(second) if j != i] + list(negatives or ())
        if not others:
            losses.append(0.0)
            continue
        weight = 2 - math.exp(own[i] / sigma) / usual if weighted else 1.0
        away = log_sum(cosine(u, v) / temperature for v in others)
        losses.append(away - weight * own[i] / temperature)
    return mean(losses)


def debiased(
    first: Rows, second: Rows, *, temperature: float = 0.5, tau_plus: float = 0.1
) -> float:
    return hard_weighted(first, second, temperature=temperature, tau_plus=tau_plus, beta=0.0)


def hard_weighted(
    first: Rows,
    second: Rows,
    *,
    temperature: float = 0.5,
    tau_plus: float = 0.1,
    beta: float = 1.0,
) -> float:
    views, count = [*first, *second], len(first)
    losses = []
    for i, view in enumerate(views):
        partner = (i + count) % (2 * count)
        positive = math.exp(cosine(view, views[partner]) / temperature)
        found = [
            math.exp(cosine(view, other) / temperature)
            for j, other in enumerate(views)
            if j not in (i, partner)
        ]
        usual = mean(one**beta for one in found)
        weighed = math.fsum(one ** (1 + beta) / usual for one in found)
        noise = (weighed - len(found) * tau_plus * positive) / (1 - tau_plus)
        noise = max(noise, len(found) * math.exp(-1 / temperature))
        losses.append(math.log1p(noise / positive))
    return mean(losses)


def focal_info_nce(
    queries: Rows,
    keys: Rows,
    *,
    negatives: Rows | None = None,
    temperature: float = 0.05,
    gamma: float = 0.5,
) -> float:
    losses = []
    for i, query in enumerate(queries):
        own = cosine(query, keys[i]) / temperature
        others = [one for j, one in enumerate(keys) if j != i] + list(negatives or ())
        gaps = [cosine(query, one) / temperature - own for one in others]
        missed = log_one_plus(gaps)  # −log p
        losses.append((-math.expm1(-missed)) ** gamma * missed)
    return mean(losses)


def soft_info_nce(queries: Rows, keys: Rows, *, targets: Rows, temperature: float = 0.05) -> float:
    losses = []
    for query, wanted in zip(queries, targets, strict=True):
        logits = [cosine(query, key) / temperature for key in keys]
        whole = log_sum(logits)
        losses.append(math.fsum(t * (whole - one) for t, one in zip(wanted, logits, strict=True)))
    return mean(losses)


def n_pair(anchors: Rows, positives: Rows, *, similarity: str = "dot") -> float:
    sim = dot if similarity == "dot" else cosine
    return mean(
        log_one_plus(sim(a, p) - sim(a, positives[i]) for j, p in enumerate(positives) if j != i)
        for i, a in enumerate(anchors)
    )


def mega_batch_margin(
    queries: Rows, keys: Rows, *, positive_margin: float = 0.8, negative_margin: float = 0.3
) -> float:
    losses = []
    for i, query in enumerate(queries):
        others = [cosine(query, key) for j, key in enumerate(keys) if j != i]
        pull = max(0.0, positive_margin - cosine(query, keys[i]))
        push = max(0.0, max(others) - negative_margin) if others else 0.0
        losses.append(pull + push)
    return mean(losses)


def nt_xent(first: Rows, second: Rows, *, temperature: float = 0.5) -> float:
    """Each view against all views but itself."""
    views, count = [*first, *second], len(first)
    losses = []
    for i, view in enumerate(views):
        logits = {j: cosine(view, views[j]) / temperature for j in range(2 * count) if j != i}
        losses.append(log_sum(logits.values()) - logits[(i + count) % (2 * count)])
    return mean(losses)


def siglip(queries: Rows, keys: Rows, *, scale: float = 10.0, bias: float = -10.0) -> float:
    terms = []
    for i, query in enumerate(queries):
        for j, key in enumerate(keys):
            logit = scale * cosine(query, key) + bias
            terms.append(softplus(-logit if i == j else logit))
    return math.fsum(terms) / len(queries)
