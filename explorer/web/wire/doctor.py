"""What the server answers the Doctor page."""

from __future__ import annotations

from typing import Literal, TypedDict

from explorer.web.wire.program import ExplainedFinding, ExplainedValue
from explorer.web.wire.shared import LargeFile, LargeFileUndecided, Problem, Real


class ToldFinding(ExplainedFinding):
    """The same, with what else is to be said of it, sentence by sentence."""

    beside: list[str]


class Explained(ExplainedValue):
    """What a number means, as `explain_loss_value` answers it."""

    findings: list[ToldFinding]  # type: ignore[misc]


class EvidentRow(TypedDict):
    """A pair that shows a finding, with the row of the table that it stands in."""

    row: int
    first: str
    second: str
    label: Real | None


class DataFinding(TypedDict):
    """What is the matter with a data set: in a sentence, rows that show it, what to paste, and the
    link of a scene of Explore with these rows ("" where none fits)."""

    name: str
    severity: Literal["severe", "warning", "note"]
    said: str
    advice: list[str]
    rows: list[EvidentRow]
    scene: str


class FittingLoss(TypedDict):
    """A loss that can learn from the data, with reasons for and against in sentences, and the link
    of a scene of Explore with some of its rows under this loss."""

    loss: str
    reasons: list[str]
    scene: str


class ExaminedData(TypedDict):
    """What is the matter with a data set for a loss in batches of a size, the worst first; what was
    looked for, and what was not; the losses that can learn from it (the first, and how many more);
    how many pairs a cleaned table keeps; and how a file was read."""

    pairs: int
    findings: list[DataFinding]
    looked: list[str]
    not_looked: list[str]
    suited: list[FittingLoss]
    more: int
    kept: int
    file: LargeFile | None


class UndecidedData(LargeFileUndecided):
    """A file whose columns, or whose encoding, are to be chosen from, and why."""

    problem: Problem
