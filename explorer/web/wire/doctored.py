"""What Doctor answers programs, of a number, of data and of a run."""

from __future__ import annotations

from typing import Literal, TypedDict

from explorer.runtime.numbers import Real
from explorer.runtime.wire import Setting


class ExplainedLoss(TypedDict):
    """A loss that has the value, and the counts and parameters at which it does."""

    loss: str
    convention: str
    parameters: dict[str, Setting]
    counts: dict[str, int]
    counted: str
    kind: str
    reason: str
    value: float
    doubled: float | None
    other: float | None
    assumed: float
    shows: Literal["loss", "floor"]
    scene: str | None


class ExplainedFinding(TypedDict):
    """One value that the number may be, with the losses that have it."""

    kinds: list[str]
    value: float
    gap: float
    exact: bool
    said: str
    copies: int | None
    factor: int
    summed: Literal["", "steps", "processes", "batch"]
    losses: list[ExplainedLoss]
    more: int


class ExplainedStanding(TypedDict):
    """Where the number stands for one loss at counts that are known."""

    loss: str
    convention: str
    counts: dict[str, int]
    floor: float | None
    collapse: float
    start: float | None
    place: Literal["negative", "below", "floor", "between", "collapse", "starting", "above"]
    share: float | None
    assumed: Literal["", "halves", "positives", "classes", "one_right"]
    said: str


class ExplainedValue(TypedDict):
    """What a number means."""

    value: float
    count: int
    fits: bool
    told: list[str]
    findings: list[ExplainedFinding]
    standing: ExplainedStanding | None
    none: str
    signs: list[str]
    below_zero: list[str]
    known: dict[str, Setting]


class FoundFault(TypedDict):
    """What is the matter with a data set: its sentence, the numbers in it, rows of the table that
    show it."""

    name: str
    severity: Literal["severe", "warning", "note"]
    said: str
    values: dict[str, int | float | str]
    rows: list[int]
    advice: list[str]


class Meeting(TypedDict):
    """What a batch has on average: pairs of rows that share a text, rows that have one such."""

    pairs: float
    rows: float
    floor: float
    share: float


class WeighedLoss(TypedDict):
    """A loss that can learn from the data: names of reasons for and against it, and sentences."""

    loss: str
    reasons: list[str]
    against: list[str]
    said: list[str]


class LeftOut(TypedDict):
    """A row of the table that a cleaned one has not, or of a list not whole, and the name of the
    fault."""

    row: int
    because: str


class FoundCell(TypedDict):
    """Texts of two pairs with their cosine; of a query and another pair's key that of its `own`."""

    row: int
    other: int
    first: str
    second: str
    cosine: float
    own: float | None


class SeenFault(FoundFault):
    """A finding that takes an encoder, with texts of two pairs that show it."""

    cells: list[FoundCell]


class SeenBand(TypedDict):
    """Cosines of the pairs of a label, or of a part of the labels' scale."""

    low: float
    high: float
    count: int
    mean: float
    tenth: float
    ninth: float
    said: str


class SeenSharpness(TypedDict):
    """The temperature at which so many negatives of a batch count."""

    negatives: float
    temperature: float
    said: str


class RankedRow(TypedDict):
    """A row that contradicts this share of its comparisons, and the label that would fit."""

    row: int
    rate: float
    fitting: float


class SeenData(TypedDict):
    """What an encoder told of so many pairs; `ranked` are those on which it and the labels
    disagree, the worst first."""

    encoder: str
    pairs: int
    findings: list[SeenFault]
    looked: list[str]
    not_looked: list[str]
    ranked: list[RankedRow]
    bands: list[SeenBand]
    sharpness: list[SeenSharpness]


class MinedTriplet(TypedDict):
    """A pair, and a text of another one that is near it."""

    anchor: str
    positive: str
    negative: str


