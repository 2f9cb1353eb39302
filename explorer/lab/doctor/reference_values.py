"""Reference values of a loss, by the counts of a batch alone: at collapse, at the start of training
and at the minimum."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor

from lossprism.explorer.core.parameter_values import Settings, parameters_read_by
from lossprism.explorer.lab.doctor.synthetic_batches_from_counts import (
    MAX_ORTHOGONAL_SENTENCES,
    Layout,
    inputs_of,
)
from lossprism.explorer.runtime.problem import Problem
from lossprism.losses import LOSSES, LossSpec, Parameter
from lossprism.losses.inputs_that_losses_may_read import READABLE
from lossprism.losses.minimum import Bound
from lossprism.losses.score_kinds import SCORE_KINDS
from lossprism.losses.spec import ParameterValue

COLLAPSE, START, FLOOR = KINDS = ("collapse", "start", "floor")
# Without a formula for its value at collapse, a definition is run on a batch of at most this size.
MAX_RUN_PAIRS, MAX_RUN_SENTENCES, MAX_RUN_TRIPLETS = 512, 256, 20_000
# Largest batch of a loss whose formula needs a matrix of the batch.
MAX_MATRIX_PAIRS = 2**12
# A scale this small, or a temperature as large as its inverse, makes all similarities count as 0.
NEGLIGIBLE_SCALE = 1e-12
RELATIVE_TOLERANCE = 1e-9  # of equal values in float64


class ConfiguredLoss(NamedTuple):
    """A loss under a convention, with all its parameters.

    `function` tells a user's own loss from its former self, after its file changed. `score` is the
    kind of its scores, "" for the convention's own.
    """

    name: str
    convention: str
    parameters: Settings
    function: Callable[..., Tensor]
    score: str = ""

    @property
    def spec(self) -> LossSpec:
        spec = _under(LOSSES[self.name], self.convention, self.function)
        return spec.scored_as(self.score or spec.score)

    def with_parameters(self, **moved: ParameterValue) -> ConfiguredLoss:
        chosen = {**dict(self.parameters), **moved}
        return self._replace(parameters=tuple(chosen.items()))

    @property
    def changed_parameters(self) -> Settings:
        """The parameters that differ from the convention's own."""
        defaults = self.spec.defaults
        return tuple((name, v) for name, v in self.parameters if v != defaults[name])


def configured_losses(spec: LossSpec) -> Iterator[ConfiguredLoss]:
    """Yield the loss in its own convention and in each of other libraries, with the defaults."""
    for name in ("", *(convention.name for convention in spec.conventions)):
        chosen = tuple(_under(spec, name, spec.function).defaults.items())
        yield ConfiguredLoss(spec.name, name, chosen, spec.function)


_known: dict[tuple[str, str], tuple[Callable[..., Tensor], LossSpec]] = {}


def _under(spec: LossSpec, convention: str, function: Callable[..., Tensor]) -> LossSpec:
    """Return `LossSpec.under`, which takes longer than most reference values, once for each
    convention."""
    known = _known.get((spec.name, convention))
    if known is None or known[0] is not function:
        known = _known[spec.name, convention] = (function, spec.under(convention))
    return known[1]


def sharpening(spec: LossSpec) -> Parameter | None:
    """Return the parameter that scales similarities, such as a temperature; None without one."""
    roles = ("scale", "temperature", "sharpness")
    return next((one for one in spec.parameters if one.role in roles), None)


@functools.lru_cache(maxsize=100_000)
def reference_value(loss: ConfiguredLoss, kind: str, layout: Layout) -> float | None:
    """Return the value of one of `KINDS` on a batch of this layout; None where it is unknown.

    "collapse": all vectors equal, or the logits of an untrained head. "start": any two vectors at
    right angles, nearly as those of an untrained encoder. "floor": the minimum over vectors or
    scores.
    """
    try:
        with torch.no_grad():
            value = _COMPUTE[kind](loss, layout)
    except Problem:  # the batch lacks what the loss reads, such as a positive pair
        return None
    return value if value is not None and math.isfinite(value) else None


def _collapse(loss: ConfiguredLoss, layout: Layout) -> float | None:
    spec, chosen = loss.spec, dict(loss.parameters)
    if spec.collapse is None:
        return _run(loss, layout, orthogonal=is_zero_at_collapse(spec))
    if is_matrix(spec) and layout.pairs > MAX_MATRIX_PAIRS:
        return None
    return _by_formula(spec, spec.collapse, parameters_read_by(spec.collapse, chosen), layout)


def _start(loss: ConfiguredLoss, layout: Layout) -> float | None:
    if "prototypes" in loss.spec.reads.values():
        return None  # the logits at the start are unknown
    is_small = layout.sentences <= MAX_ORTHOGONAL_SENTENCES // 8
    if not is_small and (flat := _with_similarities_of_zero(loss)) is not None:
        return reference_value(flat, COLLAPSE, layout)
    if layout.sentences > MAX_ORTHOGONAL_SENTENCES:
        return None
    return _run(loss, layout, orthogonal=True)


