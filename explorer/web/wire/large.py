"""What the server answers the Large batch page."""

from __future__ import annotations

from typing import Literal, TypedDict

from explorer.core.disagreement import Disagreement
from explorer.core.remarks import Remark
from explorer.web.wire.shared import Floats, LabelRules, Real


class Pair(TypedDict):
    """A pair of the batch; `side` says which of its sentences is meant, empty for both."""

    entry: int
    side: Literal["", "first", "second"]
    first: str
    second: str
    label: float
    score: float
    gradient: Real


class Level(TypedDict):
    """Where the pairs of one label begin and end."""

    label: float
    start: int
    stop: int


class Bands(TypedDict):
    """The bands of rows or columns: least and largest label and score; single pairs by name."""

    name: str
    edges: list[int]
    labels: tuple[list[float], list[float]]
    scores: tuple[list[float], list[float]]
    levels: list[Level]
    items: list[Pair]


class Concentrated(TypedDict):
    """The share of blocks that holds nine tenths of their weight, and their part of all."""

    share: float
    part: float


class _Values(TypedDict, total=False):
    loss: Real
    gradient: Real


class LargeFigures(_Values):
    """What is known at once; loss and gradient where they need not be waited for."""

    terms: int
    pairs: int
    bytes: int


class Blocks(TypedDict):
    """The blocks of a window: arrays [bands of rows, bands of columns]."""

    window: tuple[int, int, int, int]
    shape: tuple[int, int]
    total: Floats
    share: Floats
    largest: Floats
    masked: Floats
    bounded: bool
    of_weights: bool
    exact: bool
    concentrated: Concentrated | None
    rows: Bands
    columns: Bands
    figures: LargeFigures
    rules: LabelRules
    milliseconds: float
    device: str


class LargePlaces(TypedDict):
    """How many anchors have what they look for nearer than all else."""

    kind: Literal["key", "class"]
    first: int | None
    anchors: int


class LargeTerm(TypedDict):
    """A heavy term of the whole matrix."""

    cell: tuple[int, int]
    row: Pair
    column: Pair
    value: Real
    share: float


class ScoreHistogram(TypedDict):
    """Scores by label: `counts` [groups, bins], a group its least and largest label."""

    edges: list[float]
    groups: list[tuple[float, float]]
    counts: list[list[int]]


class Details(TypedDict):
    """What takes another moment: counts over all terms."""

    loss: Real
    gradient: Real
    bytes: int
    violated: int
    compared: int
    places: LargePlaces | None
    effective: Real
    effective_error: float
    heaviest: list[LargeTerm]
    histogram: ScoreHistogram


class LargeSuspect(TypedDict):
    """A pair whose label its score contradicts: how often, and which label would fit."""

    pair: Pair
    rate: float
    fitting: float


class Judged(TypedDict):
    """What is said of all pairs together: their rank correlation, how many comparisons there are
    and how many of them are violated, the first pairs on which label and encoder disagree, of
    `count`, and what is striking. `editable`: labels can be corrected."""

    spearman: Real | None
    ordered: int
    violated: int
    pairs: int
    suspects: list[LargeSuspect]
    count: int
    disagreement: Disagreement | None
    doubtful: bool
    editable: bool
    remarks: list[Remark]


class PairsPage(TypedDict):
    """A page of the table of all pairs that were found."""

    found: int
    rows: list[Pair]
