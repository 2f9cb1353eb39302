"""What the server answers the Compare page."""

from __future__ import annotations

from typing import Literal, TypedDict

from explorer.web.wire.shared import (
    Batch,
    Bytes,
    Floats,
    Looked,
    Places,
    Problem,
    Real,
    Setting,
    SkippedRow,
    Word,
)


class Told(TypedDict):
    """A sentence of the catalogues by its whole key, with its values."""

    key: str
    values: dict[str, int | str | Word | list[int | str | Word]]


class ComparedFigures(TypedDict):
    """What a loss makes of the batch; null for what it does not have."""

    loss: Real
    floor: Real | None
    floor_is_bound: bool
    collapse: Real | None
    gradient_norm: Real
    gradient_of: Literal["scores", "vectors"]
    terms: int | None
    active: int | None
    moving: int | None
    effective: Real | None
    ordered: int
    violated: int
    places: Places | None


class ComparedSide(TypedDict):
    """One side: its figures, the gradient of each pair and the step that is looked at, or the
    problem that kept it from any. `parameters` are those in force; `looked` is null of a step that
    the page has by this `name` already."""

    named: Told
    parameters: dict[str, Setting]
    problem: Problem | None
    figures: ComparedFigures | None
    gradient: Floats | None
    projected: bool
    name: str
    looked: Looked | None


class Apart(TypedDict):
    """The pair on which two sides disagree most, in words."""

    pair: int
    told: list[Told]


class Two(TypedDict):
    """Two sides by their places: why their values must not be compared, Kendall's τ of the
    gradients of the pairs, the cosine of those by the sentence vectors, and by what one gradient is
    the other."""

    first: int
    second: int
    reasons: list[Told]
    tau: Real | None
    cosine: Real | None
    factor: Real | None
    apart: Apart | None


class ComparedBatch(Batch):
    """The batch; `numbers` is what a person calls each pair."""

    numbers: list[int]


class _Beside(TypedDict):
    sides: list[ComparedSide]
    two: list[Two]
    gradient: Literal["score", "pair"]


class Beside(_Beside, total=False):
    """All sides and every two of those that stand; the rest where the page has another batch."""

    batch: ComparedBatch
    skipped: list[SkippedRow]
    rows: str


class _Unmet(TypedDict):
    error: Problem


class Unmet(_Unmet, total=False):
    """Nothing can be compared, and which of the rows cannot be used."""

    skipped: list[SkippedRow]
    rows: str


class InNumbers(TypedDict):
    """A tensor: so many cells of which so many take part, the least, the mean, the largest."""

    count: int
    present: int
    least: Real
    mean: Real
    largest: Real


class FormulaStep(TypedDict):
    """A step of either side, or one of both that is computed alike, at these places."""

    kind: Literal["shared", "parameter", "changed", "base", "other"]
    base: int | None
    other: int | None


class FormulaParameter(TypedDict):
    """A parameter by its name on either side, with its values."""

    kind: Literal["shared", "parameter", "changed", "base", "other"]
    base: str | None
    other: str | None
    base_value: Setting | None
    other_value: Setting | None


class FormulaLine(TypedDict):
    """A line of either listing, or one of both."""

    kind: Literal["shared", "parameter", "changed", "base", "other"]
    base_text: str
    other_text: str
    base_step: int | None
    other_step: int | None


class StepNumbers(TypedDict):
    """What a step is called, and what it is worth on this batch."""

    name: str
    latex: str
    number: InNumbers | None


class Differing(TypedDict):
    """Two definitions in one, or one after the other where they are not `together`: `formula` line
    by line in LaTeX, which step of either side each part
    is, the parameters, the listings; `empty` where they are one formula."""

    formula: list[str]
    steps: list[FormulaStep]
    parameters: list[FormulaParameter]
    code: list[FormulaLine]
    base: list[StepNumbers]
    other: list[StepNumbers]
    together: bool
    empty: bool


class Gap(TypedDict):
    """How far a computation lies from the definition at most, by the largest."""

    value: Real
    gradient: Real


ParityStatus = Literal[
    "equal", "explained", "differs", "alone", "not_installed", "not_called", "failed"
]


class ParityOdd(TypedDict):
    """The same library on a batch of odd labels, and what it was given."""

    name: Literal["graded", "unjudged", "large", "tied", "single"]
    status: ParityStatus
    because: list[Told]
    fed: str


