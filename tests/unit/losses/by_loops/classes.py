"""Losses on distances, classes and prototypes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from tests.unit.losses.by_loops.arithmetic import (
    Rows,
    Vector,
    apart,
    cosine,
    dot,
    euclidean,
    log_one_plus,
    log_sum,
    mean,
    softplus,
)


def online_contrastive(
    first: Rows,
    second: Rows,
    labels: Sequence[float],
    *,
    margin: float = 0.5,
    distance: str = "cosine",
) -> float:
    rows = list(zip(first, second, strict=True))
    gaps = [1 - cosine(u, v) if distance == "cosine" else euclidean(u, v) for u, v in rows]
    near = [d for d, y in zip(gaps, labels, strict=True) if y == 1]
    far = [d for d, y in zip(gaps, labels, strict=True) if y == 0]
    # Of one kind alone, its mean is the bound.
    hard_near = [d for d in near if d > (min(far) if far else mean(near))]
    hard_far = [d for d in far if d < (max(near) if near else mean(far))]
    return math.fsum(d * d for d in hard_near) + math.fsum(
        max(0.0, margin - d) ** 2 for d in hard_far
    )


def triplet(
    anchors: Rows,
    positives: Rows | None = None,
    negatives: Rows | None = None,
    *,
    classes: Sequence[int] | None = None,
    mining: str = "given",
    margin: float = 1.0,
    distance: str = "euclidean",
    soft_margin: bool = False,
) -> float:
    measured: dict[str, Callable[[Vector, Vector], float]] = {
        "euclidean": euclidean,
        "squared_euclidean": lambda u, v: euclidean(u, v) ** 2,
        "cosine": lambda u, v: 1 - cosine(u, v),
    }
    d = measured[distance]
    found = []
    if positives is not None and negatives is not None:
        found = [d(a, p) - d(a, n) for a, p, n in zip(anchors, positives, negatives, strict=True)]
    elif classes is not None:
        for i, anchor in enumerate(anchors):
            near = [
                d(anchor, one)
                for j, one in enumerate(anchors)
                if j != i
                if classes[j] == classes[i]
            ]
            far = [d(anchor, one) for j, one in enumerate(anchors) if classes[j] != classes[i]]
            if not near or not far:
                continue
            if mining == "all":
                found += [p - n for p in near for n in far]
            elif mining == "hard":
                found.append(max(near) - min(far))
            else:
                found += [p - min((n for n in far if n > p), default=max(far)) for p in near]
    return mean(softplus(x + margin) if soft_margin else max(0.0, x + margin) for x in found)


def multi_similarity(
    embeddings: Rows,
    classes: Sequence[int],
    *,
    positive_scale: float = 2.0,
    negative_scale: float = 50.0,
    threshold: float = 1.0,
    mined: bool = True,
    margin: float = 0.1,
) -> float:
    losses = []
    for i, z in enumerate(embeddings):
        near = [
            cosine(z, one) for j, one in enumerate(embeddings) if j != i if classes[j] == classes[i]
        ]
        far = [cosine(z, one) for j, one in enumerate(embeddings) if classes[j] != classes[i]]
        if mined:
            hard_near = [s for s in near if far and s < max(far) + margin]
            far = [s for s in far if near and s > min(near) - margin]
            near = hard_near
        pull = log_one_plus(-positive_scale * (s - threshold) for s in near) / positive_scale
        push = log_one_plus(negative_scale * (s - threshold) for s in far) / negative_scale
        losses.append(pull + push)
    return mean(losses)


def lifted(embeddings: Rows, classes: Sequence[int], *, margin: float = 1.0) -> float:
    losses = []
    if len(set(classes)) < 2:
        return 0.0
    for i, z in enumerate(embeddings):
        for j in range(i + 1, len(embeddings)):
            if classes[i] != classes[j]:
                continue
            far = log_sum(
                margin - euclidean(end, one)
                for end in (z, embeddings[j])
                for k, one in enumerate(embeddings)
                if classes[k] != classes[i]
            )
            losses.append(max(0.0, far + euclidean(z, embeddings[j])) ** 2 / 2)
    return mean(losses)


def proxy_anchor(
    embeddings: Rows,
    classes: Sequence[int],
    *,
    prototypes: Rows,
    scale: float = 32.0,
    margin: float = 0.1,
) -> float:
    pulls, pushes = [], []
    for p, prototype in enumerate(prototypes):
        near = [cosine(z, prototype) for z, c in zip(embeddings, classes, strict=True) if c == p]
        far = [cosine(z, prototype) for z, c in zip(embeddings, classes, strict=True) if c != p]
        if near:
            pulls.append(log_one_plus(-scale * (s - margin) for s in near))
        pushes.append(log_one_plus(scale * (s + margin) for s in far))
    return mean(pulls) + mean(pushes)


def proxy_nca(
    embeddings: Rows,
    classes: Sequence[int],
    *,
    prototypes: Rows,
    scale: float = 1.0,
    include_own: bool = False,
) -> float:
    losses = []
    for z, c in zip(embeddings, classes, strict=True):
        own = scale * apart(z, prototypes[c])
        others = [
            -scale * apart(z, one) for j, one in enumerate(prototypes) if include_own or j != c
        ]
        losses.append(own + log_sum(others) if others else 0.0)
    return mean(losses)


def cosface(
    embeddings: Rows,
    classes: Sequence[int],
    *,
    prototypes: Rows,
    scale: float = 64.0,
    margin: float = 0.35,
) -> float:
    return mean(
        log_one_plus(
            scale * (cosine(z, one) - cosine(z, prototypes[c]) + margin)
            for j, one in enumerate(prototypes)
            if j != c
        )
        for z, c in zip(embeddings, classes, strict=True)
    )


def softmax(embeddings: Rows, classes: Sequence[int], *, prototypes: Rows) -> float:
    """Minus the logarithm of the probability of each one's own class."""
    losses = []
    for z, c in zip(embeddings, classes, strict=True):
        logits = [dot(z, one) for one in prototypes]
        losses.append(log_sum(logits) - logits[c])
    return mean(losses)


def arcface(
    embeddings: Rows,
    classes: Sequence[int],
    *,
    prototypes: Rows,
    scale: float = 64.0,
    margin: float = 0.5,
) -> float:
    """As softmax, with the angle to the own prototype larger by the margin."""
    losses = []
    for z, c in zip(embeddings, classes, strict=True):
        own = scale * math.cos(math.acos(cosine(z, prototypes[c])) + margin)
        others = [scale * cosine(z, one) for j, one in enumerate(prototypes) if j != c]
        losses.append(log_sum([own, *others]) - own)
    return mean(losses)


def supcon(
    embeddings: Rows,
    classes: Sequence[int],
    *,
    queue: Rows = (),
    queue_classes: Sequence[int] = (),
    temperature: float = 0.1,
    include_self: bool = False,
) -> float:
    keys, key_classes = [*embeddings, *queue], [*classes, *queue_classes]
    losses = []
    for i, z in enumerate(embeddings):
        held = [k for k in range(len(keys)) if include_self or k != i]
        logits = {k: cosine(z, keys[k]) / temperature for k in held}
        positives = [k for k in held if key_classes[k] == classes[i]]
        if positives:
            losses.append(mean(log_sum(logits.values()) - logits[k] for k in positives))
    return mean(losses)
