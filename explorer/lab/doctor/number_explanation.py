"""Explanations of a number: every loss's reference values, searched for it over their counts."""

from __future__ import annotations

import contextlib
import functools
import math
import statistics
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from lossprism.explorer.core.parameter_values import Settings
from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.lab.doctor.batch_counts import (
    ENUMERATED_PAIRS,
    Axis,
    Counts,
    axes_of,
    family_of,
)
from lossprism.explorer.lab.doctor.batch_layouts import Layout
from lossprism.explorer.lab.doctor.count_from_value import (
    Points,
    constant,
    counts_with,
    nearest_count,
    points,
    round_counts,
    roundness,
)
from lossprism.explorer.lab.doctor.known_loss_and_batch import (
    Known,
    is_of_library,
    other_sides,
    sides_for,
)
from lossprism.explorer.lab.doctor.loss_popularity import usage_cost
from lossprism.explorer.lab.doctor.losses_without_definition import relative_called
from lossprism.explorer.lab.doctor.metric_chance_levels import Chance, chances_at
from lossprism.explorer.lab.doctor.minimum_without_labels import (
    Minimum,
    falls_below_zero,
    minimum_of,
    small_layouts,
)
from lossprism.explorer.lab.doctor.reference_values import (
    COLLAPSE,
    FLOOR,
    START,
    Side,
    is_zero_at_collapse,
    landmark,
    learned_ends,
    run_orthogonal_and_alike,
    sides_of,
)
from lossprism.explorer.runtime import jobs
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.response_types import is_number
from lossprism.explorer.sources.encoders.constant_and_orthogonal import ALIKE, APART
from lossprism.losses import LOSSES, LossSpec
from lossprism.losses.score_kinds import SCORE_KINDS

NOTHING = "nothing"
# Largest relative error of a written value, whatever its digits; relative distance at which a
# logged value is still recognised.
ROUNDED, NEAR, NEAR_DIGITS = 0.01, 0.005, 10
# A count is certain where the next one is so many tolerances away.
SINGLED = 10
ZERO = 1e-6
MAX_MAGNITUDE = 1e12
# Costs of assumptions: an open count, a margin that is not the convention's, a known value that the
# loss does not use, a value that only lies near.
OPEN_COUNT, MOVED_MARGIN, NOT_TAKEN = 1.0, 1.2, 1.0
NEARBY = {"level": 2.0, "count": 1.0, "known": 0.5}
# So far a value in a log may lie from a reference value whose counts are known: it is of one batch
# or of a few. How often a random number does is measured in tests/judgements/numbers.py.
LOG_NOISE = 0.01
# Steps of accumulation or processes whose losses a log may add up, and batches likewise.
FACTORS, SUMMED_BATCHES = (2, 4, 8, 16), tuple(2**power for power in range(2, 11))
PLAIN = 0.35  # largest further cost beside a power of two, where the number is a multiple
# And of the way from collapse to floor it is no more than this.
VAGUE = 0.1
KIND_COST = {COLLAPSE: 0.0, START: 0.2, NOTHING: 0.1, FLOOR: 0.6}
# Cost of a loss as only one library defines it, unless that is named.
OTHER_CONVENTION = 0.5
# And one that is another by more than a setting or two takes that much more to be meant.
OTHER_SETTING = 0.01
# And one that is not the class of the loss itself, but a setting of it.
OTHER_THAN_ITS_CLASS = 0.005
MARGINS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7, 0.75, 0.8, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
NEAREST, MAX_COPIES = 3, 4


@dataclass(frozen=True)
class LossMatch:
    """A loss that has the value, and the counts at which it does.

    `parameters` are those that differ from the convention's own. `doubled` is the value where the
    open count (or the batch) is twice as large, None where that is unknown. `other` is the loss's
    value at its start, for a value at collapse, and at collapse, for one at its start, if the two
    differ. The scenario `shows` the value as its "loss" or as its "floor". `score` is the kind of
    the scores, where it is not the convention's own.
    """

    loss: str
    convention: str
    parameters: Settings
    counts: Counts
    kind: str
    value: float
    doubled: float | None
    cost: float
    layout: Layout
    reason: str = ""
    other: float | None = None
    score: str = ""

    @property
    def spec(self) -> LossSpec:
        spec = LOSSES[self.loss].under(self.convention)
        return spec.scored_as(self.score or spec.score)

    @property
    def shows(self) -> str:
        return "floor" if self.kind == FLOOR else "loss"

    @property
    def no_scene(self) -> str:
        """Reason why no scenario shows the number, or "".

        The batch is too "large" for the page; or it is a minimum of "unbounded" scores, while those
        of a scenario are cosines, or over "learned" parameters, which a scenario keeps fixed.
        """
        if not self.layout.shown:
            return "large"
        if self.kind != FLOOR:
            return ""
        spec = self.spec
        if spec.reads_scores and not SCORE_KINDS[spec.score].bounded:
            return "unbounded"
        return "learned" if learned_ends(spec, spec.defaults | dict(self.parameters)) else ""

    def scene(self) -> Scenario | None:
        """Return the scenario that shows the number; None for the reason in `no_scene`."""
        if self.no_scene:
            return None
        layout = self.layout
        wide = f" {layout.dimensions}" if layout.dimensions != Layout(1).dimensions else ""
        apart = self.kind in (START, NOTHING) or is_zero_at_collapse(self.spec)
        rows, encoder = layout.rows(), APART if apart else f"{ALIKE}{wide}"
        taught = rows if "teacher" in LOSSES[self.loss].needs else ()  # any scores will do
        data = Data("table", rows=rows, teacher=taught, encoder=encoder)
        if "teacher_vectors" in LOSSES[self.loss].needs:
            data = replace(data, teacher_model=encoder)  # any vectors will do
        return Scenario(
            data, loss=self.loss, convention=self.convention, parameters=self.parameters
        )


