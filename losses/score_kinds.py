"""Kinds of score that a loss compares: cosines, dot products, logits, probabilities.

The minimum of a loss and its value at collapse depend on the interval of the scores and on the
score that every pair has from a model that tells nothing apart.

>>> SCORE_KINDS["cosine"].within, SCORE_KINDS["logit"].within
((-1.0, 1.0), (-inf, inf))
"""

import functools
import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from lossprism.losses.labels import COSINES, Ends

UNBOUNDED: Ends = (-math.inf, math.inf)


@dataclass(frozen=True)
class ScoreKind:
    """`within` are the least and the largest score. `at_collapse` is the score of every pair from a
    model that tells nothing apart: the cosine of equal vectors, the logit of an untrained head;
    None if it depends on the lengths of the vectors."""

    within: Ends
    at_collapse: float | None

    @property
    def bounded(self) -> bool:
        return self.within != UNBOUNDED


SCORE_KINDS: Mapping[str, ScoreKind] = MappingProxyType(
    {
        "cosine": ScoreKind(COSINES, 1.0),
        "dot": ScoreKind(UNBOUNDED, None),
        "logit": ScoreKind(UNBOUNDED, 0.0),
        "probability": ScoreKind((0.0, 1.0), 0.5),
    }
)

Formula = Callable[..., float | None]


def by_kind_of_score(formula: Formula | None) -> bool:
    """Return whether a formula depends on the kind of score: not for probabilities of logits."""
    accepted = inspect.signature(formula).parameters if formula else ()
    return any(name in accepted for name in ("within", "at", "score"))


@functools.lru_cache(maxsize=1024)
def on_scores(formula: Formula, kind: str) -> Formula:
    """Bind the formula of a minimum or of a value at collapse to scores of this kind.

    A formula that depends on the kind has a keyword `within` (the ends of a score), `at` (the score
    of every pair at collapse) or `score` (the kind itself); any other is returned unchanged.
    """
    known = SCORE_KINDS[kind]
    offered = {"within": known.within, "at": known.at_collapse, "score": kind}
    accepted = inspect.signature(formula).parameters
    bound: dict[str, Any] = {name: end for name, end in offered.items() if name in accepted}
    return functools.partial(formula, **bound) if bound else formula
