"""Power and false-alarm rate of each sentence that judges, by simulation.

For every entry of `tests.judgements.claims` that infers, `DRAWS` data sets are drawn for which it
is true and as many for which it is false; a rate is the share in which the sentence appears.
``python -m tests.judgements`` writes the rates into docs/judgements.md.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, field

import numpy as np

DRAWS, DRAWS_OF_KIND = 200, 40
ABOUT = """# Sentences that judge

A sentence is a claim. This document lists each sentence that the pages, the command or the model
card write from numbers. Each has its claim, its subject, the evidence and the test. If the evidence
is too weak, another sentence replaces it.

For each sentence, {draws} data sets were drawn for which it is true and as many for which it is
false. Power is the share of the true ones in which it appears, at the effect size in parentheses.
False alarms are the share of the false ones. Power must be at least 90% and false alarms at most
5%. A sentence that only counts is marked, and has its own test.

The entries are in `tests/judgements/claims.py`, the simulations in `tests/judgements`.
`python -m tests.judgements`, which CI runs, writes this file and fails if a rate is out of
bounds. The tests draw each sentence once where it is true and once where it is false.
"""
LEAST_TRUE, MOST_FALSE = 0.9, 0.05
Source = np.random.Generator
SentencesOf = Callable[[Source], Set[str]]
SEED = 1


@dataclass(frozen=True)
class Among:
    """Test whether a sentence is among all those on a draw. Sentences with the same `sentences_of`
    share their draws, so it is a module-level function, or made by a cached one."""

    sentences_of: SentencesOf
    holds: Callable[[Set[str]], bool]


Draw = Callable[[Source], bool] | Among


@dataclass(frozen=True)
class Simulation:
    """Draws for which a sentence is `true` and `false`; each returns whether it appears. `by_kind`
    has both for one kind of data each."""

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
    """Register the draws of the sentence `key`, each with its description."""
    assert key not in SIMULATIONS
    SIMULATIONS[key] = Simulation(true[1], false[1], true[0], false[0], by_kind or {})


@dataclass
class DrawnSentences:
    """Sentences on each draw, computed on demand."""

    sentences_of: SentencesOf
    draw: Source = field(default_factory=lambda: np.random.default_rng(SEED))
    found: list[Set[str]] = field(default_factory=list)

    def __iter__(self) -> Iterator[Set[str]]:
        for place in range(DRAWS):
            if place == len(self.found):
                self.found.append(self.sentences_of(self.draw))
            yield self.found[place]


drawn_sentences = functools.cache(DrawnSentences)


def appearances(one: Draw) -> Iterator[bool]:
    """Yield for each draw whether the sentence appears."""
    if isinstance(one, Among):
        return map(one.holds, drawn_sentences(one.sentences_of))
    draw = np.random.default_rng(SEED)
    return (bool(one(draw)) for _ in range(DRAWS))


def rate(one: Draw, draws: int = DRAWS) -> float:
    """Return the share of the first draws in which the sentence appears."""
    return sum(itertools.islice(appearances(one), draws)) / draws


@functools.cache
def rates(key: str) -> tuple[float, float]:
    """Return the power and the false-alarm rate of a sentence."""
    simulation = SIMULATIONS[key]
    return rate(simulation.true), rate(simulation.false)


def within_bounds(true: float, false: float) -> bool:
    """Return whether power and false-alarm rate permit the sentence."""
    return true >= LEAST_TRUE and false <= MOST_FALSE


def load() -> None:
    """Every simulation, each with the room whose sentences it is of."""
    from tests.judgements import batches, large, logs, reach, runs, suspects  # noqa: F401
