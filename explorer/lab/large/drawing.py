"""What the page draws of an opened batch: plain numbers, packed where there are many."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Literal

import numpy as np

from explorer.core.disagreement import Disagreement
from explorer.core.remarks import Remark
from explorer.lab.large.blocks import Blocks, Window
from explorer.lab.large.remarks import Judged
from explorer.lab.large.session import LargeSession
from explorer.lab.large.table import histogram, page
from explorer.runtime.device import device_name
from explorer.runtime.memory import held_bytes
from explorer.runtime.numbers import Real, json_number
from explorer.runtime.wire import Floats, Sparse, packed

MOST_LEVEL_LINES = 24
LONGEST_SENTENCE = 400
MOST_SUSPECTS = 100
# Of fewer blocks nobody needs to be told where the weight is.
FEWEST_BLOCKS = 20

Side = Literal["", "first", "second"]


@dataclass(frozen=True)
class Pair:
    """A pair of the batch; `side` says which of its sentences is meant, empty for both."""

    entry: int
    side: Side
    first: str
    second: str
    label: float
    score: float
    gradient: Real


@dataclass(frozen=True)
class Level:
    """Where the pairs of one label begin and end."""

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
    """What is known at once; loss and gradient where they need not be waited for."""

    loss: Real | None = None
    gradient: Real | None = None
    terms: int
    pairs: int
    bytes: int


@dataclass(frozen=True)
class LabelRules:
    """How labels are read: the ends of their scale, positive from where, how many pairs are."""

    threshold: float
    label_range: tuple[float, float]
    positives: int


@dataclass(frozen=True)
class DrawnBlocks:
    """The blocks of a window: arrays [bands of rows, bands of columns]. Of weights (`of_weights`),
    the logarithm of each stands for a term, since a sum has no exponents of its own."""

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
    """How many anchors have what they look for nearer than all else."""

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


@dataclass(frozen=True)
class LargeSuspect:
    """A pair whose label its score contradicts: how often, and which label would fit."""

    pair: Pair
    rate: float
    fitting: float


@dataclass(frozen=True)
class Judgement:
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


@dataclass(frozen=True)
class PairsPage:
    """A page of the table of all pairs that were found."""

    found: int
    rows: list[Pair]


def look(opened: LargeSession, window: Window) -> DrawnBlocks:
    """The blocks of a window, and what its bands hold."""
    started = time.perf_counter()
    blocks = opened.blocks(window)
    cells = np.diff(blocks.rows)[:, None] * np.diff(blocks.columns)[None, :]
    edges = (blocks.rows[0], blocks.rows[-1], blocks.columns[0], blocks.columns[-1])
    top, bottom, left, right = map(int, edges)
    return DrawnBlocks(
        window=(top, bottom, left, right),
        shape=opened.shape,
        total=packed(blocks.total),
        share=packed(blocks.share),
        largest=packed(blocks.largest),
        masked=packed(1 - blocks.present / cells),
        bounded=blocks.bounded,
        of_weights=opened.of_weights,
        exact=opened.is_exact,
        concentrated=_concentrated(blocks),
        rows=_axis(opened, 0, blocks.rows),
        columns=_axis(opened, 1, blocks.columns),
        figures=_figures(opened),
        rules=LabelRules(*opened.batch.rules, positives=int(opened.batch.positive.sum())),
        milliseconds=1000 * (time.perf_counter() - started),
        device=device_name(),
    )


def _figures(opened: LargeSession) -> LargeFigures:
    known = opened.is_known
    return LargeFigures(
        loss=json_number(opened.loss) if known else None,
        gradient=json_number(opened.gradient_norm) if known else None,
        terms=opened.present,
        pairs=len(opened.batch),
        bytes=held_bytes(opened),
    )


def details(opened: LargeSession) -> Details:
    """What takes another moment: counts over all terms, the heaviest ones, the histogram."""
    wrong, compared = opened.violated
    seen = histogram(opened.batch)
    # In this order: the loss and its gradient are what the other figures wait for.
    loss, gradient = json_number(opened.loss), json_number(opened.gradient_norm)
    return Details(
        loss=loss,
        gradient=gradient,
        bytes=held_bytes(opened),
        violated=wrong,
        compared=compared,
        places=_places(opened),
        effective=json_number(opened.effective),
        effective_error=opened.effective_error,
        heaviest=_heaviest(opened),
        histogram=ScoreHistogram(seen.edges.tolist(), list(seen.groups), seen.counts.tolist()),
    )


def _places(opened: LargeSession) -> LargePlaces | None:
    axis = opened.axes[0]
    if axis not in ("query", "view"):
        return None
    return LargePlaces("key" if axis == "query" else "class", opened.nearest, opened.shape[0])


def _heaviest(opened: LargeSession) -> list[LargeTerm]:
    found = opened.heaviest
    rows = np.asarray(opened.row_pairs)[found.rows]
    columns = np.asarray(opened.column_pairs)[found.columns]
    cells = zip(found.rows.tolist(), found.columns.tolist(), strict=True)
    pairs = zip(rows.tolist(), columns.tolist(), strict=True)
    return [
        LargeTerm(
            cell,
            _pair(opened, row, _side(opened, 0, cell[0]), whole=True),
            _pair(opened, column, _side(opened, 1, cell[1]), whole=True),
            json_number(float(value)),
            float(share),
        )
        for cell, (row, column), value, share in zip(
            cells, pairs, found.values, found.shares, strict=True
        )
    ]


def judgement(opened: LargeSession, by: Judged, remarks: list[Remark], editable: bool) -> Judgement:
    """What is said of all pairs together, with the first pairs on which label and encoder
    disagree."""
    found = opened.batch.contradictions
    return Judgement(
        spearman=json_number(by.spearman),
        ordered=found.ordered,
        violated=found.violated,
        pairs=len(opened.batch),
        suspects=[
            LargeSuspect(
                _pair(opened, place, "", whole=True),
                float(found.rates[place]),
                float(found.fitting[place]),
            )
            for place in found.suspects[:MOST_SUSPECTS].tolist()
        ],
        count=len(found.suspects),
        disagreement=by.usual,
        doubtful=by.doubtful,
        editable=editable,
        remarks=remarks,
    )


def pairs_page(
    opened: LargeSession, search: str, column: str, falling: bool, page_number: int
) -> PairsPage:
    """A page of the table of pairs."""
    found = page(opened, search, column, falling, page_number)
    rows = [_pair(opened, place, "", whole=True) for place in found.places.tolist()]
    return PairsPage(found.found, rows)


def _concentrated(blocks: Blocks) -> Concentrated | None:
    """Which share of the blocks holds nine tenths of their weight, and what part of all weight
    that of all of them is; None where there is too little to say so."""
    falling = np.sort(blocks.share, axis=None)[::-1]
    sums = np.cumsum(falling)
    present = np.count_nonzero(blocks.present)
    if present < FEWEST_BLOCKS or not sums[-1] > 0:
        return None
    held = np.searchsorted(sums, 0.9 * sums[-1]) + 1
    return Concentrated(float(held / present), min(float(sums[-1]), 1.0))


def _axis(opened: LargeSession, axis: int, edges: np.ndarray) -> Bands:
    """The bands of rows (0) or columns (1): their labels and scores; single pairs by name."""
    behind = (opened.row_pairs, opened.column_pairs)[axis][edges[0] : edges[-1]]
    batch, name = opened.batch, opened.axes[axis]
    places = slice(behind.start, behind.stop) if isinstance(behind, range) else behind
    labels, scores = batch.labels[places], batch.scores[places]
    starts = edges[:-1] - edges[0]
    single = len(starts) == len(labels)
    items = (
        [
            _pair(opened, int(place), _side(opened, axis, int(edges[0]) + at))
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
    """Where each label begins and ends, if there are few such runs."""
    starts = np.append(0, 1 + np.flatnonzero(labels[1:] != labels[:-1]))
    if len(starts) > MOST_LEVEL_LINES:
        return []
    stops = np.append(starts[1:], len(labels))
    return [
        Level(float(labels[start]), offset + int(start), offset + int(stop))
        for start, stop in zip(starts, stops, strict=True)
    ]


def _side(opened: LargeSession, axis: int, position: int) -> Side:
    """Which sentence of its pair a row or a column is; empty for both."""
    name = opened.axes[axis]
    if name == "view":
        return "first" if position < opened.shape[axis] // 2 else "second"
    if name == "query":
        return "first"
    return "second" if name == "key" else ""


def _pair(opened: LargeSession, place: int, side: Side, whole: bool = False) -> Pair:
    """A pair by its place. Its sentences are `whole` where they are listed; the names of the map's
    rows and columns, of which there are many, end with dots where they are long."""
    batch = opened.batch
    entry = int(batch.entry[place])
    first, second = (
        text if whole or len(text) <= LONGEST_SENTENCE else f"{text[: LONGEST_SENTENCE - 1]}…"
        for text in (batch.first[entry], batch.second[entry])
    )
    return Pair(
        entry,
        side,
        first,
        second,
        label=float(batch.labels[place]),
        score=float(batch.scores[place]),
        gradient=json_number(float(opened.gradient[place])),
    )