@dataclass(frozen=True)
class Finding:
    """A value that the number may be, and every loss that has it there, likeliest first.

    `kinds`: "collapse", "start", both where the loss is the same with all vectors alike and all at
    right angles, "floor", or "nothing", where there is nothing to compare. `exact`: equal to the
    digits of the number; else it only lies near. `gap`: the value less the number. `copies`: the
    value is also the minimum of a loss whose positive stands so many times among its own
    candidates. `factor`: the number is so many times the value, as a sum over `summed`: "batch",
    "processes", or "steps" of gradient accumulation; "" where it is the value itself.
    """

    kinds: tuple[str, ...]
    value: float
    gap: float
    exact: bool
    fits: tuple[LossMatch, ...]
    copies: int | None = None
    factor: int = 1
    summed: str = ""

    @property
    def first(self) -> LossMatch:
        return self.fits[0]

    @property
    def losses(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(fit.loss for fit in self.fits))


@dataclass(frozen=True)
class Collapses:
    """The least and the largest value at collapse of batches of one size by their labels: with 1 to
    `most` positive pairs or, of a loss on classes, with classes of 2 to `most` sentences. `graded`
    is that with labels in even steps, of a loss that reads them."""

    low: float
    high: float
    most: int
    graded: float | None = None


@dataclass(frozen=True)
class Position:
    """Position of a number for a loss at known counts.

    `place`: "negative" where the loss cannot be; "below" its minimum, which no embedding reaches;
    "below_assumed", below its minimum on unit vectors and labels 1 and 0; "labels_outside" where
    only labels outside its ends take it; "floor"; "between"; "collapse"; "starting", above that and
    up to `start`, the value of an untrained encoder (None where that is not known); "above".
    `share`: of the way from collapse to minimum, where both are known and it is between. `assumed`:
    labels that an end depends on and that are not known (see `_ASSUMED`), "" for none; `collapses`:
    the value at collapse with other labels, where the counts are known. `near`: not the value at
    collapse to its digits, but within log noise.
    """

    loss: str
    convention: str
    parameters: Settings
    counts: Counts
    floor: float | None
    collapse: float
    start: float | None
    place: str
    share: float | None
    assumed: str = ""
    collapses: Collapses | None = None
    near: bool = False


@dataclass(frozen=True)
class Explained:
    """All that a number may be, likeliest first; where nothing fits, the `nearest`.

    `below_zero` are the losses that can be below 0, for a number that is. `copied`: the minimum of
    the named loss, where every positive stands so many times among its own candidates, if that is
    the number and no finding says so.
    """

    value: float
    tolerance: float
    known: Known
    findings: tuple[Finding, ...]
    nearest: tuple[Finding, ...]
    standing: Position | None
    below_zero: tuple[str, ...] = ()
    copied: tuple[str, int] | None = None
    chances: tuple[Chance, ...] = ()
    count: int = 1


def explain(value: float, known: Known | None = None, written: str = "") -> Explained:
    """Return every reference value of every loss and convention that fits the value, the likeliest
    first.

    A reference value is computed by the loss's own `LossSpec`, or by its definition, and searched
    over the unknown counts. It fits if it is the value to the digits in which it is `written` (its
    shortest, if left out), and at most 1% from it; one that needs no odd count may also be as near
    as 0.5%, and one whose counts are known as near as 1%. Where none fits, multiples of them are
    tried. Fewer assumptions are likelier.

    Raises:
        Problem: for a value that is no finite number, or a loss or count that cannot be.
    """
    if not is_number(value) or not abs(value) <= MAX_MAGNITUDE:
        raise Problem("explain_value", value=str(value)[:60])
    tolerance = tolerance_of(value, written or repr(float(value)))
    return _explained(float(value), tolerance, (known or Known()).checked())


