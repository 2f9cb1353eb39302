"""Contents of the page for an open batch: plain numbers, packed where there are many."""

import time
from dataclasses import dataclass
from typing import Literal

import numpy as np

from lossprism.explorer.core.label_disagreement import Disagreement
from lossprism.explorer.core.remarks import Remark
from lossprism.explorer.lab.large.large_batch_remarks import LabelJudgement
from lossprism.explorer.lab.large.large_batch_session import LargeSession
from lossprism.explorer.lab.large.pair_table_search import page
from lossprism.explorer.lab.large.score_histogram_by_label import histogram
from lossprism.explorer.lab.large.window_blocks import Blocks, Window
from lossprism.explorer.runtime.base64_arrays import packed
from lossprism.explorer.runtime.device import device_name
from lossprism.explorer.runtime.number_format import Real, json_number
from lossprism.explorer.runtime.object_size import bytes_of
from lossprism.explorer.runtime.response_field_types import Floats
from lossprism.explorer.runtime.response_parent_classes import Sparse
from lossprism.explorer.sources.cells import shortened
from lossprism.explorer.sources.encoders.uploaded_vectors import pictures_of

MAX_LEVEL_LINES = 24
LONGEST_SENTENCE = 400
MAX_SUSPECTS = 100
# With fewer blocks the page shows by itself where the weight is.
MIN_BLOCKS = 20

Side = Literal["", "first", "second"]


@dataclass(frozen=True)
class Pair:
    """A pair of the batch; `side` says which of its sentences is meant, empty for both. `pictures`
    has a data URL for each of them that is the name of a picture."""

    entry: int
    side: Side
    first: str
    second: str
    label: float
    score: float
    gradient: Real
    pictures: dict[str, str]


@dataclass(frozen=True)
class Level:
    """First and last position of the pairs of one label."""

    label: float
    start: int
    stop: int


@dataclass(frozen=True)
class Bands:
    """The bands of rows or columns: least and largest label and score; single pairs by name."""

    name: str
    edges: list[int]
    labels: tuple[list[float], list[float]]
    scores: tuple[list[float], list[float]]
    levels: list[Level]
    items: list[Pair]


@dataclass(frozen=True)
class Concentrated:
    """The share of blocks that holds nine tenths of their weight, and their part of all."""

    share: float
    part: float


@dataclass(frozen=True, kw_only=True)
class LargeFigures(Sparse):
    """The figures known at once; loss and gradient unless they take longer."""

    loss: Real | None = None
    gradient: Real | None = None
    terms: int
    pairs: int
    bytes: int


@dataclass(frozen=True)
class LabelRules:
    """Rules of the labels: ends of their scale, threshold of positives, number of positives."""

    threshold: float
    label_range: tuple[float, float]
    positives: int


@dataclass(frozen=True)
class DrawnBlocks:
    """The blocks of a window: arrays [bands of rows, bands of columns].

    With `of_weights`, each weight's logarithm stands for a term, since a sum has no exponents.
    """

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


@dataclass(frozen=True)
class LargePlaces:
    """Number of anchors whose own key or class is nearer than all others."""

    kind: Literal["key", "class"]
    first: int | None
    anchors: int


@dataclass(frozen=True)
class LargeTerm:
    """A heavy term of the whole matrix."""

    cell: tuple[int, int]
    row: Pair
    column: Pair
    value: Real
    share: float


@dataclass(frozen=True)
class ScoreHistogram:
    """Scores by label: `counts` [groups, bins], a group its least and largest label."""

    edges: list[float]
    groups: list[tuple[float, float]]
    counts: list[list[int]]


@dataclass(frozen=True)
class Details:
    """Figures that take another moment: counts over all terms."""

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


@dataclass(frozen=True)
class LargeSuspect:
    """A pair whose score contradicts its label: how often, and the label that would fit."""

    pair: Pair
    rate: float
    fitting: float


@dataclass(frozen=True)
class Judgement:
    """Findings about all pairs together.

    Rank correlation, number of comparisons and of violated ones, the first pairs on which label and
    encoder disagree, of `count`, and remarks. `editable`: labels can be corrected.
    """

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