@functools.lru_cache(maxsize=1024)
def _with_similarities_of_zero(loss: ConfiguredLoss) -> ConfiguredLoss | None:
    """Return the loss at a negligible scale, whose formula at collapse is its value at the start;
    None where it is not, on three small batches."""
    spec = loss.spec
    factor = sharpening(spec)
    if factor is None or spec.collapse is None:
        return None
    is_temperature = "temperature" in factor.name
    scale = 1 / NEGLIGIBLE_SCALE if is_temperature else NEGLIGIBLE_SCALE
    flat = loss.with_parameters(**{factor.name: scale})
    for count in (2, 3, 5):
        layout = Layout(count)
        orthogonal = _run(loss, layout, orthogonal=True)
        value = reference_value(flat, COLLAPSE, layout)
        if orthogonal is None or value is None or not _is_same(orthogonal, value):
            return None
    return flat


def is_zero_at_collapse(spec: LossSpec) -> bool:
    """True if the scores of the loss are 0 at collapse, like those of vectors at right angles."""
    return spec.reads_scores and SCORE_KINDS[spec.score].at_collapse == 0


def _floor(loss: ConfiguredLoss, layout: Layout) -> float | None:
    bound = lower_bound(loss, layout)
    return None if isinstance(bound, Bound) else bound  # no embedding may reach a bound


def lower_bound(loss: ConfiguredLoss, layout: Layout) -> float | None:
    """Return a value that the loss is never below on a batch of this layout, whatever becomes of
    its learned parameters; None where none is known."""
    spec, chosen = loss.spec, dict(loss.parameters)
    if spec.floor is None or (is_matrix(spec) and layout.pairs > MAX_MATRIX_PAIRS):
        return None
    if spec.score == "dot" and spec.reads_vectors and "similarity" not in chosen:
        return None  # the formula holds for unit vectors
    ends = chosen | learned_ends(spec, chosen)
    try:
        return _by_formula(spec, spec.floor, parameters_read_by(spec.floor, ends), layout)
    except Problem:  # the batch lacks what the loss reads
        return None


def learned_ends(spec: LossSpec, chosen: Mapping[str, ParameterValue]) -> dict[str, ParameterValue]:
    """Return the learned parameters that have their default, at the values that minimise the
    loss."""
    return {name: end for name, end in spec.learned.items() if chosen[name] == spec.defaults[name]}


Formula = Callable[..., float | None]
_values: dict[tuple, float | None] = {}
MAX_VALUES = 200_000


def _by_formula(spec: LossSpec, formula: Formula, chosen: Settings, layout: Layout) -> float | None:
    """Return the value of a formula, computed once for all conventions that agree in what it
    reads."""
    key = (formula, tuple(spec.reads.items()), chosen, layout)
    if key not in _values:
        if len(_values) >= MAX_VALUES:
            _values.clear()
        inputs = inputs_of(layout, spec.reads, orthogonal=False)
        _values[key] = _if_same_for_any_teacher(
            spec, inputs, lambda made: formula(made, **dict(chosen))
        )
    return _values[key]


def _run(loss: ConfiguredLoss, layout: Layout, orthogonal: bool) -> float | None:
    """Run the definition on equal or orthogonal vectors; None where that takes too long."""
    if _too_large(loss.spec, layout):
        return None
    spec, chosen = loss.spec, dict(loss.parameters)
    inputs = inputs_of(layout, spec.reads, orthogonal)
    return _if_same_for_any_teacher(
        spec, inputs, lambda made: float(spec.definition(**made, **chosen))
    )


@functools.lru_cache(maxsize=4096)
def values_orthogonal_and_alike(
    loss: ConfiguredLoss, layout: Layout
) -> tuple[float | None, float | None]:
    """Return what the definition computes of orthogonal vectors, and of equal ones."""
    try:
        with torch.no_grad():
            return _run(loss, layout, orthogonal=True), _run(loss, layout, orthogonal=False)
    except Problem:
        return None, None


def is_matrix(spec: LossSpec) -> bool:
    """True if even the reference values of the loss need a matrix of the batch."""
    return bool({"targets", "guide_queries"} & set(spec.reads.values()))


def _too_large(spec: LossSpec, layout: Layout) -> bool:
    """True if running the definition would take too long."""
    reads = set(spec.reads.values())
    if layout.dimensions > MAX_RUN_PAIRS:
        return True
    if "paired_classes" in reads:
        return layout.sentences**2 * (layout.per_class - 1) > MAX_RUN_TRIPLETS
    limit = 2 * MAX_RUN_PAIRS if not reads & {"embeddings", "classes"} else MAX_RUN_SENTENCES
    return layout.sentences > limit


def _is_same(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=RELATIVE_TOLERANCE)


def _if_same_for_any_teacher(
    spec: LossSpec, inputs: Mapping[str, Any], value_of: Callable[[Mapping[str, Any]], float | None]
) -> float | None:
    """Return the value, or None where the unknown teacher changes it."""
    value = value_of(inputs)
    taught = [name for name, what in spec.reads.items() if READABLE[what].made_of == "teacher"]
    if not taught or value is None:
        return value
    other_teacher = {name: 1 + inputs[name].square() for name in taught}
    other = value_of({**inputs, **other_teacher})
    return value if other is not None and _is_same(value, other) else None


_COMPUTE = {COLLAPSE: _collapse, START: _start, FLOOR: _floor}
