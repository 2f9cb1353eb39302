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
    """A loss on a batch, what drives it (null for what the loss does not have), and how the columns
    of a table were read."""

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
    reading: list[str]
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
    reading: list[str]


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
    reading: list[str]


class ListedParameter(TypedDict):
    """A parameter of a loss; limits where it is a number. One that `can_be_off` takes null."""

    name: str
    symbol: str
    kind: str
    default: Setting
    minimum: float | None
    maximum: float | None
    can_be_off: bool
    choices: list[str]


class ListedConvention(TypedDict):
    """The same loss as another library defines it."""

    name: str
    formula: str
    parameters: list[ListedParameter]


class ListedAkin(TypedDict):
    """A class of a library that has no loss here, and why: this loss is the nearest to it."""

    name: str
    about: str


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
    akin: list[ListedAkin]
    collapse_formula: str | None
    floor_formula: str | None


class StartedTraining(TypedDict):
    """A training that was begun: its id, how many go before it and what they have to train, and the
    key of whose it is."""

    id: str
    queue_position: int | None
    queue_seconds: float | None
    key: str
    reading: list[str]


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