def explain_values(written: Sequence[str], known: Known | None = None) -> Explained:
    """The same of the mean of several values of one log, as they are written. It is as exact as
    their digits and twice its standard error, at most 1%.

    Raises Problem as `explain` does.
    """
    values = [read_value(one) for one in written]
    if len(values) == 1:
        return explain(values[0], known, written[0])
    digits = max(len(one.partition(".")[2]) for one in written)
    mean = round(statistics.fmean(values), digits + 1)
    rounding = max(map(tolerance_of, values, written))
    error = statistics.stdev(values) / math.sqrt(len(values))
    tolerance = max(rounding, min(2 * error, ROUNDED * abs(mean)))
    found = _explained(mean, tolerance, (known or Known()).checked())
    return replace(found, count=len(values))


def _explained(value: float, tolerance: float, known: Known) -> Explained:
    if relative_called(known.loss):
        return Explained(value, tolerance, known, (), (), None)
    sides = sides_for(known)
    query = _Query(value, tolerance, known)
    findings = _grouped(_fits(sides, query), query)
    if not any(one.exact for one in findings) and (others := other_sides(known)):
        findings = _grouped(_fits([*sides, *others], query), query)
    if not any(one.exact for one in findings):
        several = (*findings, *_multiples(sides, query))
        findings = tuple(sorted(several, key=lambda one: not one.exact))
    nearest = () if findings else _grouped(_nearest(sides, query), query)[:NEAREST]
    below = tuple(name for name in LOSSES if falls_below_zero(name)) if value < -tolerance else ()
    copied = None if any(one.copies for one in findings) else _copied(sides, query)
    standing = _standing(sides, query)
    if standing is not None and standing.place == "above" and _explains(findings, standing):
        standing = None
    chances = () if known.loss and findings else chances_at(value, tolerance, known)
    return Explained(value, tolerance, known, findings, nearest, standing, below, copied, chances)


def _explains(findings: Iterable[Finding], standing: Position) -> bool:
    """True if unknown counts, such as negatives of each query, make the number the loss's value
    before it has learned: then it is not above that."""
    fits = (fit for finding in findings if finding.exact or finding.summed for fit in finding.fits)
    return any(fit.loss == standing.loss and fit.kind in (COLLAPSE, START) for fit in fits)


def _multiples(sides: Sequence[Side], query: _Query) -> tuple[Finding, ...]:
    """Find values at collapse and at the start of which the number is a multiple, for a log that
    adds up instead of averaging. Open counts are powers of two there."""
    found = []
    for factor, summed in _factors(query.known):
        batch = factor if summed == "batch" else query.known.batch
        known = replace(query.known, batch=batch)
        value, tolerance = query.value / factor, query.tolerance / factor
        part = _Query(value, tolerance, known)
        curves = [one for one in _curves(tuple(sides), known) if one.kind != FLOOR]
        fits = (fit for curve in curves for fit in _on_curve(curve, part))
        for one in _grouped((fit for fit in fits if fit.cost < OPEN_COUNT + PLAIN), part):
            if one.value and (one.exact or known.loss):
                gap = one.value * factor - query.value
                found.append(replace(one, gap=gap, factor=factor, summed=summed))
    found.sort(key=lambda one: (not one.exact, one.first.cost))
    return tuple(found[:NEAREST])


def _factors(known: Known) -> Iterator[tuple[int, str]]:
    """Yield the factors by which a logged loss may be too large, each once, and the counts it sums
    over."""
    counts = {known.processes: "processes", known.batch: "batch"}
    yield from ((count, summed) for count, summed in counts.items() if count and count > 1)
    yield from ((count, "steps") for count in FACTORS if count not in counts)
    if known.loss and known.batch is None:
        yield from ((count, "batch") for count in SUMMED_BATCHES)


def read_value(written: str) -> float:
    """The number that was typed. Raises Problem where it is none."""
    try:
        value = float(written.replace("−", "-"))
    except ValueError:
        value = math.nan
    if not abs(value) <= MAX_MAGNITUDE:
        raise Problem("explain_value", value=written[:60])
    return value


def tolerance_of(value: float, written: str) -> float:
    """Half a unit of the last written digit, but no more than 1% of the value.

    >>> tolerance_of(5.545, "5.545"), tolerance_of(5.0, "5"), tolerance_of(0.0, "0.00")
    (0.0005, 0.05, 0.005)
    """
    mantissa, _, power = written.lower().replace("−", "-").partition("e")
    digits = len(mantissa.partition(".")[2])
    if mantissa.endswith(".0"):  # as Python writes a whole number
        digits -= 1
    half = 0.5 * 10.0 ** (int(power or 0) - digits)
    if value == 0 and digits < 2:
        return ZERO  # as Python writes a 0, which is no rounded value
    rounding = ROUNDED * abs(value) if abs(value) > ZERO else half
    return max(min(half, rounding), 1e-12, 1e-12 * abs(value))


