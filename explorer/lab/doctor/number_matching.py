"""Search of a number among the reference values of losses: each match, with the cost of what it
assumes."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from lossprism.explorer.core.parameter_values import Settings
from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.lab.doctor.assumed_labels import assumed_counts
from lossprism.explorer.lab.doctor.batches_to_try_for_unknown_counts import (
    Axis,
    Counts,
    axes_of,
    family_of,
)
from lossprism.explorer.lab.doctor.count_from_value import (
    counts_with,
    nearest_count,
    round_counts,
    roundness,
)
from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import Known
from lossprism.explorer.lab.doctor.loss_popularity import usage_cost
from lossprism.explorer.lab.doctor.number_with_rounding_tolerance import Query
from lossprism.explorer.lab.doctor.reference_values import (
    COLLAPSE,
    FLOOR,
    START,
    ConfiguredLoss,
    is_zero_at_collapse,
    learned_ends,
    reference_value,
    values_orthogonal_and_alike,
)
from lossprism.explorer.lab.doctor.reference_values_by_unknown_count import (
    Curve,
    constant_value,
    curves_of,
    ten_digits,
)
from lossprism.explorer.lab.doctor.synthetic_batches_from_counts import Layout
from lossprism.explorer.sources.encoders.constant_and_orthogonal import ALIKE, APART
from lossprism.losses import LOSSES, LossSpec
from lossprism.losses.score_kinds import SCORE_KINDS

MAX_NEAREST = 3  # values that are reported where none matches
NOTHING_TO_COMPARE = "nothing"  # the kind of a value of 0 on a batch without a comparison
# A count is certain where the value at the next count is this many tolerances away.
TOLERANCES_TO_NEXT_COUNT = 10
# Margins that people set.
MARGINS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7, 0.75, 0.8, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)


@dataclass(frozen=True)
class LossMatch:
    """A loss with the value, and the counts at which it has it.

    `parameters` are those that differ from the convention's defaults. `kind` is one of
    `reference_values.KINDS` or `NOTHING_TO_COMPARE`, with its `reason`. `doubled` is the value at
    twice the unknown count (or twice the batch), None where it is unknown. `cost` is the sum of
    what the match assumes; the lower, the likelier. `other` is the value at the start beside one at
    collapse, and the reverse, where they differ. `score` is the kind of the scores, "" for the
    convention's own.
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
    def configured(self) -> ConfiguredLoss:
        """The loss with all its parameters, on the convention's own scores."""
        spec = LOSSES[self.loss]
        chosen = {**spec.under(self.convention).defaults, **dict(self.parameters)}
        return ConfiguredLoss(self.loss, self.convention, tuple(chosen.items()), spec.function)

    @property
    def shows(self) -> str:
        """Name the number of the scenario that has the value: its "loss", or its "floor"."""
        return "floor" if self.kind == FLOOR else "loss"

    @property
    def no_scenario_reason(self) -> str:
        """Name why no scenario shows the number; "" where one does.

        "large": Explore shows no batch of this size. "unbounded": the minimum is that of unbounded
        scores, and those of a scenario are cosines. "learned": it is the minimum over parameters
        that training changes, and a scenario keeps them fixed.
        """
        if not self.layout.shown:
            return "large"
        if self.kind != FLOOR:
            return ""
        spec = self.spec
        if spec.reads_scores and not SCORE_KINDS[spec.score].bounded:
            return "unbounded"
        return "learned" if learned_ends(spec, spec.defaults | dict(self.parameters)) else ""

    def scenario(self) -> Scenario | None:
        """Return the scenario that shows the number; None for a `no_scenario_reason`."""
        if self.no_scenario_reason:
            return None
        layout, needs = self.layout, LOSSES[self.loss].needs
        dimensions = f" {layout.dimensions}" if layout.dimensions != Layout(1).dimensions else ""
        is_orthogonal = self.kind in (START, NOTHING_TO_COMPARE) or is_zero_at_collapse(self.spec)
        encoder = APART if is_orthogonal else f"{ALIKE}{dimensions}"
        # The value is the same for any teacher.
        rows = layout.rows()
        data = Data("table", rows=rows, teacher=rows if "teacher" in needs else (), encoder=encoder)
        if "teacher_vectors" in needs:
            data = replace(data, teacher_model=encoder)
        return Scenario(
            data, loss=self.loss, convention=self.convention, parameters=self.parameters
        )


