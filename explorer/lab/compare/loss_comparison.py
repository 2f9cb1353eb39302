"""Two to six losses, or conventions of one, on the same batch: figures, reasons not to compare
them, and agreement of the gradients of their pairs.

Every number is read off `explore`, one run for each side; nothing is computed a second time.
"""

import dataclasses
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from lossprism.explorer.core.batch import Batch, load_table, make_batch
from lossprism.explorer.core.explore import Exploration, explore, seconds_for
from lossprism.explorer.core.resolved_scenario import Resolved, resolve
from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.export.caption import numbers_of
from lossprism.explorer.export.rows_and_columns_of_step_matrix import Layout
from lossprism.explorer.lab.compare.comparison_results import (
    EQUAL_GRADIENT_POWER,
    Between,
    Figures,
    GradientKind,
    Outcome,
    Sentence,
    Side,
    TermCounts,
)
from lossprism.explorer.lab.compare.incomparability_reasons import reasons
from lossprism.explorer.lab.compare.most_disputed_pair import disagreement
from lossprism.explorer.runtime import jobs
from lossprism.explorer.runtime.memory_cache import Cache
from lossprism.explorer.runtime.problem import Problem
from lossprism.losses import LOSSES
from lossprism.losses.inputs_that_losses_may_read import READABLE

MIN_LOSSES, MAX_LOSSES = 2, 6
# Bytes that an experiment takes at most for each cell of the N×N matrix of the batch's pairs;
# measured at the most pairs.
CELL_BYTES = 5000
# Common losses: the page offers the next of them.
COMMON_LOSSES = ("info_nce", "cosent", "triplet", "cosine_mse", "nt_xent", "siglip", "supcon")


@dataclass(frozen=True, eq=False)
class Bars:
    """The gradient of every pair under each side, on one axis: [N] each, in the pairs' order, None
    for a side that failed. `equalised`: each divided by its own Euclidean norm."""

    gradient: GradientKind
    equalised: bool
    values: tuple[Tensor | None, ...]


class ComparisonCache:
    """Cached results of one batch: the outcome of each side, the comparison of any two, and the
    answers to questions.

    When one parameter moves, the other sides are not computed again.
    """

    def __init__(self) -> None:
        self.outcomes: Cache[Outcome] = Cache(4 * MAX_LOSSES)
        self.between: Cache[Between] = Cache(MAX_LOSSES**2)
        self.answers: Cache[Sentence] = Cache(2 * MAX_LOSSES)


@dataclass(frozen=True, eq=False)
class Comparison:
    """Sides on one batch, in the order in which they were named, and every two of those that could
    be computed. `numbers` are the numbers of the pairs for people."""

    scenario: Scenario
    batch: Batch
    sides: tuple[Outcome, ...]
    between: tuple[Between, ...]
    numbers: tuple[int, ...]

    def bars(self, equalised: bool = False) -> Bars:
        """Return the gradients of all pairs: ∂L/∂s where every computed side has it, else those
        that Explore draws."""
        kind = _common([one for one in self.sides if one.stands])
        values = [one.gradient(kind) for one in self.sides]
        return Bars(kind, equalised, tuple(_unit(one) if equalised else one for one in values))

    def of(self, first: int, second: int) -> Between | None:
        """Return the comparison of the sides at these places, in their order; None where one of
        them failed."""
        places = sorted((first, second))
        return next((b for b in self.between if [b.first, b.second] == places), None)


