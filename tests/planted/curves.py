"""Logs of runs with one thing the matter with each: a loss that falls all along, but for that."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from explorer.lab.doctor.logs.findings import examine_run
from explorer.lab.doctor.logs.log import Curve, Log

DRAWS = 40
COLLAPSE, FLOOR, NOISE = 4.0, 0.5, 0.06
# Where any run stands, and nothing is the matter with it.
NO_FAULT = {"between", "effective_candidates"}


@dataclass
class Made:
    """The values of a log; `beside` are findings that are right as well."""

    loss: np.ndarray
    held: np.ndarray
    figure: np.ndarray
    beside: set[str] = field(default_factory=set)


Draw = np.random.Generator


def healthy(draw: Draw) -> Made:
    """The loss falls from 3.9 to 1.5, the held-out loss with it, and its figure rises."""
    steps, evaluations = int(draw.integers(100, 600)), int(draw.integers(10, 40))
    loss = np.linspace(3.9, 1.5, steps) + NOISE * draw.normal(size=steps)
    held = np.linspace(3.9, 1.8, evaluations) + NOISE * draw.normal(size=evaluations)
    figure = np.linspace(0.4, 0.8, evaluations) + 0.01 * draw.normal(size=evaluations)
    return Made(loss, held, figure)


def stays(draw: Draw, made: Made, start: float, level: float) -> None:
    """It falls to a level within 15 to 35% of its steps."""
    steps = len(made.loss)
    fallen = np.exp(-np.arange(steps) / (draw.uniform(0.15, 0.35) / 3 * steps))
    made.loss = level + (start - level) * fallen + NOISE * draw.normal(size=steps)


def plateau(draw: Draw, made: Made) -> None:
    stays(draw, made, 3.9, 1.5)


def jump(draw: Draw, made: Made) -> None:
    """By ten times the noise, and it falls on from there."""
    made.loss[int(len(made.loss) * draw.uniform(0.2, 0.8)) :] += 10 * NOISE


def spike(draw: Draw, made: Made) -> None:
    """One step, which is nothing to speak of."""
    made.loss[int(len(made.loss) * draw.uniform(0.2, 0.8))] += 3.0


def digits_lost(draw: Draw, made: Made) -> None:
    made.loss = made.loss.astype(np.float16).astype(np.float64)


def turned(draw: Draw, values: np.ndarray, by: float) -> np.ndarray:
    """From a place between a fifth and half of it on it goes back by so much in all."""
    places, best = np.arange(len(values)), int(len(values) * draw.uniform(0.2, 0.5))
    noise = values - np.linspace(values[0], values[-1], len(values))
    fallen = values[0] + (values[-1] - values[0]) * np.minimum(places / best, 1)
    return fallen + noise + by * np.clip(places - best, 0, None) / (len(values) - best)


def overfits(draw: Draw, made: Made) -> None:
    made.held = turned(draw, made.held, 12 * NOISE)


def figure_falls(draw: Draw, made: Made) -> None:
    made.figure = turned(draw, made.figure, -0.12)


def level(
    start: float, low: float, high: float, figure: float | None = None
) -> Callable[[Draw, Made], None]:
    """It ends between two levels, and its figure with it, where one is given."""

    def make(draw: Draw, made: Made) -> None:
        stays(draw, made, start, draw.uniform(low, high))
        made.beside = {"plateau"}  # it does stay there
        if figure is not None:
            made.figure = figure + 0.01 * draw.normal(size=len(made.figure))

    return make


def not_finite(draw: Draw, made: Made) -> None:
    made.loss[draw.integers(20, len(made.loss), 3)] = np.nan


def zero(draw: Draw, made: Made) -> None:
    made.loss[-int(draw.integers(5, 15)) :] = 0.0
    made.beside = {"below_floor", "plateau"}  # its last tenth is, where that is most of it


PLANTED: dict[str, Callable[[Draw, Made], None]] = {
    "": lambda draw, made: None,
    "(a spike)": spike,
    "plateau": plateau,
    "jump": jump,
    "digits_lost": digits_lost,
    "overfits": overfits,
    "figure_falls": figure_falls,
    "at_collapse": level(5.0, COLLAPSE, COLLAPSE, 0.0),
    "above_collapse": level(6.0, 4.2, 4.8, 0.0),
    "ordered": level(6.0, COLLAPSE, 4.8, 0.8),
    "turned": level(6.0, COLLAPSE, 4.8, -0.6),
    "at_floor": level(3.9, FLOOR, FLOOR),
    "below_floor": level(3.9, 0.1, 0.4),
    "not_finite": not_finite,
    "zero": zero,
}


def log_of(draw: Draw, made: Made) -> Log:
    """As a training with PrismCallback logs it, in four decimals or with all digits."""
    decimals = 4 if draw.integers(2) else 17
    steps = np.arange(1.0, len(made.loss) + 1)
    at = steps[-1] * np.arange(1.0, len(made.held) + 1) / len(made.held)
    ends = np.full((2, len(steps)), [[COLLAPSE], [FLOOR]])
    rows = {
        "loss": (steps, made.loss),
        "eval_loss": (at, made.held),
        "eval_spearman": (at, made.figure),
        "prism_collapse": (steps, ends[0]),
        "prism_floor": (steps, ends[1]),
    }
    unit = 0.5 * 10.0**-decimals
    curves = {
        name: Curve(name, where, np.round(values, decimals), np.full(len(where), unit))
        for name, (where, values) in rows.items()
    }
    return Log("trainer_state", curves)


def said_of(draw: Draw, made: Made) -> set[str]:
    found = {fault.name for fault in examine_run(log_of(draw, made)).faults}
    return found - NO_FAULT - made.beside


def measured() -> Iterator[tuple[str, set, set]]:
    """Kind, the logs in which it was planted, and those of which it is said."""
    for number in range(DRAWS):
        for planted, make in PLANTED.items():
            draw = np.random.default_rng(number)
            made = healthy(draw)
            make(draw, made)
            said = said_of(draw, made)
            for name in said | ({planted} & FINDINGS):
                yield (
                    name,
                    {number} if name == planted else set(),
                    {number} if name in said else set(),
                )


FINDINGS = {name for name in PLANTED if name.isidentifier()}
