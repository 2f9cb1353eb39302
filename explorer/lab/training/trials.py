"""Short trainings at several values of one parameter: what a rule of thumb cannot know."""

from __future__ import annotations

import dataclasses

from explorer.core.explore import parameters_for, spec_for
from explorer.core.parameters import chosen_numeric, spread
from explorer.core.scenario import Rules, Scenario
from explorer.lab.training.data import data_of_scene
from explorer.lab.training.plan import TrainingPlan
from explorer.lab.training.verdict import LEAST_SEEDS
from losses import Parameter
from losses.spec import ParameterValue

# Around the value in force, by ratios.
FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)
STEPS, BATCH = 60, 16


def twins_of(rules: Rules) -> str:
    """What becomes of texts that stand in a batch twice, in the words of a plan: where the rules of
    a scene keep them, the plan has its own way."""
    return rules.twins if rules.twins == "leave_out" else TrainingPlan.twins


def trials(scenario: Scenario, parameter: str = "") -> list[TrainingPlan]:
    """The plans that try a scene's loss at several values of a parameter (the first numeric one if
    unnamed), everything else as in the scene, each under as many seeds as a comparison needs.

    Raises:
        Problem: if the loss has no such parameter, or the scene no sentences to encode.
    """
    data = scenario.data
    plan = TrainingPlan(
        data=data_of_scene(data),
        encoder=data.cross_encoder or data.encoder,
        kind="cross" if data.cross_encoder else "bi",
        loss=scenario.loss,
        convention=scenario.convention,
        threshold=scenario.rules.threshold,
        label_range=scenario.rules.label_range,
        extra_negatives=scenario.rules.extra_negatives,
        twins=twins_of(scenario.rules),
        steps=STEPS,
        batch_size=BATCH,
    )
    chosen, settings = _in_force(scenario, parameter)
    return [
        dataclasses.replace(
            plan, seed=seed, parameters=tuple({**settings, chosen.name: value}.items())
        )
        for value in values_of(scenario, parameter)
        for seed in range(LEAST_SEEDS)
    ]


def values_of(scenario: Scenario, parameter: str = "") -> tuple[float, ...]:
    """The values of a parameter that `trials` tries. Raises Problem if there is no such one."""
    chosen, settings = _in_force(scenario, parameter)
    now = settings[chosen.name]
    assert isinstance(now, float)
    return trial_values(chosen, now)


def _in_force(scenario: Scenario, name: str) -> tuple[Parameter, dict[str, ParameterValue]]:
    spec = spec_for(scenario)
    return chosen_numeric(spec, name), parameters_for(spec, dict(scenario.parameters))


def trial_values(parameter: Parameter, now: float) -> tuple[float, ...]:
    """Values around the one in force by ratios; of a margin, which may be 0, over its range."""
    values = spread(parameter, len(FACTORS))
    if parameter.logarithmic:
        values = tuple(now * factor for factor in FACTORS)
    within = (min(max(v, parameter.minimum), parameter.maximum) for v in (*values, now))
    return tuple(sorted({float(f"{value:.6g}") for value in within}))
