"""Findings about a number: matches grouped by value, multiples of a value, and minima that are left
by duplicates of the positive."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import Known
from lossprism.explorer.lab.doctor.number_matching import COSTS, MAX_NEAREST, LossMatch, matches_on
from lossprism.explorer.lab.doctor.number_with_rounding_tolerance import Query
from lossprism.explorer.lab.doctor.reference_values import (
    COLLAPSE,
    FLOOR,
    START,
    ConfiguredLoss,
    configured_losses,
    reference_value,
)
from lossprism.explorer.lab.doctor.reference_values_by_unknown_count import (
    curves_of,
    starts_at_collapse,
    ten_digits,
)
from lossprism.explorer.lab.doctor.synthetic_batches_from_counts import Layout
from lossprism.losses import LOSSES

# Steps of gradient accumulation, and batch sizes, over which a log may add up losses.
SUMMED_STEPS, SUMMED_BATCHES = (2, 4, 8, 16), tuple(2**power for power in range(2, 11))
# A multiple is reported for one unknown count that is a power of two, and little else assumed.
MAX_MULTIPLE_COST = COSTS.unknown_count + 0.35
MAX_DUPLICATES = 4  # equal candidates of a query for which the minimum is tried


@dataclass(frozen=True)
class Finding:
    """A value that the number may be, and every loss that has it, likeliest first.

    `kinds`: "collapse", "start", both where the loss is the same at both, "floor", or "nothing".
    `exact`: equal to the digits of the number, else near it. `gap`: the value less the number.
    `copies`: the value is also the minimum of a loss whose candidates contain the positive this
    many times. `factor`: the number is this many times the value, as a sum over `summed`: "batch",
    "processes", or "steps" of gradient accumulation; 1 and "" for the value itself.
    """

    kinds: tuple[str, ...]
    value: float
    gap: float
    exact: bool
    matches: tuple[LossMatch, ...]
    copies: int | None = None
    factor: int = 1
    summed: str = ""

    @property
    def likeliest(self) -> LossMatch:
        return self.matches[0]


def findings_of(matches: Iterable[LossMatch], query: Query) -> tuple[Finding, ...]:
    """Group matches by value, likeliest first: collapse and start together, a minimum by itself.

    A value that is only near is left out where an exact one is likelier.
    """
    groups: dict[tuple, dict[tuple, LossMatch]] = {}
    for match in matches:
        kind = COLLAPSE if match.kind == START else match.kind
        identity = (match.loss, match.convention, match.parameters, match.kind, match.reason)
        group = groups.setdefault((kind, match.reason, ten_digits(match.value)), {})
        if identity not in group or match.cost < group[identity].cost:
            group[identity] = match
    findings = [_finding(group.values(), query) for group in groups.values()]
    findings.sort(key=lambda one: one.likeliest.cost)
    best_exact = min((one.likeliest.cost for one in findings if one.exact), default=math.inf)
    return tuple(one for one in findings if one.exact or one.likeliest.cost < best_exact)


def _finding(matches: Iterable[LossMatch], query: Query) -> Finding:
    ranked = tuple(sorted(matches, key=lambda one: one.cost))
    first = ranked[0]
    kinds = (first.kind,)
    if first.kind == COLLAPSE and starts_at_collapse(first.configured):
        kinds = (COLLAPSE, START)
    gap = first.value - query.value
    value = first.value if ten_digits(first.value) else 0.0
    copies = _copies_with_minimum(ranked, first.value)
    return Finding(kinds, value, gap, abs(gap) <= query.tolerance, ranked, copies)


def multiples(losses: Sequence[ConfiguredLoss], query: Query) -> tuple[Finding, ...]:
    """Find values at collapse and at the start of which the number is a multiple, for a log that
    sums where it should average."""
    findings = []
    for factor, summed in _factors(query.known):
        batch = factor if summed == "batch" else query.known.batch
        known = replace(query.known, batch=batch)
        part = Query(query.value / factor, query.tolerance / factor, known)
        curves = [one for one in curves_of(tuple(losses), known) if one.kind != FLOOR]
        matches = (match for curve in curves for match in matches_on(curve, part))
        cheap = (match for match in matches if match.cost < MAX_MULTIPLE_COST)
        for one in findings_of(cheap, part):
            if one.value and (one.exact or known.loss):
                gap = one.value * factor - query.value
                findings.append(replace(one, gap=gap, factor=factor, summed=summed))
    findings.sort(key=lambda one: (not one.exact, one.likeliest.cost))
    return tuple(findings[:MAX_NEAREST])


def _factors(known: Known) -> Iterator[tuple[int, str]]:
    """Yield each factor by which a logged loss may be too large, once, with what it sums over."""
    counts = {known.processes: "processes", known.batch: "batch"}
    yield from ((count, summed) for count, summed in counts.items() if count and count > 1)
    yield from ((count, "steps") for count in SUMMED_STEPS if count not in counts)
    if known.loss and known.batch is None:
        yield from ((count, "batch") for count in SUMMED_BATCHES)


def minimum_with_duplicates(
    losses: Sequence[ConfiguredLoss], query: Query
) -> tuple[str, int] | None:
    """Return the named loss, and how often the positive is among its candidates where its minimum
    is the number; None where it is not, or where no loss is named."""
    if not query.known.loss:
        return None
    for name in dict.fromkeys(loss.name for loss in losses):
        for copies, minimum in _minima_with_duplicates(next(configured_losses(LOSSES[name]))):
            if abs(minimum - query.value) <= query.tolerance:
                return name, copies
    return None


def _copies_with_minimum(matches: Sequence[LossMatch], value: float) -> int | None:
    """Return how often the positive is among the candidates where the minimum is this value at
    collapse; None where no count makes it so."""
    if matches[0].kind != COLLAPSE or not value:
        return None
    for match in matches:
        for copies, minimum in _minima_with_duplicates(match.configured):
            if ten_digits(minimum) == ten_digits(value):
                return copies
    return None


def _minima_with_duplicates(loss: ConfiguredLoss) -> Iterator[tuple[int, float]]:
    """Yield 2, 3 … copies of the positive among the candidates of a softmax, and its minimum there,
    the logarithm of that count.

    A loss that weighs or masks candidates has another value with that many equal candidates, and
    yields none.
    """
    if "negatives" in loss.spec.reads.values():
        for copies in range(2, MAX_DUPLICATES + 1):
            value = reference_value(loss, COLLAPSE, Layout(1, copies - 1))
            if value is not None and math.isclose(value, math.log(copies), rel_tol=1e-9):
                yield copies, value
