"""What the server answers the Compare page."""

from __future__ import annotations

from typing import Literal, TypedDict

from explorer.web.wire.shared import (
    Batch,
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


class Compared(TypedDict):
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
    sides: list[Compared]
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
    """Two definitions in one: `formula` line by line in LaTeX, which step of either side each part
    is, the parameters, the listings; `empty` where they are one formula."""

    formula: list[str]
    steps: list[FormulaStep]
    parameters: list[FormulaParameter]
    code: list[FormulaLine]
    base: list[StepNumbers]
    other: list[StepNumbers]
    empty: bool


class Gap(TypedDict):
    """How far a computation lies from the definition at most, by the largest."""

    value: Real
    gradient: Real


class ParityRow(TypedDict):
    """A loss under a convention beside one library; gaps from the definition, in float64 and
    float32, of our function and of the library's."""

    loss: str
    convention: str
    library: str
    called: str
    version: str | None
    status: Literal[
        "equal", "explained", "differs", "alone", "not_installed", "not_called", "failed"
    ]
    value: Real | None
    ours: list[Gap | None]
    theirs: list[Gap | None]
    because: list[Told]


class Parity(TypedDict):
    """Every loss of the page beside the libraries; `seeded` where it was computed on the seeded
    batch, since this one has no vectors."""

    rows: list[ParityRow]
    seeded: bool
