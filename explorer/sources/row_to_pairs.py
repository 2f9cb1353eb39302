"""Reader of one row's cells as pairs: two sentences, a list of candidates, or a triplet."""

import math
from collections.abc import Mapping, Sequence

from lossprism.explorer.runtime.hosted_budgets import budget
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.cells import (
    AmbiguousScore,
    Cells,
    decimal_mark,
    is_blank,
    listed_in,
    read_score,
    read_sentence,
)
from lossprism.explorer.sources.column_names import INFERENCE_NAMES, QUERY_NAMES, plain_name
from lossprism.explorer.sources.column_roles import (
    NO_SCORE,
    POSITIVE_ROLES,
    TEACHER,
    TRIPLET_ROLES,
    candidate_columns,
    teacher_columns,
)
from lossprism.explorer.sources.label_column_notation_detection import (
    Kind,
    LabelKind,
    label_kind,
    numbered_inference,
)
from lossprism.explorer.sources.pairs import NEGATIVE, POSITIVE
from lossprism.explorer.sources.pictures_in_table_cells import RowPictures
from lossprism.explorer.sources.reading_notes import ColumnsRead
from lossprism.explorer.sources.sentence_vectors_in_tables import SentenceVectors
from lossprism.explorer.sources.table_column_kinds import Grid, step
from lossprism.explorer.sources.vector_column_of_each_text_column import GUIDES, OWN

# Two sentences, their label, and the teacher's score, NaN for none.
Pair = tuple[str, str, float, float]

KNOWN_LABELS = 1024  # cells of labels that are read once


