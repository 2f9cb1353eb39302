"""Negatives with the text of their query or of its key, in a matrix too large to lay out.

The numbers of the texts alone determine these cells, and only they are computed.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from lossprism.explorer.core.duplicate_negatives import SameText

# Rows whose cells are found together, and cells that are computed together: a cell takes two
# vectors of its own, unless most of a row are needed.
ROWS_AT_ONCE, CELLS_AT_ONCE = 2**7, 2**13


@dataclass(frozen=True, eq=False)
class DuplicateSearch:
    """Rows that look for one of the columns, their `own` [R], among the others.

    `queries` [R, D] and `keys` [C, D] are vectors whose products `weight` turns, with the numbers
    of their rows, into the logarithms of the weights; `total` is the weight of all negatives.
    `rows_of` [R] and `columns_of` [C] are the numbers of the texts. `itself`: column r is row r.
    """

    queries: Tensor
    keys: Tensor
    own: np.ndarray
    rows_of: np.ndarray
    columns_of: np.ndarray
    weight: Callable[[Tensor, Tensor], Tensor]
    total: float
    itself: bool
    left_out: bool


def same_text_of(looking: DuplicateSearch) -> SameText:
    """Count and weigh the negatives of the same text, as
    `explorer.core.duplicate_negatives.same_text_in` does for a batch that is laid out."""
    rows, columns = len(looking.rows_of), len(looking.columns_of)
    counts, weights, rows_with = np.zeros(2, dtype=np.int64), np.zeros(2), 0
    by_text = np.argsort(looking.columns_of, kind="stable")
    ordered = looking.columns_of[by_text]
    for start in range(0, rows, ROWS_AT_ONCE):
        some = np.arange(start, min(start + ROWS_AT_ONCE, rows))
        anchors = looking.rows_of[some]
        positives = looking.columns_of[looking.own[some]]
        having = np.zeros(len(some), dtype=bool)
        for kind, texts in enumerate((anchors, positives)):
            sought = np.full(len(some), True) if kind == 0 else texts != anchors
            at, cells = _cells(ordered, by_text, texts, sought)
            negative = cells != looking.own[some[at]]
            if looking.itself:
                negative &= cells != some[at]
            at, cells = at[negative], cells[negative]
            having[at] = True
            counts[kind] += len(at)
            if not looking.left_out:
                weights[kind] += _weight(looking, some[at], cells)
        rows_with += int(having.sum())
    shares = weights / (looking.total or 1.0)
    return SameText(
        rows=rows,
        negatives=rows * (columns - 1 - looking.itself),
        of_anchor=int(counts[0]),
        of_positive=int(counts[1]),
        rows_with=rows_with,
        share_of_anchor=float(shares[0]),
        share_of_positive=float(shares[1]),
        left_out=looking.left_out,
        axis="view" if looking.itself else "query",
    )


def _cells(
    ordered: np.ndarray, by_text: np.ndarray, texts: np.ndarray, sought: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The cells whose column has the text of their row: which of the rows, and which column."""
    first = np.searchsorted(ordered, texts)
    many = np.where(sought, np.searchsorted(ordered, texts, "right") - first, 0)
    at = np.repeat(np.arange(len(texts)), many)
    beyond = np.arange(len(at)) - np.repeat(np.cumsum(many) - many, many)
    return at, by_text[first[at] + beyond]


def _weight(looking: DuplicateSearch, rows: np.ndarray, columns: np.ndarray) -> float:
    """The sum of the weights of these cells."""
    if not len(rows):
        return 0.0
    queries, keys = looking.queries, looking.keys
    top, bottom = int(rows[0]), int(rows[-1]) + 1
    at, other = (torch.from_numpy(side).to(queries.device) for side in (rows, columns))
    if len(rows) > CELLS_AT_ONCE:  # then all products of these rows take no longer
        products = (queries[top:bottom] @ keys.T)[at - top, other]
    else:
        products = (queries[at] * keys[other]).sum(dim=1)
    return float(looking.weight(products, at).double().exp().sum())