@dataclass(frozen=True)
class Costs:
    """Costs of assumptions, in units of one unknown count; the lowest sum ranks first.

    A cost of 0.5 says that two such assumptions are as unlikely as one unknown count; only the
    order of sums matters. The values are judgements, set by hand so that the accepted answer of
    each question in `tests/unit/lab/doctor/test_possible_meanings_of_number.py` is among the first
    three findings. `roundness` (of a count), `Axis.cost` (a kind of batch) and `usage_cost` (how
    common a loss is) are set the same way, in the same unit.
    """

    unknown_count: float = 1.0
    other_margin: float = 1.2  # than the convention's default
    unused_value: float = 1.0  # a known setting or count that the loss does not take
    # A value that is only near: where no count changes it, at a power of two, at known counts.
    near_constant: float = 2.0
    near_round_count: float = 1.0
    near_known_counts: float = 0.5
    # A convention of another library, each parameter that it changes, and a name that is no alias
    # of the loss itself.
    convention: float = 0.5
    convention_parameter: float = 0.01
    convention_without_alias: float = 0.005
    by_kind: dict[str, float] = field(
        default_factory=lambda: {COLLAPSE: 0.0, NOTHING_TO_COMPARE: 0.1, START: 0.2, FLOOR: 0.6}
    )


COSTS = Costs()


def matches_of(losses: Sequence[ConfiguredLoss], query: Query) -> Iterator[LossMatch]:
    """Yield each reference value of these losses that is the number, or is near it."""
    without_comparison = []
    if abs(query.value) <= query.tolerance:
        without_comparison = [one for loss in losses for one in _without_comparison(loss)]
    excluded = {(one.loss, one.convention, one.layout) for one in without_comparison}
    for curve in curves_of(tuple(losses), query.known):
        # A loss that compares nothing is 0, but not by collapse.
        for match in matches_on(curve, query):
            if (match.loss, match.convention, match.layout) not in excluded:
                yield match
    if query.known.margin is None:
        for loss in losses:
            yield from _at_other_margins(loss, query)
    yield from without_comparison


def matches_on(curve: Curve, query: Query) -> Iterator[LossMatch]:
    """Yield the matches along one curve."""
    if curve.constant is not None:
        yield from _constant_matches(curve, curve.constant, query)
        return
    cost_by_count: dict[int, float] = {}
    for fit in counts_with(curve.value_at, curve.sample, query.value, query.tolerance):
        next_value = curve.value_at(fit.count + 1)
        step = math.inf if next_value is None else abs(next_value - fit.value)
        uncertainty = min(TOLERANCES_TO_NEXT_COUNT * query.tolerance / max(step, 1e-300), 1.0)
        cost_by_count.setdefault(fit.count, uncertainty * roundness(fit.count))
    # A logged value scatters around that of a count which people choose.
    for fit in round_counts(curve.value_at, curve.sample, query.value, query.near_tolerance):
        cost_by_count.setdefault(fit.count, COSTS.near_round_count)
    for count, count_cost in cost_by_count.items():
        for loss, axis in curve.members:
            cost = count_cost + COSTS.unknown_count + axis.cost
            yield _match(loss, axis, curve.kind, count, cost, query, says_counts=True)


def _constant_matches(curve: Curve, value: float, query: Query) -> Iterator[LossMatch]:
    gap = abs(value - query.value)
    for loss, axis in curve.members:
        if gap > query.near_tolerance_on(axis):
            continue
        near = COSTS.near_known_counts if query.knows_counts_of(axis) else COSTS.near_constant
        cost = (0.0 if gap <= query.tolerance else near) + axis.cost
        says_counts = not axis.counted or axis.counted == "positives"
        yield _match(loss, axis, curve.kind, axis.usual_count, cost, query, says_counts)


def _match(
    loss: ConfiguredLoss,
    axis: Axis,
    kind: str,
    count: int,
    cost: float,
    query: Query,
    says_counts: bool,
) -> LossMatch:
    """Return the match at a count; without `says_counts` its value holds at every count."""
    layout = axis.layout_of(count)
    value = reference_value(loss, kind, layout)
    assert value is not None  # the search found it
    return LossMatch(
        loss=loss.name,
        convention=loss.convention,
        parameters=loss.changed_parameters,
        counts=axis.counts_of(count) if says_counts else assumed_counts(loss, kind),
        kind=kind,
        value=value,
        doubled=reference_value(loss, kind, _doubled(layout, axis, count)),
        cost=cost
        + COSTS.by_kind[kind]
        + _convention_cost(loss)
        + _unused_value_cost(loss, query.known)
        + usage_cost(loss.name, loss.convention),
        layout=layout,
        other=_other_value(loss, kind, layout),
        score=loss.score,
    )


def _doubled(layout: Layout, axis: Axis, count: int) -> Layout:
    """Return the layout with twice the unknown count, or, where all is known, twice the batch."""
    if axis.counted:
        return axis.layout_of(min(2 * count, axis.most))
    return layout._replace(positives=2 * layout.positives, negatives=2 * layout.negatives)


