"""Values of a loss at collapse, at its start and at its minimum, by the counts of a batch alone."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor

from lossprism.explorer.core.parameter_values import Settings, heard
from lossprism.explorer.lab.doctor.batch_layouts import MAX_ORTHOGONAL_SENTENCES, Layout, inputs_of
from lossprism.explorer.runtime.problem import Problem
from lossprism.losses import LOSSES, LossSpec, Parameter
from lossprism.losses.minimum import Bound
from lossprism.losses.readable_inputs import READABLE
from lossprism.losses.score_kinds import SCORE_KINDS
from lossprism.losses.spec import ParameterValue

COLLAPSE, START, FLOOR = KINDS = ("collapse", "start", "floor")
# A definition whose collapse value is not known by a formula is run, on so many pairs; where it
# sees all sentences, or all triplets, on fewer.
MAX_RUN_PAIRS, MAX_RUN_SENTENCES, MAX_RUN_TRIPLETS = 512, 256, 20_000
# Where a formula needs a cell for every two of the batch.
MAX_MATRIX_PAIRS = 2**12
# A factor so small, or a temperature so large, makes all similarities the same as at right angles.
FLAT = 1e-12
SAME = 1e-9


class ConfiguredLoss(NamedTuple):
    """A loss under a convention, with all its parameters. One's own is another after its file
    changed, and so is its `function`."""

    name: str
    convention: str
    parameters: Settings
    function: Callable[..., Tensor]
    score: str = ""  # the kind of its scores, where it is not the convention's own

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
    """The loss in its own convention and in those of other libraries, each with its defaults."""
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
    """The factor or temperature before the similarities, if there is one."""
    roles = ("scale", "temperature", "sharpness")
    return next((one for one in spec.parameters if one.role in roles), None)


@functools.lru_cache(maxsize=100_000)
def reference_value(loss: ConfiguredLoss, kind: str, layout: Layout) -> float | None:
    """Return the value of one of `KINDS` on a batch of this layout; None where it is unknown.

    "collapse": all vectors alike, or the logits of an untrained head. "start": any two vectors at
    right angles, as those of an untrained encoder are in many dimensions. "floor": the minimum over
    vectors or scores.
    """
    try:
        with torch.no_grad():
            value = _AT[kind](loss, layout)
    except Problem:  # the batch lacks what the loss reads, such as a positive pair
        return None
    return value if value is not None and math.isfinite(value) else None


def _collapse(loss: ConfiguredLoss, layout: Layout) -> float | None:
    spec, chosen = loss.spec, dict(loss.parameters)
    if spec.collapse is None:
        return _run(loss, layout, orthogonal=is_zero_at_collapse(spec))
    if is_matrix(spec) and layout.pairs > MAX_MATRIX_PAIRS:
        return None
    return _by_formula(spec, spec.collapse, heard(spec.collapse, chosen), layout)


def _start(loss: ConfiguredLoss, layout: Layout) -> float | None:
    if "prototypes" in loss.spec.reads.values():
        return None  # as the unknown logits at the start
    if layout.sentences <= MAX_ORTHOGONAL_SENTENCES // 8:
        return _run(loss, layout, orthogonal=True)
    if (flat := _flattened(loss)) is not None:  # at any size, by the formula at collapse
        return reference_value(flat, COLLAPSE, layout)
    return (
        _run(loss, layout, orthogonal=True)
        if layout.sentences <= MAX_ORTHOGONAL_SENTENCES
        else None
    )


@functools.lru_cache(maxsize=1024)
def _flattened(loss: ConfiguredLoss) -> ConfiguredLoss | None:
    """Return the loss with similarities that count for nothing, if it is the same at right
    angles."""
    spec = loss.spec
    factor = sharpening(spec)
    if factor is None or spec.collapse is None:
        return None
    flat = loss.with_parameters(**{factor.name: 1 / FLAT if "temperature" in factor.name else FLAT})
    for count in (2, 3, 5):
        layout = Layout(count)
        orthogonal = _run(loss, layout, orthogonal=True)
        found = reference_value(flat, COLLAPSE, layout)
        if orthogonal is None or found is None or not math.isclose(orthogonal, found, rel_tol=SAME):
            return None
    return flat


def is_zero_at_collapse(spec: LossSpec) -> bool:
    """True if its scores are 0 at collapse, as those of vectors at right angles."""
    return spec.reads_scores and SCORE_KINDS[spec.score].at_collapse == 0


def _floor(loss: ConfiguredLoss, layout: Layout) -> float | None:
    found = lower_bound(loss, layout)
    return None if isinstance(found, Bound) else found  # a bound may be out of reach


def lower_bound(loss: ConfiguredLoss, layout: Layout) -> float | None:
    """A value that the loss is never below on a batch of this layout, whatever the parameters that
    it learns become; None where none is known."""
    spec, chosen = loss.spec, dict(loss.parameters)
    if spec.floor is None or (is_matrix(spec) and layout.pairs > MAX_MATRIX_PAIRS):
        return None
    if spec.score == "dot" and spec.reads_vectors and "similarity" not in chosen:
        return None  # its formula is that of unit vectors
    ends = chosen | learned_ends(spec, chosen)
    try:
        return _by_formula(spec, spec.floor, heard(spec.floor, ends), layout)
    except Problem:  # the batch lacks what the loss reads
        return None


def learned_ends(spec: LossSpec, chosen: Mapping[str, ParameterValue]) -> dict[str, ParameterValue]:
    """The parameters that the library trains with the model, where the loss is least, of those that
    were left as they begin."""
    return {name: end for name, end in spec.learned.items() if chosen[name] == spec.defaults[name]}


Formula = Callable[..., float | None]
_values: dict[tuple, float | None] = {}
MAX_VALUES = 200_000


def _by_formula(spec: LossSpec, formula: Formula, chosen: Settings, layout: Layout) -> float | None:
    """Compute a formula once for all conventions that differ in nothing it depends on."""
    key = (formula, tuple(spec.reads.items()), chosen, layout)
    if key not in _values:
        if len(_values) >= MAX_VALUES:
            _values.clear()
        inputs = inputs_of(layout, spec.reads, orthogonal=False)
        _values[key] = _whatever_the_teacher(
            spec, inputs, lambda made: formula(made, **dict(chosen))
        )
    return _values[key]


def _run(loss: ConfiguredLoss, layout: Layout, orthogonal: bool) -> float | None:
    """Run the definition on such vectors."""
    if _too_large(loss.spec, layout):
        return None
    spec, chosen = loss.spec, dict(loss.parameters)
    inputs = inputs_of(layout, spec.reads, orthogonal)
    return _whatever_the_teacher(
        spec, inputs, lambda made: float(spec.definition(**made, **chosen))
    )


@functools.lru_cache(maxsize=4096)
def values_orthogonal_and_alike(
    loss: ConfiguredLoss, layout: Layout
) -> tuple[float | None, float | None]:
    """The loss itself of vectors at right angles, and of vectors that are all alike."""
    try:
        with torch.no_grad():
            return _run(loss, layout, orthogonal=True), _run(loss, layout, orthogonal=False)
    except Problem:
        return None, None


def is_matrix(spec: LossSpec) -> bool:
    """True if even its reference values need a cell for every two of the batch."""
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


def _whatever_the_teacher(
    spec: LossSpec, inputs: Mapping[str, Any], value_of: Callable[[Mapping[str, Any]], float | None]
) -> float | None:
    """Return the value, if it does not depend on the unknown teacher."""
    value = value_of(inputs)
    taught = [name for name, what in spec.reads.items() if READABLE[what].made_of == "teacher"]
    if not taught or value is None:
        return value
    others = {name: 1 + inputs[name].square() for name in taught}
    other = value_of({**inputs, **others})
    return value if other is not None and math.isclose(value, other, rel_tol=SAME) else None


_AT = {COLLAPSE: _collapse, START: _start, FLOOR: _floor}
