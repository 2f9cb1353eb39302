"""What the page draws of an opened batch: plain numbers, packed where there are many."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np

from explorer.core.remarks import Remark
from explorer.lab.large.blocks import Blocks, Window
from explorer.lab.large.remarks import Judged
from explorer.lab.large.session import LargeSession
from explorer.lab.large.table import histogram, page
from explorer.runtime.memory import held_bytes
from explorer.runtime.numbers import json_number
from explorer.runtime.wire import packed

MOST_LEVEL_LINES = 24
LONGEST_SENTENCE = 400
MOST_SUSPECTS = 100
# Of fewer blocks nobody needs to be told where the weight is.
FEWEST_BLOCKS = 20


def look(opened: LargeSession, window: Window) -> dict[str, object]:
    """The blocks of a window, and what its bands hold."""
    blocks = opened.blocks(window)
    cells = np.diff(blocks.rows)[:, None] * np.diff(blocks.columns)[None, :]
    return {
        "window": [
            int(edge) for ends in (blocks.rows, blocks.columns) for edge in (ends[0], ends[-1])
        ],
        "shape": list(opened.shape),
        "total": packed(blocks.total),
        "share": packed(blocks.share),
        "largest": packed(blocks.largest),
        "masked": packed(1 - blocks.present / cells),
        "bounded": blocks.bounded,
        # A sum has no exponents of its own: there the logarithm of each weight stands for a term.
        "of_weights": opened.of_weights,
        "exact": opened.is_exact,
        "concentrated": _concentrated(blocks),
        "rows": _axis(opened, 0, blocks.rows),
        "columns": _axis(opened, 1, blocks.columns),
    }


def figures(opened: LargeSession) -> dict[str, object]:
    """What is known at once."""
    return {
        **(values(opened) if opened.is_known else {}),
        "terms": opened.present,
        "pairs": len(opened.batch),
        "bytes": held_bytes(opened),
    }


def told_rules(opened: LargeSession) -> dict[str, object]:
    """How the labels are read, and how many pairs are positive by it."""
    threshold, label_range = opened.batch.rules
    positives = int(opened.batch.positive.sum())
    return {"threshold": threshold, "label_range": label_range, "positives": positives}


def values(opened: LargeSession) -> dict[str, object]:
    """The loss and the length of its gradient."""
    return {"loss": json_number(opened.loss), "gradient": json_number(opened.gradient_norm)}


def details(opened: LargeSession) -> dict[str, object]:
    """What takes another moment: counts over all terms, the heaviest ones, the histogram."""
    wrong, compared = opened.violated
    looked_for = {"query": "key", "view": "class"}.get(opened.axes[0])
    found = opened.heaviest
    rows = np.asarray(opened.row_pairs)[found.rows]
    columns = np.asarray(opened.column_pairs)[found.columns]
    places = zip(found.rows.tolist(), found.columns.tolist(), strict=True)
    pairs = zip(rows.tolist(), columns.tolist(), strict=True)
    seen = histogram(opened.batch)
    return {
        **values(opened),
        "bytes": held_bytes(opened),
        "violated": wrong,
        "compared": compared,
        "places": looked_for
        and {"kind": looked_for, "first": opened.nearest, "anchors": opened.shape[0]},
        "effective": json_number(opened.effective),
        "effective_error": opened.effective_error,
        "heaviest": [
            {
                "cell": cell,
                "row": _pair(opened, row, _side(opened, 0, cell[0]), whole=True),
                "column": _pair(opened, column, _side(opened, 1, cell[1]), whole=True),
                "value": json_number(float(value)),
                "share": float(share),
            }
            for cell, (row, column), value, share in zip(
                places, pairs, found.values, found.shares, strict=True
            )
        ],
        "histogram": {
            "edges": seen.edges.tolist(),
            "groups": seen.groups,
            "counts": seen.counts.tolist(),
        },
    }


def judgement(opened: LargeSession, by: Judged, remarks: list[Remark], editable: bool) -> dict:
    """What is said of all pairs together, with the first pairs on which label and encoder
    disagree."""
    found = opened.batch.contradictions
    return {
        "spearman": json_number(by.spearman),
        "ordered": found.ordered,
        "violated": found.violated,
        "pairs": len(opened.batch),
        "suspects": [
            {
                "pair": _pair(opened, place, "", whole=True),
                "rate": float(found.rates[place]),
                "fitting": float(found.fitting[place]),
            }
            for place in found.suspects[:MOST_SUSPECTS].tolist()
        ],
        "count": len(found.suspects),
        "disagreement": by.usual and asdict(by.usual),
        "doubtful": by.doubtful,
        "editable": editable,
        "remarks": [asdict(remark) for remark in remarks],
    }


def pairs_page(
    opened: LargeSession, search: str, column: str, falling: bool, page_number: int
) -> dict[str, object]:
    """A page of the table of pairs."""
    found = page(opened, search, column, falling, page_number)
    return {
        "found": found.found,
        "rows": [_pair(opened, place, "", whole=True) for place in found.places.tolist()],
    }


def _concentrated(blocks: Blocks) -> dict[str, float] | None:
    """Which share of the blocks holds nine tenths of their weight, and what part of all weight
    that of all of them is; None where there is too little to say so."""
    falling = np.sort(blocks.share, axis=None)[::-1]
    sums = np.cumsum(falling)
    present = np.count_nonzero(blocks.present)
    if present < FEWEST_BLOCKS or not sums[-1] > 0:
        return None
    held = np.searchsorted(sums, 0.9 * sums[-1]) + 1
    return {"share": float(held / present), "part": min(float(sums[-1]), 1.0)}


def _axis(opened: LargeSession, axis: int, edges: np.ndarray) -> dict[str, object]:
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
    return {
        "name": name,
        "edges": edges.tolist(),
        "labels": _bounds(labels, starts),
        "scores": _bounds(scores, starts),
        "levels": _levels(labels, int(edges[0])),
        "items": items,
    }


def _bounds(values: np.ndarray, starts: np.ndarray) -> list[list[float]]:
    """The least and the largest value of each band, short enough to read."""
    both = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
    return [np.round(bound, 6).tolist() for bound in both]


def _levels(labels: np.ndarray, offset: int) -> list[dict[str, float]]:
    """Where each label begins and ends, if there are few such runs."""
    starts = np.append(0, 1 + np.flatnonzero(labels[1:] != labels[:-1]))
    if len(starts) > MOST_LEVEL_LINES:
        return []
    stops = np.append(starts[1:], len(labels))
    return [
        {"label": float(labels[start]), "start": offset + int(start), "stop": offset + int(stop)}
        for start, stop in zip(starts, stops, strict=True)
    ]


def _side(opened: LargeSession, axis: int, position: int) -> str:
    """Which sentence of its pair a row or a column is; empty for both."""
    name = opened.axes[axis]
    if name == "view":
        return "first" if position < opened.shape[axis] // 2 else "second"
    return {"query": "first", "key": "second"}.get(name, "")


def _pair(opened: LargeSession, place: int, side: str, whole: bool = False) -> dict[str, object]:
    """A pair by its place. Its sentences are `whole` where they are listed; the names of the map's
    rows and columns, of which there are many, end with dots where they are long."""
    batch = opened.batch
    entry = int(batch.entry[place])
    first, second = (
        text if whole or len(text) <= LONGEST_SENTENCE else f"{text[: LONGEST_SENTENCE - 1]}…"
        for text in (batch.first[entry], batch.second[entry])
    )
    return {
        "entry": entry,
        "side": side,
        "first": first,
        "second": second,
        "label": float(batch.labels[place]),
        "score": float(batch.scores[place]),
        "gradient": json_number(float(opened.gradient[place])),
    }
