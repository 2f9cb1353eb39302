"""The table of all pairs: searched, sorted and handed out a page at a time."""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass

import numpy as np

from explorer.lab.large.batch import LargeBatch
from explorer.lab.large.opened import Opened

PAGE = 20
COLUMNS = ("entry", "label", "score", "gradient")
_COMPARISON = re.compile(
    r"\s*(label|score|similarity|gradient|标签|相似度|梯度)\s*"
    r"(<=|>=|=|<|>|≤|≥)\s*([+-]?[0-9.]+(?:e[+-]?[0-9]+)?)\s*",
    re.IGNORECASE,
)
_NAMES = {"similarity": "score", "标签": "label", "相似度": "score", "梯度": "gradient"}
_SIGNS = {
    "<": operator.lt,
    "<=": operator.le,
    "≤": operator.le,
    "=": np.isclose,
    ">=": operator.ge,
    "≥": operator.ge,
    ">": operator.gt,
}


@dataclass(frozen=True, eq=False)
class Page:
    """The places of the pairs on this page, and how many pairs were found in all."""

    places: np.ndarray
    found: int


def page(opened: Opened, search: str, column: str, falling: bool, number: int) -> Page:
    """Page `number`, counted from 0, of the pairs that `search` finds, sorted by a column.

    `search` is a comparison ("score > 0.9"), a pair's number ("#17"), or a part of a sentence.
    Numbers that do not exist come last.
    """
    values = _values(opened)
    found = _found(opened.batch, values, search)
    sorted_by = values[column if column in values else "gradient"][found]
    key = -sorted_by if falling else sorted_by
    start = number * PAGE
    order = np.argsort(key, kind="stable")[start : start + PAGE]
    return Page(found[order], len(found))


def _values(opened: Opened) -> dict[str, np.ndarray]:
    batch = opened.batch
    return {
        "entry": batch.entry,
        "label": batch.labels,
        "score": batch.scores,
        "gradient": opened.gradient,
    }


def _found(batch: LargeBatch, values: dict[str, np.ndarray], search: str) -> np.ndarray:
    search = search.strip()
    if not search:
        return np.arange(len(batch))
    if compared := _COMPARISON.fullmatch(search):
        name, sign, number = compared.groups()
        column = values[_NAMES.get(name.lower(), name.lower())]
        try:
            return np.flatnonzero(_SIGNS[sign](column, float(number)))
        except ValueError:  # such as 1.2.3: no number, so it is looked for as text
            pass
    if numbered := re.fullmatch(r"#?\s*(\d+)", search):
        exact = np.flatnonzero(batch.entry == int(numbered[1]) - 1)
        if len(exact):
            return exact
    wanted = search.casefold()
    hits = np.fromiter(
        (
            wanted in first.casefold() or wanted in second.casefold()
            for first, second in zip(batch.first, batch.second, strict=True)
        ),
        dtype=bool,
        count=len(batch),
    )
    return np.flatnonzero(hits[batch.entry])


@dataclass(frozen=True, eq=False)
class Histogram:
    """How many scores of each group of labels lie in each bin; `counts` is [groups, bins]."""

    edges: np.ndarray
    groups: tuple[tuple[float, float], ...]
    counts: np.ndarray


def histogram(batch: LargeBatch, bins: int = 48, most_groups: int = 6) -> Histogram:
    """Scores by label: each level by itself, or where there are many, equally many at a time."""
    levels = np.unique(batch.labels)
    if len(levels) > most_groups:
        cuts = np.linspace(0, len(batch), most_groups)[1:-1].round().astype(int)
        starts = np.unique(np.searchsorted(batch.labels, batch.labels[cuts], "left"))
        starts = np.unique(np.concatenate([[0], starts]))
    else:
        starts = np.searchsorted(batch.labels, levels, "left")
    stops = np.append(starts[1:], len(batch))
    low, high = float(batch.scores.min()), float(batch.scores.max())
    edges = np.linspace(low, high if high > low else low + 1, bins + 1)
    counts = np.stack(
        [
            np.histogram(batch.scores[start:stop], edges)[0]
            for start, stop in zip(starts, stops, strict=True)
        ]
    )
    groups = tuple(
        (float(batch.labels[start]), float(batch.labels[stop - 1]))
        for start, stop in zip(starts, stops, strict=True)
    )
    return Histogram(edges, groups, counts)
