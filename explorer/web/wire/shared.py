"""What the answers of several pages are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, TypedDict

from explorer.core.disagreement import Disagreement
from explorer.core.remarks import Remark
from explorer.core.scenario import Data, Rules, View
from explorer.locale import Word as Word
from explorer.runtime.numbers import Real as Real
from explorer.runtime.problem import About as About


@dataclass(frozen=True)
class Packed:
    """Little-endian numbers of this numpy type, as base64."""

    dtype: str


Floats = Annotated[str, Packed("<f4")]
Integers = Annotated[str, Packed("<i4")]
Bytes = Annotated[str, Packed("u1")]

# What a parameter of a loss can be: a number, a switch, a choice, a list of numbers, null for off.
Setting = float | bool | str | list[float] | None


class Problem(TypedDict):
    """A sentence of the catalogues, with its values; `about` what the page can put right there."""

    key: str
    about: About
    values: dict[str, int | str | Word | list[int | str | Word]]


class Refused(TypedDict):
    """The answer to what cannot be done."""

    error: Problem


class Encoded(TypedDict):
    """In which encoding a file was read ("" where that cannot be told), and those it could be read
    in, the likeliest first, each with how its first words would read."""

    encoding: str
    encodings: list[tuple[str, str]]


class Nothing(TypedDict):
    """Done; there is nothing to tell."""


class SkippedRow(TypedDict):
    """A row of a table that cannot be used: its number, and why."""

    row: int
    key: str
    about: About
    values: dict[str, int | str | Word | list[int | str | Word]]


class Progress(TypedDict):
    """How far the work is that must end first."""

    what: str
    done: int
    total: int


class Working(TypedDict):
    """No answer yet: it is to be asked for again."""

    working: Progress


class HandedIn(TypedDict, total=False):
    """The file's name by content, once it is all there."""

    file: str


class ReadingNote(TypedDict):
    """A sentence on how a table was read, by its key in the catalogues."""

    key: str
    values: dict[str, str]


class LargeFile(Encoded):
    """A file's columns, which of them are read, and what was left out."""

    columns: list[str]
    chosen: dict[str, str]
    header: bool
    total: int
    used: int
    limited: bool
    labelled: bool
    inference: bool
    notes: list[ReadingNote]
    skipped: int
    told: list[SkippedRow]


class LargeFileUndecided(Encoded):
    """A file whose columns, or whose encoding, are to be chosen from."""

    undecided: Literal[True]
    columns: list[str]
    chosen: dict[str, str]
    header: bool
    skipped: int
    told: list[SkippedRow]


class Scenario(TypedDict):
    """The whole scene."""

    data: Data
    rules: Rules
    loss: str
    convention: str
    parameters: dict[str, Setting]
    view: View


class Underway(TypedDict):
    """How far long work has come; `what` names a sentence under ``progress.``."""

    what: str
    done: int
    total: int
    values: dict[str, str]


class Look(TypedDict):
    """The job that was asked about, null where none runs."""

    job: Underway | None


class Cancelled(TypedDict):
    """Whether there was a job to cancel."""

    cancelled: bool


class Places(TypedDict):
    """Where the right one stands among all that an anchor is compared with."""

    kind: Literal["key", "class", "prototype"]
    anchors: int
    first: int
    reciprocal: Real


class Figures(TypedDict):
    """The strip of figures above the picture; null for what the loss does not have."""

    loss: Real
    collapse: Real | None
    floor: Real | None
    floor_is_bound: bool
    ordered: int
    violated: int
    spearman: Real | None
    places: Places | None
    terms: int | None
    active: int | None
    carried: float | None
    beside: bool
    by_threshold: bool
    effective: Real | None
    gradient_norm: Real
    gradient_of: Literal["scores", "vectors"]
    projected: bool
    banded: bool
    device: str
    milliseconds: float


class Thumbnail(TypedDict):
    """A matrix as bytes: 0 … 253 from `low` to `high`, 254 NaN, 255 masked."""

    rows: int
    columns: int
    low: float
    high: float
    signed: bool
    boolean: bool
    data: Bytes


class _Step(TypedDict):
    name: str
    line: int
    source: str
    latex: str
    shape: list[int]
    gradient: bool


class StepOf(TypedDict):
    """The part of a sum of losses in which a step stands: the step's name begins with its label."""

    label: str
    loss: str
    name: Word


