"""Faults that were planted, a known number of each kind, and how many of them Doctor says: recall;
and how much of what it says was planted: precision.

``python -m tests.planted`` prints them, ``python -m tests.judgements.troubleshooting`` writes them
into docs/troubleshooting.md, and `tests/unit/lab/doctor/test_planted.py` holds them. How often a
sentence is said of single draws is told by `tests.judgements`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

# Kind, what was planted of it, and what was said.
Measured = Iterator[tuple[str, set, set]]
HEAD = "| finding | of | planted | said | precision | recall |"


@dataclass
class Counted:
    """Of one kind: what was planted, what was said, and what of that was both."""

    planted: int = 0
    said: int = 0
    both: int = 0

    def add(self, planted: set, said: set) -> None:
        self.planted += len(planted)
        self.said += len(said)
        self.both += len(planted & said)

    @property
    def precision(self) -> float:
        return self.both / self.said if self.said else 1.0

    @property
    def recall(self) -> float:
        return self.both / self.planted if self.planted else 1.0


def counted(measured: Measured) -> dict[str, Counted]:
    found: dict[str, Counted] = {}
    for name, planted, said in measured:
        found.setdefault(name, Counted()).add(planted, said)
    return found


def sources() -> dict[str, Measured]:
    """What is measured, by what the faults are planted in."""
    from tests.planted import beside, curves, encoded, tables

    return {
        "data": tables.measured(),
        "encoder": encoded.measured(),
        "run": curves.measured(),
        "two runs": beside.measured(),
    }


def lines() -> Iterable[str]:
    """The table, in Markdown."""
    yield HEAD
    yield "| --- | --- | ---: | ---: | ---: | ---: |"
    for of, measured in sources().items():
        for name, one in sorted(counted(measured).items()):
            precision = f"{one.precision:.3f}" if one.said else "–"
            rates = f"{precision} | {one.recall:.3f}"
            kind, _, more = name.partition(" ")
            said = " ".join(filter(None, (f"`{kind}`", more)))
            yield f"| {said} | {of} | {one.planted} | {one.said} | {rates} |"
