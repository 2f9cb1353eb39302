"""Segments of neighbouring pairs, summed up so that two neighbours make one.

A segment tree: any segment is joined from a few that are kept, in time that grows with the
logarithm of the pairs. The pairs stand in the order of their labels; what is kept of a segment says
all that its own terms, and those with what comes before or after it, need. Everything is in
logarithms: nothing overflows, nothing small is lost beside something large, and no difference is
ever taken of sums.
"""

from __future__ import annotations

from collections.abc import Callable
from types import EllipsisType
from typing import Generic, NamedTuple, Self, TypeVar

import numpy as np

from lossprism.explorer.lab.large.window_blocks import Window

# Length of the shortest stored segments; shorter ones are joined on request.
MIN_SEGMENT = 16

Add = Callable[[np.ndarray, np.ndarray], np.ndarray]


class Segments(NamedTuple):
    """Segments whose terms are e^(u_j + v_i) over y_j < y_i, all [n].

    `first` and `last` are the labels at the ends (∞ and −∞ of an empty segment). `lower` sums e^u,
    `lower_last` those of the last label alone and `lower_rest` the others; `higher` sums e^v in
    the same way by the first label; `inside` the segment's own terms. With `maximum` in place of a
    sum, all of them are largest values.
    """

    first: np.ndarray
    last: np.ndarray
    lower: np.ndarray
    lower_last: np.ndarray
    lower_rest: np.ndarray
    higher: np.ndarray
    higher_first: np.ndarray
    higher_rest: np.ndarray
    inside: np.ndarray

    @classmethod
    def of(cls, labels: np.ndarray, lower: np.ndarray, higher: np.ndarray) -> Self:
        """A segment for each pair."""
        nothing = np.full(len(labels), -np.inf)
        return cls(labels, labels, lower, lower, nothing, higher, higher, nothing, nothing)

    def across(self, right: Segments, add: Add) -> np.ndarray:
        """The terms of rows of these segments with columns of segments that come later."""
        tied = self.last == right.first
        terms = np.where(tied, self.lower_rest, self.lower) + right.higher
        return add(terms, np.where(tied, self.lower_last + right.higher_rest, -np.inf))

    def then(self, right: Segments, add: Add) -> Segments:
        """Join each of these segments with the one that follows it."""
        tied = self.last == right.first
        # What has one label, or none, goes on with its neighbour's.
        goes_on = (tied & (self.first == self.last)) | (self.first > self.last)
        went_on = (tied & (right.first == right.last)) | (right.first > right.last)
        return Segments(
            np.minimum(self.first, right.first),
            np.maximum(self.last, right.last),
            add(self.lower, right.lower),
            add(right.lower_last, np.where(went_on, self.lower_last, -np.inf)),
            add(right.lower_rest, np.where(went_on, self.lower_rest, self.lower)),
            add(self.higher, right.higher),
            add(self.higher_first, np.where(goes_on, right.higher_first, -np.inf)),
            add(self.higher_rest, np.where(goes_on, right.higher_rest, right.higher)),
            add(add(self.inside, right.inside), self.across(right, add)),
        )


class GapSegments(NamedTuple):
    """The same for terms (y_i − y_j) e^(u_j + v_i), which vanish where labels are equal.

    `lower_gap` sums (last − y_j) e^u and `higher_gap` (y_i − first) e^v.
    """

    first: np.ndarray
    last: np.ndarray
    lower: np.ndarray
    higher: np.ndarray
    lower_gap: np.ndarray
    higher_gap: np.ndarray
    inside: np.ndarray

    @classmethod
    def of(cls, labels: np.ndarray, lower: np.ndarray, higher: np.ndarray) -> Self:
        """A segment for each pair."""
        nothing = np.full(len(labels), -np.inf)
        return cls(labels, labels, lower, higher, nothing, nothing, nothing)

    def across(self, right: GapSegments, add: Add) -> np.ndarray:
        """The terms of rows of these segments with columns of segments that come later."""
        # y_i − y_j = (y_i − first) + (first − last) + (last − y_j), none of them negative.
        between = self.lower + right.higher + _log_gap(right.first, self.last)
        beyond = add(self.lower + right.higher_gap, self.lower_gap + right.higher)
        return add(between, beyond)

    def then(self, right: GapSegments, add: Add) -> GapSegments:
        """Join each of these segments with the one that follows it."""
        first, last = np.minimum(self.first, right.first), np.maximum(self.last, right.last)
        left_gap = add(self.lower_gap, self.lower + _log_gap(last, self.last))
        right_gap = add(right.higher_gap, right.higher + _log_gap(right.first, first))
        return GapSegments(
            first,
            last,
            add(self.lower, right.lower),
            add(self.higher, right.higher),
            add(left_gap, right.lower_gap),
            add(self.higher_gap, right_gap),
            add(add(self.inside, right.inside), self.across(right, add)),
        )