def compare(
    scenario: Scenario,
    sides: Sequence[Side],
    batch: Batch | None = None,
    see: Callable[[int, Exploration], object] | None = None,
    kept: ComparisonCache | None = None,
) -> Comparison:
    """Explore each side on the scenario's batch and compare them.

    A side that cannot be computed has its problem, and the others stand. Its exploration is freed
    as soon as it was read; `see(place, exploration)` may look at it before. `batch` takes the place
    of the scenario's data and rules; the scenario's loss plays no part. Outcomes in `kept` are not
    computed again, nor seen.

    Raises:
        Problem: for fewer than two sides or more than six, for data without a batch, or where no
            side is a loss that takes such pairs, as the first of them says.
    """
    if not MIN_LOSSES <= len(sides) <= MAX_LOSSES:
        raise Problem("compare_sides", count=len(sides), least=MIN_LOSSES, most=MAX_LOSSES)
    resolved = [_resolved(side.applied_to(scenario)) for side in sides]
    if batch is None:
        batch = _batch_for(scenario, resolved)
    kept = ComparisonCache() if kept is None else kept
    outcomes = []
    for place, (side, one) in enumerate(zip(sides, resolved, strict=True)):
        known = kept.outcomes.get(repr(side))
        if known is None:
            known = _outcome(side, one, batch, place, see)
            if not _may_change(known):
                kept.outcomes.put(repr(side), known)
        outcomes.append(known)
    numbers = tuple(numbers_of(scenario.data, batch))
    between = []
    with jobs.light_work_turn(seconds_for(len(batch))):
        for places in itertools.combinations(range(len(outcomes)), 2):
            jobs.check()
            if all(outcomes[place].stands for place in places):
                between.append(_cached_between(kept, outcomes, places, batch, numbers))
    return Comparison(scenario, batch, tuple(outcomes), tuple(between), numbers)


def _resolved(scenario: Scenario) -> Resolved | Problem:
    """Resolve the scenario, or return the problem."""
    try:
        return resolve(scenario)
    except Problem as problem:
        return problem


def _batch_for(scenario: Scenario, resolved: Sequence[Resolved | Problem]) -> Batch:
    """Return the one batch; nothing is encoded if no side can be computed."""
    if scenario.data.source == "table" and len(load_table(scenario.data.rows).pairs) == 0:
        raise Problem("no_pairs")
    refused = [_reason_against(side) for side in resolved]
    if refused[0] and all(refused):
        raise refused[0]
    return make_batch(scenario.data, scenario.rules)


def _reason_against(side: Resolved | Problem) -> Problem | None:
    """Return the problem of a side that is known before encoding, if there is one."""
    if isinstance(side, Problem):
        return side
    try:
        side.check_pairs()
    except Problem as problem:
        return problem
    return None


def _may_change(outcome: Outcome) -> bool:
    """True for a loss of the user's own, whose file may change before the next call."""
    return outcome.spec is not None and outcome.spec.group == "own"


def _cached_between(
    kept: ComparisonCache,
    outcomes: Sequence[Outcome],
    places: tuple[int, int],
    batch: Batch,
    numbers: Sequence[int],
) -> Between:
    one, other = (outcomes[place] for place in places)
    key = repr((one.side, other.side))
    known = kept.between.get(key)
    if known is None:
        known = _between(outcomes, places, batch, numbers)
        if not _may_change(one) and not _may_change(other):
            kept.between.put(key, known)
    first, second = places
    return dataclasses.replace(known, first=first, second=second)


# ---- One side


def _outcome(
    side: Side,
    resolved: Resolved | Problem,
    batch: Batch,
    place: int,
    see: Callable[[int, Exploration], object] | None,
) -> Outcome:
    if isinstance(resolved, Problem):
        return Outcome(side, LOSSES.get(side.loss), problem=resolved)
    try:
        with jobs.light_work_turn(seconds_for(len(batch))):
            exploration = explore(resolved, batch)
            if see is not None:
                see(place, exploration)
            return _read(side, exploration)
    except Problem as problem:
        if problem.about == "again":  # the machine was busy; the side is not at fault
            raise
        return Outcome(side, LOSSES.get(side.loss), problem=problem)


def _read(side: Side, e: Exploration) -> Outcome:
    weights = e.weights
    figures = Figures(
        loss=e.loss,
        floor=e.floor,
        floor_is_bound=e.floor_is_bound,
        collapse=e.collapse,
        gradient_norm=e.gradient_norm,
        gradient_of=e.gradient_of,
        terms=weights and weights.terms,
        active=weights and weights.active,
        moving=weights and int((weights.shares > 0).sum()),
        effective=weights and weights.effective,
        ordered=e.order.ordered,
        violated=e.order.violated,
        places=e.places,
    )
    by_vectors = e.trace.gradients[1] if len(e.trace.gradients) > 1 else None
    return Outcome(
        side=side,
        spec=e.spec,
        parameters=e.parameters,
        reads=tuple(dict.fromkeys(e.spec.reads[name] for name in e.given)),
        figures=figures,
        pair_gradient=e.pair_gradient.detach(),
        score_gradient=e.score_gradient,
        vector_gradient=by_vectors,
        is_projected=e.is_projected,
        term_counts=_term_counts(e),
    )


