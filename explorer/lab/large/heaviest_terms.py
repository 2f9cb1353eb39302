"""The heaviest of all terms, found without forming them."""

from dataclasses import dataclass

import numpy as np

from lossprism.explorer.lab.large.pair_order_terms_by_row_and_column import SeparableTerms

MAX_TERMS = 100


@dataclass(frozen=True, eq=False)
class Heaviest:
    """Terms in falling order: where each stands, its value, its share of the whole weight."""

    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    shares: np.ndarray


def heaviest_terms(terms: SeparableTerms) -> Heaviest:
    """Return the MAX_TERMS largest terms of all N².

    Only the rows with the largest best terms are needed: their own best terms already are MAX_TERMS
    terms that no term of another row exceeds.
    """
    best = _row_bests(terms)
    rows = np.flatnonzero(best > -np.inf)
    rows = rows[_top(best[rows])]
    least = best[rows].min() if len(rows) == MAX_TERMS else -np.inf
    terms_of_rows = [_row_terms(terms, row, least) for row in rows]
    if not terms_of_rows:
        nothing = np.zeros(0, dtype=np.int64)
        return Heaviest(nothing, nothing, np.zeros(0), np.zeros(0))
    columns = np.concatenate([places for places, _ in terms_of_rows])
    values = np.concatenate([values for _, values in terms_of_rows])
    of_row = np.repeat(rows, [len(places) for places, _ in terms_of_rows])
    top = np.lexsort((columns, of_row, -values))[:MAX_TERMS]
    return Heaviest(of_row[top], columns[top], values[top], np.exp(values[top] - terms.total))


def _top(values: np.ndarray) -> np.ndarray:
    """Positions of the MAX_TERMS largest values, in any order."""
    if len(values) <= MAX_TERMS:
        return np.arange(len(values))
    return np.argpartition(-values, MAX_TERMS - 1)[:MAX_TERMS]


def _row_terms(terms: SeparableTerms, row: int, least: float) -> tuple[np.ndarray, np.ndarray]:
    """Columns and values of the row's terms that are at least `least`, at most MAX_TERMS."""
    start = int(np.searchsorted(terms.labels, terms.labels[row], "right"))
    values = terms.higher[start:]
    if terms.by_gap:
        values = values + np.log(terms.labels[start:] - terms.labels[row])
    values = terms.lower[row] + values  # in this order the sums round as in `_row_bests`
    places = np.flatnonzero(values >= least)
    places = places[_top(values[places])]
    return start + places, values[places]


def _row_bests(terms: SeparableTerms) -> np.ndarray:
    """The largest term of each row, −inf where the row has none."""
    if terms.by_gap:
        return terms.lower + _best_with_gap(terms.labels, terms.higher)
    suffix = np.append(np.maximum.accumulate(terms.higher[::-1])[::-1], -np.inf)
    return terms.lower + suffix[np.searchsorted(terms.labels, terms.labels, "right")]


def _best_with_gap(labels: np.ndarray, higher: np.ndarray) -> np.ndarray:
    """max_i log(y_i − y_j) + v_i for each j, over y_i > y_j.

    A column counts only if no other has both a higher label and a higher v. Along these the best
    column moves only upwards as y_j rises, so the rows can be halved: each half searches on its
    own side of the middle row's best.
    """
    suffix = np.append(np.maximum.accumulate(higher[::-1])[::-1], -np.inf)
    front = np.flatnonzero(higher > suffix[1:])
    front = front[np.diff(labels[front], prepend=-np.inf) > 0]
    levels, level_of = np.unique(labels, return_inverse=True)
    best = np.full(len(levels), -np.inf)
    # The place in `front` of each row's best, with a guard before and after.
    place = np.concatenate([[0], np.zeros(len(levels), dtype=np.int64), [len(front) - 1]])
    step = 1 << max(len(levels) - 1, 1).bit_length()
    while step:
        middle = np.arange(step, len(levels) + 1, 2 * step)
        lowest = place[middle - step]
        highest = place[np.minimum(middle + step, len(levels) + 1)]
        counts = highest - lowest + 1
        starts = np.cumsum(counts) - counts
        candidate = np.arange(counts.sum()) + np.repeat(lowest - starts, counts)
        gap = labels[front[candidate]] - np.repeat(levels[middle - 1], counts)
        value = np.full(len(gap), -np.inf)
        np.log(gap, where=gap > 0, out=value)
        value += higher[front[candidate]]
        top = np.maximum.reduceat(value, starts)
        # The last of equals, so that a row without any term leaves the columns above it open.
        is_best = np.where(value == np.repeat(top, counts), candidate, -1)
        place[middle] = np.maximum.reduceat(is_best, starts)
        best[middle - 1] = top
        step //= 2
    return best[level_of]
