"""The value of a loss's scale parameter at which it crosses its value at collapse."""

from __future__ import annotations

import bisect
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from lossprism.explorer.core.batch import Batch
from lossprism.explorer.core.parameter_values import (
    Settings,
    numeric_parameters,
    parameters_read_by,
    spread,
)
from lossprism.explorer.runtime.limits import KEPT_BATCHES
from lossprism.losses import LOSSES, LossSpec, Parameter
from lossprism.losses.loss_term_structures import AgainstOthers, LogisticSum, Separable

if TYPE_CHECKING:
    from lossprism.explorer.core.explore import Exploration

# Rounding of a loss that is at its collapse value is not above it.
ABOVE_FACTOR = 1.0001
POINTS, HALVINGS = 33, 12
# Logarithms of sums of exponentials of scaled differences, which are convex in what scales them.
CONVEX = (Separable, LogisticSum, AgainstOthers)
Compared = tuple[float, float | None]  # a loss, and its collapse value


@dataclass(frozen=True)
class Crossing:
    """The one value of `parameter` at which a loss stops being above its value at collapse, and the
    `side` of it on which it is above ("below" or "above"); None for both if it is above everywhere.
    """

    parameter: Parameter
    value: float | None = None
    side: str | None = None


def is_above(loss: float, collapse: float) -> bool:
    return 0 < collapse * ABOVE_FACTOR < loss


def crossing(e: Exploration) -> Crossing | None:
    """Find the scale at which an exploration's loss stops being above its value at collapse."""
    scale = scale_of(e.spec)
    if scale is None:
        return None
    # The search is one, wherever on its range the scale stands.
    others = tuple((name, value) for name, value in e.parameters.items() if name != scale.name)
    return _crossing(e.batch, e.spec.function, e.spec.name, e.scenario.convention, others)


@functools.lru_cache(maxsize=KEPT_BATCHES)
def _crossing(
    batch: Batch,
    function: Callable[..., Tensor],  # one's own is another after its file changed
    loss: str,
    convention: str,
    others: tuple[tuple[str, Any], ...],
) -> Crossing | None:
    spec = LOSSES[loss].under(convention)
    vectors, scores = batch.vectors, batch.scores
    inputs = {name: batch.read(what, vectors, scores) for name, what in spec.reads.items()}
    present = {name: value for name, value in inputs.items() if value is not None}
    assert spec.collapse is not None  # the loss is above it
    collapse_of = spec.collapse

    @functools.cache
    def level(settings: Settings) -> float | None:
        return collapse_of(present, **dict(settings))

    @torch.no_grad()
    def at(chosen: Mapping[str, Any]) -> Compared:
        return float(function(**present, **chosen)), level(parameters_read_by(collapse_of, chosen))

    return crossing_along(spec, dict(others), at)


def scale_of(spec: LossSpec) -> Parameter | None:
    """Return the scale or temperature of a loss, None if it has neither."""
    sharpening = ("scale", "temperature", "sharpness")
    return next((p for p in numeric_parameters(spec) if p.role in sharpening), None)


def crossing_along(
    spec: LossSpec, parameters: Mapping[str, Any], at: Callable[[Mapping[str, Any]], Compared]
) -> Crossing | None:
    """Search the range of a loss's scale or temperature for the end of the part above collapse.

    `at` compares the loss with its value at collapse at given parameters. None if the loss has
    neither parameter, or does not cross its value at collapse exactly once.
    """
    scale = scale_of(spec)
    if scale is None:
        return None

    @functools.cache
    def compared(value: float) -> Compared:
        return at({**parameters, scale.name: value})

    def above_at(value: float) -> bool:
        loss, level = compared(value)
        return level is not None and is_above(loss, level)

    values = spread(scale, POINTS)
    crossings = _crossings_if_convex(spec, scale, values, compared, above_at)
    if crossings is None:
        signs = [above_at(value) for value in values]
        crossings = [place for place in range(1, POINTS) if signs[place - 1] != signs[place]]
    left_is_above = above_at(values[0])
    if left_is_above and not crossings:
        return Crossing(scale)
    if len(crossings) != 1:
        return None
    left, right = values[crossings[0] - 1], values[crossings[0]]

    def exceeds_at(value: float) -> bool:
        loss, level = compared(value)
        return level is not None and loss > level

    # Where it is at its collapse value to every digit, if it is that so soon.
    is_past = exceeds_at if exceeds_at(left) != exceeds_at(right) else above_at
    for _ in range(HALVINGS):
        middle = math.sqrt(left * right)
        if is_past(middle) == left_is_above:
            left = middle
        else:
            right = middle
    return Crossing(scale, right, "above") if left_is_above else Crossing(scale, left, "below")


def _crossings_if_convex(
    spec: LossSpec,
    scale: Parameter,
    values: Sequence[float],
    compared: Callable[[float], Compared],
    above_at: Callable[[float], bool],
) -> list[int] | None:
    """Return the crossings of the value at collapse, as places in `values`, from a few evaluations;
    None if these do not decide it.

    A loss that is convex in its scale crosses a constant once if it is above at one end only, and
    never if it is above at its gentlest and rises from there.
    """
    if spec.convention or not isinstance(spec.form, CONVEX):
        return None
    gentle = values[::-1] if scale.role == "temperature" else values
    (first, level), (second, _), (_, other) = map(compared, (gentle[0], gentle[1], gentle[-1]))
    if level != other:
        return None
    low, high = above_at(values[0]), above_at(values[-1])
    if low != high:
        return [bisect.bisect_left(values, True, key=lambda value: above_at(value) == high)]
    return [] if low and first < second else None
