"""How often each sentence that judges is said where it is true, and where it is not.

For every entry of `explorer.core.judgements` something is drawn 200 times of which the truth is
known, once so that the sentence is true and once so that it is not; a rate is the share of the
draws in which it was said. ``python -m tests.judgements`` writes them into docs/judgements.md.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Set
from dataclasses import dataclass

import numpy as np

DRAWS = 200
ABOUT = """# Sentences that judge

A sentence is a claim. Each that the pages, the command or the model card write from numbers
stands here: what it claims, of what, from which evidence, by which test, and what is said where
that is not enough. Of each, something was drawn {draws} times of which the truth is known, once so
that the sentence is true and once so that it is not: a rate is the share of the draws in which it
was said. Tests hold the first at 90% or more and the second at 5% or less. Sentences that only
count what is there stand beside those that infer.

The table of the code is `explorer/core/judgements.py`, the draws are in `tests/judgements`;
`python -m tests.judgements` writes this file.
"""
LEAST_TRUE, MOST_FALSE = 0.9, 0.05

Source = np.random.Generator
Said = Callable[[Source], Set[str]]
SEED = 1


@dataclass(frozen=True)
class Among:
    """Whether a sentence is among all that is said of a draw. What several sentences are looked for
    in is drawn once: `said` is a function at the top of its module, or made by a cached one."""

    said: Said
    holds: Callable[[Set[str]], bool]


Draw = Callable[[Source], bool] | Among


@dataclass(frozen=True)
class Simulation:
    """What is drawn for a sentence: where it is `true`, and where it is `false`; each answers
    whether it was said."""

    true: Draw
    false: Draw
    about_true: str
    about_false: str


SIMULATIONS: dict[str, Simulation] = {}


def simulated(key: str, *, true: tuple[str, Draw], false: tuple[str, Draw]) -> None:
    """Hold `key` to these two draws, each with what is drawn."""
    assert key not in SIMULATIONS
    SIMULATIONS[key] = Simulation(true[1], false[1], true[0], false[0])


@functools.cache
def heard(said: Said) -> list[Set[str]]:
    """All that is said of each draw."""
    draw = np.random.default_rng(SEED)
    return [said(draw) for _ in range(DRAWS)]


def _rate(one: Draw) -> float:
    if isinstance(one, Among):
        return sum(map(one.holds, heard(one.said))) / DRAWS
    draw = np.random.default_rng(SEED)
    return sum(bool(one(draw)) for _ in range(DRAWS)) / DRAWS


@functools.cache
def rates(key: str) -> tuple[float, float]:
    """How often the sentence is said where it is true, and where it is false."""
    simulation = SIMULATIONS[key]
    return _rate(simulation.true), _rate(simulation.false)


def load() -> None:
    """Every simulation, each with the room whose sentences it is of."""
    from tests.judgements import batches, logs, runs  # noqa: F401
