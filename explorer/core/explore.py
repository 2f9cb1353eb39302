"""explore(scenario): everything a page, a figure or an endpoint shows, as one pure function."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from lossprism.explorer.core import pair_gradients, ranks_and_term_weights
from lossprism.explorer.core.batch import Batch
from lossprism.explorer.core.duplicate_negatives import (
    SameText,
    minimum_with_duplicates,
    same_text_in,
)
from lossprism.explorer.core.label_disagreement import Disagreement, contradictions, disagreement
from lossprism.explorer.core.own_loss_from_python_file import own_loss_errors
from lossprism.explorer.core.ranks_and_term_weights import Order, Places, Suspect, Term, Weights
from lossprism.explorer.core.resolved_scenario import Resolved, check_labels, resolve
from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.core.specialised_definitions import accepted, definition_at
from lossprism.explorer.core.trace import Trace, trace
from lossprism.explorer.runtime import jobs, resource_checks
from lossprism.explorer.runtime.device import device_name
from lossprism.explorer.runtime.limits import KEPT_BATCHES
from lossprism.explorer.runtime.problem import Problem
from lossprism.losses import LossSpec
from lossprism.losses.combined.combined_loss_spec import parts_of
from lossprism.losses.minimum import Bound
from lossprism.losses.spec import ParameterValue

# What exploring takes at most for each cell of the N×N matrix of its pairs: measured at the most
# pairs, 880 to 1230 for the loss that holds most, as the allocator finds room, 660 of which are
# alive (`tests/process/test_request_memory.py`).
CELL_BYTES = 1500
ROUNDING = 1e-9  # of one floor worked out in two ways, as a share
SMALL_PAIRS = 256  # which take little memory, whatever is done with them
# And what it takes of a processor: at 512 pairs 0.78 s for the loss that takes longest (lifted).
SECONDS, CELL_SECONDS = 0.03, 3e-6


@dataclass(frozen=True, eq=False)
class Exploration:
    """A loss on a batch: its trace and all values derived from it.

    `given` holds the loss's inputs by its own names, `definition` the specialised function that
    ran. Values that not every caller needs are computed on first access.
    """

    scenario: Scenario
    spec: LossSpec
    definition: Callable[..., Tensor]
    parameters: dict[str, ParameterValue]
    batch: Batch
    given: Mapping[str, Tensor]
    trace: Trace
    order: Order
    places: Places | None
    weights: Weights | None
    suspects: list[Suspect]
    pair_gradient: Tensor
    gradient_norm: float
    is_felt: bool
    gradient_of: str
    collapse: float | None
    device: str
    milliseconds: float

    def seen(self, **view: Any) -> Exploration:
        """The same, looked at in another way: changes of its scenario's `View`."""
        base = self.scenario
        return replace(self, scenario=replace(base, view=replace(base.view, **view)))

    @property
    def loss(self) -> float:
        return float(self.trace.loss)

    @functools.cached_property
    def heaviest(self) -> list[Term]:
        if self.weights is None:
            return []
        return ranks_and_term_weights.heaviest(self.trace, self.spec.terms, self.weights)

    @functools.cached_property
    def floor(self) -> float | None:
        """The minimum for scores of the batch's kind; None if unknown."""
        bound = self._minimum_with_duplicates
        return (
            Bound(bound) if bound is not None and self.raised_by_duplicates else self._floor_alone
        )

    @functools.cached_property
    def _floor_alone(self) -> float | None:
        """The minimum without regard to duplicate texts."""
        with torch.no_grad():
            return self.spec.floor(self.given, **self.parameters) if self.spec.floor else None

    @property
    def raised_by_duplicates(self) -> bool:
        """Return whether duplicates among the negatives raise the loss's minimum."""
        minimum, alone = self._minimum_with_duplicates, self._floor_alone
        if minimum is None:
            return False
        return alone is None or minimum > alone + ROUNDING * abs(alone)

    @functools.cached_property
    def _minimum_with_duplicates(self) -> float | None:
        with torch.no_grad():
            return minimum_with_duplicates(self.same_text, self.spec, self.given, self.parameters)

    @property
    def floor_is_bound(self) -> bool:
        """Return whether the minimum is only a bound that perhaps no embedding reaches.

        It is attained if each pair can be moved independently, in enough dimensions for all pairs
        to lie equally far apart.
        """
        if self.floor is None:
            return False
        if not isinstance(self.floor, Bound):
            tied = self.batch.shares_sentences(self.spec.reads.values())
            several = len(self.spec.parts) > 1  # each has its own least, perhaps not at one place
            if not tied and not several and not self._lacks_dimensions:
                return False
        reached = [value for value in (self.loss, self.collapse) if value is not None]
        return min(reached) > self.floor

    @property
    def _lacks_dimensions(self) -> bool:
        """Return whether the space is too small for a simplex with a corner for every pair."""
        vectors = self.batch.vectors
        if not self.spec.reads_vectors or vectors is None:
            return False
        return vectors.shape[1] < len(self.batch) - 1

    @functools.cached_property
    def same_text(self) -> Mapping[str, SameText]:
        """Negatives with the same text, by the name of the loss or of each part of a sum that has
        negatives from the batch. A loss that reads no texts excludes none."""
        return same_text_in(self.batch, self.trace, self.spec, self.parameters)

    @property
    def leaves_same_text_out(self) -> bool:
        """Return whether the rules exclude such negatives."""
        return any(same_text.left_out for same_text in self.same_text.values())

    @property
    def same_text_left_out(self) -> bool:
        """Return whether such negatives exist and are excluded."""
        return any(
            same_text.left_out and same_text.rows_with for same_text in self.same_text.values()
        )

    @functools.cached_property
    def score_gradient(self) -> Tensor | None:
        """∂L/∂s of each pair [N]; None for a loss without it."""
        return pair_gradients.score_gradient(
            self.batch, self.spec, self.trace, self.trace.gradients[0]
        )

    @property
    def disagreement(self) -> Disagreement | None:
        """The number of `suspects` expected without a wrong label; None without suspects or
        correlation."""
        return _disagreement(self.batch) if self.suspects else None

    @property
    def is_projected(self) -> bool:
        """Return whether `pair_gradient` is projected from the gradient by vectors; else it is
        ∂L/∂s."""
        return self.spec.reads_vectors