@dataclass(frozen=True)
class _Query:
    value: float
    tolerance: float
    known: Known

    @property
    def near(self) -> float:
        return max(self.tolerance, min(NEAR * abs(self.value), NEAR_DIGITS * self.tolerance))

    def counts_known(self, axis: Axis) -> bool:
        """True if every count on which a value on this axis depends is known."""
        counts = (self.known.batch, self.known.negatives, self.known.classes)
        return not axis.counted and any(counts)

    def near_on(self, axis: Axis) -> float:
        """Tolerance of nearness on this axis: log noise, where its counts are known."""
        noise = LOG_NOISE * abs(self.value) if self.counts_known(axis) else 0.0
        return max(self.near, noise)


def _fits(sides: Sequence[Side], query: _Query) -> Iterator[LossMatch]:
    empty = []
    if abs(query.value) <= query.tolerance:
        empty = [fit for side in sides for fit in _nothing_to_compare(side)]
    idle = {(fit.loss, fit.convention, fit.layout) for fit in empty}
    for curve in _curves(tuple(sides), query.known):
        # What is 0 for want of anything to compare is no collapse.
        found = _on_curve(curve, query)
        yield from (fit for fit in found if (fit.loss, fit.convention, fit.layout) not in idle)
    if query.known.margin is None:
        for side in sides:
            yield from _at_other_margins(side, query)
    yield from empty


@dataclass(frozen=True)
class _Curve:
    """The losses that have the same reference value at every count of an axis that is one for
    them."""

    kind: str
    members: tuple[tuple[Side, Axis], ...]
    level: float | None  # the value that no count changes
    known: Points  # where a search along it begins, if counts change it

    @property
    def side(self) -> Side:
        return self.members[0][0]

    @property
    def axis(self) -> Axis:
        return self.members[0][1]

    def value_at(self, count: int) -> float | None:
        return landmark(self.side, self.kind, self.axis.layout_of(count))


def prepare_explanations() -> None:
    """Compute the reference values of all losses, so that the first number is explained at once."""
    _curves(tuple(sides_for(Known())), Known())


_computing_all = threading.Lock()


def _curves(sides: tuple[Side, ...], known: Known) -> tuple[_Curve, ...]:
    """Return the curves of these sides; those of all losses, which take seconds, are computed once
    for all who ask at the same time."""
    with contextlib.nullcontext() if known.loss else _computing_all:
        return _computed_curves(sides, known)


@functools.lru_cache(maxsize=16)
def _computed_curves(sides: tuple[Side, ...], known: Known) -> tuple[_Curve, ...]:
    """Compute the reference values of all sides along their axes, equal ones of several sides
    once."""
    found: dict[tuple, list[tuple[Side, Axis]]] = {}
    along: dict[tuple, tuple[float | None, Points]] = {}
    for side in sides:
        jobs.check()
        for kind in _kinds(side, known):
            seen: set[tuple] = set()
            for axis in axes_of(side, known):
                if kind == FLOOR and axis.counted and not _has_floor(side, known):
                    continue
                level, values = _along(side, kind, axis)
                marks = tuple((count, _figures(value)) for count, value in values)
                # Along a second axis of its own it would only be found a second time.
                identity = marks if level is None else ("level", level)
                if not marks or identity in seen or not _admitted(side, kind, axis, known):
                    continue
                seen.add(identity)
                named = "" if level is not None else axis.counted
                key = (kind, named, axis.least, axis.most if level is None else 1, marks)
                found.setdefault(key, []).append((side, axis))
                along.setdefault(key, (level, values))
    return tuple(_Curve(key[0], tuple(one), *along[key]) for key, one in found.items())


def _kinds(side: Side, known: Known) -> Iterator[str]:
    yield COLLAPSE
    if not _starts_collapsed(side):
        yield START
    yield FLOOR


def _has_floor(side: Side, known: Known) -> bool:
    """True if the minimum means something: any value is the minimum of some loss at some counts."""
    return bool(known.loss) or known.batch is not None or _level(side, FLOOR) is not None


def _admitted(side: Side, kind: str, axis: Axis, known: Known) -> bool:
    """True if the value determines pairs counted so: ordered pairs where it depends on them alone,
    a share of positives where it depends on that alone."""
    if axis.counted == "ordered":
        return _alike(side, kind, Layout(1, 6), Layout(2, 3), Layout(3, 2))
    if axis.counted == "positives" and known.batch is None:
        return _alike(side, kind, Layout(1, 2), Layout(2, 4), Layout(3, 6))
    return True


