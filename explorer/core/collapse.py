"""Along which part of its scale a loss lies above its collapse value."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from explorer.core.batch import Batch
from losses import LOSSES, LossSpec, Parameter

if TYPE_CHECKING:
    from explorer.core.explore import Exploration

# Rounding of a loss that is at its collapse value is not above it.
ABOVE = 1.0001
POINTS, HALVINGS = 33, 20


@dataclass(frozen=True)
class Edge:
    """Where a loss that is above its collapse value ceases to be, nearest to where it stands.

    `value` of `parameter` has nothing above the collapse value beside it, on the `side` "below" or
    "above"; both are None where the loss is above it all over the parameter's range.
    """

    parameter: Parameter
    value: float | None
    side: str | None


def is_above(loss: float, collapse: float | None) -> bool:
    return collapse is not None and collapse > 0 and loss > collapse * ABOVE


def edge(e: Exploration) -> Edge | None:
    """Search the range of the loss's scale or temperature, by halving between two of its points.

    None for a loss that has neither.
    """
    scale = _scale(e.spec)
    if scale is None:
        return None
    others = {name: value for name, value in e.parameters.items() if name != scale.name}
    steps = _sides(e.batch, e.spec.name, e.scenario.convention, tuple(others.items()))
    now = math.log(float(e.parameters[scale.name]))  # pyright: ignore[reportArgumentType]
    crossings = [(abs(math.log(value) - now), value, side) for value, side in steps]
    if not crossings:
        return Edge(scale, None, None)
    _, value, side = min(crossings)
    return Edge(scale, value, side)


def _scale(spec: LossSpec) -> Parameter | None:
    return next((p for p in spec.parameters if p.kind == "number" and p.logarithmic), None)


@functools.lru_cache(maxsize=16)
def _sides(
    batch: Batch, loss: str, convention: str, others: tuple[tuple[str, Any], ...]
) -> list[tuple[float, str]]:
    """Every crossing of the collapse value along the scale: where, and on which side it ceases."""
    spec = LOSSES[loss].under(convention)
    scale = _scale(spec)
    assert scale is not None
    vectors, scores = batch.vectors, batch.scores
    given = {name: batch.read(what, vectors, scores) for name, what in spec.reads.items()}
    present = {name: value for name, value in given.items() if value is not None}

    def above(logarithm: float) -> bool:
        return _is_above_at(spec, present, {**dict(others), scale.name: math.exp(logarithm)})

    low, high = math.log(scale.minimum), math.log(scale.maximum)
    points = [low + (high - low) * place / (POINTS - 1) for place in range(POINTS)]
    signs = [above(point) for point in points]
    found = []
    for place in range(POINTS - 1):
        if signs[place] == signs[place + 1]:
            continue
        left, right = points[place], points[place + 1]
        for _ in range(HALVINGS):
            middle = (left + right) / 2
            left, right = (middle, right) if above(middle) == signs[place] else (left, middle)
        ceases = right if signs[place] else left
        found.append((math.exp(ceases), "above" if signs[place] else "below"))
    return found


def _is_above_at(
    spec: LossSpec, given: Mapping[str, Tensor], parameters: Mapping[str, Any]
) -> bool:
    with torch.no_grad():
        loss = float(spec.function(**given, **parameters))
    collapse = spec.collapse(given, **parameters) if spec.collapse else None
    return is_above(loss, collapse)