def explore(scenario: Scenario | Resolved, batch: Batch | None = None) -> Exploration:
    """Compute the chosen loss on the chosen batch, with every intermediate and gradient.

    A `batch` replaces the scenario's data and rules. A resolved scenario is not resolved again.

    Raises:
        Problem: for anything that the user can correct, from a bad parameter to an empty table.
    """
    jobs.check()
    resolved = resolve(scenario) if isinstance(scenario, Scenario) else scenario
    batch = resolved.batch if batch is None else batch
    if len(batch) > SMALL_PAIRS:  # fewer take little of anything
        resource_checks.check_matrices(len(batch), CELL_BYTES)
    scenario, parameters = resolved.scenario, resolved.parameters
    spec = resolved.spec.scored_as(_score_kind(batch, scenario, resolved.spec))
    check_batch(batch, spec)
    started = time.perf_counter()
    inputs, differentiated = differentiable_inputs(batch, spec)
    definition = definition_at(spec.definition, {**inputs, **parameters})
    called = accepted(definition, {**inputs, **parameters})
    with own_loss_errors(spec):
        traced = trace(
            definition,
            wrt=differentiated,
            through=spec.terms,
            parts=[(part.label, part.spec.definition) for part in parts_of(definition)],
            **called,
        )
    traced.selectors = spec.selectors
    by_scores, by_vectors = (*traced.gradients, None)[:2]
    gradient_by_scores = by_scores if batch.given is not None or not spec.reads_vectors else None
    gradient_by_vectors = by_vectors if spec.reads_vectors else None
    weights = ranks_and_term_weights.weights_of(traced, spec.terms)
    total = by_vectors if by_vectors is not None else by_scores
    order, suspects = _label_order(batch)
    plain = {name: value.detach() for name, value in inputs.items() if value is not None}
    return Exploration(
        scenario=scenario,
        spec=spec,
        definition=definition,
        parameters=parameters,
        batch=batch,
        given=plain,
        trace=traced,
        order=order,
        places=_places(batch, spec, traced),
        weights=weights,
        suspects=suspects,
        pair_gradient=pair_gradients.pair_gradient(batch, gradient_by_vectors, gradient_by_scores),
        gradient_norm=0.0 if total is None else float(total.norm()),
        is_felt=total is not None,
        gradient_of="scores" if by_vectors is None else "vectors",
        collapse=spec.collapse and spec.collapse(plain, **parameters),
        device=device_name(),
        milliseconds=1000 * (time.perf_counter() - started),
    )