def _alike(side: Side, kind: str, *layouts: Layout) -> bool:
    found = [landmark(side, kind, layout) for layout in layouts]
    return None not in found and len({_figures(one or 0.0) for one in found}) == 1


@functools.lru_cache(maxsize=4096)
def _starts_collapsed(side: Side) -> bool:
    """True if all vectors alike and all at right angles are the same to this loss."""
    layouts = small_layouts(side)
    both = [(landmark(side, COLLAPSE, one), landmark(side, START, one)) for one in layouts]
    return all(
        first is not None and second is not None and math.isclose(first, second, rel_tol=1e-9)
        for first, second in both
    )


@functools.lru_cache(maxsize=4096)
def _level(side: Side, kind: str) -> float | None:
    """The value of a landmark that is one at every count."""
    axis = next(axes_of(side, Known()), None)
    if axis is None or axis.counted == "dimension":
        return None
    return _constant_along(side, kind, axis)


def _constant_along(side: Side, kind: str, axis: Axis) -> float | None:
    """The value that no count of the axis changes; None where one does."""
    if not axis.counted:
        return landmark(side, kind, axis.layout_of(1))
    if axis.most < max(axis.least, 7):
        return None
    return constant(lambda count: landmark(side, kind, axis.layout_of(count)))


def _along(side: Side, kind: str, axis: Axis) -> tuple[float | None, Points]:
    """Return the value that no count of the axis changes, if there is one, and the values that
    identify it."""
    level = _constant_along(side, kind, axis)
    if axis.counted == "dimension" and level is not None:
        return None, ()  # a dimension that changes nothing is no axis
    if level is not None:
        return level, ((1, level),)
    if not axis.counted:
        return None, ()
    return None, points(
        lambda count: landmark(side, kind, axis.layout_of(count)), axis.most, axis.least
    )


def _figures(value: float) -> float:
    return 0.0 if abs(value) < 1e-9 else float(f"{value:.10g}")


def _on_curve(curve: _Curve, query: _Query) -> Iterator[LossMatch]:
    kind, level, value_at = curve.kind, curve.level, curve.value_at
    if level is not None:
        gap = abs(level - query.value)
        for side, own in curve.members:
            if gap <= query.near_on(own):
                nearby = NEARBY["known" if query.counts_known(own) else "level"]
                nearby = 0.0 if gap <= query.tolerance else nearby
                is_known = not own.counted or own.counted == "positives"
                count = max(own.least, min(own.most, 4))
                yield _fitting(side, own, kind, count, nearby + own.cost, query, is_known)
        return

    placed: dict[int, float] = {}
    for fit in counts_with(value_at, curve.known, query.value, query.tolerance):
        after = value_at(fit.count + 1)
        step = math.inf if after is None else abs(after - fit.value)
        loose = min(SINGLED * query.tolerance / max(step, 1e-300), 1.0)
        placed.setdefault(fit.count, loose * roundness(fit.count))
    # What a log wavers around is a count that people choose.
    for fit in round_counts(value_at, curve.known, query.value, query.near):
        placed.setdefault(fit.count, NEARBY["count"])
    for count, odd in placed.items():
        for side, own in curve.members:
            cost = odd + OPEN_COUNT + own.cost
            yield _fitting(side, own, kind, count, cost, query, is_known=True)


def _fitting(
    side: Side, axis: Axis, kind: str, count: int, cost: float, query: _Query, is_known: bool
) -> LossMatch:
    layout = axis.layout_of(count)
    value = landmark(side, kind, layout)
    assert value is not None  # by which it was found
    moved = tuple((name, one) for name, one in side.moved)
    return LossMatch(
        loss=side.loss,
        convention=side.convention,
        parameters=moved,
        counts=axis.counts_of(count) if is_known else _of_labels(side, kind),
        kind=kind,
        value=value,
        doubled=landmark(side, kind, _twice(layout, axis, count)),
        cost=cost
        + KIND_COST[kind]
        + _of_convention(side)
        + _not_taken(side, query.known)
        + usage_cost(side.loss, side.convention),
        layout=layout,
        other=_other(side, kind, layout),
        score=side.score,
    )


def _of_convention(side: Side) -> float:
    """Cost of assuming a convention and each of its settings."""
    for one in LOSSES[side.loss].conventions:
        if one.name == side.convention:
            named = any(word in LOSSES[side.loss].aliases for word in one.name.split())
            other_name = 0.0 if named else OTHER_THAN_ITS_CLASS
            return OTHER_CONVENTION + OTHER_SETTING * len(one.parameters) + other_name
    return 0.0


# Largest batch for which every number of positives is tried; of more some.
EVERY = 64

