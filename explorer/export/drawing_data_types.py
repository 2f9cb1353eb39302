"""Parts of a picture, as the browser gets them."""

from dataclasses import dataclass
from typing import Literal

from lossprism.explorer.core.label_disagreement import Disagreement
from lossprism.explorer.core.ranks_and_term_weights import Places, Suspect
from lossprism.explorer.core.remarks import Remark
from lossprism.explorer.locale import Word
from lossprism.explorer.runtime.number_format import Real
from lossprism.explorer.runtime.response_field_types import Bytes, Floats, Integers, Setting
from lossprism.explorer.runtime.response_parent_classes import Sparse


@dataclass(frozen=True)
class Figures:
    """The metrics above the picture; null for values that the loss lacks. `marked_share` is that of
    the marked pairs in the gradients of all pairs, null where none is marked."""

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
    marked_share: Real | None
    gradient_of: Literal["scores", "vectors"]
    projected: bool
    banded: bool
    device: str
    milliseconds: float


@dataclass(frozen=True)
class Thumbnail:
    """A matrix as bytes: 0 … 253 from `low` to `high`, 254 NaN, 255 masked."""

    rows: int
    columns: int
    low: float
    high: float
    signed: bool
    boolean: bool
    data: Bytes


@dataclass(frozen=True)
class StepOf:
    """The part of a sum of losses that contains a step: the step's name begins with its label."""

    label: str
    loss: str
    name: Word


@dataclass(frozen=True)
class Step(Sparse):
    """A line of the derivation: a `value` of one number, or a `thumbnail`, or neither."""

    name: str
    line: int
    source: str
    latex: str
    shape: list[int]
    gradient: bool
    of: StepOf | None = None
    value: Real | None = None
    thumbnail: Thumbnail | None = None


@dataclass(frozen=True)
class Axis:
    """The shown rows or columns: items, and the pair and sentence behind each."""

    name: str
    items: list[int]
    pairs: list[int]
    sentences: list[int]


@dataclass(frozen=True)
class Numbers(Sparse):
    """Numbers for one reference of a live formula, of the whole matrix or `at` a "row", a "column"
    or a "cell"; more than `values` if it runs over terms."""

    of: str
    at: str
    rows: int
    columns: int
    parts: int
    values: Floats
    kind: Literal["Σ exp", "Σ", "max", "min"] | None = None
    pairs: Integers | None = None
    present: Bytes | None = None
    left: Integers | None = None
    rest: Floats | None = None


@dataclass(frozen=True)
class Shown:
    """The chosen step in full: matrices [rows, columns] as laid out."""

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


@dataclass(frozen=True)
class PairArrays:
    """Arrays of pairs, in batch order. `score_gradient` is ∂L/∂s, NaN for a pair without, if
    `gradient` is another: a projection."""

    score: Floats
    gradient: Floats
    score_gradient: Floats | None
    positive: Bytes


@dataclass(frozen=True)
class Item:
    """The item of one index of a term; −1 for no pair, no sentence."""

    axis: str
    item: int
    pair: int
    sentence: int


@dataclass(frozen=True)
class Term:
    """A heavy term: its share of the weight, and the cumulative share."""

    items: list[Item]
    value: Real
    share: float
    so_far: float


@dataclass(frozen=True)
class PartSeen:
    """A part of a sum of losses: its unweighted value and reference values; `norm` and `share` of
    its weighted gradient, and the weight at which that equals the others' together."""

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


@dataclass(frozen=True)
class Opposed:
    """A pair on which parts pull against each other, each with its weight."""

    pair: int
    pulls: list[Real]


@dataclass(frozen=True)
class Energy:
    """The share of a gradient's energy in so many of the first dimensions: of the sum's, and of the
    part's on the longest prefix."""

    dimensions: int
    share: Real
    alone: Real


@dataclass(frozen=True)
class Parts:
    """The parts of a sum of losses on a batch."""

    parts: list[PartSeen]
    cosines: list[list[Real]]
    opposed: list[Opposed]
    opposed_count: int
    undone: float
    energies: list[Energy]


@dataclass(frozen=True)
class Looked:
    """A step of a loss on a batch; the names of the others."""

    figures: Figures
    steps: list[Step]
    inputs: int
    chosen: int
    shown: Shown
    pairs: PairArrays


@dataclass(frozen=True)
class Picture(Looked):
    """A loss on a batch in full detail."""

    listing: str
    first_line: int
    parts: Parts | None
    heaviest: list[Term]
    suspects: list[Suspect]
    disagreement: Disagreement | None
    parameters: dict[str, Setting]
    remarks: list[Remark]


@dataclass(frozen=True)
class LeverStop:
    """The facet in view of the chosen step at one `value` of the lever, weights as their cube
    roots, by which they are coloured."""

    value: float
    cells: Thumbnail
    mask: Bytes | None


@dataclass(frozen=True)
class BatchData:
    """Data that do not change while a slider moves; without labels of its own (`labelled`) every
    pair is a positive; those of natural language `inference` are kinds. `pictures` has a data URL
    for each sentence that is the name of a picture."""

    key: str
    first: tuple[str, ...]
    second: tuple[str, ...]
    sentences: tuple[str, ...]
    pictures: dict[str, str]
    labels: tuple[float, ...]
    labelled: bool
    inference: bool
    places: tuple[int, ...] | None
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