def seconds_for(pairs: int) -> float:
    """Estimate an upper bound on processor seconds for exploring and drawing so many pairs."""
    return SECONDS + CELL_SECONDS * pairs**2


def check_batch(batch: Batch, spec: LossSpec) -> None:
    """Raise Problem if the loss needs labels that the pairs lack, or longer vectors."""
    check_labels(batch.pairs, spec)
    longest = longest_prefix(spec)
    if not longest:
        return
    width = 0 if batch.vectors is None else batch.vectors.shape[1]
    if longest > width:
        raise Problem("prefix_too_long", about="loss", longest=longest, dimension=width)


def longest_prefix(spec: LossSpec) -> int:
    """Return the dimensions of the longest prefix of a loss on prefixes; 0 for any other loss."""
    return int(max((part.prefix or 0 for part in spec.parts), default=0))


def _score_kind(batch: Batch, scenario: Scenario, spec: LossSpec) -> str:
    """Return the kind of the batch's pair scores (`losses.score_kinds`): cosines or a convention's
    dot products for vectors, logits for a cross-encoder or for values beyond −1 and 1."""
    scores = batch.given
    if scores is None:
        return spec.score if spec.score == "dot" else "cosine"
    beyond = len(scores) > 0 and bool(scores.abs().max() > 1)
    return "logit" if scenario.data.cross_encoder or beyond else spec.score


def differentiable_inputs(
    batch: Batch, spec: LossSpec
) -> tuple[dict[str, Tensor | None], tuple[Tensor, ...]]:
    """Return the loss's inputs by its own names, and the tensors to differentiate by: the pair
    scores, and the vectors of the distinct sentences that they are made of, unless scores are
    given."""
    vectors = None if batch.vectors is None else batch.vectors.detach().requires_grad_()
    scores = scores_on(batch, vectors)
    inputs = inputs_on(batch, spec, vectors, scores)
    return inputs, (scores,) if vectors is None else (scores, vectors)


def inputs_on(
    batch: Batch, spec: LossSpec, vectors: Tensor | None, scores: Tensor
) -> dict[str, Tensor | None]:
    """Return the loss's inputs by its own names, made of these vectors and scores."""
    return {name: batch.read(what, vectors, scores) for name, what in spec.reads.items()}


def value_on(resolved: Resolved, batch: Batch, vectors: Tensor) -> Tensor:
    """Return the resolved loss of a batch whose sentences have these vectors [S, D], with its graph
    and without a trace. Raises Problem if the batch lacks an input of the loss."""
    spec, parameters = resolved.spec, resolved.parameters
    inputs = inputs_on(batch, spec, vectors, scores_on(batch, vectors))
    definition = definition_at(spec.definition, {**inputs, **parameters})
    with own_loss_errors(spec):
        return definition(**accepted(definition, {**inputs, **parameters}))


def scores_on(batch: Batch, vectors: Tensor | None) -> Tensor:
    """Return the pair scores as a tensor to differentiate by: from these vectors, or as given."""
    if batch.given is not None:
        return batch.given.detach().requires_grad_()
    return batch.scores_from(batch.needed_vectors if vectors is None else vectors)


def _places(batch: Batch, spec: LossSpec, traced: Trace) -> Places | None:
    """Rank the right candidates; anew for each parameter only if the loss affects the ranks."""
    read = tuple(sorted(set(spec.reads.values())))
    if "prototypes" not in read:
        return _places_in(batch, read)
    compared = traced.last("logits") or traced.last("similarities")
    inputs = {what: batch.read(what, batch.vectors, batch.scores) for what in read}
    return ranks_and_term_weights.places_of(inputs, compared and compared.value)


@functools.lru_cache(maxsize=KEPT_BATCHES)
def _places_in(batch: Batch, read: tuple[str, ...]) -> Places | None:
    with torch.no_grad():
        inputs = {what: batch.read(what, batch.vectors, batch.scores) for what in read}
        return ranks_and_term_weights.places_of(inputs)


@functools.lru_cache(maxsize=KEPT_BATCHES)
def _disagreement(batch: Batch) -> Disagreement | None:
    order, _ = _label_order(batch)
    labels_and_scores = contradictions(batch.plain_labels, batch.plain_scores)
    return disagreement(labels_and_scores, order.spearman)


@functools.lru_cache(maxsize=KEPT_BATCHES)
def _label_order(batch: Batch) -> tuple[Order, list[Suspect]]:
    """Cache values of a batch that do not depend on the loss."""
    with torch.no_grad():
        return ranks_and_term_weights.order_of(batch)