# Assumed labels by the loss's family: their name, two batches or more that differ in labels alone,
# and their counts for an unknown batch.
_ASSUMED: dict[str, tuple[str, tuple[Layout, ...], Counts]] = {
    "pairs": ("halves", (Layout(1, 6), Layout(3, 4)), (("positive_percent", 50),)),
    "keys": ("positives", (Layout(2), Layout(3), Layout(7)), ()),
    "sentences": (
        "classes",
        (Layout(8), Layout(4, 4), Layout(2, per_class=8), Layout(4, per_class=4)),
        (("per_class", 2),),
    ),
    "lists": (
        "one_right",
        (Layout(1, 5, one_query=True), Layout(3, 3, one_query=True)),
        (("right", 1),),
    ),
}


@functools.lru_cache(maxsize=4096)
def _assumed(side: Side, kind: str) -> tuple[str, Counts]:
    """Name the labels that a reference value assumes, and their count; "" where others change
    nothing."""
    name, layouts, counts = _ASSUMED.get(family_of(side), ("", (), ()))
    found = [value for one in layouts if (value := landmark(side, kind, one)) is not None]
    moved = max(found, default=0.0) - min(found, default=0.0)
    return (name, counts) if moved > ZERO else ("", ())


def _of_labels(side: Side, kind: str) -> Counts:
    """Counts of a value that no count changes: the labels that it assumes, where others change
    it."""
    return _assumed(side, kind)[1]


def _other(side: Side, kind: str, layout: Layout) -> float | None:
    if kind not in (COLLAPSE, START):
        return None
    other = landmark(side, START if kind == COLLAPSE else COLLAPSE, layout)
    own = landmark(side, kind, layout)
    if other is None or own is None or _figures(other) == _figures(own):
        return None
    return other


def _twice(layout: Layout, axis: Axis, count: int) -> Layout:
    """Layout with twice the open count, or, where all is known, twice the batch."""
    if axis.counted:
        return axis.layout_of(min(2 * count, axis.most))
    return layout._replace(positives=2 * layout.positives, negatives=2 * layout.negatives)


def _not_taken(side: Side, known: Known) -> float:
    """Cost of known values that play no part in this loss."""
    names = {one.name for one in side.spec.parameters}
    roles = {one.role for one in side.spec.parameters}
    factor = bool(roles & {"scale", "temperature", "sharpness"}) or "temperature" in names
    against = [
        (known.temperature is not None or known.scale is not None) and not factor,
        known.margin is not None and "margin" not in roles,
        known.classes is not None and family_of(side) not in ("prototypes", "sentences"),
        bool(known.negatives) and family_of(side) not in ("keys", "lists"),
        bool(known.negatives)
        and family_of(side) == "keys"
        and "negatives" not in side.spec.reads.values(),
    ]
    return NOT_TAKEN * sum(against)


def _at_other_margins(side: Side, query: _Query) -> Iterator[LossMatch]:
    """Find other margins for a loss whose value is set by its margin, whatever the batch."""
    margins = [one for one in side.spec.parameters if one.role == "margin"]
    if len(margins) != 1:
        return
    if not _level(side, COLLAPSE):
        return
    own = dict(side.parameters)[margins[0].name]
    for margin in MARGINS:
        if margin == own or not margins[0].minimum <= margin <= margins[0].maximum:
            continue
        moved = side.with_(**{margins[0].name: margin})
        level = _level(moved, COLLAPSE)
        if level is not None and level and abs(level - query.value) <= query.tolerance:
            axis = next(axes_of(moved, Known()))
            count = max(axis.least, min(axis.most, 4))
            yield _fitting(moved, axis, COLLAPSE, count, MOVED_MARGIN, query, is_known=False)


# Batches in which a loss may have nothing to compare, whatever the vectors, by the reason.
_EMPTY = {
    "one_pair": Layout(1),
    "one_label": Layout(3),
    "no_positive": Layout(0, 3),
    "one_class": Layout(1, per_class=4),
    "no_relevant": Layout(0, 4, one_query=True),
}
_REASONS = {
    "pairs": ("one_label", "no_positive"),
    "keys": ("one_pair",),
    "sentences": ("no_positive", "one_class"),
    "prototypes": ("one_class",),
    "lists": ("no_relevant",),
}


def _nothing_to_compare(side: Side) -> Iterator[LossMatch]:
    for reason in _REASONS.get(family_of(side), ()):
        layout = _EMPTY[reason]
        if not all(found == 0 for found in run_orthogonal_and_alike(side, layout)):
            continue
        yield LossMatch(
            loss=side.loss,
            convention=side.convention,
            parameters=side.moved,
            counts=(),
            kind=NOTHING,
            value=0.0,
            doubled=None,
            cost=KIND_COST[NOTHING] + usage_cost(side.loss, side.convention),
            layout=layout,
            reason=reason,
            score=side.score,
        )


def _idle(side: Side) -> set[Layout]:
    """Batches in which it has nothing to compare."""
    return {fit.layout for fit in _nothing_to_compare(side)}


