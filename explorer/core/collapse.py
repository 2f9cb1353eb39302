"""Along which part of its scale a loss lies above its collapse value."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from explorer.core.batch import Batch
from explorer.core.parameters import numeric_parameters, spread
from explorer.runtime.limits import KEPT_BATCHES
from losses import LOSSES, LossSpec, Parameter

if TYPE_CHECKING:
    from explorer.core.explore import Exploration

# Rounding of a loss that is at its collapse value is not above it.
ABOVE = 1.0001
POINTS, HALVINGS = 33, 12


@dataclass(frozen=True)
class Edge:
    """The one value of `parameter` at which a loss ceases to be above its collapse value, and on
    which `side` of it, "below" or "above"; both None where it is above all over the range."""

    parameter: Parameter
    value: float | None = None
    side: str | None = None


def is_above(loss: float, collapse: float) -> bool:
    return 0 < collapse * ABOVE < loss


def edge(e: Exploration) -> Edge | None:
    """Where the loss of an exploration ceases to be above its collapse value."""
    scale = _scale_of(e.spec)
    if scale is None:
        return None
    # The search is one, wherever on its range the scale stands.
    others = tuple((name, value) for name, value in e.parameters.items() if name != scale.name)
    return _edge(e.batch, e.spec.function, e.spec.name, e.scenario.convention, others)


@functools.lru_cache(maxsize=KEPT_BATCHES)
def _edge(
    batch: Batch,
    function: Callable[..., Tensor],  # one's own is another after its file changed
    loss: str,
    convention: str,
    others: tuple[tuple[str, Any], ...],
) -> Edge | None:
    spec = LOSSES[loss].under(convention)
    vectors, scores = batch.vectors, batch.scores
    given = {name: batch.read(what, vectors, scores) for name, what in spec.reads.items()}
    present = {name: value for name, value in given.items() if value is not None}
    assert spec.collapse is not None  # the loss is above it
    collapse_of = spec.collapse

    @torch.no_grad()
    def above(chosen: Mapping[str, Any]) -> bool:
        level = collapse_of(present, **chosen)
        return level is not None and is_above(float(function(**present, **chosen)), level)

    return edge_along(spec, dict(others), above)


def _scale_of(spec: LossSpec) -> Parameter | None:
    """What sharpens the comparisons of a loss, if anything does."""
    sharpening = ("scale", "temperature", "sharpness")
    return next((p for p in numeric_parameters(spec) if p.role in sharpening), None)


def edge_along(
    spec: LossSpec, parameters: Mapping[str, Any], above: Callable[[Mapping[str, Any]], bool]
) -> Edge | None:
    """Search the range of the scale or temperature of a loss that is above its collapse value;
    `above` says of parameters whether it is there.

    None for a loss that has neither, and for one that does not cross its collapse value just once.
    """
    scale = _scale_of(spec)
    if scale is None:
        return None

    def above_at(value: float) -> bool:
        return above({**parameters, scale.name: value})

    values = spread(scale, POINTS)
    signs = [above_at(value) for value in values]
    crossings = [place for place in range(1, POINTS) if signs[place - 1] != signs[place]]
    if all(signs):
        return Edge(scale)
    if len(crossings) != 1:
        return None
    (place,) = crossings
    left, right = values[place - 1], values[place]
    left_is_above = signs[place - 1]
    for _ in range(HALVINGS):
        middle = math.sqrt(left * right)
        if above_at(middle) == left_is_above:
            left = middle
        else:
            right = middle
    return Edge(scale, right, "above") if left_is_above else Edge(scale, left, "below")
