"""Pairs from a typed table or a file: CSV, TSV, JSON lines, a JSON array, Parquet or Arrow.

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

from lossprism.explorer.runtime.json_encoding import whole_letters
from lossprism.explorer.runtime.limits import (
    BAD_ROWS,
    EXPLORED_PAIRS,
    FILE_BYTES,
    MIB,
    SKIPPED_ROWS,
)
from lossprism.explorer.runtime.problem import About, Problem, Value
from lossprism.explorer.sources.cells import is_blank
from lossprism.explorer.sources.column_roles import choose_columns
from lossprism.explorer.sources.delimited import Record
from lossprism.explorer.sources.pairs import Pairs, distinct, scores_or_none
from lossprism.explorer.sources.reading_notes import ColumnsRead
from lossprism.explorer.sources.row_to_pairs import Pair, RowReader
from lossprism.explorer.sources.table_column_kinds import Grid, step
from lossprism.explorer.sources.table_file_reader import in_turn_to_read, read_grid
from lossprism.explorer.sources.tables_at_local_paths import content_of_table
from lossprism.explorer.sources.vector_column_of_each_text_column import (
    GUIDES,
    KINDS,
    OWN,
    VECTOR_ROLES,
)

TYPED_COLUMNS = ("sentence1", "sentence2", "score")


@dataclass(frozen=True)
class SkippedRow:
    """A row that could not be used. `row` counts as the user sees it: 1 is the first data row."""

    row: int
    key: str
    about: About
    values: dict[str, Value]

    @classmethod
    def of(cls, row: int, problem: Problem) -> SkippedRow:
        return cls(row, **problem.to_json())

    @property
    def problem(self) -> Problem:
        return Problem.from_json(vars(self))


@dataclass(frozen=True)
class Table(ColumnsRead):
    """A table that was read, with facts for the user.

    `chosen` maps each role to the name of its column: first, second, score (NO_SCORE where there is
    none); or anchor, positive, negative, whose rows give a pair (anchor, positive, 1) and for each
    negative a pair (anchor, negative, 0). Both have teacher where there is one: for a triplet a
    number or a list of them, one for each candidate, the positive first, or, for one positive, the
    teacher's margins over each negative. Where they are read, the roles of
    `vector_column_of_each_text_column.KINDS` have the vectors of the texts, or a guide's.
    `brings_guide`: a guide's are there, read or not; `vectors` are those `unread` ones that may
    hold some. `own_vectors` names the encoder of the texts' own, once they are stored
    (`with_stored_vectors`). `total` counts the rows that are not empty; `limited`: there were more
    pairs than requested; `encoding` is that of the bytes (one of `ENCODINGS`, "Parquet", "Arrow",
    or "" for a typed table). `left_out` counts the unusable rows; the first of them, up to
    SKIPPED_ROWS, are in `skipped`. `inference`: the labels are kinds of natural language
    inference."""

    pairs: Pairs
    skipped: tuple[SkippedRow, ...]
    header: bool
    total: int
    limited: bool
    left_out: int
    encoding: str = ""
    inference: bool = False
    vectors: tuple[str, ...] = ()
    brings_guide: bool = False
    own_vectors: str = ""

    @property
    def highest_label(self) -> float:
        """The highest label that was read; −∞ where there is none."""
        return max(self.pairs.labels, default=-math.inf)


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
    """Read the pairs of a file of at most 64 MB.

    `name` is the user's name of the file (an upload's path is not that); its extension and the
    contents decide the kind together. `columns` maps roles (first, second, score; or anchor,
    positive, negative; and teacher) to names of columns, or to their numbers counted from 1; roles
    left out are recognised, and NO_SCORE for the score takes all pairs as positives. `header`: the
    first row of a CSV or TSV names the columns; None finds out; `encoding` is that of the text, one
    of `ENCODINGS`; "" finds out. Of more than `most` pairs the first ones are taken,
    or, with a `seed`, a random sample of the rows in the order of the file.

    Raises Problem if there is no table to be read; single bad rows are in `Table.skipped`.
    """
    data, name = file_content(path, name)
    return read_table(
        data, name, columns=columns, header=header, most=most, seed=seed, encoding=encoding
    )


def file_content(path: str | Path, name: str | None = None) -> tuple[bytes, str]:
    """Read a file or saved dataset of at most 64 MB, and its name for the user. Raises Problem
    where it is larger, or cannot be read."""
    return content_of_table(path, name, FILE_BYTES, "file_too_large")


def read_table(
    data: bytes,
    name: str,
    *,
    columns: Mapping[str, str] | None = None,
    header: bool | None = None,
    most: int = EXPLORED_PAIRS,
    seed: int | None = None,
    encoding: str = "",
    with_vectors: bool = False,
) -> Table:
    """Read the same from the bytes of a file. `with_vectors`: of the first pairs, and of no random
    sample, the vectors of their texts are read, and a guide's; `columns` may then name their
    columns too, by the roles of `vector_column_of_each_text_column.KINDS`."""
    name = whole_letters(name)
    if len(data) > FILE_BYTES:
        raise Problem("file_too_large", name=name, most=FILE_BYTES // MIB)
    with in_turn_to_read(data):
        grid = read_grid(data, name, header, encoding=encoding, chosen=(columns or {}).values())
        grid.check_texts()
        if grid.has_made_texts and not with_vectors:
            raise Problem("vectors_no_texts", name=name)
        vector_roles = columns if with_vectors else None
        if with_vectors and columns is not None:
            columns = {role: name for role, name in columns.items() if role not in VECTOR_ROLES}
        taken = {at for kind in KINDS for at in kind.chosen(grid.columns, vector_roles).values()}
        tests = (
            lambda place, *how, test=test: place not in taken and test(place, *how)
            for test in (grid.is_score, grid.is_text, grid.may_be_score)
        )
        chosen = choose_columns(grid.columns, columns, *tests)
        guides, own = (
            kind.columns(grid.columns, chosen, vector_roles, grid.is_vectors)
            for kind in (GUIDES, OWN)
        )
        read = {**chosen, **guides, **own} if with_vectors else chosen
        table = _table(grid, read, most, seed)
        vectors = (n for n in table.unread if grid.is_vectors(grid.columns.index(n)))
        return dataclasses.replace(table, vectors=tuple(vectors), brings_guide=bool(guides))


def with_stored_vectors(table: Table, name: str) -> Table:
    """Store the vectors that a table has of its texts, and name their encoder.

    Raises Problem where they are more than may be uploaded.
    """
    pairs = table.pairs
    if pairs.vectors is None or np.isnan(pairs.vectors).any():  # then an encoder reads all texts
        return table
    # Encoders bring torch along, which a table without vectors does not need.
    from lossprism.explorer.sources.encoders.uploaded_vectors import store

    own = store(name, pairs.sentences, pairs.vectors, table.pictures)
    return dataclasses.replace(table, own_vectors=own)


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
                # The traceback would keep all rows so far alive.
                skipped.append(SkippedRow.of(row, problem))
            check_share(total - usable, usable, skipped[0].row)
            continue
        usable += 1
        longest = max(longest, len(pairs))
        if len(kept) < most:
            kept.append(pairs)
            read.keep()
    rows = most // max(longest, 1)
    if usable > rows and seed is not None:
        kept = _sample(grid, read, usable, rows, seed)
    return Table(
        pairs=_pairs(kept[:rows], read),
        skipped=tuple(skipped),
        header=grid.header,
        total=total,
        limited=usable > rows,
        left_out=total - usable,
        encoding=grid.encoding,
        inference=read.inference,
        **vars(read.used),
    )


def check_share(left_out: int, usable: int, first: int) -> None:
    """Raise Problem where too many rows are unusable for a table of pairs."""
    if left_out > max(BAD_ROWS, usable):
        raise Problem("file_bad_rows", most=BAD_ROWS, row=first)


def _sample(grid: Grid, read: RowReader, usable: int, most: int, seed: int) -> list:
    """Return the usable rows that a fixed random stream picks, in their order."""
    picked = np.random.RandomState(seed % 2**32).permutation(usable)[:most]
    is_picked = np.zeros(usable, dtype=bool)
    is_picked[picked] = True
    kept: list[tuple[Pair, ...]] = []
    place = 0
    for _, cells in grid.records(step):
        try:
            pairs = read(cells)
        except Problem:  # reported when the rows were counted
            continue
        if is_picked[place]:
            kept.append(pairs)
        place += 1
    return kept


def _pairs(rows: Sequence[Sequence[Pair]], read: RowReader) -> Pairs:
    pairs = [pair for row in rows for pair in row]
    first, second, labels, teacher = zip(*pairs, strict=True) if pairs else ((), (), (), ())
    several = len(pairs) > len(rows)
    return Pairs(
        guide=read.guide.of(distinct(first, second)),
        vectors=read.vectors.of(distinct(first, second)),
        first=first,
        second=second,
        labels=labels,
        labelled=read.labelled,
        teacher=scores_or_none(teacher),
        inference=read.inference,
        in_rows=tuple(at for at, row in enumerate(rows) for _ in row) if several else None,
    )
