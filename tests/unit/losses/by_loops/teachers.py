"""Losses that follow a teacher."""

from __future__ import annotations

import math
from typing import Any

from tests.unit.losses.by_loops.arithmetic import Rows, Vector, log_sum, mean, shares


def margin_mse(
    positive_scores: Vector, negative_scores: Rows, teacher_margins: Rows, *, mask: Any = None
) -> float:
    return mean(
        (positive_scores[i] - negative_scores[i][k] - teacher_margins[i][k]) ** 2
        for i, row in enumerate(negative_scores)
        for k in range(len(row))
        if mask is None or mask[i][k]
    )


def distill_kl(
    scores: Rows,
    teacher: Rows,
    *,
    temperature: float = 1.0,
    teacher_temperature: float | None = None,
    divergence: str = "kl",
    mask: Any = None,
) -> float:
    losses = []
    for i, row in enumerate(scores):
        held = [k for k in range(len(row)) if mask is None or mask[i][k]]
        wanted = shares([teacher[i][k] / (teacher_temperature or temperature) for k in held])
        if not any(wanted):
            continue
        logits = [row[k] / temperature for k in held]
        whole = log_sum(logits)
        losses.append(
            math.fsum(
                p * ((math.log(p) if divergence == "kl" else 0.0) - (logit - whole))
                for p, logit in zip(wanted, logits, strict=True)
                if p > 0
            )
        )
    return temperature**2 * mean(losses)


def embedding_mse(embeddings: Rows, teacher_embeddings: Rows) -> float:
    return mean(
        (a - b) ** 2
        for u, v in zip(embeddings, teacher_embeddings, strict=True)
        for a, b in zip(u, v, strict=True)
    )