class RowReader:
    """Reader of the pairs of each row of a grid: one, or for a list of candidates one each, or for
    a triplet one for each sentence beside the anchor.

    `labelled`: there are scores; `chosen` are the columns that are read, `label_kind` is the
    notation of the scores; `inference`: they are kinds of natural language inference. Of the rows
    so far, `listed` are the roles for which some cell has a list; `several_positives`: some row has
    more than one; `margins`: a teacher's were those of negatives alone. `guide`,
    `vectors` and `pictures` have a guide's vectors, the batch's own, and the pictures of the texts
    that have these, of the rows that were kept.
    """

    def __init__(self, grid: Grid, chosen: Mapping[str, int]) -> None:
        self.grid = grid
        self.sentence_letters = budget("sentence_letters")
        self.names = grid.columns
        self.marks: dict[int, frozenset[str]] = {}
        self.listed: set[str] = set()
        self.margins = self.several_positives = False
        self.without_texts = _negatives_without_texts(grid, chosen)
        if self.without_texts:
            first, second, _ = (chosen[role] for role in TRIPLET_ROLES)
            others = {role: at for role, at in chosen.items() if role not in TRIPLET_ROLES}
            chosen = {"first": first, "second": second, **others}
        self.positions = chosen
        self.is_triplet = set(TRIPLET_ROLES) <= set(chosen)
        scored = "score" in chosen and not grid.is_blank(chosen["score"])
        self.labelled = self.is_triplet or scored
        of_pairs = scored and not self.is_triplet
        self.label_kind = _label_kind(grid, chosen) if of_pairs else LabelKind()
        self.inference = self.label_kind.is_inference
        self.positives = self._serving("positive" if self.is_triplet else "second")
        self.negatives = self._serving("negative")
        taught = self.is_triplet and TEACHER in chosen
        self.taught = teacher_columns(grid.columns, chosen[TEACHER]) if taught else ()
        self.guide = SentenceVectors(grid.columns, GUIDES.by_text(grid.columns, chosen))
        own = OWN.by_text(grid.columns, chosen)
        self.vectors = SentenceVectors(grid.columns, own, needed=True)
        self.pictures = RowPictures([*own])
        self._check_pictures(own)
        self._vectors = [one for one in (self.guide, self.vectors) if one.places]
        self._labels: dict[str, float] = {}  # of the first cells that differ, as text
        named = {role: grid.columns[position] for role, position in chosen.items()}
        self.chosen = named if self.is_triplet else {**named, "score": named.get("score", NO_SCORE)}

    def _check_pictures(self, own: Mapping[int, int]) -> None:
        """Raise Problem for pictures that are read as texts and have no vectors."""
        roles = self.positions.keys() & {*POSITIVE_ROLES, *TRIPLET_ROLES}
        for place in {self.positions[role] for role in roles} - own.keys():
            if self.grid.is_pictures(place):
                raise Problem("pictures_no_vectors", about="columns", column=self.names[place])

    def _serving(self, role: str) -> tuple[int, ...]:
        """Return all columns of a role; for labelled candidates it is one."""
        if role not in self.positions or (role == "second" and self.labelled):
            return ()
        return candidate_columns(self.names, self.positions, role)

    @property
    def used(self) -> ColumnsRead:
        """Roles of the columns."""
        candidates = (*self.positives, *self.negatives)
        read = {*self.positions.values(), *candidates, *self.taught}
        read |= self.guide.places | self.vectors.places
        texts = {self.positions.get(role) for role in (*POSITIVE_ROLES, *TRIPLET_ROLES)}
        positives, negatives, taught, unread, references = (
            tuple(name for place, name in enumerate(self.names) if place in places)
            for places in (
                self.positives,
                self.negatives,
                self.taught,
                set(range(len(self.names))) - read,
                {place for place in texts if place is not None and self.grid.is_reference(place)},
            )
        )
        return ColumnsRead(
            columns=self.names,
            chosen=self.chosen,
            positives=positives,
            negatives=negatives,
            taught=taught,
            unread=unread,
            references=references,
            several_positives=self.several_positives,
            without_texts=self.without_texts,
            left_lines=self.grid.left_lines,
            pictures=self.pictures.found,
            not_shown=tuple(self.pictures.refused),
        )

    def __call__(self, cells: Cells | Problem) -> tuple[Pair, ...]:
        """The pairs of a row. Raises Problem, of the first cell that cannot be read."""
        if isinstance(cells, Problem):
            raise cells
        pairs = self._pairs_in(cells)
        for vectors in self._vectors:
            vectors.read(cells, self._is_list)
        if self.vectors.places:
            self.pictures.read(cells)
        return pairs

    def keep(self) -> None:
        """Keep the vectors and pictures of the row that was read last."""
        for vectors in self._vectors:
            vectors.keep()
        if self.vectors.places:
            self.pictures.keep()

    def _pairs_in(self, cells: Cells) -> tuple[Pair, ...]:
        if not self.is_triplet:
            if (candidates := self._candidates(cells)) is not None:
                self.several_positives |= not self.labelled and len(candidates) > 1
                return candidates
            first = self.sentence(cells, self.positions["first"])
            second = self.sentence(cells, self.positions["second"])
            label = self.score(cells) if self.labelled else POSITIVE
            return ((first, second, label, self._taught(cells)),)
        anchor = self.sentence(cells, self.positions["anchor"])
        positives = self._sentences(cells, "positive", self.positives)
        negatives = self._sentences(cells, "negative", self.negatives)
        self.several_positives |= len(positives) > 1
        texts = [*positives, *negatives]
        labels = [POSITIVE] * len(positives) + [NEGATIVE] * len(negatives)
        teacher_scores = self._taught_candidates(cells, len(positives), len(negatives))
        return tuple(zip([anchor] * len(texts), texts, labels, teacher_scores, strict=True))

    def _taught_candidates(self, cells: Cells, positives: int, negatives: int) -> list[float]:
        """Return the teacher's score of each of them; for margins 0 for the positive."""
        teacher_scores = [
            self.number(one, position)
            for position in self.taught
            for one in self._entries(cells, TEACHER, position)
        ]
        if not teacher_scores:
            return [math.nan] * (positives + negatives)
        if len(teacher_scores) == positives + negatives:
            return teacher_scores
        if positives == 1 and len(teacher_scores) == negatives and len(self.taught) == 1:
            self.margins = True
            return [0.0, *(-margin for margin in teacher_scores)]
        raise Problem(
            "teacher_count",
            column=self.names[self.positions[TEACHER]],
            count=len(teacher_scores),
            candidates=positives + negatives,
            negatives=negatives,
        )

    def _candidates(self, cells: Cells) -> tuple[Pair, ...] | None:
        """The pairs of a text with a list of candidates, or with one in each column of positives,
        which a list as long of each label and of each teacher's score stands beside; None where the
        row has one candidate.
        """
        position = self.positions["second"]
        several = len(self.positives) > 1
        if not several and not isinstance(cells[position], list):
            return None
        self.listed.add("second")
        name = self.names[position]
        if several:
            texts: Sequence[object] = self._sentences(cells, "second", self.positives)
        else:
            texts = listed_in(cells[position])
        if not texts:
            raise Problem("list_empty", column=name)
        columns = [[POSITIVE] * len(texts), [math.nan] * len(texts)]
        for at, role in enumerate(("score", TEACHER)):
            if role not in self.positions or (role == "score" and not self.labelled):
                continue
            beside = self.positions[role]
            values = listed_in(cells[beside])
            if len(values) != len(texts):
                count, value_count, other = len(texts), len(values), self.names[beside]
                raise Problem(
                    "candidates_values", column=name, other=other, count=count, values=value_count
                )
            read = self.label if role == "score" else self.number
            columns[at] = [read(value, beside) for value in values]
        first = self.sentence(cells, self.positions["first"])
        seconds = [read_sentence(text, name, self.sentence_letters) for text in texts]
        return tuple((first, *pair) for pair in zip(seconds, *columns, strict=True))

    def _is_list(self, cells: Cells, position: int) -> bool:
        """True if a cell of texts is read as a list of them."""
        if self.is_triplet:
            listed = position != self.positions["anchor"]
            return listed and listed_in(cells[position]) != [cells[position]]
        if position != self.positions["second"]:
            return False
        return isinstance(cells[position], list)

    def _taught(self, cells: Cells) -> float:
        """Return the teacher's score of the pair; NaN where no column has it, or the cell is
        empty."""
        if TEACHER not in self.positions or is_blank(cells[self.positions[TEACHER]]):
            return math.nan
        return self.score(cells, TEACHER)

    def sentence(self, cells: Cells, position: int) -> str:
        return read_sentence(cells[position], self.names[position], self.sentence_letters)

    def score(self, cells: Cells, role: str = "score") -> float:
        position = self.positions[role]
        read = self.label if role == "score" else self.number
        return read(cells[position], position)

    def label(self, value: object, position: int) -> float:
        """A label of the column, as the column writes them. Raises Problem if it is none."""
        if not isinstance(value, str):
            return self._label(value, position)
        if (label := self._labels.get(value)) is None:
            label = self._label(value, position)
            if len(self._labels) < KNOWN_LABELS:
                self._labels[value] = label
        return label

    def _label(self, value: object, position: int) -> float:
        name = self.names[position]
        label = self.label_kind.word_label(value, name)
        if label is not None:
            return label
        return self.label_kind.number_label(self.number(value, position), value, name)

    def number(self, value: object, position: int) -> float:
        """Read a score of the column, whose other cells may determine the meaning of its mark."""
        name = self.names[position]
        try:
            return read_score(value, name, self.marks.get(position, ()))
        except AmbiguousScore:
            if position in self.marks:
                raise
        self.marks[position] = self._decimal_marks(position)
        return read_score(value, name, self.marks[position])

    def _decimal_marks(self, position: int) -> frozenset[str]:
        """Marks that certainly stand before the fraction of some score of the column."""
        rows = (cells for _, cells in self.grid.records(step) if not isinstance(cells, Problem))
        return frozenset(filter(None, (decimal_mark(cells[position]) for cells in rows)))

    def _sentences(self, cells: Cells, role: str, positions: Sequence[int]) -> list[str]:
        """Read the sentences of all these columns, of which one may hold a list and some may be
        empty."""
        sentences = [
            read_sentence(text, self.names[position], self.sentence_letters)
            for position in positions
            for text in self._entries(cells, role, position)
        ]
        if not sentences and isinstance(cells[positions[0]], list):
            raise Problem("list_empty", column=self.names[positions[0]])
        return sentences or [self.sentence(cells, positions[0])]

    def _entries(self, cells: Cells, role: str, position: int) -> list[object]:
        """Return the cell, or each entry of its list, without blank ones."""
        cell = cells[position]
        entries = listed_in(cell)
        if len(entries) != 1 or entries[0] is not cell:
            self.listed.add(role)
        return [one for one in entries if not is_blank(one)]


