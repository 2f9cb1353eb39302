"""Lists of libraries that take a label of −1 for a place without a candidate."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from torch import Tensor

from losses import inputs
from losses.labels import UNJUDGED


def judged_in(labels: Tensor, mask: Tensor | None) -> Tensor:
    """Which places [L, K] hold a candidate with a judgement."""
    judged = labels != UNJUDGED
    return judged if mask is None else judged & mask


def without_unjudged(spec: Any) -> Any:
    """The `LossSpec` on lists for callers who hand over the mask of all candidates, or none."""
    return replace(
        spec,
        function=_masked(spec.function),
        definition=_masked(spec.definition),
        collapse=spec.collapse and _reference(spec.collapse),
        floor=spec.floor and _reference(spec.floor),
    )


@functools.cache
def _masked(loss: Callable[..., Tensor]) -> Callable[..., Tensor]:
    @functools.wraps(loss)
    def judged(scores: Tensor, labels: Tensor, *, mask: Tensor | None = None, **chosen: Any):
        scores = inputs.of_lists("scores", scores)
        labels = inputs.of_lists("labels", labels, like=scores)
        mask = judged_in(labels, inputs.candidate_mask(mask, scores))
        return loss(scores, labels, mask=mask, **chosen)

    return judged


@functools.cache
def _reference(value: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(value)
    def judged(given: dict[str, Tensor], **chosen: Any) -> Any:
        mask = judged_in(given["labels"], given.get("mask"))
        return value({**given, "mask": mask}, **chosen)

    return judged