def _log_gap(high: np.ndarray, low: np.ndarray) -> np.ndarray:
    """log(high − low), −∞ where there is no gap or one of the segments is empty."""
    with np.errstate(invalid="ignore"):  # two empty segments
        gap = high - low
    there = (gap > 0) & (gap < np.inf)
    return np.log(gap, where=there, out=np.full_like(gap, -np.inf))


Kind = TypeVar("Kind", Segments, GapSegments)
Index = np.ndarray | tuple[slice | EllipsisType | int | None, ...]


def taken(segments: Kind, index: Index) -> Kind:
    """Return the segments at the index, in its shape."""
    return type(segments)(*(field[index] for field in segments))


def _or_empty(segments: Kind, index: np.ndarray, there: np.ndarray) -> Kind:
    """The segments of these numbers where they are `there`, and empty ones elsewhere."""
    values = taken(segments, np.where(there, index, 0))
    first, *rest = (
        np.where(there, field, empty)
        for field, empty in zip(values, (np.inf, *[-np.inf] * (len(values) - 1)), strict=True)
    )
    return type(segments)(first, *rest)


def _halved(segments: Kind, add: Add) -> Kind:
    """Join each two neighbours along the last axis."""
    return taken(segments, np.s_[..., 0::2]).then(taken(segments, np.s_[..., 1::2]), add)


class SegmentTree(Generic[Kind]):
    """Sums of any segment of the pairs, from stored segments of 16, 32, 64 … pairs."""

    def __init__(self, pairs: Kind, add: Add) -> None:
        self._pairs, self._add = pairs, add
        self._levels: list[Kind] = []  # of MIN_SEGMENT pairs, and of twice as many each time
        level, width = pairs, 1
        while width < MIN_SEGMENT or len(level.first) > 1:
            count = len(level.first)
            even = np.arange(count + count % 2)
            level = _halved(_or_empty(level, even, even < count) if count % 2 else level, add)
            width *= 2
            if width >= MIN_SEGMENT:
                self._levels.append(level)

    def between(self, starts: np.ndarray, stops: np.ndarray) -> Kind:
        """The segments from each of `starts` up to each of `stops`; empty where equal."""
        add = self._add
        low, high = -(-starts // MIN_SEGMENT), stops // MIN_SEGMENT
        within = low > high  # both ends between the same two bounds
        heads = self._ends(starts, np.where(within, stops, low * MIN_SEGMENT))
        tails = self._ends(np.where(within, stops, high * MIN_SEGMENT), stops)
        high = np.maximum(low, high)
        for level in self._levels:
            odd = (low < high) & (low % 2 == 1)
            heads = heads.then(_or_empty(level, low, odd), add)
            low = low + odd
            odd = (low < high) & (high % 2 == 1)
            tails = _or_empty(level, high - 1, odd).then(tails, add)
            low, high = low // 2, (high - odd) // 2
        return heads.then(tails, add)

    def blocks(self, window: Window) -> np.ndarray:
        """Sums of the terms of each block of a window."""
        add = self._add
        rows, columns = window.rows, window.columns
        tops, bottoms, lefts, rights = rows[:-1], rows[1:], columns[:-1], columns[1:]
        of_rows = taken(self.between(tops, bottoms), np.s_[:, None])
        of_columns = taken(self.between(lefts, rights), np.s_[None, :])
        later = bottoms[:, None] <= lefts
        sums = np.where(later, of_rows.across(of_columns, add), -np.inf)
        # A block on the diagonal: rows alone, then rows and columns together, then columns alone.
        # What comes the other way round is masked.
        crossed = np.nonzero((tops[:, None] < rights) & ~later)
        top, bottom = tops[crossed[0]], bottoms[crossed[0]]
        left, right = lefts[crossed[1]], rights[crossed[1]]
        start, stop = np.maximum(top, left), np.minimum(bottom, right)
        before, shared, after = (
            self.between(top, start),
            self.between(start, stop),
            self.between(stop, right),
        )
        both = add(before.across(shared, add), shared.inside)
        sums[crossed] = add(both, before.then(shared, add).across(after, add))
        return sums

    def _ends(self, starts: np.ndarray, stops: np.ndarray) -> Kind:
        """Segments of less than MIN_SEGMENT pairs."""
        places = starts[:, None] + np.arange(MIN_SEGMENT)
        segments = _or_empty(self._pairs, places, places < stops[:, None])
        while segments.first.shape[1] > 1:
            segments = _halved(segments, self._add)
        return taken(segments, np.s_[:, 0])