class ParityRow(TypedDict):
    """A loss under a convention beside one library; gaps from the definition, in float64 and
    float32, of our function and of the library's. `fed` says what the library was given, and
    `left_out` what of the batch it cannot take."""

    loss: str
    convention: str
    library: str
    called: str
    fed: str
    version: str | None
    status: ParityStatus
    value: Real | None
    ours: list[Gap | None]
    theirs: list[Gap | None]
    because: list[Told]
    left_out: Told | None
    odd: list[ParityOdd]


class Parity(TypedDict):
    """Every loss of the page beside the libraries; `seeded` where it was computed on the seeded
    batch, since this one has no vectors, and on the `first` pairs of a large one, 0 for all."""

    rows: list[ParityRow]
    seeded: bool
    first: int


# ---- One thing varied: of each side what was found, or the problem that kept it from being found


class SweptCurves(TypedDict):
    """A side along one of its parameters: a height for each of `values`, NaN where there is none,
    null where there is none anywhere. `over_scale` tends to `limit` and lies in `band`, its lower
    and upper edge; `advised` and `within` are ranges of the parameter."""

    parameter: str
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
    within: list[tuple[float, float]] | None


class SweptSide(TypedDict):
    """Null, and no problem, where the side stays as it is."""

    found: SweptCurves | None
    problem: Problem | None


class SweptSides(TypedDict):
    """Sides along a parameter."""

    sides: list[SweptSide]


class Averaged(TypedDict):
    """Over all ways to cut a batch into parts of one size, or over so many that were `drawn`."""

    loss: Real
    comparisons: Real | None
    drawn: int
    exact: bool


class Pieces(TypedDict):
    """A batch by another way than in one piece; `cells`, 0 absent, 1 felt, 2 only seen, are the
    first of `all` rows and columns."""

    parts: int
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
    average: Averaged | None


class CutSide(TypedDict):
    """What becomes of a side."""

    found: Pieces | None
    problem: Problem | None


class CutSides(TypedDict):
    """Sides on a batch in pieces."""

    sides: list[CutSide]


class PreciseRow(TypedDict):
    """A loss in one type and one form; `broken` is the first step without a number, "" for none,
    and `refused` what torch says that cannot compute this."""

    type: str
    form: Literal["stable", "printed", "printed_in_type", "function"]
    convention: str
    loss: Real | None
    difference: Real | None
    gradient_difference: Real | None
    broken: str
    refused: str


class PreciseRows(TypedDict):
    """A loss in all types and forms."""

    rows: list[PreciseRow]


class PreciseSide(TypedDict):
    """What becomes of a side."""

    found: PreciseRows | None
    problem: Problem | None


class PreciseSides(TypedDict):
    """Sides in all types and forms."""

    sides: list[PreciseSide]


class ChangedState(TypedDict):
    """A loss on one batch."""

    loss: Real
    gradient: Real
    floor: Real | None
    collapse: Real | None


class ChangedLoss(TypedDict):
    """A loss before and after a change; `refused` says why there is no after."""

    before: ChangedState
    after: ChangedState | None
    ratio: Real | None
    notices: bool
    refused: Problem | None


class ChangedSide(TypedDict):
    """What becomes of a side."""

    found: ChangedLoss | None
    problem: Problem | None


class ChangedSides(TypedDict):
    """Sides before and after a change of the batch, which has so many `pairs` after it."""

    pairs: int
    sides: list[ChangedSide]


class Collapsing(TypedDict):
    """A loss on the way to one point: its value at each share, at its `start`, where it is
    `lowest` (`least`), and at the end (`reached`), beside its `line` at collapse."""

    values: Floats
    start: Real
    line: Real | None
    reached: Real
    falls: bool
    lowest: float
    least: Real
    arrives: bool | None


class CollapsingSide(TypedDict):
    """What becomes of a side."""

    found: Collapsing | None
    problem: Problem | None


class CollapsingSides(TypedDict):
    """Sides at the same `shares` of the way of all vectors to one point; `spread` is that between
    the largest and the smallest cosine of a pair. `by_cosines`: these took the place of scores that
    were given."""

    by_cosines: bool
    shares: Floats
    spread: Floats
    sides: list[CollapsingSide]
