"""How often each sentence that judges is said where it is true, and where it is not.

For every entry of `tests.judgements.claims` that infers something is drawn 200 times of which the
truth is known, once so that the sentence is true and once so that it is not; a rate is the share of
the draws in which it was said. ``python -m tests.judgements`` writes them into docs/judgements.md.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass, field

import numpy as np
from scipy.special import bdtr

DRAWS = 200
ABOUT = """# Sentences that judge

A sentence is a claim. Each that the pages, the command or the model card write from numbers
stands here: what it claims, of what, from which evidence, by which test, and what is said where
that is not enough. Of each, something was drawn {draws} times of which the truth is known, once so
that the sentence is true and once so that it is not. Its power is the share of the first in which
it was said, at the effect that stands beside it; false alarms are that of the second. Tests hold
power at 90% or more and false alarms at 5% or less. A sentence that only counts what is there says
so, and is held to it by a test of its own.

The table of the code is `tests/judgements/claims.py`, the draws are in `tests/judgements`;
`python -m tests.judgements` writes this file.
"""
LEAST_TRUE, MOST_FALSE = 0.9, 0.05
# A test stops drawing where, of sentences at the bound (said just too seldom where they are true,
# or just too often where they are false), this share at most would have gone so well so far. Beyond
# the bound that lets hardly more pass than all draws would: of those said in 80% of what is true
# 0.07%, not 0.01%; of those said in 10% of what is false 0.87%, not 0.81%.
UNLIKELY = 0.03

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


@dataclass
class Heard:
    """All that is said of each draw, drawn as far as it was asked for."""

    said: Said
    draw: Source = field(default_factory=lambda: np.random.default_rng(SEED))
    found: list[Set[str]] = field(default_factory=list)

    def __iter__(self) -> Iterator[Set[str]]:
        for place in range(DRAWS):
            if place == len(self.found):
                self.found.append(self.said(self.draw))
            yield self.found[place]


heard = functools.cache(Heard)


def _said(one: Draw) -> Iterator[bool]:
    """Of each draw, whether the sentence was said."""
    if isinstance(one, Among):
        return map(one.holds, heard(one.said))
    draw = np.random.default_rng(SEED)
    return (bool(one(draw)) for _ in range(DRAWS))


@functools.cache
def rates(key: str) -> tuple[float, float]:
    """How often the sentence is said where it is true, and where it is false."""
    simulation = SIMULATIONS[key]
    true, false = (sum(_said(one)) / DRAWS for one in (simulation.true, simulation.false))
    return true, false


def said_where_true(key: str) -> bool:
    """Whether it is said in `LEAST_TRUE` of the draws and more."""
    return often(SIMULATIONS[key].true)


def silent_where_false(key: str) -> bool:
    """Whether it is said in `MOST_FALSE` of the draws at most."""
    return seldom(SIMULATIONS[key].false)


def often(one: Draw) -> bool:
    return _in_most(_said(one), LEAST_TRUE)


def seldom(one: Draw) -> bool:
    return _in_most((not said for said in _said(one)), 1 - MOST_FALSE)


def _in_most(found: Iterator[bool], least: float) -> bool:
    """Whether this share of all draws are so, as far as it takes to tell."""
    wrong, most_wrong = 0, (1 - least) * DRAWS + 1e-9
    for count, right in enumerate(found, 1):
        wrong += not right
        if wrong > most_wrong:
            return False
        if bdtr(wrong, count, 1 - least) <= UNLIKELY:
            return True
    return True


def load() -> None:
    """Every simulation, each with the room whose sentences it is of."""
    from tests.judgements import batches, large, logs, reach, runs, suspects  # noqa: F401
