"""Conventions of libraries in which some labels mark places without a candidate."""

import functools
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from torch import Tensor

from lossprism.losses import input_checks
from lossprism.losses.labels import UNJUDGED

# By what a loss reads as its mask: which labels belong to a candidate.
JUDGED: Mapping[str, Callable[[Tensor], Tensor]] = {
    "judged_mask": lambda labels: labels != UNJUDGED,
    "graded_mask": lambda labels: ~(labels < 0),  # NaN stays, to be refused
}


def judged_in(labels: Tensor, mask: Tensor | None, what: str) -> Tensor:
    """Return the places [L, K] of candidates with a judgement."""
    judged = JUDGED[what](labels)
    return judged if mask is None else judged & mask


def without_unjudged(spec: Any) -> Any:
    """Return the `LossSpec` for callers with a mask of all candidates, or none; unchanged if it
    reads none of `JUDGED`."""
    what = spec.reads.get("mask", "")
    if what not in JUDGED:
        return spec
    return replace(
        spec,
        function=_masked(spec.function, what),
        definition=_masked(spec.definition, what),
        collapse=spec.collapse and _reference(spec.collapse, what),
        floor=spec.floor and _reference(spec.floor, what),
    )


@functools.cache
def _masked(loss: Callable[..., Tensor], what: str) -> Callable[..., Tensor]:
    @functools.wraps(loss)
    def judged(scores: Tensor, labels: Tensor, *, mask: Tensor | None = None, **chosen: Any):
        scores = input_checks.of_lists("scores", scores)
        labels = input_checks.of_lists("labels", labels, like=scores)
        mask = judged_in(labels, input_checks.candidate_mask(mask, scores), what)
        return loss(scores, labels, mask=mask, **chosen)

    return judged


@functools.cache
def _reference(value: Callable[..., Any], what: str) -> Callable[..., Any]:
    @functools.wraps(value)
    def judged(tensors: dict[str, Tensor], **chosen: Any) -> Any:
        mask = judged_in(tensors["labels"], tensors.get("mask"), what)
        return value({**tensors, "mask": mask}, **chosen)

    return judged
