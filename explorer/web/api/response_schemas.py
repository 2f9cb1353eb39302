"""Answers to programs: their documented schema is read off these types."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, ParamSpec

from lossprism.explorer.runtime.json_encoding import plain
from lossprism.explorer.runtime.number_format import Real
from lossprism.explorer.runtime.response_field_types import Setting
from lossprism.explorer.runtime.response_parent_classes import Whole

Arguments = ParamSpec("Arguments")


def in_json(function: Callable[Arguments, object]) -> Callable[Arguments, Any]:
    """Return the function with its answer as plain JSON."""

    @functools.wraps(function)
    def answer(*arguments: Arguments.args, **named: Arguments.kwargs) -> Any:
        return plain(function(*arguments, **named))

    return answer


@dataclass(frozen=True)
class HeavyTerm(Whole):
    """A term of the loss: the pairs its indices belong to, its value, its share of the weight."""

    i: int | None
    j: int | None
    value: Real
    weight: float


@dataclass(frozen=True)
class Answer(Whole):
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


@dataclass(frozen=True)
class TracedStep(Whole):
    """An assignment of the definition; arrays as nested lists."""

    name: str
    line: int
    source: str
    latex: str
    axes: list[str]
    shape: list[int]
    value: object
    gradient: object


@dataclass(frozen=True)
class Traced(Answer):
    """A loss on a batch with every step of its computation."""

    steps: list[TracedStep]


@dataclass(frozen=True)
class DrawnFigure(Whole):
    """A figure of a scenario: its SVG, a page with it, or its PNG or PDF in base64, remarks on it,
    its content, and the end of the link that opens it."""

    svg: str | None
    html: str | None
    png: str | None
    pdf: str | None
    remark: str | None
    kind: Literal["matrix", "bars", "page"]
    step: str
    facet: str
    scene: str
    reading: list[str]


@dataclass(frozen=True)
class EnteredLoss(Whole):
    """A loss to be compared: its name, another library's convention, parameters in force."""

    loss: str
    convention: str
    parameters: dict[str, Setting]


@dataclass(frozen=True)
class ComparedLoss(Whole):
    """A loss on the batch; null for values that it lacks, or that could not be computed."""

    of: EnteredLoss
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


@dataclass(frozen=True)
class KeyedSentence(Whole):
    """A sentence, and its key for programs."""

    key: str
    said: str


@dataclass(frozen=True)
class PairOfDisagreement(Whole):
    """The pair on which two losses disagree most: its share of each loss's gradient, below 0 if it
    draws the two sentences together, and its rank there, from 1."""

    pair: int
    shares: list[float]
    ranks: list[int]
    sentences: list[KeyedSentence]
    told: list[KeyedSentence]  # the former name of `sentences`


@dataclass(frozen=True)
class ComparedTwo(Whole):
    """Two of the losses, by their places: comparability of their values, and agreement of their
    gradients."""

    first: int
    second: int
    comparable: bool
    reasons: list[KeyedSentence]
    gradient: Literal["score", "pair"]
    tau: float | None
    cosine: float | None
    factor: float | None
    disagreement: PairOfDisagreement | None


@dataclass(frozen=True)
class ComparedLosses(Whole):
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


@dataclass(frozen=True)
class StartedTraining(Whole):
    """A started training: its id, the trainings before it and their remaining time, and its owner's
    key."""

    id: str
    queue_position: int | None
    queue_seconds: float | None
    key: str
    reading: list[str]


@dataclass(frozen=True)
class UnsharedTraining(Whole):
    """The training whose link no longer works."""

    id: str


@dataclass(frozen=True)
class StoppedTraining(Whole):
    """The training that is ending."""

    id: str
