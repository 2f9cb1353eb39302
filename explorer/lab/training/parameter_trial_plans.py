"""Short trainings at several values of one parameter."""

import dataclasses
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lossprism.explorer.core.parameter_values import chosen_numeric, numeric_parameters, spread
from lossprism.explorer.core.resolved_scenario import resolve
from lossprism.explorer.core.scenario import Rules, Scenario
from lossprism.explorer.lab.training.data import data_of_scenario
from lossprism.explorer.lab.training.pair_sources import DRAW_SEED
from lossprism.explorer.lab.training.plan import TrainingPlan
from lossprism.explorer.lab.training.run_difference_verdict import LEAST_SEEDS
from lossprism.explorer.sources.pairs import Pairs
from lossprism.losses import LossSpec, Parameter
from lossprism.losses.spec import ParameterValue

# Around the value in force, by ratios.
FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)
STEPS, BATCH = 60, 16
# Of a file with more pairs a sample: the steps see half as many.
MAX_PAIRS = 2_000
# Of fewer values none does better than another.
MIN_VALUES = 2
MIN_RUNS = MIN_VALUES * LEAST_SEEDS


@dataclass(frozen=True)
class Offer:
    """The `values` of a parameter that can be tried, each under `seeds` seeds in `steps` steps
    with batches of `batch`.

    On a Space no more than `room` further runs may be queued, so that `left_out` other values are
    not tried; None elsewhere.
    """

    parameter: str
    values: tuple[float, ...]
    left_out: int
    room: int | None
    seeds: int
    steps: int
    batch: int


def duplicate_rule(rules: Rules) -> str:
    """Return the plan's rule for duplicate texts; where the rules of a scenario keep them, the
    plan's default."""
    return rules.twins if rules.twins == "leave_out" else TrainingPlan.twins


def trials(
    scenario: Scenario, parameter: str = "", room: int | None = None, whole: Pairs | None = None
) -> list[TrainingPlan]:
    """Return the plans that try a scenario's loss at several values of a parameter (the first
    numeric one if unnamed).

    Everything else is as in the scenario, each under as many seeds as a comparison needs; at most
    `room` plans. A scenario that is a batch of a file learns from all pairs of the `whole` file.

    Raises:
        Problem: if the loss has no such parameter, or the scenario no sentences to encode.
    """
    return tried(short_plan(scenario, whole), parameter, room)


def short_plan(scenario: Scenario, whole: Pairs | None = None) -> TrainingPlan:
    """Return the plan of a short training of a scenario's loss on its pairs, or on the `whole` file
    that they are a batch of. Raises Problem if it has no sentences to encode."""
    data = scenario.data
    return TrainingPlan(
        data=data_of_scenario(data, whole and _sample(whole)),
        encoder=data.cross_encoder or data.encoder,
        kind="cross" if data.cross_encoder else "bi",
        loss=scenario.loss,
        convention=scenario.convention,
        parameters=scenario.parameters,
        threshold=scenario.rules.threshold,
        label_range=scenario.rules.label_range,
        extra_negatives=scenario.rules.extra_negatives,
        twins=duplicate_rule(scenario.rules),
        guide=data.guide,
        teacher_model=data.teacher_model,
        steps=STEPS,
        batch_size=BATCH,
    )


def tried(plan: TrainingPlan, parameter: str = "", room: int | None = None) -> list[TrainingPlan]:
    """Return plans as `trials` does, everything else as in a plan, but for at most STEPS steps."""
    offer = _offer(plan.spec, plan.settings, plan.steps, plan.batch_size, parameter, room)
    return [
        dataclasses.replace(
            plan,
            seed=plan.seed + place,
            steps=offer.steps,
            parameters=tuple({**plan.settings, offer.parameter: value}.items()),
        )
        for value in offer.values
        for place in range(offer.seeds)
    ]


def offer_of(scenario: Scenario, parameter: str = "", room: int | None = None) -> Offer:
    """Return the values that `trials` tries of a parameter. Raises Problem if there is no such
    one."""
    resolved = resolve(scenario)
    return _offer(resolved.spec, resolved.parameters, STEPS, BATCH, parameter, room)


def offers(plan: TrainingPlan, room: int | None = None) -> list[Offer]:
    """Return the values that `tried` tries of each numeric parameter of the plan's loss that is not
    off."""
    return [
        _offer(plan.spec, plan.settings, plan.steps, plan.batch_size, one.name, room)
        for one in numeric_parameters(plan.spec)
        if plan.settings[one.name] is not None
    ]


def _sample(pairs: Pairs) -> Pairs:
    """Return these pairs, or MAX_PAIRS of more at random."""
    if len(pairs) <= MAX_PAIRS:
        return pairs
    return pairs.at(sorted(random.Random(DRAW_SEED).sample(range(len(pairs)), MAX_PAIRS)))


def _offer(
    spec: LossSpec,
    settings: Mapping[str, ParameterValue],
    steps: int,
    batch: int,
    parameter: str,
    room: int | None,
) -> Offer:
    chosen = chosen_numeric(spec, parameter)
    now = settings[chosen.name]
    if now is None:  # off, so it is tried around the value at which it would begin
        now = chosen.on_value
    assert isinstance(now, float)
    values = trial_values(chosen, now)
    kept = values if room is None else fitting(values, now, room // LEAST_SEEDS)
    short = min(steps or STEPS, STEPS)
    return Offer(chosen.name, kept, len(values) - len(kept), room, LEAST_SEEDS, short, batch)


def trial_values(parameter: Parameter, now: float) -> tuple[float, ...]:
    """Values around the one in force by ratios; of a margin, which may be 0, over its range."""
    values = spread(parameter, len(FACTORS))
    if parameter.logarithmic:
        values = tuple(now * factor for factor in FACTORS)
    within = (min(max(v, parameter.minimum), parameter.maximum) for v in (*values, now))
    typed = (float(round(one) if parameter.whole else f"{one:.6g}") for one in within)
    return tuple(sorted(set(typed)))


def fitting(values: Sequence[float], now: float, count: int) -> tuple[float, ...]:
    """Pick at most `count` of the ascending values: the present one, and those farthest from it and
    from one another; none if fewer than MIN_VALUES."""
    if count < MIN_VALUES:
        return ()
    chosen = {min(range(len(values)), key=lambda place: abs(values[place] - now))}
    while len(chosen) < min(count, len(values)):
        others = [place for place in range(len(values)) if place not in chosen]
        # Of two as far away the larger value.
        chosen.add(max(others, key=lambda one: (min(abs(one - k) for k in chosen), one)))
    return tuple(values[place] for place in sorted(chosen))