def _nearest(sides: Sequence[Side], query: _Query) -> Iterator[LossMatch]:
    """Yield the nearest count of each curve."""
    found: list[tuple[float, _Curve, int]] = []
    for curve in _curves(tuple(sides), query.known):
        axis, level = curve.axis, curve.level
        if level is not None:
            found.append((abs(level - query.value), curve, min(axis.most, 4)))
            continue
        fit = nearest_count(curve.value_at, curve.known, query.value)
        if fit is not None:
            found.append((abs(fit.gap), curve, fit.count))
    found.sort(key=lambda one: one[0])
    for gap, curve, count in found[: 4 * NEAREST]:
        is_known = curve.level is None or not curve.axis.counted
        for side, own in curve.members:
            # As far away as it is, so that the nearest stands first.
            yield _fitting(side, own, curve.kind, max(count, own.least), 1e3 * gap, query, is_known)


def _grouped(fits: Iterable[LossMatch], query: _Query) -> tuple[Finding, ...]:
    """Group what has one value into one finding: collapse and start together, a minimum by
    itself."""
    together: dict[tuple, dict[tuple, LossMatch]] = {}
    for fit in fits:
        alike = COLLAPSE if fit.kind == START else fit.kind
        own = (fit.loss, fit.convention, fit.parameters, fit.kind, fit.reason)
        group = together.setdefault((alike, fit.reason, _figures(fit.value)), {})
        if own not in group or fit.cost < group[own].cost:
            group[own] = fit
    findings = [_finding(tuple(group.values()), query) for group in together.values()]
    findings.sort(key=lambda one: one.first.cost)
    best = min((one.first.cost for one in findings if one.exact), default=math.inf)
    # What only lies near is no answer where something likelier is exact.
    return tuple(one for one in findings if one.exact or one.first.cost < best)


def _finding(fits: tuple[LossMatch, ...], query: _Query) -> Finding:
    fits = tuple(sorted(fits, key=lambda one: one.cost))
    first = fits[0]
    side = Side(first.loss, first.convention, (), LOSSES[first.loss].function)
    kinds = [first.kind]
    if first.kind == COLLAPSE and _starts_collapsed(_whole(side, first)):
        kinds.append(START)
    gap = first.value - query.value
    exact = abs(gap) <= query.tolerance
    value = _figures(first.value) and first.value  # 0 but for rounding is 0
    return Finding(tuple(kinds), value, gap, exact, fits, _copies(fits, first.value))


def _copies(fits: Sequence[LossMatch], value: float) -> int | None:
    """Number of alike candidates, the own key among them, that a query would have at this value."""
    if fits[0].kind != COLLAPSE or not value:
        return None
    for fit in fits:
        side = _whole(Side(fit.loss, fit.convention, (), LOSSES[fit.loss].function), fit)
        for copies, least in _with_copies(side):
            if _figures(least) == _figures(value):
                return copies
    return None


def _copied(sides: Sequence[Side], query: _Query) -> tuple[str, int] | None:
    """Find the same for the one loss that was named, whatever its batch."""
    if not query.known.loss:
        return None
    for loss in dict.fromkeys(side.loss for side in sides):
        for copies, least in _with_copies(next(sides_of(LOSSES[loss]))):
            if abs(least - query.value) <= query.tolerance:
                return loss, copies
    return None


def _with_copies(side: Side) -> Iterator[tuple[int, float]]:
    """The least of a softmax over candidates whose positive stands 2, 3 … times among them: ln of
    these. It is none of a loss that weighs or masks candidates, and so has another value where as
    many are all alike."""
    if "negatives" in side.spec.reads.values():
        for copies in range(2, MAX_COPIES + 1):
            found = landmark(side, COLLAPSE, Layout(1, copies - 1))
            if found is not None and math.isclose(found, math.log(copies), rel_tol=1e-9):
                yield copies, found


def _whole(side: Side, fit: LossMatch) -> Side:
    parameters = {**side.spec.defaults, **dict(fit.parameters)}
    return side._replace(parameters=tuple(parameters.items()))


