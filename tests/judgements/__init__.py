"""How often each sentence that judges is said where it is true, and where it is not.

For every entry of `tests.judgements.claims` that infers something is drawn 200 times of which the
truth is known, once so that the sentence is true and once so that it is not; a rate is the share of
the draws in which it was said. ``python -m tests.judgements`` writes them into docs/judgements.md.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, field

import numpy as np

DRAWS, DRAWS_OF_KIND = 200, 40
ABOUT = """# Sentences that judge

A sentence is a claim. Each that the pages, the command or the model card write from numbers
stands here: what it claims, of what, from which evidence, by which test, and what is said where
that is not enough. Of each, something was drawn {draws} times of which the truth is known, once so
that the sentence is true and once so that it is not. Its power is the share of the first in which
it was said, at the effect that stands beside it; false alarms are that of the second. Power must be
90% or more and false alarms 5% or less. A sentence that only counts what is there says so, and is
held to it by a test of its own.

The table of the code is `tests/judgements/claims.py`, the draws are in `tests/judgements`;
`python -m tests.judgements`, which CI runs, writes this file and fails where a rate is out of
bounds. The tests draw each sentence once where it is true and once where it is false.
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
    whether it was said. `by_kind` has the same of one kind of data each."""

    true: Draw
    false: Draw
    about_true: str
    about_false: str
    by_kind: Mapping[str, tuple[Draw, Draw]] = field(default_factory=dict)


SIMULATIONS: dict[str, Simulation] = {}


def simulated(
    key: str,
    *,
    true: tuple[str, Draw],
    false: tuple[str, Draw],
    by_kind: Mapping[str, tuple[Draw, Draw]] | None = None,
) -> None:
    """Hold `key` to these two draws, each with what is drawn."""
    assert key not in SIMULATIONS
    SIMULATIONS[key] = Simulation(true[1], false[1], true[0], false[0], by_kind or {})


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


def said_of(one: Draw) -> Iterator[bool]:
    """Yield for each draw whether the sentence was said."""
    if isinstance(one, Among):
        return map(one.holds, heard(one.said))
    draw = np.random.default_rng(SEED)
    return (bool(one(draw)) for _ in range(DRAWS))


def rate(one: Draw, draws: int = DRAWS) -> float:
    """Return the share of the first draws of which the sentence was said."""
    return sum(itertools.islice(said_of(one), draws)) / draws


@functools.cache
def rates(key: str) -> tuple[float, float]:
    """Return how often the sentence is said where it is true, and where it is false."""
    simulation = SIMULATIONS[key]
    return rate(simulation.true), rate(simulation.false)


def within_bounds(true: float, false: float) -> bool:
    """Whether these rates are those of a sentence that may be said."""
    return true >= LEAST_TRUE and false <= MOST_FALSE


def load() -> None:
    """Every simulation, each with the room whose sentences it is of."""
    from tests.judgements import batches, large, logs, reach, runs, suspects  # noqa: F401