@dataclass(frozen=True)
class PairsPage:
    """A page of the table of all pairs that were found."""

    found: int
    rows: list[Pair]


def look(session: LargeSession, window: Window) -> DrawnBlocks:
    """Return the blocks of a window and the contents of its bands."""
    started = time.perf_counter()
    blocks = session.matrix.blocks(window)
    cells = np.diff(blocks.rows)[:, None] * np.diff(blocks.columns)[None, :]
    edges = (blocks.rows[0], blocks.rows[-1], blocks.columns[0], blocks.columns[-1])
    top, bottom, left, right = map(int, edges)
    return DrawnBlocks(
        window=(top, bottom, left, right),
        shape=session.shape,
        total=packed(blocks.total),
        share=packed(blocks.share),
        largest=packed(blocks.largest),
        masked=packed(1 - blocks.present / cells),
        bounded=blocks.bounded,
        of_weights=session.matrix.of_weights,
        exact=session.is_exact,
        concentrated=_concentrated(blocks),
        rows=_axis(session, 0, blocks.rows),
        columns=_axis(session, 1, blocks.columns),
        figures=_figures(session),
        rules=LabelRules(*session.batch.rules, positives=int(session.batch.positive.sum())),
        milliseconds=1000 * (time.perf_counter() - started),
        device=device_name(),
    )


def _figures(session: LargeSession) -> LargeFigures:
    has_loss, has_gradient = session.matrix.known
    return LargeFigures(
        loss=json_number(session.loss) if has_loss else None,
        gradient=json_number(session.gradient_norm) if has_gradient else None,
        terms=session.present,
        pairs=len(session.batch),
        bytes=bytes_of(session),
    )


def details(session: LargeSession) -> Details:
    """Return what takes another moment: counts over all terms, the heaviest ones, the histogram."""
    wrong, compared = session.violated
    seen = histogram(session.batch)
    # Loss and gradient first: the other figures wait for them.
    loss, gradient = json_number(session.loss), json_number(session.gradient_norm)
    return Details(
        loss=loss,
        gradient=gradient,
        bytes=bytes_of(session),
        violated=wrong,
        compared=compared,
        places=_places(session),
        effective=json_number(session.effective),
        effective_error=session.matrix.effective_error,
        heaviest=_heaviest(session),
        histogram=ScoreHistogram(seen.edges.tolist(), list(seen.groups), seen.counts.tolist()),
    )


def _places(session: LargeSession) -> LargePlaces | None:
    axis = session.matrix.axes[0]
    if axis not in ("query", "view"):
        return None
    return LargePlaces("key" if axis == "query" else "class", session.nearest, session.shape[0])


def _heaviest(session: LargeSession) -> list[LargeTerm]:
    heaviest = session.heaviest
    rows = np.asarray(session.matrix.row_pairs)[heaviest.rows]
    columns = np.asarray(session.matrix.column_pairs)[heaviest.columns]
    cells = zip(heaviest.rows.tolist(), heaviest.columns.tolist(), strict=True)
    pairs = zip(rows.tolist(), columns.tolist(), strict=True)
    return [
        LargeTerm(
            cell,
            _pair(session, row, _side(session, 0, cell[0]), whole=True),
            _pair(session, column, _side(session, 1, cell[1]), whole=True),
            json_number(float(value)),
            float(share),
        )
        for cell, (row, column), value, share in zip(
            cells, pairs, heaviest.values, heaviest.shares, strict=True
        )
    ]


def judgement(
    session: LargeSession, by: LabelJudgement, remarks: list[Remark], editable: bool
) -> Judgement:
    """Return the findings about all pairs, with the first pairs on which label and encoder
    disagree."""
    contradicted = session.batch.contradictions
    return Judgement(
        spearman=json_number(by.spearman),
        ordered=contradicted.ordered,
        violated=contradicted.violated,
        pairs=len(session.batch),
        suspects=[
            LargeSuspect(
                _pair(session, place, "", whole=True),
                float(contradicted.rates[place]),
                float(contradicted.fitting[place]),
            )
            for place in contradicted.suspects[:MAX_SUSPECTS].tolist()
        ],
        count=len(contradicted.suspects),
        disagreement=by.usual,
        doubtful=by.doubtful,
        editable=editable,
        remarks=remarks,
    )