def _negatives_without_texts(grid: Grid, chosen: Mapping[str, int]) -> tuple[str, ...]:
    """The columns of negatives, where all are empty in every row; else none."""
    if not set(TRIPLET_ROLES) <= set(chosen):
        return ()
    places = candidate_columns(grid.columns, chosen, "negative")
    return tuple(grid.columns[at] for at in places) if all(map(grid.has_nothing, places)) else ()


def _label_kind(grid: Grid, chosen: Mapping[str, int]) -> LabelKind:
    """Return the notation of the column of labels. Raises Problem if it can be read in two ways."""
    position = chosen["score"]
    column = grid.columns[position]
    named = of_queries = False
    if {"first", "second"} <= chosen.keys():  # elsewhere there are similarities, and no sentences
        names = {plain_name(grid.columns[chosen[role]]) for role in ("first", "second")}
        named = any(names == set(pair) for pair in INFERENCE_NAMES)
        of_queries = not names.isdisjoint(QUERY_NAMES)
    kind = label_kind(grid.column(position), column, named, of_queries)
    if not named or kind.kind is not Kind.NUMBER:
        return kind
    # The first rows, which are the sample, may hold but one kind.
    rows = (cells for _, cells in grid.records(step) if not isinstance(cells, Problem))
    return numbered_inference((row[position] for row in rows), column)
