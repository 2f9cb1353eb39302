"""Faults that were planted, a known number of each kind, and how many of them Doctor says: recall;
and how much of what it says was planted: precision.

``python -m tests.planted``, which CI runs, prints them and fails where one is below its bound;
``python -m tests.judgements.troubleshooting`` writes them into docs/troubleshooting.md, and
`tests/unit/lab/doctor/test_planted.py` shows each finding on a few draws. How often a
sentence appears on single draws is measured by `tests.judgements`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

# Kind, planted faults, and reported faults.
Measured = Iterator[tuple[str, set, set]]
# The least precision and recall, by what the faults are planted in; of an encoder by the finding: a
# key may stand above a query's own by chance, and a label may be wrong by little.
LEAST = {"data": (1.0, 1.0), "run": (0.9, 0.9), "two runs": (0.95, 0.95)}
LEAST_OF_ENCODER = {
    "near_duplicates": (0.99, 0.95),
    "false_negatives": (0.8, 0.95),
    "disagreement": (0.9, 0.8),
    "tokens_cut_off": (1.0, 1.0),
}
HEAD = "| finding | of | planted | reported | precision | recall |"


@dataclass
class Counted:
    """Numbers of planted faults of one kind, of reported ones, and of those that are both."""

    planted: int = 0
    reported: int = 0
    both: int = 0

    def add(self, planted: set, reported: set) -> None:
        self.planted += len(planted)
        self.reported += len(reported)
        self.both += len(planted & reported)

    @property
    def precision(self) -> float:
        return self.both / self.reported if self.reported else 1.0

    @property
    def recall(self) -> float:
        return self.both / self.planted if self.planted else 1.0


def counted(measured: Measured) -> dict[str, Counted]:
    found: dict[str, Counted] = {}
    for name, planted, reported in measured:
        found.setdefault(name, Counted()).add(planted, reported)
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


def table() -> tuple[list[str], list[str]]:
    """Return the table in Markdown, and the findings whose precision or recall is too low."""
    rows, low = [HEAD, "| --- | --- | ---: | ---: | ---: | ---: |"], []
    for of, measured in sources().items():
        for name, one in sorted(counted(measured).items()):
            precision = f"{one.precision:.3f}" if one.reported else "–"
            rates = f"{precision} | {one.recall:.3f}"
            kind, _, more = name.partition(" ")
            label = " ".join(filter(None, (f"`{kind}`", more)))
            rows.append(f"| {label} | {of} | {one.planted} | {one.reported} | {rates} |")
            if is_low(of, name, one):
                low.append(f"{name} of {of}")
    return rows, low


def is_low(of: str, name: str, one: Counted) -> bool:
    """Return whether precision or recall of a finding is too low."""
    precision, recall = LEAST_OF_ENCODER[name] if of == "encoder" else LEAST[of]
    return one.precision < precision or one.recall < recall
