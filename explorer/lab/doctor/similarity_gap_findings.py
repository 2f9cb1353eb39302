"""Similarities of positives and negatives, at one moment or several, such as before and after a
training: how the gap between them changes, and how many comparisons are in order."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lossprism.explorer.lab.doctor.finding import NOTE, WARNING, Fault, FoundFault, Value
from lossprism.explorer.locale import say
from lossprism.explorer.runtime.number_format import display_number, percent
from lossprism.explorer.runtime.response_parent_classes import Whole, as_answer

_DIGITS = 4

Scores = tuple[list[float], list[float]]  # of positives, and of negatives


@dataclass(frozen=True)
class Moment:
    """A model's scores of the positives and negatives of each query at one moment."""

    name: str
    queries: tuple[Scores, ...]

    @property
    def positive(self) -> float:
        """The mean of all positives."""
        return float(np.mean([score for scores, _ in self.queries for score in scores]))

    @property
    def negative(self) -> float:
        return float(np.mean([score for _, scores in self.queries for score in scores]))

    @property
    def gap(self) -> float:
        return self.positive - self.negative

    @property
    def reversed_queries(self) -> tuple[int, ...]:
        """Queries, counted from 1, with a negative above a positive."""
        return tuple(at for at, (own, other) in enumerate(self.queries, 1) if max(other) > min(own))

    @property
    def order(self) -> float:
        """Share of the comparisons of a query's positive with its negative that are in order; equal
        ones count half."""
        won = [
            (np.sign(np.subtract.outer(own, other)) + 1).ravel() / 2 for own, other in self.queries
        ]
        return float(np.concatenate(won).mean())


@dataclass(frozen=True)
class Similarities:
    """The moments in their order, and the findings in them."""

    moments: tuple[Moment, ...]

    @property
    def faults(self) -> Iterator[Fault]:
        before, after = self.moments[0], self.moments[-1]
        if len(self.moments) > 1 and (name := _change(before, after)):
            severity = NOTE if name == "gap_wider" else WARNING
            yield Fault(name, severity, _values(before, after), subject="similarities")
        if queries := after.reversed_queries:
            counts: dict[str, Value] = {"count": len(queries), "all": len(after.queries)}
            yield Fault("reversed", WARNING, counts, queries, subject="similarities")

    def about(self, language: str = "en") -> Iterator[str]:
        """A sentence for each moment."""
        for one in self.moments:
            yield say(
                language,
                "doctor.similarities.moment" if one.name else "doctor.similarities.only",
                name=one.name,
                count=len(one.queries),
                positive=display_number(one.positive, _DIGITS),
                negative=display_number(one.negative, _DIGITS),
                gap=display_number(one.gap, _DIGITS),
                order=percent(one.order),
            )

    def lines(self, language: str = "en") -> Iterator[str]:
        """Yield the report for the terminal."""
        yield from self.about(language)
        for fault in self.faults:
            yield ""
            yield from fault.lines(language)

    def answered(self, language: str = "en") -> DoctoredSimilarities:
        """Return the answer for programs and the page."""
        return DoctoredSimilarities(
            [as_answer(SimilarityMoment, one, queries=len(one.queries)) for one in self.moments],
            [*self.about(language)],
            [one.answered(FoundFault, language, rows=[*one.rows]) for one in self.faults],
        )


@dataclass(frozen=True)
class SimilarityMoment(Whole):
    """Similarities at one moment: means of positives and of negatives, their gap, and the share of
    a query's comparisons that are in order."""

    name: str
    queries: int
    positive: float
    negative: float
    gap: float
    order: float


@dataclass(frozen=True)
class DoctoredSimilarities(Whole):
    """Similarities of positives and negatives at one moment or several, in sentences too; the rows
    of a finding are queries."""

    moments: list[SimilarityMoment]
    about: list[str]
    findings: list[FoundFault]


def _change(before: Moment, after: Moment) -> str:
    if after.order < before.order:
        return "order_worse"
    if math.isclose(after.gap, before.gap, abs_tol=1e-9):
        return ""
    return "gap_wider" if after.gap > before.gap else "gap_narrower"


def _values(before: Moment, after: Moment) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for at, one in (("before", before), ("after", after)):
        values[at] = one.name
        for name in ("positive", "negative", "gap"):
            values[f"{name}_{at}"] = display_number(getattr(one, name), _DIGITS)
        values[f"order_{at}"] = percent(one.order)
    return values
