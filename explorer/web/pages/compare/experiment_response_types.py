"""The answers of the experiments of the Compare page."""

from dataclasses import dataclass

from lossprism.explorer.lab.compare.floating_point_precision import Form
from lossprism.explorer.runtime.number_format import Real
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.response_field_types import Bytes, Floats


@dataclass(frozen=True)
class SweptCurves:
    """A loss along one of its parameters: a height for each of `values`, NaN where it has none,
    null where it has none anywhere. `over_scale` tends to `limit` and lies in `band`, its lower
    and upper edge; `advised` and `within` are ranges of the parameter."""

    logarithmic: bool
    values: Floats
    loss: Floats | None
    gradient: Floats | None
    effective: Floats | None
    hardest: Floats | None
    suspects: Floats | None
    over_scale: Floats | None
    limit: Real | None
    band: list[Floats] | None
    advised: tuple[float, float] | None
    within: tuple[tuple[float, float], ...] | None


@dataclass(frozen=True)
class AverageOverSplits:
    """The mean over all ways to cut a batch into parts of one size, or over so many that were
    `drawn`."""

    loss: Real
    comparisons: Real | None
    drawn: int
    exact: bool


@dataclass(frozen=True)
class SplitBatch:
    """A batch processed in another way than in one piece. `cells` (0 absent, 1 with gradient on
    both sides, 2 with gradient on one) are the first of `all` rows and columns."""

    whole: Real
    loss: Real
    equal: bool
    gradient_ratio: Real | None
    gradient_cosine: Real | None
    cells: Bytes
    shape: tuple[int, int]
    all: tuple[int, int]
    row_axis: str
    column_axis: str
    comparisons: int
    whole_comparisons: int
    average: AverageOverSplits | None


@dataclass(frozen=True)
class PreciseRow:
    """A loss in one type and one form. `broken` is the first step without a number, "" for none;
    `refused` is torch's message where it cannot compute the form in this type."""

    type: str
    form: Form
    convention: str
    loss: Real | None
    difference: Real | None
    gradient_difference: Real | None
    broken: str
    refused: str


@dataclass(frozen=True)
class PreciseRows:
    """A loss in all types and forms."""

    rows: list[PreciseRow]


@dataclass(frozen=True)
class ChangedFigures:
    """A loss on one batch."""

    loss: Real
    gradient: Real
    floor: Real | None
    collapse: Real | None


@dataclass(frozen=True)
class ChangedLoss:
    """A loss before and after a change of the batch; `refused` says why there is no after."""

    before: ChangedFigures
    after: ChangedFigures | None
    ratio: Real | None
    notices: bool
    refused: Problem | None


@dataclass(frozen=True)
class CollapseCurve:
    """A loss on the way to one point: its value at each share, at its `start`, where it is
    `lowest` (`least`), and at the end (`reached`), beside its `line` at collapse."""

    values: Floats
    start: Real
    line: Real | None
    reached: Real
    falls: bool
    lowest: float
    least: Real


Found = SweptCurves | SplitBatch | PreciseRows | ChangedLoss | CollapseCurve


@dataclass(frozen=True)
class ExperimentResult:
    """The result of one loss. Both are null for a loss that the experiment does not change."""

    found: Found | None
    problem: Problem | None


@dataclass(frozen=True)
class ExperimentResults:
    """The results of an experiment, in the order of the losses."""

    sides: list[ExperimentResult]


@dataclass(frozen=True)
class CollapseCurves(ExperimentResults):
    """The losses at the same `shares` of the way of all vectors to one point; `spread` is the
    difference of the largest and the smallest cosine of a pair. `by_cosines`: these replaced the
    scores that came with the pairs."""

    by_cosines: bool
    shares: Floats
    spread: Floats
