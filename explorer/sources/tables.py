"""Pairs from a typed table or a file: CSV, TSV, JSON lines, a JSON array, or Parquet.

Scores are taken as they stand; nothing is rescaled. Pairs without any score are positives. A row
that cannot be used is never fatal and never dropped in silence: it is listed with its number and
the reason.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from explorer.runtime.limits import BAD_ROWS, EXPLORED_PAIRS, FILE_BYTES, MIB, SKIPPED_ROWS
from explorer.runtime.problem import Problem
from explorer.runtime.sendable import whole_letters
from explorer.sources.cells import (
    NO_INFERENCE,
    WORD_SCORES,
    AmbiguousScore,
    Cells,
    decimal_mark,
    inference_kind,
    is_blank,
    listed_in,
    read_inference,
    read_score,
    read_sentence,
)
from explorer.sources.columns import (
    INFERENCE_NAMES,
    NO_SCORE,
    TEACHER,
    TRIPLET_ROLES,
    choose_columns,
    negative_columns,
    plain_name,
    teacher_columns,
)
from explorer.sources.delimited import Record
from explorer.sources.grids import Grid, in_turn_to_read, read_grid, step
from explorer.sources.guide_columns import GUIDE_ROLES, guide_columns, guides_chosen, guides_of
from explorer.sources.guides import Guide
from explorer.sources.pairs import NEGATIVE, POSITIVE, Pairs, distinct, given_by

TYPED_COLUMNS = ("sentence1", "sentence2", "score")

_KINDS = {0, 1, 2}  # of inference, as its data sets number them

# Two sentences, their label, and what the teacher gave them, NaN for nothing.
Pair = tuple[str, str, float, float]


@dataclass(frozen=True)
class SkippedRow:
    """A row that could not be used. `row` counts as the user sees it: 1 is the first data row."""

    row: int
    problem: Problem


@dataclass(frozen=True)
class Table:
    """What was read, and what the user has to be told about it.

    `chosen` maps each role to the name of its column: first, second, score (NO_SCORE where there
    is none); or anchor, positive, negative, whose rows give a pair (anchor, positive, 1) and for
    each negative a pair (anchor, negative, 0). Both have teacher where there is one: of a triplet a
    number or a list of them, one for each candidate, the positive first, or, of one positive, by
    how much the teacher preferred it to each negative. Where they are read, the roles of
    `columns.GUIDES` have a guide's vectors of the texts. `brings_guide` says whether there are
    columns of such, read or not, `vectors` which other columns may hold some.
    `total` counts the rows that are not empty, `limited` says that there were more pairs than
    asked for, `encoding` how the bytes were read (one of `encodings.ENCODINGS`, "Parquet", or ""
    for a typed table). `left_out` counts the rows that could not be used; the first of them, up to
    SKIPPED_ROWS, are in `skipped`. `inference`: the labels are kinds of natural language inference.
    """

    pairs: Pairs
    skipped: tuple[SkippedRow, ...]
    columns: tuple[str, ...]
    chosen: dict[str, str]
    header: bool
    total: int
    limited: bool
    left_out: int
    encoding: str = ""
    inference: bool = False
    vectors: tuple[str, ...] = ()
    brings_guide: bool = False


def from_rows(rows: Iterable[Sequence[object]]) -> Table:
    """The typed table: rows of sentence 1, sentence 2, score, the score as text or number.

    Where no row has a score, all are positives. Empty rows are ignored; rows beyond EXPLORED_PAIRS
    are left out, and `limited` says so.
    """
    records: list[Record] = []
    for row, cells in enumerate(rows, start=1):
        if not all(map(is_blank, cells)):
            padded = [*cells, None, None, None]
            records.append((row, padded[: len(TYPED_COLUMNS)]))
    grid = Grid(TYPED_COLUMNS, lambda tell: iter(records), header=True, encoding="")
    return _table(grid, {"first": 0, "second": 1, "score": 2}, EXPLORED_PAIRS, None)


def read_file(
    path: str | Path,
    name: str | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    header: bool | None = None,
    most: int = EXPLORED_PAIRS,
    seed: int | None = None,
    encoding: str = "",
) -> Table:
    """The pairs of a file of at most 64 MB.

    `name` is what the user calls the file (an upload's path is not that); its extension and the
    contents decide the kind together. `columns` maps roles (first, second, score; or anchor,
    positive, negative; and teacher) to names of columns, or to their numbers counted from 1; roles
    left out are recognised, and NO_SCORE for the score takes all pairs as positives. `header` says
    whether the first row of a CSV or TSV names the columns; None finds out; `encoding` in which
    encoding the text is, one of `encodings.ENCODINGS`; "" finds out. Of more than `most` pairs the
    first ones are taken, or, with a `seed`, a random sample of the rows in the order of the file.

    Raises Problem if there is no table to be read; single bad rows are in `Table.skipped`.
    """
    path = Path(path)
    name = whole_letters(name or path.name)
    try:
        too_large = path.stat().st_size > FILE_BYTES
        data = b"" if too_large else path.read_bytes()
    except OSError:
        raise Problem("file_unreadable", name=name) from None
    if too_large:
        raise Problem("file_too_large", name=name, most=FILE_BYTES // MIB)
    return read_table(
        data, name, columns=columns, header=header, most=most, seed=seed, encoding=encoding
    )


def read_table(
    data: bytes,
    name: str,
    *,
    columns: Mapping[str, str] | None = None,
    header: bool | None = None,
    most: int = EXPLORED_PAIRS,
    seed: int | None = None,
    encoding: str = "",
    guided: bool = False,
) -> Table:
    """The same for the bytes of a file. A guide's vectors are read where they are asked for by
    `guided`, of the first pairs and of no random sample; `columns` may then name their columns
    too, by the roles of `columns.GUIDES`."""
    name = whole_letters(name)
    if len(data) > FILE_BYTES:
        raise Problem("file_too_large", name=name, most=FILE_BYTES // MIB)
    with in_turn_to_read(data):
        grid = read_grid(data, name, header, encoding=encoding, chosen=(columns or {}).values())
        wanted = columns if guided else None
        taken = set(guides_chosen(grid.columns, wanted).values())
        told = (
            lambda place, asked=asked: place not in taken and asked(place)
            for asked in (grid.is_score, grid.is_text, grid.may_be_score)
        )
        if guided and columns is not None:
            columns = {role: name for role, name in columns.items() if role not in GUIDE_ROLES}
        chosen = choose_columns(grid.columns, columns, *told)
        guides = guide_columns(grid.columns, chosen, wanted, grid.is_vectors)
        found = _table(grid, {**chosen, **guides} if guided else chosen, most, seed)
        taken = {*chosen.values(), *guides.values()}
        vectors = (p for p in range(len(grid.columns)) if p not in taken and grid.is_vectors(p))
        return dataclasses.replace(
            found,
            vectors=tuple(grid.columns[place] for place in vectors),
            brings_guide=bool(guides),
        )


def _table(grid: Grid, chosen: Mapping[str, int], most: int, seed: int | None) -> Table:
    read = RowReader(grid, chosen)
    kept: list[tuple[Pair, ...]] = []  # as many as may be needed; a file may have many more
    skipped: list[SkippedRow] = []
    total = usable = longest = 0
    for row, cells in grid.records(step):
        total += 1
        try:
            pairs = read(cells)
        except Problem as problem:
            if len(skipped) < SKIPPED_ROWS:
                # The traceback would keep what was read so far alive.
                skipped.append(SkippedRow(row, problem.with_traceback(None)))
            check_share(total - usable, usable, skipped[0].row)
            continue
        usable += 1
        longest = max(longest, len(pairs))
        if len(kept) < most:
            kept.append(pairs)
            read.guide.keep()
    rows = most // max(longest, 1)
    if usable > rows and seed is not None:
        kept = _sample(grid, read, usable, rows, seed)
    return Table(
        pairs=_pairs([pair for pairs in kept[:rows] for pair in pairs], read),
        skipped=tuple(skipped),
        columns=grid.columns,
        chosen=read.chosen,
        header=grid.header,
        total=total,
        limited=usable > rows,
        left_out=total - usable,
        encoding=grid.encoding,
        inference=read.inference,
    )


def check_share(left_out: int, usable: int, first: int) -> None:
    """Raise Problem where so many rows cannot be used that this is no table of pairs."""
    if left_out > max(BAD_ROWS, usable):
        raise Problem("file_bad_rows", most=BAD_ROWS, row=first)


def _sample(grid: Grid, read: RowReader, usable: int, most: int, seed: int) -> list:
    """The rows that a frozen random stream picks of the usable ones, in their order."""
    picked = np.random.RandomState(seed % 2**32).permutation(usable)[:most]
    wanted = np.zeros(usable, dtype=bool)
    wanted[picked] = True
    kept: list[tuple[Pair, ...]] = []
    place = 0
    for _, cells in grid.records(step):
        try:
            pairs = read(cells)
        except Problem:  # told when the rows were counted
            continue
        if wanted[place]:
            kept.append(pairs)
        place += 1
    return kept


class RowReader:
    """Makes the pairs of each row of a grid: one, or of a list of candidates one for each, or of a
    triplet one for each sentence beside the anchor. `labelled` says whether there are any scores,
    `chosen` which columns are read, `inference` whether the scores are kinds of natural language
    inference, which are read as `WORD_SCORES` has them; of what was read so far `listed` which
    roles some cell has a list for, and `margins` whether a teacher's were those of negatives
    alone. `guide` has the vectors of a guide, of the rows that were kept."""

    def __init__(self, grid: Grid, chosen: Mapping[str, int]) -> None:
        self.grid = grid
        self.names = grid.columns
        self.marks: dict[int, frozenset[str]] = {}
        self.listed: set[str] = set()
        self.margins = False
        self.positions = chosen
        self.is_triplet = set(TRIPLET_ROLES) <= set(chosen)
        scored = "score" in chosen and not grid.is_blank(chosen["score"])
        self.labelled = self.is_triplet or scored
        self.inference = scored and not self.is_triplet and _is_inference(grid, chosen)
        self.negatives = negative_columns(grid.columns, chosen) if self.is_triplet else ()
        taught = self.is_triplet and TEACHER in chosen
        self.taught = teacher_columns(grid.columns, chosen[TEACHER]) if taught else ()
        self.guide = Guide(grid.columns, guides_of(grid.columns, chosen))
        named = {role: grid.columns[position] for role, position in chosen.items()}
        self.chosen = named if self.is_triplet else {**named, "score": named.get("score", NO_SCORE)}

    def __call__(self, cells: Cells | Problem) -> tuple[Pair, ...]:
        """The pairs of a row. Raises Problem, of the first cell that cannot be read."""
        if isinstance(cells, Problem):
            raise cells
        pairs = self._pairs_in(cells)
        self.guide.read(cells, self._is_list)
        return pairs

    def _pairs_in(self, cells: Cells) -> tuple[Pair, ...]:
        if not self.is_triplet:
            if (candidates := self._candidates(cells)) is not None:
                return candidates
            first, second = (self.sentence(cells, self.positions[r]) for r in ("first", "second"))
            label = self.score(cells) if self.labelled else POSITIVE
            return ((first, second, label, self._taught(cells)),)
        anchor = self.sentence(cells, self.positions["anchor"])
        positives = self._sentences(cells, "positive", (self.positions["positive"],))
        negatives = self._sentences(cells, "negative", self.negatives)
        texts = [*positives, *negatives]
        labels = [POSITIVE] * len(positives) + [NEGATIVE] * len(negatives)
        given = self._taught_candidates(cells, len(positives), len(negatives))
        return tuple(zip([anchor] * len(texts), texts, labels, given, strict=True))

    def _taught_candidates(self, cells: Cells, positives: int, negatives: int) -> list[float]:
        """What the teacher gave each of them, where it is margins 0 to the positive."""
        given = [
            self.number(one, position)
            for position in self.taught
            for one in self._entries(cells, TEACHER, position)
        ]
        if not given:
            return [math.nan] * (positives + negatives)
        if len(given) == positives + negatives:
            return given
        if positives == 1 and len(given) == negatives and len(self.taught) == 1:
            self.margins = True
            return [0.0, *(-margin for margin in given)]
        raise Problem(
            "teacher_count",
            column=self.names[self.positions[TEACHER]],
            count=len(given),
            candidates=positives + negatives,
            negatives=negatives,
        )

    def _candidates(self, cells: Cells) -> tuple[Pair, ...] | None:
        """The pairs of a text with a list of candidates, which a list as long of each label and of
        each teacher's score stands beside; None where the row has one candidate.

        Beside a list of labels that of candidates may be written as JSON.
        """
        position = self.positions["second"]
        if not isinstance(cells[position], list) and not self._written_list(cells):
            return None
        self.listed.add("second")
        texts, name = listed_in(cells[position]), self.names[position]
        columns = [[POSITIVE] * len(texts), [math.nan] * len(texts)]
        for at, role in enumerate(("score", TEACHER)):
            if role not in self.positions or (role == "score" and not self.labelled):
                continue
            beside = self.positions[role]
            values = listed_in(cells[beside])
            if len(values) != len(texts):
                count, found, other = len(texts), len(values), self.names[beside]
                raise Problem(
                    "candidates_values", column=name, other=other, count=count, values=found
                )
            columns[at] = [self.number(value, beside) for value in values]
        first = self.sentence(cells, self.positions["first"])
        seconds = [read_sentence(text, name) for text in texts]
        return tuple((first, *pair) for pair in zip(seconds, *columns, strict=True))

    def _is_list(self, cells: Cells, position: int) -> bool:
        """Whether a cell of texts is read as a list of them."""
        if self.is_triplet:
            listed = position != self.positions["anchor"]
            return listed and listed_in(cells[position]) != [cells[position]]
        if position != self.positions["second"]:
            return False
        return isinstance(cells[position], list) or self._written_list(cells)

    def _written_list(self, cells: Cells) -> bool:
        """Whether both candidates and labels are lists that are written as JSON."""
        if not self.labelled:
            return False
        both = [cells[self.positions[role]] for role in ("second", "score")]
        written = all(isinstance(cell, str) and cell.lstrip()[:1] == "[" for cell in both)
        return written and all(listed_in(cell) != [cell] for cell in both)

    def _taught(self, cells: Cells) -> float:
        """What the teacher gave the pair; NaN where no column has it, or the cell is empty."""
        if TEACHER not in self.positions or is_blank(cells[self.positions[TEACHER]]):
            return math.nan
        return self.score(cells, TEACHER)

    def sentence(self, cells: Cells, position: int) -> str:
        return read_sentence(cells[position], self.names[position])

    def score(self, cells: Cells, role: str = "score") -> float:
        position = self.positions[role]
        if self.inference and role == "score":
            return read_inference(cells[position], self.names[position])
        return self.number(cells[position], position)

    def number(self, value: object, position: int) -> float:
        """A score of the column, of which the other cells may tell what its mark parts."""
        name = self.names[position]
        try:
            return read_score(value, name, self.marks.get(position, ()))
        except AmbiguousScore:
            if position in self.marks:
                raise
        self.marks[position] = self._decimal_marks(position)
        return read_score(value, name, self.marks[position])

    def _decimal_marks(self, position: int) -> frozenset[str]:
        """What stands before the fraction of some score of the column, beyond doubt."""
        rows = (cells for _, cells in self.grid.records(step) if not isinstance(cells, Problem))
        return frozenset(filter(None, (decimal_mark(cells[position]) for cells in rows)))

    def _sentences(self, cells: Cells, role: str, positions: Sequence[int]) -> list[str]:
        """Those of all these columns, of which one may hold a list and some may be empty."""
        found = [
            read_sentence(text, self.names[position])
            for position in positions
            for text in self._entries(cells, role, position)
        ]
        return found or [self.sentence(cells, positions[0])]

    def _entries(self, cells: Cells, role: str, position: int) -> list[object]:
        """What a cell holds, or each entry of its list, without what is blank."""
        cell = cells[position]
        found = listed_in(cell)
        if len(found) != 1 or found[0] is not cell:
            self.listed.add(role)
        return [one for one in found if not is_blank(one)]


def _is_inference(grid: Grid, chosen: Mapping[str, int]) -> bool:
    """Whether the scores are the words of natural language inference, or, beside a premise and a
    hypothesis, the three numbers that SNLI and MNLI write for them: 0, 1 and 2, −1 for none."""
    position = chosen["score"]
    cells = [cell for cell in grid.column(position) if str(cell).strip() not in NO_INFERENCE]
    kinds = [inference_kind(cell) for cell in cells]
    if None in kinds or not kinds:
        return False
    if all(isinstance(cell, str) and cell.strip().casefold() in WORD_SCORES for cell in cells):
        return True
    if not {"first", "second"} <= chosen.keys():  # similarities, and no sentences
        return False
    named = tuple(plain_name(grid.columns[chosen[role]]) for role in ("first", "second"))
    if not any(set(named) == set(pair) for pair in INFERENCE_NAMES):
        return False
    if len(set(kinds)) == len(_KINDS):
        return True
    rows = (cells for _, cells in grid.records(step) if not isinstance(cells, Problem))
    every = {inference_kind(row[position]) for row in rows if not is_blank(row[position])}
    return every >= _KINDS


def _pairs(pairs: Sequence[Pair], read: RowReader) -> Pairs:
    first, second, labels, teacher = zip(*pairs, strict=True) if pairs else ((), (), (), ())
    return Pairs(
        guide=read.guide.of(distinct(first, second)),
        first=first,
        second=second,
        labels=labels,
        labelled=read.labelled,
        teacher=given_by(teacher),
        inference=read.inference,
    )
