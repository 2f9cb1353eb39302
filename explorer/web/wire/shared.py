"""What the answers of several pages are made of."""

from __future__ import annotations

from typing import Literal, TypedDict

from explorer.core.disagreement import Disagreement
from explorer.core.remarks import Remark
from explorer.core.scenario import Data, Rules, View
from explorer.lab.large.drawing import LabelRules as LabelRules
from explorer.locale import Word as Word
from explorer.runtime.downloads import Parcel as Parcel
from explorer.runtime.downloads import Text as Text
from explorer.runtime.numbers import Real as Real
from explorer.runtime.problem import About as About
from explorer.runtime.problem import Problem as Problem
from explorer.runtime.wire import Bytes as Bytes
from explorer.runtime.wire import Floats as Floats
from explorer.runtime.wire import Integers as Integers
from explorer.runtime.wire import Packed as Packed
from explorer.runtime.wire import Setting as Setting
from explorer.sources.reading_notes import ReadingNote as ReadingNote
from explorer.sources.tables import SkippedRow as SkippedRow
from explorer.web.large_files import HandedIn as HandedIn
from explorer.web.large_files import LargeFile as LargeFile
from explorer.web.large_files import LargeFileUndecided as LargeFileUndecided
from explorer.web.large_files import Working as Working
from explorer.web.serving import Nothing as Nothing
from explorer.web.serving import Refused as Refused


class Encoded(TypedDict):
    """In which encoding a file was read ("" where that cannot be told), and those it could be read
    in, the likeliest first, each with how its first words would read."""

    encoding: str
    encodings: list[tuple[str, str]]


class Scenario(TypedDict):
    """The whole scene."""

    data: Data
    rules: Rules
    loss: str
    convention: str
    parameters: dict[str, Setting]
    view: View


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
