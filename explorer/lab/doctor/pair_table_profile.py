"""A table of pairs as numbers, with its figures for any loss, computed once.

A place is the index of a pair, from 0; a mask [N] has an entry for each pair."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np

from lossprism.explorer.lab.doctor import text_ids
from lossprism.explorer.lab.doctor.duplicate_collisions import (
    Collisions,
    expected_collisions,
    have_partners,
    partner_pairs,
    partners,
    partners_either_way,
)
from lossprism.explorer.lab.doctor.text_measurements import figures_of
from lossprism.explorer.runtime import jobs
from lossprism.explorer.sources.column_names import name_same_kind
from lossprism.explorer.sources.column_roles import PAIR_ROLES, TEACHER, TRIPLET_ROLES, is_name
from lossprism.losses.labels import UNIT, Ends, label_rules

# Labels of one pair that differ by at most this share of their scale are the noise of raters.
RATER_NOISE = 0.1


class Columns(Protocol):
    """Pairs of any source: `Pairs`, or those of a large file."""

    @property
    def first(self) -> Sequence[str]: ...
    @property
    def second(self) -> Sequence[str]: ...
    @property
    def labels(self) -> Sequence[float] | np.ndarray: ...
    @property
    def labelled(self) -> bool: ...
    @property
    def teacher(self) -> Sequence[float] | np.ndarray | None: ...
    @property
    def inference(self) -> bool: ...
    @property
    def threshold(self) -> float | None: ...


@dataclass(frozen=True)
class Cleaned:
    """The index in `reasons` of why each pair is left out, −1 for one that stays [N]. The first
    reason that holds counts."""

    why: np.ndarray
    reasons: tuple[str, ...]

    @classmethod
    def without(cls, count: int, faults: Mapping[str, np.ndarray]) -> Cleaned:
        """Leave out the places of each fault among `count` pairs."""
        why = np.full(count, -1, dtype=np.int8)
        for reason, places in reversed(list(enumerate(faults.values()))):
            why[places] = reason
        return cls(why, tuple(faults))

    @property
    def kept(self) -> np.ndarray:
        """The pairs that stay, counted from 1."""
        return np.flatnonzero(self.why < 0) + 1

    @property
    def left_out(self) -> list[tuple[int, str]]:
        """The pairs that are left out, counted from 1, each with the name of its fault."""
        places = np.flatnonzero(self.why >= 0).tolist()
        return [(place + 1, self.reasons[self.why[place]]) for place in places]


@dataclass(frozen=True, eq=False)
class Profile:
    """A table of N pairs.

    `first`, `second` and `pair` number the texts of each side and the pairs; texts that are equal
    after folding have one number. `tokens` approximates those of the longer text of each pair,
    `foreign` masks the texts of each side in another script than Latin. Without labels, all pairs
    are positive. `rows` has the row of the table of each pair, for triplets and lists, which have
    several pairs each and of which batches are made; None where each pair is a row.
    """

    columns: Columns
    labels: np.ndarray
    first: np.ndarray
    second: np.ndarray
    pair: np.ndarray
    positive: np.ndarray
    tokens: np.ndarray
    foreign: tuple[np.ndarray, np.ndarray]
    threshold: float
    label_range: Ends
    rows: np.ndarray | None = None
    _met: dict[int, Collisions] = field(default_factory=dict, repr=False)
    _cleaned: dict[bool, Cleaned] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def labelled(self) -> bool:
        return self.columns.labelled

    @property
    def own_vectors(self) -> str:
        """The encoder of the vectors that came with the texts, "" for none."""
        return getattr(self.columns, "own_vectors", "")

    @property
    def label_column(self) -> str:
        """Name of the column of labels, "score" where it has none."""
        return self._named("score") or "score"

    @property
    def text_columns(self) -> tuple[str, ...]:
        """Names of all columns of texts; for columns without a name "anchor", "positive" and
        "negative", numbered where there are several."""
        anchor, positive, negative = TRIPLET_ROLES
        first = self._named("first") or self._named(anchor) or anchor
        positives = getattr(self.columns, "positives", ()) or (self._named("second"),)
        negatives = getattr(self.columns, "negatives", ())
        return (first, *_numbered(positives, positive), *_numbered(negatives, negative))

    def _named(self, role: str) -> str:
        name = getattr(self.columns, "chosen", {}).get(role, "")
        return name if is_name(name) else ""

    @property
    def of_inference(self) -> bool:
        """True if the labels are entailment, neutral and contradiction, which are not degrees."""
        return self.columns.inference

    @property
    def of_triplets(self) -> bool:
        """True if the pairs come from triplets, which have no column of labels."""
        return TRIPLET_ROLES[0] in getattr(self.columns, "chosen", {})

    @property
    def has_teacher(self) -> bool:
        return self.columns.teacher is not None

    @cached_property
    def teacher_margins(self) -> np.ndarray:
        """Largest margin of the teacher between a positive and another pair of each first text, by
        the number of that text; −∞ without both."""
        count = int(self.first.max(initial=-1)) + 1
        scores = np.full(len(self), np.nan)
        if self.columns.teacher is not None:
            scores = np.asarray(self.columns.teacher, dtype=np.float64)
        ends = []
        for side in (self.positive, ~self.positive):
            scored = side & ~np.isnan(scores)
            low, high = np.full(count, np.inf), np.full(count, -np.inf)
            np.minimum.at(low, self.first[scored], scores[scored])
            np.maximum.at(high, self.first[scored], scores[scored])
            ends.append((low, high))
        (low, high), (low_other, high_other) = ends
        return np.maximum(high - low_other, high_other - low)

    @cached_property
    def levels(self) -> np.ndarray:
        """The distinct labels, in order."""
        return np.unique(self.labels)

    @cached_property
    def positives(self) -> int:
        return int(self.positive.sum())

    @property
    def in_lists(self) -> bool:
        """True if a row has a list of candidates or negatives, any of which can be left out."""
        return bool(getattr(self.columns, "listed", frozenset()) - {TEACHER})

    @cached_property
    def row_of(self) -> np.ndarray:
        """The index of the row of each pair [N]."""
        if self.rows is None:
            return np.arange(len(self))
        return np.unique(self.rows, return_inverse=True)[1]

    @property
    def is_symmetric(self) -> bool:
        """True if (A, B) and (B, A) are one pair: for labelled pairs whose columns are of one kind,
        such as sentence1 and sentence2, or have no names; not for questions and answers."""
        if self.rows is not None or not self.labelled or self.of_inference:
            return False
        first, second = (self._named(role) for role in PAIR_ROLES[:2])
        return not (first and second) or name_same_kind(first, second)

    @cached_property
    def same_pair(self) -> np.ndarray:
        """A number for each pair of texts [N]; for symmetric pairs, in either order."""
        if not self.is_symmetric:
            return self.pair
        low, high = np.minimum(self.first, self.second), np.maximum(self.first, self.second)
        return text_ids.pair_ids(low, high)

    @cached_property
    def _labelled_pair(self) -> np.ndarray:
        """A number for each pair of texts with its label [N]."""
        return text_ids.pair_ids(self.same_pair, np.searchsorted(self.levels, self.labels))

    @cached_property
    def row_contents(self) -> np.ndarray:
        """A number for the row of each pair [N], one for rows with the same labelled pairs in any
        order. Triplets that differ in their negatives have different numbers."""
        if self.rows is None:
            return self._labelled_pair
        return text_ids.set_ids(self._labelled_pair, self.row_of)[self.row_of]

    @cached_property
    def repeated_pairs(self) -> np.ndarray:
        """The places of pairs in rows that repeat an earlier row; of a list, also those that repeat
        an earlier pair in it."""
        again = text_ids.seen_before(self.row_contents, self.row_of)
        if self.rows is not None and self.in_lists:
            again |= text_ids.seen_before(text_ids.pair_ids(self.row_of, self._labelled_pair))
        return np.flatnonzero(again)

    @cached_property
    def own_negatives(self) -> np.ndarray:
        """The places of triplets' negatives that are the positive or the anchor of their row."""
        if not self.of_triplets:
            return np.zeros(0, dtype=np.int64)
        pair_in_row = text_ids.pair_ids(self.row_of, self.pair)
        own = np.isin(pair_in_row, pair_in_row[self.positive]) | (self.first == self.second)
        return np.flatnonzero(own & ~self.positive)

    @property
    def rater_noise(self) -> float:
        """Largest difference between labels of one pair that is not a conflict."""
        low, high = self.label_range
        return RATER_NOISE * (high - low)

    def label_conflicts(self, by_threshold: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return the places of pairs that have several labels in the table: those that conflict,
        and those within `rater_noise`. A triplet with one pair as positive and negative does not
        count. `by_threshold`: labels differ only across the threshold."""
        counts = np.ones(len(self), dtype=bool)
        counts[self.own_negatives] = False
        places = np.flatnonzero(counts)
        pair = self.same_pair[places]
        spreads = text_ids.label_spreads(pair, self.labels[places])
        read = text_ids.label_spreads(pair, self.positive[places]) if by_threshold else spreads
        several, is_noise = read > 0, spreads <= self.rater_noise * (1 + 1e-9)
        return places[several & ~is_noise], places[several & is_noise]

    @cached_property
    def same_on_both_sides(self) -> np.ndarray:
        """The places of pairs of equal texts; of triplets, those of anchor and positive."""
        same = self.first == self.second
        return np.flatnonzero(same & self.positive if self.of_triplets else same)

    @cached_property
    def has_other_label(self) -> np.ndarray:
        """Mask of the pairs whose first text has another label in another pair [N]."""
        return text_ids.label_spreads(self.first, self.labels) > 0

    @cached_property
    def in_list(self) -> np.ndarray:
        """Mask of the pairs whose first text is in another pair, too [N]."""
        return np.bincount(self.first)[self.first] > 1

    @cached_property
    def commonest_label_share(self) -> float:
        """Share of the pairs with the most frequent label."""
        _, counts = np.unique(self.labels, return_counts=True)
        return float(counts.max() / len(self)) if len(self) else 1.0

    @cached_property
    def heads(self) -> np.ndarray:
        """The place of the pair that represents each row [R]: its first positive pair, or its first
        where none is positive."""
        if self.rows is None:
            return self.row_of
        order = np.lexsort((~self.positive, self.rows))
        return np.sort(order[np.unique(self.rows[order], return_index=True)[1]])

    @cached_property
    def positive_heads(self) -> np.ndarray:
        """The places of the heads that are positive [P]."""
        return self.heads[self.positive[self.heads]]

    @cached_property
    def partners(self) -> np.ndarray:
        """Number of partners of the positive head of each row (`duplicate_collisions`); 0 for a row
        without one [R]."""
        counts = np.zeros(len(self.heads), dtype=np.int64)
        if len(self.positive_heads):
            counts[self.positive[self.heads]] = partners(*self._of_positives)
        return counts

    @property
    def _of_positives(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        places = self.positive_heads
        return self.first[places], self.second[places], self.pair[places]

    @cached_property
    def sharing_text(self) -> np.ndarray:
        """The places of positive heads that share a text with that of another row, on either
        side."""
        places = self.positive_heads
        return places[have_partners(*self._of_positives)] if len(places) else places

    @cached_property
    def sharing_only_folded(self) -> np.ndarray:
        """The places of those that share a text only after folding, not to the letter."""
        places = self.sharing_text
        if not len(places):
            return places
        columns, at = self.columns, places.tolist()
        first, second = (
            np.fromiter((hash(side[place]) for place in at), np.int64, len(at))
            for side in (columns.first, columns.second)
        )
        first, second = text_ids.ids_of(first, second)
        folded = self.first[places], self.second[places], self.pair[places]
        exact = first, second, text_ids.pair_ids(first, second)
        return places[partners_either_way(*folded) > partners_either_way(*exact)]

    @cached_property
    def _partner_pairs(self) -> float:
        return partner_pairs(*self._of_positives)

    def meetings_in(self, batch: int) -> Collisions:
        """Return how often positive pairs that share a text meet in a batch of this size."""
        if batch not in self._met:
            self._met[batch] = self._meetings(batch)
        return self._met[batch]

    def _meetings(self, batch: int) -> Collisions:
        count = len(self.positive_heads)
        if not count:
            return expected_collisions(np.zeros(0, dtype=np.int64), batch)
        met = expected_collisions(self.partners, batch, self._partner_pairs)
        # The loss leaves rows without a positive pair out.
        share = float(self.partners.sum()) / max(count * (count - 1), 1)
        return Collisions(met.pairs, met.rows, met.floor * len(self.heads) / count, share)

    @cached_property
    def needs_met(self) -> frozenset[str]:
        """The `Readable.needs` that the pairs meet."""
        there = {
            "positives": self.positives > 0,
            "order": self.labelled and len(self.levels) > 1,
            "sides": self.labelled and 0 < self.positives < len(self),
            "lists": bool(self.in_list.any()),
            "teacher": self.has_teacher,
        }
        return frozenset(need for need, met in there.items() if met)

    def cleaned(self, by_threshold: bool) -> Cleaned:
        """Leave out negatives that are their own positive or anchor, pairs whose labels conflict
        (see `label_conflicts`), pairs of equal texts, and repeated rows.

        A list loses these candidates alone; any other row is left out whole.
        """
        known = self._cleaned.get(by_threshold)
        if known is None:
            faults = {
                "negative_is_own": self.own_negatives,
                "conflicting_labels": self.label_conflicts(by_threshold)[0],
                "same_on_both_sides": self.same_on_both_sides,
                "copies": self.repeated_pairs,
            }
            known = self._of_whole_rows(Cleaned.without(len(self), faults))
            self._cleaned[by_threshold] = known
        return known

    def _of_whole_rows(self, cleaned: Cleaned) -> Cleaned:
        """Leave out the rest of each row that is useless without the pairs it lost."""
        if self.rows is None:
            return cleaned
        out, row, count = cleaned.why >= 0, self.row_of, len(self.heads)
        lost = np.bincount(row[out], minlength=count)
        if self.in_lists:
            # A triplet needs a positive and a negative, a list two candidates to compare.
            sides = [self.positive, ~self.positive] if self.of_triplets else [np.ones_like(out)]
            least = 1 if self.of_triplets else 2
            lacking = [np.bincount(row[side & ~out], minlength=count) < least for side in sides]
            lost = lost * np.logical_or.reduce(lacking)
        first = np.full(count, len(cleaned.reasons))
        np.minimum.at(first, row[out], cleaned.why[out])
        why = np.where((lost > 0)[row], first[row], cleaned.why).astype(np.int8)
        return Cleaned(why, cleaned.reasons)

    def kept_rows(self, by_threshold: bool) -> int:
        """Number of rows of the cleaned table."""
        is_kept = np.zeros(len(self.heads), dtype=bool)
        is_kept[self.row_of[self.cleaned(by_threshold).why < 0]] = True
        return int(is_kept.sum())

    def prepared(self) -> Profile:
        """Compute everything that does not depend on a loss or a batch size."""
        _ = self.needs_met, self.partners, self.sharing_only_folded, self._partner_pairs
        _ = self.has_other_label, self.in_list, self.commonest_label_share, self.cleaned(False)
        return self


def _numbered(names: Sequence[str], role: str) -> Iterator[str]:
    """Yield the names of columns; without a name the role, numbered if there are several."""
    for at, name in enumerate(names, 1):
        yield name if is_name(name) else f"{role}_{at}" if len(names) > 1 else role


def profiled(
    columns: Columns,
    report: Callable[[str, int, int], None] = jobs.step,
    rows: np.ndarray | None = None,
) -> Profile:
    """Fold, number and measure all texts of a table, once.

    `report` hears the progress, and may raise to stop.
    """
    labels = np.asarray(columns.labels, dtype=np.float64)
    count = len(labels)
    one, other = (
        figures_of(side, lambda done, before=before: report("numbering", before + done, 2 * count))
        for before, side in ((0, columns.first), (count, columns.second))
    )
    first, second = text_ids.ids_of(one.hashes, other.hashes)
    rules = label_rules(np.unique(labels).tolist(), columns.threshold, None if count else UNIT)
    positive = labels >= rules.threshold if columns.labelled else np.ones(count, dtype=bool)
    return Profile(
        columns=columns,
        labels=labels,
        first=first,
        second=second,
        pair=text_ids.pair_ids(first, second),
        positive=positive,
        tokens=np.maximum(one.tokens, other.tokens),
        foreign=(one.foreign, other.foreign),
        threshold=rules.threshold,
        label_range=rules.label_range,
        rows=rows if rows is not None and (rows[1:] == rows[:-1]).any() else None,
    )