class MinedNegatives(TypedDict):
    """Hard negatives; of so many `pairs` that were looked at, `without` have none."""

    triplets: list[MinedTriplet]
    pairs: int
    without: int


class DoctoredData(TypedDict):
    """What is the matter with a data set, the worst first."""

    pairs: int
    rows: int
    skipped: int
    columns: dict[str, str]
    loss: str
    batch: int
    severe: bool
    reading: list[str]
    labels_unread: str
    findings: list[FoundFault]
    looked_for: list[str]
    met: Meeting
    suited: list[WeighedLoss]
    encoded: SeenData | None
    mined: MinedNegatives | None
    kept: int
    kept_rows: int
    left_out: list[LeftOut]


class CountedClass(TypedDict):
    """A class, and how many texts it has."""

    name: str
    count: int


class ClassFault(TypedDict):
    """What is the matter with a table of classes; `rows` show it, of those read, from 1."""

    name: str
    severity: Literal["severe", "warning", "note"]
    said: str
    values: dict[str, Setting]
    advice: list[str]
    rows: list[int]


class TextLeftOut(TypedDict):
    """A text, of those read, from 1, that a cleaned table of classes has not, and why."""

    row: int
    because: str


class MixedClasses(TypedDict):
    """How many texts of the `own` class are nearer to a text of the other."""

    own: str
    other: str
    count: int


class StrayText(TypedDict):
    """A text of a table of classes that is nearer to a text of another class."""

    row: int
    own: str
    other: str
    nearest_row: int
    own_cosine: float
    other_cosine: float


class EncodedClasses(TypedDict):
    """What an encoder made of texts with classes."""

    encoder: str
    texts: int
    agreeing: float | None
    mixed: list[MixedClasses]
    ranked: list[StrayText]


class DoctoredClasses(TypedDict):
    """What is the matter with texts and their classes, the worst first."""

    rows: int
    skipped: int
    columns: dict[str, str]
    reading: list[str]
    batch: int
    severe: bool
    alone: float
    classes: list[CountedClass]
    findings: list[ClassFault]
    looked_for: list[str]
    suited: list[WeighedLoss]
    encoded: EncodedClasses | None
    kept: int
    respelled: int
    left_out: list[TextLeftOut]


class SimilarityMoment(TypedDict):
    """Similarities at one moment: the means of positives and of negatives, their gap, and the share
    of a query's comparisons that are in order."""

    name: str
    queries: int
    positive: float
    negative: float
    gap: float
    order: float


class DoctoredSimilarities(TypedDict):
    """Similarities of positives and negatives at one moment or several, in sentences too; the rows
    of a finding are queries."""

    moments: list[SimilarityMoment]
    about: list[str]
    findings: list[FoundFault]


class RunFinding(TypedDict):
    """What is the matter with a run."""

    name: str
    severity: Literal["severe", "warning", "note"]
    said: str
    advice: list[str]
    values: dict[str, Setting]
    steps: list[int]


class ReadRun(TypedDict):
    """A run, and what was found in it."""

    source: str
    curve: str
    held_out: str
    curves: dict[str, int]
    points: int
    steps: list[str]
    step: str
    known: dict[str, Setting]
    precision: str
    collapse: float | None
    floor: float | None
    logged: bool
    level: Real | None
    severe: bool
    about: list[str]
    findings: list[RunFinding]
    link: str | None
    scene: str | None


class RunBeside(ReadRun):
    """Another run, and what the values of both can say about each other."""

    compared: list[RunFinding]


class DoctoredRun(ReadRun):
    """A run, what was found in it, and another one beside it."""

    beside: RunBeside | None


class DoctoredPaste(TypedDict):
    """What was pasted, what is the matter with it, and the lines that were left out."""

    kind: Literal["numbers", "run", "table"]
    numbers: list[str]
    left_lines: list[int]
    explained: ExplainedValue | None
    run: DoctoredRun | None
    data: DoctoredData | DoctoredClasses | DoctoredSimilarities | None