def _convention_cost(loss: ConfiguredLoss) -> float:
    for one in LOSSES[loss.name].conventions:
        if one.name == loss.convention:
            has_alias = any(word in LOSSES[loss.name].aliases for word in one.name.split())
            naming = 0.0 if has_alias else COSTS.convention_without_alias
            changes = COSTS.convention_parameter * len(one.parameters)
            return COSTS.convention + changes + naming
    return 0.0


def _unused_value_cost(loss: ConfiguredLoss, known: Known) -> float:
    names = {one.name for one in loss.spec.parameters}
    roles = {one.role for one in loss.spec.parameters}
    is_scaled = bool(roles & {"scale", "temperature", "sharpness"}) or "temperature" in names
    family, takes_negatives = family_of(loss), "negatives" in loss.spec.reads.values()
    unused = [
        (known.temperature is not None or known.scale is not None) and not is_scaled,
        known.margin is not None and "margin" not in roles,
        known.classes is not None and family not in ("prototypes", "sentences"),
        bool(known.negatives) and family not in ("keys", "lists"),
        bool(known.negatives) and family == "keys" and not takes_negatives,
    ]
    return COSTS.unused_value * sum(unused)


def _other_value(loss: ConfiguredLoss, kind: str, layout: Layout) -> float | None:
    """Return the value at the start beside that at collapse, and the reverse; None where both are
    the same or one is unknown."""
    if kind not in (COLLAPSE, START):
        return None
    own = reference_value(loss, kind, layout)
    other = reference_value(loss, START if kind == COLLAPSE else COLLAPSE, layout)
    if other is None or own is None or ten_digits(other) == ten_digits(own):
        return None
    return other


def _at_other_margins(loss: ConfiguredLoss, query: Query) -> Iterator[LossMatch]:
    """Yield the margins at which a loss collapses to the number, whatever the batch."""
    margins = [one for one in loss.spec.parameters if one.role == "margin"]
    if len(margins) != 1 or not constant_value(loss, COLLAPSE):
        return
    (parameter,) = margins
    own = dict(loss.parameters)[parameter.name]
    for margin in MARGINS:
        if margin == own or not parameter.minimum <= margin <= parameter.maximum:
            continue
        changed = loss.with_parameters(**{parameter.name: margin})
        value = constant_value(changed, COLLAPSE)
        if value and abs(value - query.value) <= query.tolerance:
            axis = next(axes_of(changed, Known()))
            count, cost = axis.usual_count, COSTS.other_margin
            yield _match(changed, axis, COLLAPSE, count, cost, query, says_counts=False)


# Batches on which a loss may have nothing to compare, whatever the vectors, by the reason; and the
# reasons to try for each family of losses.
_BATCHES_WITHOUT_COMPARISON = {
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


def _without_comparison(loss: ConfiguredLoss) -> Iterator[LossMatch]:
    """Yield the batches on which the loss is 0 because it compares nothing."""
    for reason in _REASONS.get(family_of(loss), ()):
        layout = _BATCHES_WITHOUT_COMPARISON[reason]
        if not all(value == 0 for value in values_orthogonal_and_alike(loss, layout)):
            continue
        yield LossMatch(
            loss=loss.name,
            convention=loss.convention,
            parameters=loss.changed_parameters,
            counts=(),
            kind=NOTHING_TO_COMPARE,
            value=0.0,
            doubled=None,
            cost=COSTS.by_kind[NOTHING_TO_COMPARE] + usage_cost(loss.name, loss.convention),
            layout=layout,
            reason=reason,
            score=loss.score,
        )


def layouts_without_comparison(loss: ConfiguredLoss) -> set[Layout]:
    return {match.layout for match in _without_comparison(loss)}


def nearest_matches(losses: Sequence[ConfiguredLoss], query: Query) -> Iterator[LossMatch]:
    """Yield the nearest value of each of the nearest curves, however far away."""
    nearest: list[tuple[float, Curve, int]] = []
    for curve in curves_of(tuple(losses), query.known):
        if curve.constant is not None:
            nearest.append((abs(curve.constant - query.value), curve, min(curve.axis.most, 4)))
            continue
        fit = nearest_count(curve.value_at, curve.sample, query.value)
        if fit is not None:
            nearest.append((abs(fit.gap), curve, fit.count))
    nearest.sort(key=lambda one: one[0])
    for gap, curve, count in nearest[: 4 * MAX_NEAREST]:
        says_counts = curve.constant is None or not curve.axis.counted
        for loss, axis in curve.members:
            # The gap outweighs all other costs, so that the nearest comes first.
            at, cost = max(count, axis.least), 1e3 * gap
            yield _match(loss, axis, curve.kind, at, cost, query, says_counts)