def pairs_page(
    session: LargeSession, search: str, column: str, falling: bool, page_number: int
) -> PairsPage:
    """A page of the table of pairs."""
    listed = page(session, search, column, falling, page_number)
    rows = [_pair(session, place, "", whole=True) for place in listed.places.tolist()]
    return PairsPage(listed.found, rows)


def _concentrated(blocks: Blocks) -> Concentrated | None:
    """Share of the blocks that holds nine tenths of their weight, and the part of all weight that
    all of them have; None where there is too little to say so."""
    falling = np.sort(blocks.share, axis=None)[::-1]
    sums = np.cumsum(falling)
    present = np.count_nonzero(blocks.present)
    if present < MIN_BLOCKS or not sums[-1] > 0:
        return None
    enough = np.searchsorted(sums, 0.9 * sums[-1]) + 1
    return Concentrated(float(enough / present), min(float(sums[-1]), 1.0))


def _axis(session: LargeSession, axis: int, edges: np.ndarray) -> Bands:
    """The bands of rows (0) or columns (1): their labels and scores; single pairs by name."""
    behind = (session.matrix.row_pairs, session.matrix.column_pairs)[axis][edges[0] : edges[-1]]
    batch, name = session.batch, session.matrix.axes[axis]
    places = slice(behind.start, behind.stop) if isinstance(behind, range) else behind
    labels, scores = batch.labels[places], batch.scores[places]
    starts = edges[:-1] - edges[0]
    single = len(starts) == len(labels)
    items = (
        [
            _pair(session, int(place), _side(session, axis, int(edges[0]) + at))
            for at, place in enumerate(behind)
        ]
        if single
        else []
    )
    levels = _levels(labels, int(edges[0]))
    bounds = _bounds(labels, starts), _bounds(scores, starts)
    return Bands(name, edges.tolist(), *bounds, levels, items)


def _bounds(values: np.ndarray, starts: np.ndarray) -> tuple[list[float], list[float]]:
    """The least and the largest value of each band, short enough to read."""
    both = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
    least, largest = (np.round(bound, 6).tolist() for bound in both)
    return least, largest


def _levels(labels: np.ndarray, offset: int) -> list[Level]:
    """First and last position of each label, if there are at most MAX_LEVEL_LINES such runs."""
    starts = np.append(0, 1 + np.flatnonzero(labels[1:] != labels[:-1]))
    if len(starts) > MAX_LEVEL_LINES:
        return []
    stops = np.append(starts[1:], len(labels))
    return [
        Level(float(labels[start]), offset + int(start), offset + int(stop))
        for start, stop in zip(starts, stops, strict=True)
    ]


def _side(session: LargeSession, axis: int, position: int) -> Side:
    """Side of its pair that a row or a column is; empty for both."""
    name = session.matrix.axes[axis]
    if name == "view":
        return "first" if position < session.shape[axis] // 2 else "second"
    if name == "query":
        return "first"
    return "second" if name == "key" else ""


def _pair(session: LargeSession, place: int, side: Side, whole: bool = False) -> Pair:
    """Return a pair by its place. Its sentences are `whole` where they are listed, and shortened as
    names of the map's many rows and columns."""
    batch = session.batch
    entry = int(batch.entry[place])
    first, second = (
        text if whole else shortened(text, LONGEST_SENTENCE)
        for text in (batch.first[entry], batch.second[entry])
    )
    return Pair(
        entry,
        side,
        first,
        second,
        label=float(batch.labels[place]),
        score=float(batch.scores[place]),
        gradient=json_number(float(session.gradient[place])),
        pictures=dict(pictures_of(batch.encoder, (first, second))),
    )
