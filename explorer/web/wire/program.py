"""What the HTTP endpoints and MCP tools answer: their documented schema is read off these types."""

from __future__ import annotations

from typing import Literal, TypedDict

from explorer.web.wire.runs import RunRecord, Standing
from explorer.web.wire.shared import Real, Setting


class HeavyTerm(TypedDict):
    """A term of the loss: the pairs its indices belong to, its value, its share of the weight."""

    i: int | None
    j: int | None
    value: Real
    weight: float


class Answer(TypedDict):
    """A loss on a batch, and what drives it; null for what the loss does not have."""

    loss: Real
    scores: list[Real]
    labels: list[float]
    label_range: list[float]
    threshold: float
    positive_pairs: int
    score_gradient: list[Real] | None
    projected_gradient: list[Real] | None
    ordered_pairs: int
    violated_pairs: int
    active_terms: int | None
    effective_terms: Real | None
    spearman: Real | None
    gradient_norm: Real
    collapse_value: Real | None
    floor: Real | None
    floor_is_bound: bool
    heaviest_terms: list[HeavyTerm]
    device: str
    milliseconds: float


class TracedStep(TypedDict):
    """What one line of the definition assigns; arrays as nested lists."""

    name: str
    line: int
    source: str
    latex: str
    axes: list[str]
    shape: list[int]
    value: object
    gradient: object


class Traced(Answer):
    """A loss on a batch with every step of its computation."""

    steps: list[TracedStep]


class DrawnFigure(TypedDict):
    """A figure of a scene: its SVG, or its PNG in base64, what is to be said of that, what it
    shows, and the end of the link that opens it."""

    svg: str | None
    png: str | None
    remark: str | None
    kind: Literal["matrix", "bars"]
    step: str
    facet: str
    scene: str


class NamedLoss(TypedDict):
    """A loss to be compared: its name, another library's convention, parameters in force."""

    loss: str
    convention: str
    parameters: dict[str, Setting]


class ComparedLoss(TypedDict):
    """What one loss is on the batch; null for what it does not have, or could not be computed."""

    of: NamedLoss
    name: str
    problem: str | None
    loss: Real | None
    floor: Real | None
    floor_is_bound: bool
    collapse_value: Real | None
    gradient_norm: Real | None
    terms: int | None
    active_terms: int | None
    moving_terms: int | None
    effective_terms: Real | None
    looks_for: str | None
    found: int | None
    anchors: int | None
    score_gradient: list[Real] | None
    projected_gradient: list[Real] | None


class Told(TypedDict):
    """A sentence, and the key by which a program knows it."""

    key: str
    said: str


class Disagreement(TypedDict):
    """The pair on which two losses disagree most: the share of its whole gradient that each gives
    it, below 0 where it draws the two sentences together, and its rank there, from 1."""

    pair: int
    shares: list[float]
    ranks: list[int]
    told: list[Told]


class ComparedTwo(TypedDict):
    """Two of the losses, by their places: whether their values may be compared, and how far their
    gradients agree."""

    first: int
    second: int
    comparable: bool
    reasons: list[Told]
    gradient: Literal["score", "pair"]
    tau: float | None
    cosine: float | None
    factor: float | None
    disagreement: Disagreement | None


class ComparedLosses(TypedDict):
    """Several losses on one batch."""

    losses: list[ComparedLoss]
    two: list[ComparedTwo]
    scores: list[Real]
    labels: list[float]
    label_range: list[float]
    threshold: float
    positive_pairs: int
    ordered_pairs: int
    violated_pairs: int


class ExplainedLoss(TypedDict):
    """A loss that has the value, and the counts and parameters at which it does."""

    loss: str
    convention: str
    parameters: dict[str, Setting]
    counts: dict[str, int]
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
    said: str


class ExplainedValue(TypedDict):
    """What a number means."""

    value: float
    fits: bool
    told: list[str]
    findings: list[ExplainedFinding]
    standing: ExplainedStanding | None
    none: str
    signs: list[str]
    below_zero: list[str]
    known: dict[str, Setting]


class FoundFault(TypedDict):
    """What is the matter with a data set: its sentence, the numbers in it, pairs that show it."""

    name: str
    severity: Literal["severe", "warning", "note"]
    said: str
    values: dict[str, int | float | str]
    pairs: list[int]
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
    """A pair that a cleaned table would not have, and the name of the fault."""

    pair: int
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


class SeenData(TypedDict):
    """What an encoder told of so many pairs."""

    encoder: str
    pairs: int
    findings: list[SeenFault]
    looked: list[str]
    not_looked: list[str]
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
    skipped: int
    columns: dict[str, str]
    loss: str
    batch: int
    severe: bool
    findings: list[FoundFault]
    looked_for: list[str]
    met: Meeting
    suited: list[WeighedLoss]
    encoded: SeenData | None
    mined: MinedNegatives | None
    kept: int
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


class DoctoredClasses(TypedDict):
    """What is the matter with texts and their classes, the worst first."""

    rows: int
    skipped: int
    columns: dict[str, str]
    batch: int
    severe: bool
    alone: float
    classes: list[CountedClass]
    findings: list[ClassFault]
    looked_for: list[str]
    suited: list[WeighedLoss]


class RunFinding(TypedDict):
    """What is the matter with a run."""

    name: str
    severity: Literal["severe", "warning", "note"]
    said: str
    advice: list[str]
    values: dict[str, Setting]
    steps: list[int]


class DoctoredRun(TypedDict):
    """A run, and what was found in it."""

    source: str
    curve: str
    held_out: str
    curves: dict[str, int]
    points: int
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


class ListedParameter(TypedDict):
    """A parameter of a loss; limits where it is a number."""

    name: str
    symbol: str
    kind: str
    default: Setting
    minimum: float | None
    maximum: float | None
    choices: list[str]


class ListedConvention(TypedDict):
    """The same loss as another library defines it."""

    name: str
    formula: str
    parameters: list[ListedParameter]


class ListedLoss(TypedDict):
    """What there is to know of a loss before it is computed."""

    name: str
    title: str
    group: str
    formula: str
    about: str
    parameters: list[ListedParameter]
    reads: dict[str, str]
    conventions: list[ListedConvention]
    references: list[str]
    aliases: list[str]
    collapse_formula: str | None
    floor_formula: str | None


class StartedTraining(TypedDict):
    """A training that was begun: its id, how many go before it, and the key of whose it is."""

    id: str
    queue_position: int | None
    key: str


class Followed(Standing):
    """How a training is doing: what went wrong, in words, and what its log has since an offset."""

    problem: str | None
    records: list[RunRecord]
    offset: int


class UnsharedTraining(TypedDict):
    """The training that nobody reads by its link any more."""

    id: str


class StoppedTraining(TypedDict):
    """The training that is ending."""

    id: str