def _standing(sides: Sequence[Side], query: _Query) -> Position | None:
    """Place the number for the one loss and the counts that were named."""
    known = query.known
    if not known.loss or len({side.loss for side in sides}) > 1:
        return None
    side = sides[0]
    axis = next(axes_of(side, known), None)
    if axis is None or (axis.counted and _level(side, COLLAPSE) is None):
        return None
    layout = axis.layout_of(max(axis.least, min(axis.most, 4)))
    collapse, floor = landmark(side, COLLAPSE, layout), landmark(side, FLOOR, layout)
    start = landmark(side, START, layout)
    if collapse is None:
        return None
    if abs(query.value) <= query.tolerance and layout in _idle(side):
        return None
    # A floor that depends on counts is none where they are not known.
    floor = floor if not axis.counted or _level(side, FLOOR) is not None else None
    counts = _of_labels(side, COLLAPSE) if axis.counted else axis.counts_of(1)
    minimum = minimum_of(side, known, layout)
    near = query.near_on(axis)
    placed = _placed(side, counts, floor, collapse, start, minimum, query, near)
    ends = (COLLAPSE,) if floor is None else (COLLAPSE, FLOOR)
    own_cause = placed.place in ("below_assumed", "labels_outside")
    assumed = "" if own_cause else assumed_labels(side, known, ends)
    collapses = _collapses(side, known, assumed) if assumed else None
    return replace(placed, assumed=assumed, collapses=collapses)


def assumed_labels(side: Side, known: Known, kinds: Iterable[str]) -> str:
    """Name the unknown labels (in `_ASSUMED`) on which one of these reference values depends; ""
    for none."""
    assumed = next(filter(None, (_assumed(side, kind)[0] for kind in kinds)), "")
    known_by = {
        # Whose queries have negatives of their own has positive pairs alone.
        "positives": known.batch in (None, 1) or known.negatives or is_of_library(known.loss),
        "classes": known.classes,  # with the batch, they give the number of each
    }
    return "" if known_by.get(assumed) else assumed


def _collapses(side: Side, known: Known, assumed: str) -> Collapses | None:
    """Values at collapse with labels other than those `assumed`; None where the counts of the
    labels are unknown."""
    largest, layouts = _other_labels(side, known, assumed)
    found = [value for one in layouts if (value := landmark(side, COLLAPSE, one)) is not None]
    if len(found) < 2:
        return None
    size = layouts[0].pairs
    graded = Layout(size, graded=True) if assumed == "halves" else None
    return Collapses(min(found), max(found), largest, graded and landmark(side, COLLAPSE, graded))


def _other_labels(side: Side, known: Known, assumed: str) -> tuple[int, list[Layout]]:
    """Batches of the known size by their labels, and their `Collapses.most`."""
    batch, negatives = known.batch or 0, known.negatives or 0
    if assumed == "positives":
        # The other pairs are not there for the loss, or are negatives of the positive ones.
        takes = "negatives" in side.spec.reads.values() and not known.processes
        axes = [next(axes_of(side, replace(known, batch=one))) for one in _some(batch)]
        alone = [axis.layout_of(1) for axis in axes]
        joined = [one._replace(negatives=batch - one.positives) for one in alone if takes]
        return batch, alone + joined
    if assumed == "halves":
        return batch - 1, [Layout(one, batch - one) for one in _some(batch - 1)]
    if assumed == "one_right":
        right = _some(negatives)
        return negatives, [Layout(one, negatives + 1 - one, one_query=True) for one in right]
    sizes = [one for one in range(2, batch + 1) if 2 * batch % one == 0]
    return batch, [Layout(2 * batch // one, per_class=one) for one in sizes]


def _some(largest: int) -> list[int]:
    """Counts from 1 to `largest`; of many some, the ends and the middle among them."""
    if largest <= EVERY:
        return list(range(1, largest + 1))
    middle = {largest // 2, (largest + 1) // 2, largest // 2 + 1}
    return sorted({1, *range(2, largest, largest // ENUMERATED_PAIRS), *middle, largest})


def _placed(
    side: Side,
    counts: Counts,
    floor: float | None,
    collapse: float,
    start: float | None,
    minimum: Minimum,
    query: _Query,
    near: float,
) -> Position:
    value, share = query.value, None
    if floor is not None:  # a value near both ends gets neither name
        near = min(near, VAGUE * abs(collapse - floor))
    if abs(value - collapse) <= max(query.tolerance, near):
        place = "collapse"
    elif floor is not None and abs(value - floor) <= query.tolerance:
        place = "floor"
    elif value > collapse:
        place = "starting" if start is not None and value <= start + query.tolerance else "above"
    elif floor is not None and value < floor:
        place = _place_below(side, floor, minimum, query)
    else:
        place = "between"
        if floor is not None and collapse > floor:
            share = (collapse - value) / (collapse - floor)
    near = place == "collapse" and abs(value - collapse) > query.tolerance
    placed = (side.loss, side.convention, side.moved, counts, floor, collapse, start, place, share)
    return Position(*placed, near=near)


def _place_below(side: Side, floor: float, minimum: Minimum, query: _Query) -> str:
    """Return the place of `Position` of a value below the minimum."""
    certain = minimum.certain
    if minimum.cause and (certain is None or query.value >= certain - query.tolerance):
        return "below_assumed"
    if minimum.label_ends is not None:
        return "labels_outside"
    return "negative" if query.value < 0 <= floor and not falls_below_zero(side.loss) else "below"