def _term_counts(e: Exploration) -> TermCounts | None:
    """Count the terms with each pair, for a loss all of whose gradient comes through terms that
    compare pairs."""
    step = e.trace.last(e.spec.terms)
    if step is None or step.gradient is None or e.trace.beside:
        return None
    labels = [
        value
        for name, what in e.spec.reads.items()
        if READABLE[what].made_of == "labels"
        and (value := e.given.get(name)) is not None
        and value.shape == e.batch.labels.shape
    ]
    if Layout(e).axes(step)[-2:] != ("pair", "pair") or not labels:
        return None
    ordered = labels[0][:, None] < labels[0]  # row below column
    mask = e.trace.mask_of(step)
    present = ordered.expand(step.value.shape) if mask is None else mask & ordered
    if mask is not None and not bool((mask == present).all()):
        return None  # its terms are not those of the order, or stand the other way round
    weighing = present & (step.gradient != 0)
    flat = [one.reshape(-1, *one.shape[-2:]).sum(0) for one in (present, weighing)]
    return TermCounts(
        above=flat[0].sum(0),
        below=flat[0].sum(1),
        weighing=flat[1].sum(0) + flat[1].sum(1),
        labels=labels[0],
    )


# ---- Two sides


def _between(
    outcomes: Sequence[Outcome], places: tuple[int, ...], batch: Batch, numbers: Sequence[int]
) -> Between:
    a, b = (outcomes[place] for place in places)
    kind = _common((a, b))
    first, second = a.gradient(kind), b.gradient(kind)
    if first is None or second is None:
        raise ValueError("a side that does not stand is compared with nothing")
    return Between(
        first=places[0],
        second=places[1],
        reasons=tuple(reasons(a, b)),
        gradient=kind,
        tau=kendall(first, second),
        cosine=_cosine(a.vector_gradient, b.vector_gradient),
        factor=_factor(a, b, kind),
        apart=disagreement(a, b, kind, batch, numbers),
    )


def _common(sides: Sequence[Outcome]) -> GradientKind:
    return "score" if all(one.score_gradient is not None for one in sides) else "pair"


def kendall(first: Tensor, second: Tensor) -> float | None:
    """Kendall's τ-b of two lists [N]: the cosine of the signs of all their differences, so that a
    tie is a 0 among them. None where all values of one are equal.

    Values that differ by rounding alone are ties: they are distinguished to a power of the
    precision (`EQUAL_GRADIENT_POWER`), by the largest of their list.
    """
    signs = [np.sign(one[:, None] - one) for one in map(_rounded, (first, second))]
    sizes = [float(np.square(one).sum()) for one in signs]
    return (
        float((signs[0] * signs[1]).sum()) / math.sqrt(sizes[0] * sizes[1]) if all(sizes) else None
    )


def _rounded(values: Tensor) -> np.ndarray:
    largest = float(values.abs().max())
    if not 0 < largest < math.inf:
        return np.zeros(len(values))
    places = round(-math.log10(torch.finfo(values.dtype).eps) * EQUAL_GRADIENT_POWER)
    return np.round((values / largest).double().cpu().numpy(), places)


def _cosine(first: Tensor | None, second: Tensor | None) -> float | None:
    if first is None or second is None:
        return None
    norms = float(first.norm()), float(second.norm())
    if not all(0 < norm < math.inf for norm in norms):
        return None
    cosine = float((first / norms[0] * (second / norms[1])).sum())
    return max(-1.0, min(1.0, cosine))


def _factor(a: Outcome, b: Outcome, kind: GradientKind) -> float | None:
    """Factor that turns the first gradient into the second, where one number does."""
    first, second = a.vector_gradient, b.vector_gradient
    if first is None or second is None:
        first, second = a.gradient(kind), b.gradient(kind)
    if first is None or second is None:
        return None
    size = float(first.square().sum())
    if not 0 < size < math.inf:
        return None
    factor = float((first * second).sum()) / size
    off = float((second - factor * first).abs().max())
    near = torch.finfo(first.dtype).eps ** EQUAL_GRADIENT_POWER * float(second.abs().max())
    return factor if factor and off <= near else None


def _unit(values: Tensor | None) -> Tensor | None:
    if values is None:
        return None
    norm = values.norm()
    return values / norm if float(norm) > 0 else values