class Step(_Step, total=False):
    """A line of the derivation: a `value` of one number, or a `thumbnail`, or nothing in it."""

    of: StepOf
    value: Real
    thumbnail: Thumbnail


class Axis(TypedDict):
    """The rows or columns that are shown: which items, and the pair and sentence behind each."""

    name: str
    items: list[int]
    pairs: list[int]
    sentences: list[int]


class _Numbers(TypedDict):
    of: str
    at: Literal["", "row", "column", "cell"]
    rows: int
    columns: int
    parts: int
    values: Floats


class Numbers(_Numbers, total=False):
    """What stands for one reference of a live formula; beyond `values` where it runs over terms."""

    kind: Literal["Σ exp", "Σ", "max", "min"]
    pairs: Integers
    present: Bytes
    left: Integers
    rest: Floats


class Shown(TypedDict):
    """The step that is looked at, in full: matrices [rows, columns] as laid out."""

    step: int
    name: str
    latex: str
    live: str
    boolean: bool
    signed: bool
    rows: int
    columns: int
    all_rows: int
    all_columns: int
    row_axis: Axis
    column_axis: Axis
    value: Floats
    gradient: Floats | None
    beside: bool
    weight: Floats | None
    mask: Bytes | None
    hatched: bool
    numbers: dict[str, Numbers]


class PairArrays(TypedDict):
    """Of each pair, in the order of the batch. `score_gradient` is ∂L/∂s, NaN of a pair that has
    none, where `gradient` is another: a projection."""

    score: Floats
    gradient: Floats
    score_gradient: Floats | None
    positive: Bytes


class Item(TypedDict):
    """What one index of a term stands for; −1 for no pair, no sentence."""

    axis: str
    item: int
    pair: int
    sentence: int


class Term(TypedDict):
    """A heavy term: its share of the weight, and the share up to and with it."""

    items: list[Item]
    value: Real
    share: float
    so_far: float


class Suspect(TypedDict):
    """A pair whose label its score contradicts: how often, and which label would fit."""

    pair: int
    rate: float
    fitting: float


class PartSeen(TypedDict):
    """A part of a sum of losses: its value and landmarks, not weighed; `norm` and `share` of its
    weighed gradient, and the weight at which that is as long as all others together."""

    label: str
    name: Word
    weight: str
    formula: str
    value: Real
    collapse: Real | None
    floor: Real | None
    norm: Real
    share: float | None
    equal: float | None
    terms: int | None
    active: int | None
    effective: Real | None


class Opposed(TypedDict):
    """A pair on which parts pull against each other, each with its weight."""

    pair: int
    pulls: list[Real]


class Energy(TypedDict):
    """The share of a gradient's energy in so many of the first dimensions: of the sum's, and of the
    part's on the longest prefix."""

    dimensions: int
    share: Real
    alone: Real


class Parts(TypedDict):
    """What the parts of a sum of losses do on a batch."""

    parts: list[PartSeen]
    cosines: list[list[Real]]
    opposed: list[Opposed]
    opposed_count: int
    undone: float
    energies: list[Energy]


class Looked(TypedDict):
    """One step of a loss on one batch; of the others what they are called."""

    figures: Figures
    steps: list[Step]
    inputs: int
    chosen: int
    shown: Shown
    pairs: PairArrays


class Picture(Looked):
    """One loss on one batch, taken apart."""

    listing: str
    first_line: int
    parts: Parts | None
    heaviest: list[Term]
    suspects: list[Suspect]
    disagreement: Disagreement | None
    parameters: dict[str, Setting]
    remarks: list[Remark]


class Batch(TypedDict):
    """What does not change while a slider moves; without labels of its own (`labelled`) every pair
    is a positive; those of natural language `inference` are kinds."""

    key: str
    first: list[str]
    second: list[str]
    sentences: list[str]
    labels: list[float]
    labelled: bool
    inference: bool
    places: list[int] | None
    threshold: float
    label_range: tuple[float, float]
    positives: int
    negatives: int
    owned: int
    classes: int
    dimension: int
    orthogonal: bool
    given: bool
    guided: bool
    taught: bool


class LabelRules(TypedDict):
    """How labels are read: the ends of their scale, positive from where, how many pairs are."""

    threshold: float
    label_range: tuple[float, float]
    positives: int


class Text(TypedDict):
    """A file to be taken away, as text; a ZIP as base64."""

    name: str
    type: str
    text: str


class Parcel(TypedDict):
    """A file to be taken away, served from this path."""

    name: str
    path: str
