"""Explanation of a number: the reference values that it may be, and its position for a known loss.
Used by `app.py explain`, by Doctor's page, and by `explain_loss_value` of the API."""

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from lossprism.explorer.lab.doctor.findings_from_number_matches import (
    Finding,
    findings_of,
    minimum_with_duplicates,
    multiples,
)
from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import Known
from lossprism.explorer.lab.doctor.losses_with_known_name_and_settings import (
    other_conventions,
    possible_losses,
)
from lossprism.explorer.lab.doctor.metric_chance_levels import Chance, chances_at
from lossprism.explorer.lab.doctor.minimum_for_unknown_labels_or_scores import falls_below_zero
from lossprism.explorer.lab.doctor.number_matching import MAX_NEAREST, matches_of, nearest_matches
from lossprism.explorer.lab.doctor.number_position import Position, position_of
from lossprism.explorer.lab.doctor.number_with_rounding_tolerance import (
    MAX_MAGNITUDE,
    MAX_RELATIVE_ROUNDING,
    Query,
    read_value,
    tolerance_of,
)
from lossprism.explorer.lab.doctor.reference_values import COLLAPSE, START
from lossprism.explorer.lab.doctor.values_of_losses_without_definition import (
    loss_without_definition,
)
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.validation import is_number
from lossprism.losses import LOSSES


@dataclass(frozen=True)
class Explanation:
    """Everything that a number may be, likeliest first; where nothing matches, the `nearest`.

    `position` is that of the number for the one loss that is named. `below_zero` are the losses
    that can be negative, for a number that is. `duplicates`: the named loss, and how often its
    positive is among the candidates where its minimum is the number; None where a finding says so.
    `chances` are metrics with the number as chance level. `count` is how many values the number
    averages.
    """

    value: float
    tolerance: float
    known: Known
    findings: tuple[Finding, ...]
    nearest: tuple[Finding, ...]
    position: Position | None
    below_zero: tuple[str, ...] = ()
    duplicates: tuple[str, int] | None = None
    chances: tuple[Chance, ...] = ()
    count: int = 1


def explain(value: float, known: Known | None = None, written: str = "") -> Explanation:
    """Return every reference value of every loss and convention that matches, likeliest first.

    A reference value is computed by the loss's `LossSpec` or definition, and searched over the
    unknown counts. It matches if it is the value to the digits in which that is `written` (its
    shortest form, if left out), and at most 1% from it. A value that needs no odd count may also be
    0.5% away, and one with known counts 1%. Where none is exact, the number is tried as a multiple.
    The fewer the assumptions, the likelier.

    Raises:
        Problem: for a value that is not finite, or a loss or count that cannot be.
    """
    if not is_number(value) or not abs(value) <= MAX_MAGNITUDE:
        raise Problem("explain_value", value=str(value)[:60])
    tolerance = tolerance_of(value, written or repr(float(value)))
    return _explained(float(value), tolerance, (known or Known()).checked())


def explain_values(written: Sequence[str], known: Known | None = None) -> Explanation:
    """Explain the mean of several values of one log, as they are written. Its tolerance is that of
    their digits or twice its standard error, at most 1%.

    Raises Problem as `explain` does.
    """
    values = [read_value(one) for one in written]
    if len(values) == 1:
        return explain(values[0], known, written[0])
    digits = max(len(one.partition(".")[2]) for one in written)
    mean = round(statistics.fmean(values), digits + 1)
    rounding = max(map(tolerance_of, values, written))
    standard_error = statistics.stdev(values) / math.sqrt(len(values))
    tolerance = max(rounding, min(2 * standard_error, MAX_RELATIVE_ROUNDING * abs(mean)))
    explanation = _explained(mean, tolerance, (known or Known()).checked())
    return replace(explanation, count=len(values))


def _explained(value: float, tolerance: float, known: Known) -> Explanation:
    if loss_without_definition(known.loss):
        return Explanation(value, tolerance, known, (), (), None)
    losses, query = possible_losses(known), Query(value, tolerance, known)
    findings = findings_of(matches_of(losses, query), query)
    if not _has_exact(findings) and (others := other_conventions(known)):
        findings = findings_of(matches_of([*losses, *others], query), query)
    if not _has_exact(findings):
        with_multiples = (*findings, *multiples(losses, query))
        findings = tuple(sorted(with_multiples, key=lambda one: not one.exact))
    nearest = () if findings else findings_of(nearest_matches(losses, query), query)
    position = position_of(losses, query)
    if position is not None and position.place == "above" and _is_explained(position, findings):
        position = None
    has_copies = any(one.copies for one in findings)
    is_negative = value < -tolerance
    return Explanation(
        value,
        tolerance,
        known,
        findings,
        nearest[:MAX_NEAREST],
        position,
        below_zero=tuple(filter(falls_below_zero, LOSSES)) if is_negative else (),
        duplicates=None if has_copies else minimum_with_duplicates(losses, query),
        chances=() if known.loss and findings else chances_at(value, tolerance, known),
    )


def _has_exact(findings: Iterable[Finding]) -> bool:
    return any(one.exact for one in findings)


def _is_explained(above: Position, findings: Iterable[Finding]) -> bool:
    """True if unknown counts, such as hard negatives, make the number the loss's value before it
    has learned, which is then not above that."""
    matches = (
        one for finding in findings if finding.exact or finding.summed for one in finding.matches
    )
    return any(one.loss == above.loss and one.kind in (COLLAPSE, START) for one in matches)
